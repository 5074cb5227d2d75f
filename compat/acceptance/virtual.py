import sys

import awkward as ak
import uproot

tree = uproot.open(sys.argv[1])["events"]
log = []
events = tree.arrays(virtual=True, access_log=log)
selected = events[ak.num(events.Muon_Px) > 1]
result = {
    "fields": events.fields,
    "selected": selected.Muon_Px,
    "met": ak.materialize(events.MET_px),
    "accessed": sorted({each.branch for each in log}),
}
