import pickle
import sys

import uproot

file = uproot.open(sys.argv[1])
tree = pickle.loads(pickle.dumps(file["events"]))
branch = pickle.loads(pickle.dumps(file["events/M"]))
result = {
    "tree": tree.arrays(["M"], entry_stop=10),
    "name": tree.name,
    "branch": branch.array(entry_stop=10),
    "keys": pickle.loads(pickle.dumps(file)).keys(),
    "array": pickle.loads(pickle.dumps(tree["M"].array(entry_stop=5))),
}
