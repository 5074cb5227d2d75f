import sys
from pathlib import Path

import uproot

path = sys.argv[1]
with uproot.open(path) as file, file["events"] as tree:
    by_with = tree["M"].array(entry_stop=10)
with uproot.open(f"{path}:events") as tree:
    by_colon = tree["M"].array(entry_stop=10)
with uproot.open({path: "events"}) as tree:
    by_dict = tree["M"].array(entry_stop=10)
with uproot.open(Path(path)) as file:
    by_path = file["events/M"].array(entry_stop=10)
result = {
    "with": by_with,
    "colon": by_colon,
    "dict": by_dict,
    "dict of a path": uproot.open({Path(path): "/events"})["M"].array(entry_stop=10),
    "path": by_path,
    "branch": uproot.open(f"{path}:events/M").array(entry_stop=10),
    "cycle": uproot.open(f"{path}:events;1").num_entries,
    "file path": uproot.open(path).file_path,
    "uuid": str(uproot.open(path).file.uuid),
    "options": uproot.open(path, array_cache=None, object_cache=None)["events"].num_entries,
}
