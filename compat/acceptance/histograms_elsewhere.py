import sys

import boost_histogram as bh
import hist
import uproot

file = uproot.open(sys.argv[1])
result = {}
for name in file.keys(cycle=False, filter_classname="TH*"):
    histogram = file[name]
    result[name] = {
        "boost": histogram.to_boost(),
        "hist": histogram.to_hist(),
        "is boost": isinstance(histogram.to_boost(), bh.Histogram),
        "is hist": isinstance(histogram.to_hist(), hist.Hist),
        "scaled": (histogram.to_hist() * 2).values(),
        "constructed": hist.Hist(histogram),
    }
