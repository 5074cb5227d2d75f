import sys

import uproot

events = uproot.open(f"{sys.argv[1]}:events")
frame = events.arrays(["NMuon", "Muon_Px", "MET_px"], library="pd", entry_start=10, entry_stop=40)
result = {
    "frame": frame,
    "columns": list(frame.columns),
    "index": frame.index.tolist(),
    "jagged": events["Muon_Px"].array(library="pd", entry_stop=8),
    "flat": events.arrays(["NMuon", "MET_px"], library="pd").describe(),
    "selected": frame[frame.NMuon > 1],
}
