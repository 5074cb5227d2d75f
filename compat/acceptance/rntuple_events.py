import io
import sys

import uproot

with uproot.open(sys.argv[1]) as file:
    staff = file["Staff"]
    stream = io.StringIO()
    staff.show(stream=stream)
    result = {
        "filtered": staff.arrays(filter_name=["Age", "Nation"], entry_stop=20),
        "steps": [len(step) for step in staff.iterate(["Age"], step_size=1000)],
        "reports": [
            (report.tree_entry_start, report.tree_entry_stop)
            for _, report in staff.iterate(["Age"], step_size=1000, report=True)
        ],
        "keys": staff.keys(filter_name="/.*on/"),
        "shown": stream.getvalue(),
        "strings": staff["Nation"].array(entry_stop=5),
        "concatenated": uproot.concatenate(f"{sys.argv[1]}:Staff", ["Age"], entry_stop=10),
        "typenames": staff.typenames(),
        "negative": staff["Age"].array(entry_start=-3),
        "pandas": staff.arrays(["Age", "Cost"], library="pd", entry_stop=4),
    }
    try:
        staff["nonesuch"]
    except KeyError:
        result["missing"] = "KeyError"
