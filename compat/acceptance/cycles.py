import sys

import uproot

file = uproot.open(sys.argv[1])
result = {
    "keys": file.keys(),
    "without": file.keys(cycle=False),
    "newest": file["tree"]["x"].array(),
    "each": {key: file[key]["x"].array() for key in file.keys()},
    "by number": file["tree;1"]["x"].array(),
    "object paths": [file["tree"].object_path, file["tree;1"].object_path],
    "membership": ["tree;1" in file, "tree;2" in file, "tree;3" in file],
    "opened": uproot.open(f"{sys.argv[1]}:tree;1")["x"].array(),
    "classes": file.classnames(),
    "concatenated": uproot.concatenate(f"{sys.argv[1]}:tree;1"),
}
