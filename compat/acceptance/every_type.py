import sys

import uproot

with uproot.open(sys.argv[1]) as file:
    tree = file[file.keys(filter_classname="TTree")[0]]
    result = {
        "keys": tree.keys(),
        "typenames": tree.typenames(),
        "interpretations": [repr(branch.interpretation) for branch in tree.values()],
        "awkward": tree.arrays(),
        "numpy": tree.arrays(library="np"),
        "pandas": tree.arrays(library="pd"),
        "by branch": {name: branch.array(library="np") for name, branch in tree.items()},
        "series": {name: branch.array(library="pd") for name, branch in tree.items()},
        "steps": list(tree.iterate(library="np", step_size=7)),
        "tuples": list(tree.iterate(how=tuple, step_size=50)),
    }
