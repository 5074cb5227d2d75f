import sys

import uproot

file = uproot.open(sys.argv[1])
tree = file["tree"]
result = {
    "branch": tree["text"].array(),
    "numpy": tree["text"].array(library="np"),
    "pandas": tree["text"].array(library="pd"),
    "arrays": tree.arrays(),
    "typenames": tree.typenames(),
    "cut": tree.arrays(["text"], "x > 2"),
    "upper": [text.upper() for text in tree["text"].array()],
    "string": str(file["greeting"]),
    "joined": "-".join(tree["text"].array().to_list()),
}
