import multiprocessing
import sys

import uproot

path = sys.argv[1]
tree = uproot.open(path)["events"]


def mass(entries):
    return tree["M"].array(entry_start=entries[0], entry_stop=entries[1], library="np").sum()


def opened(entries):
    with uproot.open(f"{path}:events") as again:
        return float(again["M"].array(entry_start=entries[0], entry_stop=entries[1])[0])


ranges = [(0, 500), (500, 1000), (1000, 2304)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    result = {"of a tree": pool.map(mass, ranges), "of a file": pool.map(opened, ranges)}
