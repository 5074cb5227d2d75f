import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "record": tree.arrays(["M", "px1"], ak_add_doc=True, entry_stop=3),
    "branch": tree["M"].array(ak_add_doc=True, entry_stop=3),
    "named": tree.arrays(["M"], ak_add_doc={"title": "title"}, entry_stop=3),
}
