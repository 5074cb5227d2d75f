import sys

import numpy as np
import uproot

with uproot.open(sys.argv[1]) as file:
    data = file["events"].arrays(library="np")
    selected = (data["pt1"] > 20) & (data["pt2"] > 20) & (data["Q1"] * data["Q2"] < 0)
    table = file["events"].arrays(["Run", "Event", "M"], library="pd").query("80 < M < 100")
    result = {
        "passed": int(np.count_nonzero(selected)),
        "masses": data["M"][selected][:20],
        "runs": table.groupby("Run").M.agg(["count", "mean"]),
        "columns": list(data),
    }
