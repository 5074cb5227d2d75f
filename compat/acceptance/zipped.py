import sys

import uproot

events = uproot.open(sys.argv[1])["events"]
arrays = events.arrays(filter_name=["Muon_*", "Jet_*", "MET_*"], how="zip", entry_stop=30)
result = {
    "arrays": arrays,
    "fields": arrays.fields,
    "muons": arrays.Muon.fields,
    "px": arrays.Muon.Px,
}
