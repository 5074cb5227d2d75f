import sys

import uproot

file = uproot.open(sys.argv[1])
ntuple = file[file.keys(filter_classname="ROOT::RNTuple")[0]]
result = {
    "keys": ntuple.keys(),
    "typenames": ntuple.typenames(),
    "arrays": ntuple.arrays(),
    "top": ntuple.keys(recursive=False),
    "fields": {name: ntuple[name].array() for name in ntuple.keys(recursive=False)},
}
