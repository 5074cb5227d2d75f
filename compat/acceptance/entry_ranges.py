import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
ranges = [
    (None, None),
    (0, 0),
    (5, None),
    (None, 5),
    (-5, None),
    (None, -2300),
    (-10, -5),
    (100, 50),
]
ranges += [(2303, None), (2304, 2310), (0, 10**9), (-(10**9), 2), (1000, 1001)]
result = {
    f"{start}:{stop}": {
        "branch": tree["M"].array(entry_start=start, entry_stop=stop),
        "arrays": tree.arrays(["M", "Type"], entry_start=start, entry_stop=stop),
        "numpy": tree["M"].array(entry_start=start, entry_stop=stop, library="np"),
        "pandas": tree.arrays("M", entry_start=start, entry_stop=stop, library="pd"),
    }
    for start, stop in ranges
}
