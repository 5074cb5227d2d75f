import sys

import uproot

file = uproot.open(sys.argv[1])
ntuple = file["ntuple"]
result = {
    "keys": file.keys(),
    "class": file.classname_of("ntuple"),
    "fields": ntuple.keys(),
    "entries": ntuple.num_entries,
    "name": ntuple.name,
    "arrays": ntuple.arrays(),
    "one": ntuple["one_integers"].array(),
    "numpy": ntuple.arrays(library="np"),
    "range": ntuple.arrays(entry_start=5, entry_stop=15),
    "names": ntuple.arrays(["one_integers"], entry_stop=5),
    "typenames": ntuple.typenames(),
    "in": "one_integers" in ntuple,
}
