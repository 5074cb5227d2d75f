import sys

import uproot

file = uproot.open(sys.argv[1])
tree = file["events"]
result = {
    "in file": [name in file for name in ("events", "events;1", "events;2", "none")],
    "in tree": [name in tree for name in ("M", "px1", "none", "/M", "")],
    "get": (tree.get("none"), tree.get("M") is not None, file.get("none", 3)),
    "is a tree": isinstance(tree, uproot.TTree),
    "is a branch": isinstance(tree["M"], uproot.TBranch),
    "class": file.classname_of("events"),
    "title": file.title_of("events"),
    "found": [name for name in ("M", "Q3", "Run") if name in tree],
}
