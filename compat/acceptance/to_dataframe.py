import sys

import awkward as ak
import uproot

events = uproot.open(f"{sys.argv[1]}:events")
arrays = events.arrays(["Muon_Px", "Muon_Py", "MET_px"], entry_stop=30)
result = {
    "frame": ak.to_dataframe(arrays),
    "outer": ak.to_dataframe(arrays[["Muon_Px", "Muon_Py"]], how="outer"),
    "one": ak.to_dataframe(events["Jet_E"].array(entry_stop=10)),
}
