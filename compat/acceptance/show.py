import io
import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
printed = io.StringIO()
tree.show(stream=printed)
stream = io.StringIO()
tree.show(stream=stream, filter_name="Muon*", name_width=12, interpretation_width=50)
one = io.StringIO()
tree["Muon_Px"].show(stream=one)
result = {"printed": printed.getvalue(), "stream": stream.getvalue(), "branch": one.getvalue()}
