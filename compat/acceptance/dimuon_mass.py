import sys

import awkward as ak
import numpy as np
import uproot

masses = []
for events in uproot.iterate(
    f"{sys.argv[1]}:events", filter_name="/Muon_(Px|Py|Pz|E|Charge)/", step_size=500
):
    muons = ak.zip({name.removeprefix("Muon_"): events[name] for name in events.fields})
    pairs = ak.combinations(muons, 2, fields=["a", "b"])
    pairs = pairs[pairs.a.Charge != pairs.b.Charge]
    energy, px = pairs.a.E + pairs.b.E, pairs.a.Px + pairs.b.Px
    py, pz = pairs.a.Py + pairs.b.Py, pairs.a.Pz + pairs.b.Pz
    masses.append(ak.to_numpy(ak.flatten(np.sqrt(energy**2 - px**2 - py**2 - pz**2))))
result = {"histogram": np.histogram(np.concatenate(masses), bins=60, range=(60, 120))}
