import sys

import uproot

path = sys.argv[1]


def columns(wanted):
    with uproot.open(path) as file:
        tree = file.get("events") or file.get("Events")
        if tree is None:
            raise SystemExit("no tree")
        present = [name for name in wanted if name in tree.keys()]
        absent = sorted(set(wanted) - set(present))
        return tree.arrays(present, library="np", entry_stop=5), absent


def count(name):
    try:
        with uproot.open(f"{path}:{name}") as tree:
            return tree.num_entries
    except uproot.exceptions.KeyInFileError as err:
        return f"no {err.key} in {err.file_path}"


result = {"columns": columns(["M", "eta1", "nonesuch"]), "counts": [count("events"), count("T")]}
