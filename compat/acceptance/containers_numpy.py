import sys

import uproot

tree = uproot.open(sys.argv[1])["tree"]
nested = tree["vector_vector_int32"].array(library="np")
result = {
    "strings": tree["string"].array(library="np"),
    "vectors": [list(each) for each in tree["vector_int32"].array(library="np")],
    "vectors of strings": [list(each) for each in tree["vector_string"].array(library="np")],
    "nested vectors": [[list(map(int, inner)) for inner in outer] for outer in nested],
    "range": tree.arrays(["string", "vector_int32"], entry_start=1, library="np")["string"],
}
