import sys

import uproot

events = uproot.open(f"{sys.argv[1]}:events")
arrays = events.arrays(filter_name="Muon_*", library="np", entry_stop=50)
result = {
    "arrays": arrays,
    "counts": [len(each) for each in arrays["Muon_Px"]],
    "first": arrays["Muon_Px"][0],
    "one": events["Jet_Px"].array(library="np", entry_start=30, entry_stop=40),
}
