import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    "iterated": [branch.name for branch in tree],
    "branches": [branch.name for branch in tree.branches],
    "values": [branch.name for branch in tree.values()],
    "items": [(name, branch.name) for name, branch in tree.items()],
    "iterkeys": list(tree.iterkeys(filter_name="p*")),
    "itervalues": [branch.name for branch in tree.itervalues(filter_name="E*")],
    "iteritems": [name for name, _ in tree.iteritems()],
    "itertypenames": list(tree.itertypenames(filter_name="Q*")),
    "not recursive": tree.keys(recursive=False),
    "short": tree.keys(full_paths=False),
    "length": len(tree),
    "true": bool(tree),
    "the same": tree is tree["M"].tree,
}
