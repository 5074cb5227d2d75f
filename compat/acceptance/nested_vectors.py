import sys

import awkward as ak
import uproot

tree = uproot.open(sys.argv[1])["t"]
array = tree["x"].array()
result = {
    "array": array,
    "typename": tree["x"].typename,
    "interpretation": repr(tree["x"].interpretation),
    "flat": ak.flatten(array, axis=None),
    "numbers": ak.num(array, axis=2),
    "arrays": tree.arrays(),
    "range": tree["x"].array(entry_start=2, entry_stop=4),
}
