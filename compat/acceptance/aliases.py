import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
aliases = {"pt": "sqrt(px1**2 + py1**2)", "ratio": "pt / E1"}
result = {
    "alias": tree.arrays(["pt"], aliases=aliases, entry_stop=10),
    "with a branch": tree.arrays(["pt", "M"], aliases=aliases, entry_stop=10, library="np"),
    "cut": tree.arrays(["pt", "ratio"], "pt > 40", aliases=aliases, library="pd"),
    "in an expression": tree.arrays(["2 * pt"], aliases=aliases, entry_stop=10),
    "of the tree": tree.aliases,
}
