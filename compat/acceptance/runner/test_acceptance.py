"""Scripts of users find the same with vroot in the place of uproot."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from compat.data import data_files

import vroot

SCRIPTS = Path(__file__).parents[1]

ZMUMU = ["uproot-Zmumu.root"]
HZZ = ["uproot-HZZ.root"]
SEVERAL = ["uproot-Zmumu-zlib.root", "uproot-Zmumu-zstd.root", "uproot-Zmumu-lz4.root"]
HISTOGRAMS = ["uproot-hepdata-example.root"]

#: What each script is given; "made" files are made here, the others are real ones.
FILES = {
    "all_in_one_file": HISTOGRAMS,
    "checked_names": ZMUMU,
    "containers_numpy": ["uproot-stl_containers.root"],
    "cycles": ["made-cycles.root"],
    "every_type": ["uproot-sample-6.20.04-zlib.root"],
    "file_properties": ZMUMU,
    "filtered_iteration": HZZ,
    "hist_filled": ZMUMU,
    "leaf_lists": ["uproot-leaflist.root"],
    "masks_and_sorting": HZZ,
    "sums_by_chunk": ZMUMU,
    "aliases": ZMUMU,
    "bad_arguments": ZMUMU,
    "branch_properties": HZZ,
    "caches": ZMUMU,
    "closed": ZMUMU,
    "concatenate_files": SEVERAL,
    "containers": ["uproot-stl_containers.root"],
    "cutflow": ZMUMU,
    "cuts_and_expressions": ZMUMU,
    "dimuon_mass": HZZ,
    "dask_collections": SEVERAL,
    "documented": ZMUMU,
    "entry_ranges": ZMUMU,
    "executors": HZZ,
    "files_that_differ": ["made-first.root", "made-second.root"],
    "filters": HZZ,
    "histogram_axes": HISTOGRAMS,
    "histograms": HISTOGRAMS,
    "histograms_elsewhere": HISTOGRAMS,
    "iterate_a_tree": ZMUMU,
    "iterate_files": SEVERAL,
    "jagged_cuts": HZZ,
    "jagged_numpy": HZZ,
    "jagged_pandas": HZZ,
    "keys_of_directories": ["uproot-nesteddirs.root"],
    "mapping_of_a_tree": ZMUMU,
    "membership": ZMUMU,
    "missing_things": ZMUMU,
    "nanoaod": ["nanoAOD_2015_CMS_Open_Data_ttbar.root"],
    "nested_vectors": ["uproot-vectorVectorDouble.root"],
    "objects": ["uproot-HZZ-objects.root"],
    "one_branch": ZMUMU,
    "open_and_read": ZMUMU,
    "open_forms": ZMUMU,
    "packed_numbers": ["uproot-double32-float16.root"],
    "parameters": ["made-first.root"],
    "pickling": ZMUMU,
    "processes": ZMUMU,
    "rntuple": ["test_int_5e4_rntuple_v1-0-0-0.root"],
    "rntuple_events": ["ntpl001_staff_rntuple_v1-0-0-0.root"],
    "rntuple_nested": ["test_nested_structs_rntuple_v1-0-0-0.root"],
    "show": HZZ,
    "some_branches": ZMUMU,
    "strings": ["made-first.root"],
    "subbranches": ["uproot-mc10events.root"],
    "to_dataframe": HZZ,
    "typenames": HZZ,
    "virtual": HZZ,
    "zipped": HZZ,
}


def make_files(folder: Path) -> None:
    for name, branches in (("made-first.root", ["x", "y"]), ("made-second.root", ["x"])):
        with uproot.recreate(folder / name) as file:
            numbers = {branch: np.arange(10) / len(branches) for branch in branches}
            for tree in ("tree", "folder/deep"):
                file.mktree(tree, {**dict.fromkeys(branches, "f8"), "text": "string"})
                file[tree].extend({**numbers, "text": ak.Array(list("abcdefghij"))})
            file["greeting"] = "hello"
            file["counts"] = np.histogram([1, 2, 2, 3], bins=4)
    with uproot.recreate(folder / "made-cycles.root") as file:
        for last in (5, 7):
            file.mktree("tree", {"x": "i8"}).extend({"x": np.arange(last)})


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each script found, by implementation."""
    folder = tmp_path_factory.mktemp("data")
    make_files(folder)
    for name in {name for names in FILES.values() for name in names}:
        if not (folder / name).exists():
            shutil.copy(data_files(name)[0], folder / name)
        vroot.scan(folder / name, folder / f"{name}.refs.json")
    jobs = [
        [str(SCRIPTS / f"{script}.py"), *(str(folder / name) for name in names)]
        for script, names in FILES.items()
    ]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    results = {}
    for implementation in ("uproot", "vroot"):
        out = folder / f"{implementation}.json"
        arguments = [implementation, folder / "jobs.json", out]
        subprocess.run(
            [sys.executable, "-m", "compat.acceptance.runner", *arguments],
            check=True,
            cwd=Path(__file__).parents[3],
        )
        results[implementation] = json.loads(out.read_text())
    return results


def test_each_script_has_files() -> None:
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(FILES)


@pytest.mark.parametrize("script", FILES)
def test_same(found: dict[str, dict[str, Any]], script: str) -> None:
    expected, ours = found["uproot"][script], found["vroot"][script]
    assert "raised" not in expected, "\n".join(expected["raised"])
    assert "raised" not in ours, "\n".join(ours["raised"])
    differing = [key for key in expected if expected[key] != ours.get(key)]
    assert not differing, {key: (expected[key], ours.get(key)) for key in differing}
    assert list(ours) == list(expected)
