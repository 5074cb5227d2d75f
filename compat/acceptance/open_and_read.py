import sys

import uproot

file = uproot.open(sys.argv[1])
tree = file["events"]
result = {
    "keys": file.keys(),
    "branches": tree.keys(),
    "entries": tree.num_entries,
    "length": len(tree),
    "name": tree.name,
    "title": tree.title,
    "events": tree.arrays(),
}
