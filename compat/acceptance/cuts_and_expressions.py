import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "computed": tree.arrays("sqrt(px1**2 + py1**2)"),
    "several": tree.arrays(["px1 + px2", "M"], entry_stop=10),
    "cut": tree.arrays(["M"], cut="M > 80"),
    "cut of two": tree.arrays(["M", "Run"], cut="(M > 80) & (Q1 > 0)"),
    "cut, numpy": tree.arrays(["M"], cut="(M > 80) & (M < 100)", library="np"),
    "cut, pandas": tree.arrays(["M"], cut="M < 60", library="pd"),
    "quotient": tree.arrays("px1/E1", entry_stop=10),
    "comparison": tree.arrays("pt1 > 40", entry_stop=10),
    "functions": tree.arrays(["arctan2(py1, px1)", "sinh(eta1)", "abs(phi1)"], entry_stop=10),
    "fields": tree.arrays(["px1 + px2", "M"], entry_stop=1).fields,
}
