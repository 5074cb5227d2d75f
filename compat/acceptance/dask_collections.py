import sys

import awkward as ak
import dask
import dask_awkward as dak
import uproot

files = dict.fromkeys(sys.argv[1:], "events")
path = next(iter(files))
events = uproot.dask(files, step_size=1000)
mass = events.M[events.px1 > 0]
steps = {path: {"object_path": "events", "steps": [[0, 1000], [1000, 2000]]}}
known = uproot.dask(steps, open_files=False)
columns = uproot.dask(files, filter_name=["M", "px1"], library="np", step_size=900)
late = uproot.dask(files, open_files=False, steps_per_file=3)
array, report = dask.compute(
    *uproot.dask({path: "events"}, filter_name="M", allow_read_errors_with_report=True),
    scheduler="sync",
)
result = {
    "divisions": events.divisions,
    "fields": events.fields,
    "form": events.M.form.to_dict(),
    "needed": {
        label: sorted(names)
        for names in dak.report_necessary_columns(mass).values()
        for label in ["columns"]
    },
    "mass": mass.compute(scheduler="threads"),
    "sum": ak.sum(events.M).compute(scheduler="sync"),
    "several": [each.compute(scheduler="sync") for each in dask.optimize(events.M, events.px1)],
    "steps": known.M.compute(scheduler="sync"),
    "partitions": known.npartitions,
    "columns": {name: column.compute(scheduler="sync") for name, column in columns.items()},
    "chunks": {name: column.chunks for name, column in columns.items()},
    "late": len(late.M.compute(scheduler="sync")),
    "late partitions": late.npartitions,
    "read": array.M,
    "errors": report["exception"],
}
