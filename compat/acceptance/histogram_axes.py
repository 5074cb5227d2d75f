import sys

import uproot

with uproot.open(sys.argv[1]) as file:
    h = file["hpx"]
    h2 = file["hpxpy"]
    result = {
        "by name": h.axis("x").edges(),
        "by number": h2.axis(1).edges(),
        "negative": h2.axis(-1).edges(),
        "default": h.axis().edges(),
        "axes": [axis.edges() for axis in h2.axes],
        "bins": len(h.axis()),
        "first bin": h.axis()[0],
        "traits": (h.axis().traits.circular, h.axis().traits.discrete),
        "sum": h.values().sum(),
        "unpacked": h2.to_numpy()[0].shape,
        "profile": file["hprof"].values(),
        "profile counts": file["hprof"].counts(),
        "profile errors": file["hprof"].errors(),
        "profile edges": file["hprof"].axis().edges(),
    }
