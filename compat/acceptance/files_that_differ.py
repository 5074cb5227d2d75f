import sys

import uproot

first, second = sys.argv[1:]
files = {first: "tree", second: "tree"}
result = {
    "in both": uproot.concatenate(files, ["x"]),
    "skipped": uproot.concatenate(files, ["x", "y"], allow_missing=True),
    "by filter": uproot.concatenate(files, filter_name=["x", "y"]),
    "steps": [len(step) for step in uproot.iterate(files, ["y"], allow_missing=True)],
    "other trees": len(uproot.concatenate({first: "other", second: "other"}, allow_missing=True)),
}
try:
    uproot.concatenate(files, ["x", "y"])
except uproot.exceptions.KeyInFileError as err:
    result["error"] = err.key
try:
    uproot.concatenate([first, second], ["x"])
except ValueError:
    result["several trees"] = "ValueError"
