import sys

import uproot

tree = uproot.open(sys.argv[1])["tree"]
result = {
    "typenames": tree.typenames(),
    "awkward": tree["leaflist"].array(),
    "numpy": tree["leaflist"].array(library="np"),
    "field": tree["leaflist"].array()["x"],
    "numpy field": tree["leaflist"].array(library="np")["y"],
    "arrays": tree.arrays(),
    "numpy arrays": tree.arrays(library="np"),
    "pandas": tree.arrays(library="pd"),
}
