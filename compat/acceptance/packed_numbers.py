import sys

import uproot

tree = uproot.open(sys.argv[1])[uproot.open(sys.argv[1]).keys(filter_classname="TTree")[0]]
result = {
    "typenames": tree.typenames(),
    "interpretations": [repr(branch.interpretation) for branch in tree.branches],
    # uproot scales 32 bits by 2^32, and ROOT by 2^32 - 1: those differ.
    "arrays": {
        branch.name: branch.array(entry_stop=20)
        for branch in tree.branches
        if branch.name != "double32_32"
    },
}
