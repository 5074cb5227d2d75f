"""coffea's events are the same from a reference store as from the ROOT file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import vroot

coffea = pytest.importorskip("coffea", reason="coffea is not installed")

NAMES = {
    "TTree": "nanoAOD_2015_CMS_Open_Data_ttbar.root",
    "RNTuple": "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root",
}

pytestmark = [
    # coffea warns of what these files lack for its schema.
    pytest.mark.filterwarnings("ignore:Missing cross-reference:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Branch Photon_:RuntimeWarning"),
]


def root_file(name: str) -> Path:
    """A file of scikit-hep-testdata: in a folder, or downloaded by that package."""
    if "VROOT_ROOTFILES" in os.environ:
        return Path(os.environ["VROOT_ROOTFILES"], name)
    skhep_testdata = pytest.importorskip("skhep_testdata", reason="VROOT_ROOTFILES is not set")
    return Path(skhep_testdata.data_path(name))


@pytest.fixture(scope="module", params=list(NAMES))
def files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A ROOT file, and its store."""
    path = root_file(NAMES[request.param])
    store = tmp_path_factory.mktemp("nano") / "refs.json"
    vroot.scan(path, store)
    return path, store


@pytest.fixture(params=["eager", "virtual"])
def events(files: tuple[Path, Path], request: pytest.FixtureRequest) -> Iterator[tuple[Any, Any]]:
    """Events of uproot and of vroot."""
    path, store = files
    with uproot.open(path) as theirs, vroot.open(store) as ours:
        yield from_root(theirs, request.param), from_root(ours, request.param)


def from_root(file: Any, mode: str, **options: Any) -> Any:
    from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # see above: fixtures have no marks
        return NanoEventsFactory.from_root(
            file, treepath="Events", schemaclass=NanoAODSchema, mode=mode, **options
        ).events()


def assert_equal(theirs: ak.Array, ours: ak.Array) -> None:
    theirs, ours = ak.materialize(theirs), ak.materialize(ours)
    assert str(theirs.type) == str(ours.type)
    assert ak.array_equal(theirs, ours, equal_nan=True)


def test_all_fields(events: tuple[Any, Any]) -> None:
    theirs, ours = events
    assert theirs.fields == ours.fields
    assert "Muon" in ours.fields
    for field in theirs.fields:
        assert theirs[field].fields == ours[field].fields
        for below in theirs[field].fields:
            assert_equal(theirs[field, below], ours[field, below])


def test_vectors(events: tuple[Any, Any]) -> None:
    """What coffea and vector make of columns: invariant masses, distances, cross-references."""

    def derived(events: Any) -> list[ak.Array]:
        first, second = ak.unzip(ak.combinations(events.Jet, 2))
        muons = events.Muon[ak.num(events.Muon) >= 2]
        return [
            (first + second).mass,
            first.delta_r(second),
            (muons[:, 0] + muons[:, 1]).mass,
            events.Jet.nearest(events.Muon).pt,
            events.Muon.matched_jet.pt,
            events.Electron[events.Electron.pt > 10].metric_table(events.Jet),
        ]

    for theirs, ours in zip(*map(derived, events), strict=True):
        assert_equal(theirs, ours)
    assert ak.count(derived(events[1])[0]) > 0


def test_part_of_the_entries(files: tuple[Path, Path]) -> None:
    path, store = files
    entries = {"entry_start": 3, "entry_stop": 8}
    with uproot.open(path) as theirs, vroot.open(store) as ours:
        expected, found = (from_root(file, "virtual", **entries) for file in (theirs, ours))
        assert len(found) == 5
        assert_equal(expected.Jet.pt, found.Jet.pt)


SCRIPT = """
import sys
import warnings

import awkward as ak
from coffea import processor
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

warnings.simplefilter("ignore")
files = {sys.argv[1]: "Events"}
events = NanoEventsFactory.from_root(files, schemaclass=NanoAODSchema, mode="virtual").events()


class Muons(processor.ProcessorABC):
    def process(self, events):
        return {"entries": len(events), "muons": int(ak.sum(ak.num(events.Muon)))}

    def postprocess(self, accumulator):
        return accumulator


run = processor.Runner(processor.IterativeExecutor(status=False), schema=NanoAODSchema)
print(events.Jet.pt.to_list(), run({"ttbar": {"files": files}}, Muons()))
"""
VROOT = "import sys; from vroot.cli import main; sys.exit(main())"


def test_the_names_of_files_under_vroot_run(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Where coffea opens files by name it asks uproot, which `vroot run` replaces."""
    path, store = files
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    printed = []
    for arguments in ([script, path], ["-c", VROOT, "run", script, store]):
        command = [sys.executable, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines()[-1])  # after what coffea says of its progress
    assert printed[0] == printed[1]
    assert "'muons': " in printed[0]


RUNNER = """
import json
import sys
import warnings

import awkward as ak
from coffea import processor
from coffea.nanoevents import NanoAODSchema

warnings.simplefilter("ignore")


class Muons(processor.ProcessorABC):
    def process(self, events):
        return {"entries": len(events), "muons": int(ak.sum(ak.num(events.Muon)))}

    def postprocess(self, accumulator):
        return accumulator


def make_executor(name):
    if name == "iterative":
        return processor.IterativeExecutor(status=False)
    if name == "futures":
        return processor.FuturesExecutor(workers=2, status=False)
    from distributed import Client

    client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)
    return processor.DaskExecutor(client=client, status=False)


def main():
    path, name = sys.argv[1:]
    run = processor.Runner(
        make_executor(name), schema=NanoAODSchema, savemetrics=True, skipbadfiles=True, chunksize=70
    )
    files = {"ttbar": {"files": {path: "Events", path + ".missing": "Events"}}}
    found, metrics = run(files, Muons())
    print(json.dumps([found, {key: metrics[key] for key in sorted(metrics)}], default=sorted))


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("executor", ["iterative", "futures", "dask"])
def test_runner_with_metrics(files: tuple[Path, Path], tmp_path: Path, executor: str) -> None:
    """The metrics of a Runner have what uproot's sources count."""
    path, store = files
    script = tmp_path / "script.py"
    script.write_text(RUNNER)
    answers = []
    for arguments in ([script, path], ["-c", VROOT, "run", script, store]):
        command = [sys.executable, *arguments, executor]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout.splitlines()[-1]))
    (theirs, their_metrics), (ours, our_metrics) = answers
    assert ours == theirs
    assert ours["muons"] > 0
    assert our_metrics.keys() == their_metrics.keys()
    for key in ("entries", "chunks"):
        assert our_metrics.get(key) == their_metrics.get(key)
    assert type(our_metrics["bytesread"]) is int
    # All baskets of the tree are within the tree's own object, and therefore in the store.
    assert (our_metrics["bytesread"] > 0) == ("rntuple" in path.name)
