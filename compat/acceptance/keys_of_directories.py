import sys

import uproot

file = uproot.open(sys.argv[1])
result = {
    "keys": file.keys(),
    "not recursive": file.keys(recursive=False),
    "without cycles": file.keys(cycle=False),
    "trees": file.keys(filter_classname="TTree"),
    "trees or directories": file.keys(filter_classname=["TTree", "TDirectory"]),
    "by regex": file.keys(filter_classname="/T.*/"),
    "by name": file.keys(filter_name="*/t*"),
    "classnames": file.classnames(),
    "classnames of trees": file.classnames(filter_classname="TTree", cycle=False),
    "directories": {key: file[key].keys() for key in file.keys(filter_classname="TDirectory")},
    "items": [(key, each.name) for key, each in file.items(filter_classname="TTree")],
    "values": [each.num_entries for each in file.values(filter_classname="TTree")],
    "iterated": list(file),
    "length": len(file),
    "path": file["one/two"].path,
    "object paths": [file["one/two"].object_path, file["one/two/tree"].object_path],
    "by steps": file["one"]["two"]["tree"].num_entries,
    "by path": file["one/two/tree"].num_entries,
    "with cycles": file["one;1/two;1/tree;1"].num_entries,
    "branch": file["one/two/tree/Int32"].array(entry_stop=3),
    "branch by colon": file["one/two/tree:Int32"].array(entry_stop=3),
    "membership": ["one/two" in file, "one/three" in file, "two/tree" in file["one"]],
}
