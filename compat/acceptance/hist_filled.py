import sys

import hist
import uproot

events = uproot.open(sys.argv[1])["events"]
h = hist.Hist.new.Reg(30, 60, 120, name="mass").IntCat([-1, 1], name="charge").Double()
h.fill(mass=events["M"].array(), charge=events["Q1"].array())
result = {"hist": h, "projected": h.project("mass")}
