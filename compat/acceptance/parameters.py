import sys

import uproot

file = uproot.open(sys.argv[1])
result = {
    "keys": file.keys(),
    "classes": file.classnames(),
    "text": str(file["greeting"]),
    "is text": isinstance(file["greeting"], str),
    "counts": file["counts"].values(),
    "edges": file["counts"].axis().edges(),
    "folder": [key for key in file.keys() if key.startswith("folder")],
    "nested": file["folder/deep"].num_entries,
}
