import sys

import uproot

file = uproot.open(sys.argv[1])
tree = file["events"]
attempts = {
    "library": lambda: tree.arrays(["M"], library="fortran"),
    "library of a branch": lambda: tree["M"].array(library="fortran"),
    "how": lambda: tree.arrays(["M"], how=3),
    "expression": lambda: tree.arrays(["M +"]),
    "number": lambda: tree.arrays([3]),
    "filter": lambda: tree.keys(filter_name=3),
    "filter of branches": lambda: tree.keys(filter_branch="M"),
    "step": lambda: list(tree.iterate(["M"], step_size="many")),
    "step of no entries": lambda: list(tree.iterate(["M"], step_size=0)),
    "where": lambda: tree[1.5],
    "path": lambda: uproot.open(3),
    "two files": lambda: uproot.open({"a.root": "x", "b.root": "y"}),
    "files": lambda: uproot.concatenate(3),
    "width": lambda: tree.show(name_width=1),
    "unknown": lambda: tree.arrays(["M"], entrystart=3),
}
result = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except (TypeError, ValueError, SyntaxError) as err:
        kinds = [kind.__name__ for kind in (TypeError, SyntaxError, ValueError)
                 if isinstance(err, kind)]  # fmt: skip
        result[name] = kinds[0]
    else:
        result[name] = "nothing"
