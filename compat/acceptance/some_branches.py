import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
names = ["px1", "py1", "Type"]
result = {
    "awkward": tree.arrays(names),
    "one": tree.arrays("px1"),
    "numpy": tree.arrays(names, library="np"),
    "pandas": tree.arrays(names, library="pd"),
    "range": tree.arrays(["px1", "px2"], entry_start=100, entry_stop=110, library="np"),
    "tuple": tree.arrays(names, how=tuple, entry_stop=3),
    "list": tree.arrays(names, how=list, entry_stop=3),
    "dict": tree.arrays(names, how=dict, entry_stop=3),
    "numpy tuple": tree.arrays(names, how=tuple, entry_stop=3, library="np"),
    "pandas tuple": tree.arrays(names, how=tuple, entry_stop=3, library="pd"),
    "unpacked": list(tree.arrays(["px1", "py1"], library="np", how=tuple)[1][:5]),
    "fields": tree.arrays(names).fields,
}
