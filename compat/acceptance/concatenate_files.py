import sys
from pathlib import Path

import uproot

files = sys.argv[1:]
folder = Path(files[0]).parent
trees = [f"{path}:events" for path in files]
result = {
    "awkward": uproot.concatenate(trees, ["M", "Q1"]),
    "numpy": uproot.concatenate(trees, ["M"], library="np"),
    "pandas": uproot.concatenate(trees, ["M", "Q1"], library="pd"),
    "cut": uproot.concatenate(trees, ["M"], "M > 100"),
    "range": uproot.concatenate(trees, "M", entry_start=2300, entry_stop=2310),
    "glob": len(uproot.concatenate(f"{folder}/uproot-Zmumu-z*.root:events", "M")),
    "paths": len(uproot.concatenate([Path(path) for path in files], "M")),
    "tuple": uproot.concatenate(trees, ["M", "Q1"], how=tuple, entry_stop=3),
    "missing trees": len(uproot.concatenate([*trees, f"{files[0]}:none"], "M", allow_missing=True)),
    "all missing": len(uproot.concatenate(f"{files[0]}:none", "M", allow_missing=True)),
}
for name, wrong in {
    "no file": f"{folder}/none-at-all.root:events",
    "no match": f"{folder}/none-at-all-*.root:events",
    "no tree": f"{files[0]}:none",
    "no branch": trees[0],
}.items():
    try:
        uproot.concatenate(wrong, ["M", "nonesuch"])
    except FileNotFoundError:
        result[name] = "FileNotFoundError"
    except uproot.KeyInFileError as err:
        result[name] = f"KeyInFileError {err.key}"
