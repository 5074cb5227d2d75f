import re
import sys

import uproot

path = sys.argv[1]
wanted = re.compile(r"^(Muon|Electron)_(Px|Py)$")
result = {
    "callable": [
        step.fields
        for step in uproot.iterate(f"{path}:events", filter_name=wanted.match, step_size=1000)
    ],
    "types": [
        sorted(step)
        for step in uproot.iterate(
            {path: "events"}, filter_typename="int32_t", library="np", step_size=1000
        )
    ],
    "branches": uproot.concatenate(
        {path: "events"},
        filter_branch=lambda branch: branch.name.startswith("MET"),
        entry_stop=5,
    ),
    "zipped": uproot.concatenate(
        {path: "events"}, filter_name="/Muon_P./", how="zip", entry_stop=5
    ),
    "aliases": uproot.concatenate(
        {path: "events"}, ["met"], aliases={"met": "sqrt(MET_px**2 + MET_py**2)"}, entry_stop=5
    ),
}
