import sys

import uproot

files = sys.argv[1:]
total = 0
for step in uproot.iterate([f"{path}:events" for path in files], ["M"], step_size=1000):
    total += len(step)
reports = [
    (len(arrays), report.start, report.stop, report.tree_entry_start, report.file_path)
    for arrays, report in uproot.iterate(
        dict.fromkeys(files, "events"), filter_name="M", step_size="10 kB", report=True
    )
]
frames = list(uproot.iterate(dict.fromkeys(files, "events"), "M", library="pd", step_size=2000))
result = {
    "total": total,
    "reports": reports,
    "indexes": [(frame.index[0], frame.index[-1]) for frame in frames],
    "numpy": [
        step["M"][0]
        for step in uproot.iterate([{files[0]: "events"}, f"{files[1]}:events"], library="np")
    ],
    "counts": list(uproot.num_entries([{path: "events"} for path in files])),
}
