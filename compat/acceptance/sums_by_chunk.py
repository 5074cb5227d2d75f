import sys
from collections import defaultdict

import numpy as np
import uproot

sums = defaultdict(float)
filled = np.zeros(20)
for batch, report in uproot.iterate(
    sys.argv[1] + ":events", ["M", "pt1", "Q1"], cut="pt1 > 25", step_size="20 kB", report=True
):
    filled += np.histogram(np.asarray(batch.M), bins=20, range=(60, 120))[0]
    sums["M"] += float(np.sum(batch["M"]))
    sums["entries"] += report.tree_entry_stop - report.tree_entry_start
result = {"sums": dict(sums), "filled": filled}
