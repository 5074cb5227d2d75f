import sys
from concurrent.futures import ThreadPoolExecutor

import uproot

tree = uproot.open(sys.argv[1])["events"]
with ThreadPoolExecutor(4) as pool:
    both = tree.arrays(["Muon_Px"], decompression_executor=pool, interpretation_executor=pool)
    one = tree["Muon_Px"].array(decompression_executor=pool)
    columns = list(pool.map(lambda name: tree[name].array(), ["MET_px", "MET_py", "NMuon"]))
own = uproot.ThreadPoolExecutor(2)
trivial = uproot.source.futures.TrivialExecutor()
result = {
    "both": both,
    "one": one,
    "columns": columns,
    "uproot's": tree.arrays(["NMuon"], decompression_executor=own),
    "trivial": tree.arrays(["NMuon"], interpretation_executor=trivial),
}
own.shutdown()
