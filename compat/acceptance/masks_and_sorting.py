import sys

import awkward as ak
import uproot

events = uproot.open(sys.argv[1])["events"]
arrays = events.arrays(["NJet", "Jet_Px", "Jet_Py", "Jet_btag"])
pt = (arrays.Jet_Px**2 + arrays.Jet_Py**2) ** 0.5
order = ak.argsort(pt, ascending=False)
result = {
    "leading": ak.firsts(pt[order]),
    "masked": ak.mask(arrays.NJet, arrays.NJet > 2),
    "tagged": arrays.Jet_Px[arrays.Jet_btag > 2],
    "sums": ak.sum(pt, axis=1),
    "with a field": ak.with_field(arrays, pt, "Jet_pt").fields,
    "padded": ak.fill_none(ak.pad_none(pt, 3, clip=True), 0),
    "to numpy": ak.to_numpy(arrays.NJet),
}
