import sys

import uproot

with uproot.open(sys.argv[1]) as file:
    tree = file["events"]
    inside = tree["M"].array(entry_stop=3)
result = {"inside": inside, "closed": file.closed, "keys": tree.keys()}
try:
    tree["px1"].array()
except OSError as err:
    result["after"] = "closed" in str(err)
