import sys

import uproot

result = {}
with uproot.open(sys.argv[1]) as file:
    for key, classname in file.classnames().items():
        if classname == "TProfile":
            result[key] = (classname, file[key].values(), file[key].errors())
        elif classname.startswith(("TH1", "TH2")):
            values, *edges = file[key].to_numpy()
            result[key] = (classname, values, edges, file[key].errors())
        elif classname == "TTree":
            result[key] = (classname, file[key].num_entries, file[key].keys())
        else:
            result[key] = classname
