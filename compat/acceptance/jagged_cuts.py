import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "events": tree.arrays(["Muon_Px", "NMuon"], cut="NMuon >= 2", entry_stop=100),
    "muons": tree.arrays(["Muon_Px"], cut="Muon_Px > 10", entry_stop=20),
    "pt": tree.arrays(["sqrt(Muon_Px**2 + Muon_Py**2)", "NMuon"], entry_stop=20),
    "numpy": tree.arrays(["Muon_Px"], cut="NMuon == 1", library="np", entry_stop=20),
}
