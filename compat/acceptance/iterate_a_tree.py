import sys

import uproot

tree = uproot.open(sys.argv[1])["events"]
reports = []
for arrays, report in tree.iterate(["M", "px1"], step_size=1000, report=True):
    reports.append(
        (
            len(arrays),
            report.start,
            report.stop,
            report.tree_entry_start,
            report.tree_entry_stop,
            report.global_entry_start,
            report.global_entry_stop,
            report.global_offset,
            report.file_path,
            report.tree.name,
            report.source.object_path,
        )
    )
result = {
    "reports": reports,
    "sizes": [len(step) for step in tree.iterate(["M"], step_size="4 kB")],
    "all": [len(step) for step in tree.iterate(step_size="100 MB")],
    "numpy": [step["M"].sum() for step in tree.iterate(["M"], step_size=500, library="np")],
    "pandas": [step.index[0] for step in tree.iterate(["M"], step_size=500, library="pd")],
    "range": [
        step.M.to_list() for step in tree.iterate("M", entry_start=5, entry_stop=12, step_size=3)
    ],
    "cut": [len(step) for step in tree.iterate("M", "M > 80", step_size=700)],
    "entries of a size": tree.num_entries_for("10 kB", ["M", "px1"]),
}
