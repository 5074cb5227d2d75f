import sys

import uproot

path = sys.argv[1]
file = uproot.open(path)
tree = file["events"]
attempts = {
    "tree": lambda: file["nonesuch"],
    "cycle": lambda: file["events;9"],
    "branch": lambda: tree["nonesuch"],
    "branch by path": lambda: file["events/nonesuch"],
    "arrays": lambda: tree.arrays(["M", "nonesuch"]),
    "expression": lambda: tree.arrays(["M + nonesuch"]),
    "cut": lambda: tree.arrays(["M"], cut="nonesuch > 3"),
    "opened": lambda: uproot.open(f"{path}:nonesuch"),
    "number": lambda: tree[1000],
    "file": lambda: uproot.open("nonesuch.root"),
    "file and tree": lambda: uproot.open("nonesuch.root:events"),
}
result = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except uproot.KeyInFileError as err:
        result[name] = f"KeyInFileError {err.key}"
    except FileNotFoundError:
        result[name] = "FileNotFoundError"
    except IndexError:
        result[name] = "IndexError"
for name in ("branch", "arrays"):
    try:
        attempts[name]()
    except KeyError as err:
        result[f"{name} as KeyError"] = "nonesuch" in str(err)
try:
    tree["nonesuch"]
except uproot.exceptions.KeyInFileError as err:
    result["message"] = [word in str(err) for word in ("nonesuch", path, "events;1", "px1")]
