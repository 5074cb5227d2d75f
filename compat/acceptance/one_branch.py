import sys

import numpy as np
import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "awkward": tree["M"].array(),
    "numpy": tree["M"].array(library="np"),
    "pandas": tree["M"].array(library="pd", entry_start=5, entry_stop=9),
    "asarray": np.asarray(tree["M"]),
    "mean": float(np.mean(tree["M"].array(library="np"))),
    "strings": tree["Type"].array(entry_stop=5),
    "strings, numpy": tree["Type"].array(library="np", entry_stop=5),
    "strings, pandas": tree["Type"].array(library="pd", entry_stop=5),
    "by number": tree[3].name,
    "last": tree[-1].name,
}
