import sys

import uproot

file = uproot.open(sys.argv[1])
result = {}
for name in file.keys(cycle=False, filter_classname="TH*"):
    histogram = file[name]
    axes = range(int(file.classname_of(name)[2]))
    result[name] = {
        "class": histogram.classname,
        "name": histogram.name,
        "title": histogram.title,
        "values": histogram.values(),
        "values with overflow": histogram.values(flow=True),
        "variances": histogram.variances(),
        "errors": histogram.errors(),
        "errors with overflow": histogram.errors(flow=True),
        "counts": histogram.counts(),
        "weighted": histogram.weighted,
        "kind": str(histogram.kind),
        "edges": [histogram.axis(axis).edges() for axis in axes],
        "edges with overflow": [histogram.axis(axis).edges(flow=True) for axis in axes],
        "centers": [histogram.axis(axis).centers() for axis in axes],
        "widths": [histogram.axis(axis).widths() for axis in axes],
        "titles": [histogram.axis(axis).member("fTitle") for axis in axes],
        "labels": [histogram.axis(axis).labels() for axis in axes],
        "range": [(histogram.axis(axis).low, histogram.axis(axis).high) for axis in axes],
        "numpy": histogram.to_numpy(),
        "numpy with overflow": histogram.to_numpy(flow=True),
        "numpy, dd": histogram.to_numpy(dd=True),
        "entries": histogram.member("fEntries"),
        "axes": len(histogram.axes),
    }
