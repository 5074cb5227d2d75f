import sys

import awkward as ak
import uproot

events = uproot.open(sys.argv[1])["Events"]
muons = ak.zip(
    {
        name: events[f"Muon_{name}"].array()
        for name in ("pt", "eta", "phi", "charge")
        if f"Muon_{name}" in events
    }
)
jets = events.arrays(filter_name="Jet_*", entry_stop=20)
result = {
    "muons": muons,
    "selected": muons[muons.pt > 5].pt,
    "jets": jets,
    "counts": ak.num(events["Jet_pt"].array()),
    "triggers": events.keys(filter_name="HLT_IsoMu*"),
    "keys": len(events.keys()),
    "titles": {branch.name: branch.title for branch in events.branches[:50]},
    "met": events["MET_pt"].array(library="np"),
    "zipped": events.arrays(filter_name="/(Muon|Jet)_(pt|eta)/", how="zip", entry_stop=10),
}
