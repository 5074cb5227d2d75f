import re
import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
filters = {
    "name": "Muon_Px",
    "glob": "Muon_*",
    "question mark": "Muon_P?",
    "brackets": "Muon_P[xy]",
    "list": ["NMuon", "Jet_*"],
    "regex": "/Muon_P[xyz]/",
    "regex with i": "/muon_p[xy]/i",
    "regex in a list": ["/^MET_.*/", "NJet"],
    "callable": lambda name: name.startswith("Electron"),
    "compiled": re.compile("Muon_(Px|E)").match,
    "nothing": "Tau_*",
    "empty": [],
    "none": None,
}
result = {how: tree.keys(filter_name=each) for how, each in filters.items()}
result["arrays"] = tree.arrays(filter_name="/muon_p./i", entry_stop=5)
result["typenames"] = tree.keys(filter_typename="int32_t")
result["typenames by glob"] = tree.keys(filter_typename="float*")
result["typenames by regex"] = tree.keys(filter_typename=r"/.*\[\]/")
result["branches"] = tree.keys(filter_branch=lambda branch: branch.num_baskets > 0)
result["both"] = tree.keys(filter_name="*Muon*", filter_typename="int32_t")
result["arrays by type"] = tree.arrays(filter_typename="bool", entry_stop=5, library="np")
