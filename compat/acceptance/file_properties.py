import sys

import uproot

with uproot.open(sys.argv[1]) as file:
    tree = file["events"]
    result = {
        "uuid": file.file.hex_uuid,
        "file path": [file.file_path, tree.file.file_path],
        "closed": file.closed,
        "is the same": tree.file.root_directory["events"].num_entries,
        "types": [
            isinstance(file, uproot.ReadOnlyDirectory),
            isinstance(tree, uproot.behaviors.TTree.TTree),
            isinstance(tree["M"], uproot.behaviors.TBranch.TBranch),
            isinstance(tree, uproot.behaviors.TBranch.HasBranches),
        ],
    }
result["closed now"] = file.closed
