import sys

import uproot

tree = uproot.open(sys.argv[1])["tree"]
result = {
    "names": tree.keys(),
    "typenames": tree.typenames(),
    "branches": {branch.name: branch.array() for branch in tree.branches},
    "arrays": tree.arrays(filter_name="vector_*"),
    "numpy": tree["vector_int32"].array(library="np"),
    "pandas": tree["vector_int32"].array(library="pd"),
}
