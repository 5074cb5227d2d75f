"""coffea's dask mode over reference stores, with `vroot.dask` in the place of uproot's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import awkward as ak
import dask
import dask_awkward as dak
import pytest
import uproot

import vroot

nanoevents = pytest.importorskip("coffea.nanoevents", reason="coffea is not installed")
manipulations = pytest.importorskip("coffea.dataset_tools.manipulations")

NAME = "nanoAOD_2015_CMS_Open_Data_ttbar.root"

pytestmark = [
    # coffea warns of what this file lacks for its schema.
    pytest.mark.filterwarnings("ignore:Missing cross-reference:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Branch Photon_:RuntimeWarning"),
]


@pytest.fixture(scope="module")
def root_file() -> Path:
    """A file of scikit-hep-testdata: in a folder, or downloaded by that package."""
    if "VROOT_ROOTFILES" in os.environ:
        return Path(os.environ["VROOT_ROOTFILES"], NAME)
    skhep_testdata = pytest.importorskip("skhep_testdata", reason="VROOT_ROOTFILES is not set")
    return Path(skhep_testdata.data_path(NAME))


@pytest.fixture(scope="module")
def store(root_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its references."""
    path = tmp_path_factory.mktemp("nano") / "refs.json"
    vroot.scan(root_file, path)
    return path


def from_root(files: Any, **options: Any) -> Any:
    return nanoevents.NanoEventsFactory.from_root(
        files, mode="dask", schemaclass=nanoevents.NanoAODSchema, **options
    ).events()


def analysis(events: Any) -> dict[str, Any]:
    return {
        "column": events.Muon.pt,
        "cut": events.Muon[(events.Muon.charge > 0) & (abs(events.Muon.eta) < 2.4)].pt,
        "mass": events.Jet[events.Jet.pt > 30].mass,
        "matched": events.Muon.matched_jet.pt,
        "number": dak.num(events.Electron),
        "scalar": events.MET.pt,
    }


@pytest.mark.parametrize("steps", [None, [[0, 4], [6, 10]]])
def test_the_same_events(
    root_file: Path, store: Path, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    details = {"object_path": "Events"} | ({} if steps is None else {"steps": steps})
    theirs = from_root({str(root_file): details})
    monkeypatch.setattr(uproot, "dask", vroot.dask)
    ours = from_root({str(store): details})
    assert ours.form.to_json() == theirs.form.to_json()
    assert ours.divisions == theirs.divisions
    expected, found = analysis(theirs), analysis(ours)
    for name, collection in found.items():
        (needed,) = dak.report_necessary_columns(collection).values()
        (its,) = dak.report_necessary_columns(expected[name]).values()
        assert needed == its
        assert len(needed) < 10
    (got,), (wanted,) = (dask.compute(each, scheduler="sync") for each in (found, expected))
    for name, array in got.items():
        assert str(array.type) == str(wanted[name].type)
        assert ak.array_equal(array, wanted[name], equal_nan=True)


def test_failures_are_reported(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uproot, "dask", vroot.dask)
    absent = tmp_path / "absent.json"
    details = {"object_path": "Events", "steps": [[0, 5]]}
    events, report = from_root(
        {str(store): details, str(absent): details},
        uproot_options={"allow_read_errors_with_report": True},
    )
    pt, report = dask.compute(events.MET.pt, report, scheduler="sync")
    assert len(pt) == 5
    failed = manipulations.get_failed_steps_for_dataset({"files": {str(absent): details}}, report)
    assert failed["files"][str(absent)]["steps"] == [[0, 5]]
