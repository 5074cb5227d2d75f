import sys

import uproot

cache = {}
tree = uproot.open(sys.argv[1])["events"]
first = tree.arrays(["M"], array_cache=cache)
result = {
    "first": first,
    "again": tree.arrays(["M"], array_cache=cache),
    "none": tree["M"].array(array_cache=None, entry_stop=4),
    "size": tree.arrays(["M"], array_cache="10 MB", entry_stop=4),
}
