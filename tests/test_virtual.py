"""Virtual arrays read a column when it is touched, and are then what eager ones are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.arrays.virtual import Accessed
from vroot.exceptions import ClosedFileError, ShortReadError
from vroot.trees.reading import Options, read_one


@pytest.fixture(scope="module")
def tree(refs: Path) -> vroot.TTree:
    found = vroot.open(refs, verify_sources=False)["Events"]
    assert isinstance(found, vroot.TTree)
    return found


@pytest.fixture(scope="module")
def theirs(zlib_file: Path) -> Iterator[Any]:
    with uproot.open(zlib_file) as file:
        yield file["Events"]


@pytest.fixture(scope="module")
def ntuple_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("virtual") / "ntuple.root"
    columns = {
        "run": np.arange(100),
        "jets": ak.zip({"pt": [[1.5, 2.5], []] * 50, "label": [["a", "bc"], []] * 50}),
        "either": ak.from_iter([1, [2.5]] * 50),
    }
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("data", columns)
        ntuple.extend(columns)  # a second cluster
    return path


def equal(ours: ak.Array, theirs: ak.Array) -> bool:
    """Same type, form and values."""
    assert str(ours.type) == str(theirs.type)
    assert ours.layout.form.to_dict() == theirs.layout.form.to_dict()
    return bool(ak.array_equal(ours, theirs, equal_nan=True))


@pytest.mark.parametrize("entries", [(None, None), (250, 320), (-5, None), (7, 7), (5000, None)])
def test_same_as_eager_and_as_uproot(tree: Any, theirs: Any, entries: tuple[Any, Any]) -> None:
    options = {"entry_start": entries[0], "entry_stop": entries[1]}
    logs: tuple[list[Any], list[Any]] = ([], [])
    ours = tree.arrays(virtual=True, access_log=logs[0], **options)
    expected = theirs.arrays(virtual=True, access_log=logs[1], **options)
    assert not ours.layout.is_any_materialized
    assert str(ours.type) == str(expected.type)
    materialized = ak.materialize(ours)
    assert equal(materialized, ak.materialize(expected))
    assert equal(materialized, tree.arrays(**options))
    assert [tuple(each) for each in logs[0]] == [tuple(each) for each in logs[1]]
    assert [each.branch for each in logs[0][:2]] == ["run", "met"]


def test_a_touch_reads_one_column(tree: Any, requests: list[int]) -> None:
    alone: dict[str, list[int]] = {}
    for name in ("met", "label", "Muon_pt"):
        tree[name].array()
        alone[name] = requests[:]
        requests.clear()
    expected = tree["met"].array()
    requests.clear()
    log: list[Accessed] = []
    arrays = tree.arrays(filter_name=["met", "label", "Muon_pt"], virtual=True, access_log=log)
    assert (arrays.fields, len(arrays), requests, log) == (
        ["met", "Muon_pt", "label"],
        1000,
        [],
        [],
    )
    assert arrays.met[3] == expected[3]
    assert requests == alone["met"]
    assert [each.branch for each in log] == ["met"]
    requests.clear()
    arrays.met + 1  # a second touch
    assert (requests, len(log)) == ([], 1)
    ak.materialize(arrays.label)
    assert requests == alone["label"]
    assert [each.buffer_key.rpartition("-")[2] for each in log] == ["data", "offsets", "data"]


def test_lists_of_one_counter_share_their_offsets(tree: Any, requests: list[int]) -> None:
    arrays = tree.arrays(filter_name="Muon_*", virtual=True)
    first = ak.num(arrays.Muon_pt)
    read = len(requests)
    assert ak.all(ak.num(arrays.Muon_charge) == first)
    assert len(requests) > read  # its own, which may be others
    offsets = [np.asarray(arrays[name].layout.offsets.data) for name in arrays.fields]
    assert np.shares_memory(offsets[0], offsets[1])


@pytest.mark.parametrize("first", ["Muon_pt", "Muon_charge"])
def test_lists_of_one_counter_that_differ(
    tree: Any, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    # As if one of them were damaged: each has its own lengths, whichever is touched first.
    def wrong(branch: Any, entries: tuple[int, int], options: Options) -> Any:
        array = read_one(branch, entries, options)
        return array[:, :1] if branch.name == "Muon_charge" else array

    monkeypatch.setattr("vroot.trees.virtual.read_one", wrong)
    expected = tree["Muon_pt"].array()
    arrays = tree.arrays(filter_name="Muon_*", virtual=True)
    ak.materialize(arrays[first])
    assert equal(ak.materialize(arrays.Muon_pt), expected)
    assert ak.array_equal(arrays.Muon_charge, tree["Muon_charge"].array()[:, :1])


def test_one_branch(tree: Any, theirs: Any) -> None:
    log: list[Any] = []
    ours = tree["Muon_pt"].arrays(virtual=True, access_log=log, entry_stop=7)
    assert equal(ak.materialize(ours), ak.materialize(theirs["Muon_pt"].arrays(entry_stop=7)))
    assert {each.branch for each in log} == {"Muon_pt"}


def test_copies_and_pickles(tree: Any) -> None:
    expected = tree.arrays()
    assert equal(ak.materialize(copy.deepcopy(tree.arrays(virtual=True))), expected)
    assert equal(pickle.loads(pickle.dumps(tree.arrays(virtual=True))), expected)  # noqa: S301


@pytest.mark.parametrize("name", ["Events", "data"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"virtual": True, "how": tuple}, "'how' cannot be used with 'virtual=True'"),
        ({"virtual": True, "library": "np"}, "'library' cannot be used with 'virtual=True'"),
        ({"virtual": True, "expressions": "run"}, "'expressions' cannot be used"),
        ({"virtual": True, "cut": "run > 3"}, "'cut' cannot be used with 'virtual=True'"),
        ({"virtual": True, "aliases": {"x": "run"}}, "'aliases' cannot be used"),
        ({"access_log": []}, "'access_log' cannot be used with 'virtual=False'"),
        ({"virtual": True, "access_log": ()}, "access_log=.* needs to implement '__iadd__'"),
    ],
)
def test_what_does_not_go_together(
    refs: Path, ntuple_file: Path, name: str, options: dict[str, Any], message: str
) -> None:
    file = vroot.open(refs if name == "Events" else vroot.scan(ntuple_file))
    with pytest.raises(ValueError, match=message):
        file[name].arrays(**options)


def test_errors_at_the_touch(zlib_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.root"
    path.write_bytes(zlib_file.read_bytes())
    tree = vroot.open(vroot.scan(path), verify_sources=False)["Events"]
    arrays = tree.arrays(virtual=True)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ShortReadError) as caught:
        ak.materialize(arrays.met)
    assert "Events;1:met" in "".join(caught.value.__notes__)


def test_arrays_outlive_the_file(refs: Path, ntuple_file: Path) -> None:
    for store, name in ((refs, "Events"), (vroot.scan(ntuple_file), "data")):
        with vroot.open(store) as file:
            eager = file[name].arrays()
            virtual = file[name].arrays(virtual=True)
            columns = file[name]
        assert virtual.tolist() == eager.tolist()
        with pytest.raises(ClosedFileError, match="is closed"):
            columns.arrays(virtual=True)
        with pytest.raises(ClosedFileError, match="is closed"):
            columns.arrays()


def test_field_outlives_the_file(ntuple_file: Path) -> None:
    log: list[Any] = []
    with vroot.open(vroot.scan(ntuple_file)) as file:
        field = next(iter(file["data"].values()))
        eager = field.array()
        virtual = field.array(virtual=True, access_log=log)
    assert log == []
    assert virtual.tolist() == eager.tolist()
    assert log != []


# --- RNTuples


def fields_of(file: Any, **options: Any) -> Any:
    return file["data"].arrays(virtual=True, **options)


@pytest.mark.parametrize("entries", [(None, None), (3, 17), (5, 5)])
def test_ntuple(ntuple_file: Path, entries: tuple[Any, Any], requests: list[int]) -> None:
    options = {"entry_start": entries[0], "entry_stop": entries[1]}
    logs: tuple[list[Any], list[Any]] = ([], [])
    with uproot.open(ntuple_file) as file:
        expected = ak.materialize(fields_of(file, access_log=logs[1], **options))
    file = vroot.open(vroot.scan(ntuple_file), verify_sources=False)
    requests.clear()
    ours = fields_of(file, access_log=logs[0], **options)
    assert (requests, len(logs[0])) == ([], 0)
    ak.materialize(ours.run)
    assert [each.field_name for each in logs[0]] == ["run"]
    assert len(requests) <= 1
    materialized = ak.materialize(ours)
    assert equal(materialized, file["data"].arrays(**options))
    assert equal(materialized, expected)
    assert sorted(map(tuple, logs[0])) == sorted(map(tuple, logs[1]))


def test_ntuple_field(ntuple_file: Path) -> None:
    field = vroot.open(vroot.scan(ntuple_file))["data"]["jets.pt"]
    expected = field.array()
    assert equal(ak.materialize(field.array(virtual=True)), expected)
    assert field.array(virtual=True, library="np")[0].tolist() == [1.5, 2.5]
    # As in uproot: to get at the members of records in lists, Awkward touches the lists.
    log: list[Any] = []
    array = field.array(virtual=True, access_log=log)
    assert [each.field_name for each in log] == ["jets"]
    assert array[0].tolist() == [1.5, 2.5]
    assert [each.field_name for each in log] == ["jets", "pt"]


def test_ntuple_errors_at_the_touch(ntuple_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.root"
    path.write_bytes(ntuple_file.read_bytes())
    arrays = fields_of(vroot.open(vroot.scan(path), verify_sources=False))
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(ShortReadError) as caught:
        ak.materialize(arrays.run)
    assert "field 'run'" in "".join(caught.value.__notes__)
