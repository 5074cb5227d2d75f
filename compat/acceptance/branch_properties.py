import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
result = {
    branch.name: {
        "title": branch.title,
        "object path": branch.object_path,
        "entries": branch.num_entries,
        "baskets": branch.num_baskets,
        "offsets": branch.entry_offsets,
        "compressed bytes": branch.compressed_bytes,
        "uncompressed bytes": branch.uncompressed_bytes,
        "ratio": branch.compression_ratio,
        "class": branch.classname,
        "top level": branch.top_level,
        "index": branch.index,
        "parent": branch.parent.name,
        "tree": branch.tree.name,
        "file": branch.file.file_path,
        "cache key": branch.cache_key == f"{branch.file.hex_uuid}:{branch.object_path}",
        "count branch": None if branch.count_branch is None else branch.count_branch.name,
        "basket": [int(entry) for entry in branch.basket_entry_start_stop(0)],
    }
    for branch in tree.branches
}
result["tree"] = {
    "compressed bytes": tree.compressed_bytes,
    "uncompressed bytes": tree.uncompressed_bytes,
    "ratio": tree.compression_ratio,
    "common offsets": tree.common_entry_offsets(),
    "class": tree.classname,
    "cycle": tree.object_path,
}
