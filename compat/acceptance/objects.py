import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "keys": tree.keys(),
    "typenames": tree.typenames(),
    "met": tree["MET"].array(entry_stop=10),
    "muons": tree["muonp4"].array(entry_stop=10),
    "energies": tree["muonp4"].array(entry_stop=10)["fE"],
    "arrays": tree.arrays(["MET", "muonq"], entry_stop=10),
}
