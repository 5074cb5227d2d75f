import sys

import uproot

file = uproot.open(sys.argv[1])
tree = file[file.keys(filter_classname="TTree")[0]]
names = tree.keys()
result = {
    "names": names,
    "short": tree.keys(full_paths=False),
    "top": tree.keys(recursive=False),
    "typenames": tree.typenames(),
    "inside": {branch.name: branch.keys() for branch in tree.branches if len(branch) > 0},
}
