"""Objects in `library="np"` are those of uproot, in a few files; `np_objects` takes all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import vroot as uproot
from compat.census.np_objects import compare_file

FILES = {
    "uproot-HZZ-objects.root": 11,
    "uproot-issue-40.root": 1,
    "uproot-issue-407.root": 1,
    "uproot-issue-643.root": 8,
    "uproot-issue-880.root": 8,
    "uproot-issue-1610.root": 1,
    "uproot-issue367.root": 2,
    "uproot-issue485.root": 3,
    "uproot-issue513.root": 15,
    "uproot-issue-tbranch-of-th2.root": 1,
    "uproot-small-evnt-tree-nosplit.root": 1,
    "uproot-stl_containers.root": 20,
    "uproot-vectorVectorDouble.root": 1,
}


def root_file(name: str) -> Path:
    """A file of scikit-hep-testdata: in a folder, or downloaded by that package."""
    if "VROOT_ROOTFILES" in os.environ:
        return Path(os.environ["VROOT_ROOTFILES"], name)
    skhep_testdata = pytest.importorskip("skhep_testdata", reason="VROOT_ROOTFILES is not set")
    return Path(skhep_testdata.data_path(name))


def opened(name: str) -> Any:
    return uproot.open(uproot.scan(root_file(name)))


@pytest.mark.parametrize("name", FILES)
def test_equal(name: str, tmp_path: Path) -> None:
    verdicts = dict(compare_file(root_file(name), tmp_path / "refs.json"))
    print(name, verdicts)
    wrong = {
        branch: verdict
        for branch, verdict in verdicts.items()
        if verdict.startswith(("DIFFERENT", "only uproot"))
        # Larger than what a store takes in.
        and "are more than the limit of" not in verdict
    }
    assert wrong == {}
    assert list(verdicts.values()).count("equal") >= FILES[name]


# --- the calls of uproot's own tests


def test_vectors_of_vectors() -> None:
    with opened("uproot-vectorVectorDouble.root")["t/x"] as branch:
        result = branch.array(library="np")
    assert [type(item).__name__ for item in result[2]] == ["STLSequence"] * 3
    assert [x.tolist() for x in result] == [
        [],
        [[], []],
        [[10.0], [], [10.0, 20.0]],
        [[20.0, -21.0, -22.0]],
        [[200.0], [-201.0], [202.0]],
    ]


def test_members_of_an_unsplit_object() -> None:
    with opened("uproot-small-evnt-tree-nosplit.root")["tree/evt"] as branch:
        result = branch.array(library="np")
    assert [x.member("StlVecStr").tolist() for x in result] == [
        [f"vec-{i:03d}"] * (i % 10) for i in range(100)
    ]


def test_histogram_in_a_branch() -> None:
    with opened("uproot-issue-tbranch-of-th2.root")["g4SimHits/tree"] as tree:
        (histogram,) = tree["histogram"].array(library="np")
        assert histogram.member("fXaxis").member("fName") == "xaxis"
        assert histogram.to_numpy()[0].shape == histogram.values().shape
        assert len(tree.arrays(library="np")["histogram"]) == 1
        with pytest.raises(NotImplementedError, match='use library="np"'):
            tree["histogram"].array()


def test_references() -> None:
    with opened("uproot-issue513.root")["Delphes"] as tree:
        array = tree["GenJet.Particles"].array(entry_stop=1, library="np")[0]
    assert len(array) == 7
    assert array[0].refs.tolist()[:5] == [2396, 2320, 2075, 2483, 2479]
    assert array[1].refs.tolist()[-3:] == [2272, 2053, 2367]


def test_pairs() -> None:
    with opened("uproot-issue-643.root")["ntuple0/objects"] as tree:
        array = tree["pf"].array(entry_stop=2, library="np")
    assert array[1][1].member("first").member("fE") == 326.0029230449897
    assert array[1][1].member("second") == 22


def test_in_place() -> None:
    with opened("uproot-Zmumu.root")["events"] as events:
        masses = np.zeros(events.num_entries)
        runs = np.zeros(events.num_entries, np.int64)
        given = {
            "M": events["M"].interpretation.inplace(masses),
            "Run": events["Run"].interpretation.inplace(runs),
        }
        result = events["M"].array(interpretation=given["M"], library="np")
        assert result.base is masses
        assert masses[:2].tolist() == [82.4626915551, 83.6262040052]
        masses[:] = 0
        events.arrays(given, library="np")
    assert masses[:2].tolist() == [82.4626915551, 83.6262040052]
    assert runs[:5].tolist() == [148031] * 5


def test_branches_after_the_file() -> None:
    log: list[Any] = []
    with opened("uproot-Zmumu.root") as file:
        tree = file["events"]
        eager = tree.arrays()
        virtual = tree.arrays(virtual=True, access_log=log)
    assert log == []
    assert ak.materialize(virtual).layout.is_equal_to(eager.layout)
    assert len(log) == 21
    assert {each.branch for each in log} == set(tree.keys())


def test_fields_after_the_file() -> None:
    log: list[Any] = []
    with opened("test_stl_containers_rntuple_v1-0-0-0.root") as file:
        eager = file["ntuple"].arrays()
        virtual = file["ntuple"].arrays(virtual=True, access_log=log)
    assert log == []
    assert ak.to_packed(virtual).layout.is_equal_to(ak.to_packed(eager).layout)
    assert len(log) == 44
    log.clear()
    with opened("test_stl_containers_rntuple_v1-0-0-0.root") as file:
        text = file["ntuple"]["string"].array()
        later = file["ntuple"]["string"].array(virtual=True, access_log=log)
    assert log == []
    assert later.tolist() == text.tolist()
    assert len(log) == 2


def test_columns_read_as_something_else() -> None:
    with opened("uproot-Zmumu.root")["events"] as events:
        numbers = events["Run"].array("i4", library="np")
        assert numbers[:3].tolist() == [148031] * 3
        reals = events["Run"].array(
            uproot.AsDtype(np.dtype(">i4"), np.dtype("float32")), library="np"
        )
        assert reals.dtype == np.float32
        assert reals.tolist() == numbers.tolist()
