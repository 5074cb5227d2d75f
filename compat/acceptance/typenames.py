import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "typenames": tree.typenames(),
    "filtered": tree.typenames(filter_name="Muon*"),
    "by type": tree.typenames(filter_typename="int32_t"),
    "branches": {name: branch.typename for name, branch in tree.items()},
    "interpretations": {name: repr(branch.interpretation) for name, branch in tree.items()},
    "forms": {
        name: branch.interpretation.awkward_form(None).to_dict()
        for name, branch in tree.items(filter_name=["NMuon", "Muon_Px", "triggerIsoMu24"])
    },
    "jagged": [type(branch.interpretation).__name__ for branch in tree.values()],
}
