"""Objects in `library="np"`: containers, instances with members, and what a store itself holds."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import zstandard

import vroot
from vroot.arrays.libraries import to_library
from vroot.decode.interpretation import Buffers, Lists
from vroot.decode.output import Kept, Objects
from vroot.exceptions import CannotBeAwkward, ReferenceStoreError, UnsupportedError
from vroot.metadata.interpretations import AsInline, AsInstances, AsJagged, AsStridedObjects
from vroot.objects.basics import TRefArray
from vroot.objects.containers import STLMap, STLSequence, STLSet
from vroot.objects.instances import instances, structs
from vroot.objects.model import Object

VECTOR = {"container": "STLVector"}


def made(array: ak.Array, entry: Any = None, **classes: Any) -> list[Any]:
    """Objects of an array, and of a description of them."""
    description = {"entry": entry, "classes": classes}
    found: list[Any] = list(instances(ak.to_layout(array), json.dumps(description)))
    return found


def record(classname: str, **columns: Any) -> Any:
    """Records of a class."""
    return ak.with_parameter(ak.zip(columns, depth_limit=1), "__record__", classname)


# --- containers


def test_nested_vectors() -> None:
    entries = [[[1.5], []], [], [[2.5, 3.5]]]
    found = made(ak.Array(entries), {**VECTOR, "items": VECTOR})
    assert [entry.tolist() for entry in found] == entries
    assert isinstance(found[0], STLSequence)
    assert isinstance(found[0][0], STLSequence)
    assert found[0].typename == found[0][1].typename == "STLVector"
    assert np.asarray(found[2][0]).dtype == np.float64


@pytest.mark.parametrize("name", ["STLVector", "STLList", "ROOTRVec", "STLBitSet"])
def test_sequences(name: str) -> None:
    (entry,) = made(ak.Array([["b", "a", "ü"]]), {"container": name})
    assert entry.typename == name
    assert entry.tolist() == ["b", "a", "ü"]


def test_sets_and_maps_ascend() -> None:
    (numbers,) = made(ak.Array([[3, 1, 2]]), {"container": "STLSet"})
    assert isinstance(numbers, STLSet)
    assert list(numbers) == [1, 2, 3]
    pairs = ak.Array([[("b", [1]), ("a", [2, 3])], []])
    full, empty = made(pairs, {"container": "STLMap", "values": VECTOR})
    assert isinstance(full, STLMap)
    assert full.tolist() == {"a": [2, 3], "b": [1]}
    assert list(full.keys()) == ["a", "b"]
    assert full["a"].typename == "STLVector"
    assert empty.tolist() == {}


def test_arrays_without_container() -> None:
    one, other = made(ak.Array([[1, 2], []]))
    assert isinstance(one, np.ndarray)
    assert (one.tolist(), other.tolist()) == ([1, 2], [])
    (items,) = made(ak.Array([[[1], [2, 3]]]), {"items": VECTOR})
    assert items.dtype == object
    assert [item.tolist() for item in items] == [[1], [2, 3]]
    fixed = made(ak.from_numpy(np.arange(12).reshape(2, 2, 3), regulararray=True))
    assert [entry.tolist() for entry in fixed] == np.arange(12).reshape(2, 2, 3).tolist()


def test_texts_that_are_not_utf8() -> None:
    characters = ak.contents.NumpyArray(
        np.frombuffer(b"\xff.a", np.uint8), parameters={"__array__": "char"}
    )
    offsets = ak.index.Index64(np.array([0, 2, 3]))
    texts = ak.contents.ListOffsetArray(offsets, characters, parameters={"__array__": "string"})
    assert made(ak.Array(texts)) == ["\udcff.", "a"]


def test_parts_of_arrays() -> None:
    array = ak.Array([[[1], [2, 3]], [[4]], [[], [5]]])
    kind = {**VECTOR, "items": VECTOR}
    assert [entry.tolist() for entry in made(array[1:], kind)] == [[[4]], [[], [5]]]
    assert [entry.tolist() for entry in made(array[[2, 0]], kind)] == [[[], [5]], [[1], [2, 3]]]
    masked = record("A", x=ak.Array([1, 2, 3]))[1:]
    assert [entry.member("x") for entry in made(masked)] == [2, 3]


# --- instances

CLASSES = {
    "Derived": {"version": 3, "bases": ["Base", "Other"], "members": {"y": VECTOR, "same": None}},
    "Base": {"version": 1, "members": {"x": None, "same": None}},
    "Other": {"bases": ["Deepest"], "members": {"names": VECTOR}},
    "Deepest": {"members": {"z": None}},
}


def test_members_and_bases() -> None:
    array = record(
        "Derived",
        x=ak.Array([1, 2]),
        same=ak.Array([5, 6]),
        names=ak.Array([["a"], []]),
        z=ak.Array([0.5, 1.5]),
        y=ak.Array([[1, 2], []]),
        unknown=ak.Array([True, False]),
    )
    first, second = made(array, None, **CLASSES)
    assert (first.classname, first.class_version) == ("Derived", 3)
    assert first.members.keys() == {"y", "same", "unknown"}
    assert first.member("y").tolist() == [1, 2]
    assert type(first.member("x")) is int
    assert first.member("z") == 0.5
    assert [base.classname for base in first.bases] == ["Base", "Other"]
    # Of two members of one name, records have one: the other is not there, rather than wrong.
    assert first.bases[0].members == {"x": 1}
    assert first.member("same") == 5
    assert first.has_member("z")
    assert not first.has_member("z", all=False)
    assert not first.has_member("w")
    assert [base.classname for base in first.base("Deepest")] == ["Deepest"]
    assert second.member("names").tolist() == []
    assert second.all_members.keys() == {"x", "same", "names", "z", "y", "unknown"}


def test_objects_within_objects() -> None:
    inner = record("Inner", e=ak.Array([1.5, 2.5, 3.5]))
    array = record("Outer", one=inner, many=ak.unflatten(inner, [2, 0, 1]))
    found = made(array, None, Outer={"members": {"one": None, "many": VECTOR}})
    assert [entry.member("one").member("e") for entry in found] == [1.5, 2.5, 3.5]
    assert [item.member("e") for item in found[0].member("many")] == [1.5, 2.5]
    assert found[0].member("many").typename == "STLVector"
    assert found[1].member("many").tolist() == []


def test_references() -> None:
    array = record("TRefArray", fName=ak.Array(["n"]), refs=ak.Array([[3, 1]]))
    (entry,) = made(array)
    assert isinstance(entry, TRefArray)
    assert entry.refs.tolist() == [3, 1]
    assert entry.members == {"fName": "n"}


@pytest.mark.parametrize(
    ("classes", "entry", "message"),
    [
        ({"A": {"bases": ["B"]}, "B": {"bases": ["A"]}}, None, "base of itself"),
        ({"A": {"bases": 3}}, None, "array"),
        ({"A": {"color": 3}}, None, "unknown field"),
        ({}, {"container": "STLHeap"}, "Invalid enum value"),
        ([], None, "object"),
    ],
)
def test_false_descriptions(classes: Any, entry: Any, message: str) -> None:
    layout = ak.to_layout(record("A", x=ak.Array([1])))
    with pytest.raises(ReferenceStoreError, match=message):
        instances(layout, json.dumps({"entry": entry, "classes": classes}))


@pytest.mark.parametrize(
    ("array", "entry", "message"),
    [
        (ak.Array([{"x": 1}]), None, "no class"),
        (ak.Array([[1]]), {"container": "STLMap"}, "keys and values"),
        (ak.Array([1, None]), None, "there are no objects for"),
        (record("TArrayD", fN=ak.Array([1])), None, "its elements must be"),
        (ak.Array([[("a", 1), (2, 1)]]), {"container": "STLMap"}, "no objects|not fit"),
    ],
)
def test_what_does_not_fit(array: ak.Array, entry: Any, message: str) -> None:
    with pytest.raises(ReferenceStoreError, match=message):
        made(array, entry)


def test_many_objects_of_nothing() -> None:
    nothing = ak.contents.RecordArray([], [], 1 << 40, parameters={"__record__": "A"})
    with pytest.raises(ReferenceStoreError, match="too many"):
        instances(nothing, "{}")
    empty = ak.contents.RegularArray(ak.contents.EmptyArray(), 0, 1 << 40)
    with pytest.raises(ReferenceStoreError, match="too many"):
        instances(empty, "{}")


# --- structs

STRUCT = AsStridedObjects(
    np.dtype([("@bits", ">u4"), ("p/x", ">f4"), ("p/y", ">f4", (2,)), ("e", ">i8")]),
    {"": "Outer", "p": "Point"},
)


def test_structs() -> None:
    array = np.zeros(3, STRUCT.numpy_dtype)
    array["@bits"], array["p/x"], array["e"] = [7, 8, 9], [1.5, 2.5, 3.5], [-1, -2, -3]
    array["p/y"] = np.arange(6).reshape(3, 2)
    found = structs(STRUCT, array)
    assert [each.classname for each in found] == ["Outer"] * 3
    assert found[1].members.keys() == {"@bits", "p", "e"}
    assert found[1].member("p").classname == "Point"
    assert found[1].member("p").member("x") == 2.5
    assert type(found[1].member("p").member("x")) is np.float32
    assert found[1].member("p").member("y").tolist() == [2, 3]
    assert structs(STRUCT, array.reshape(3, 1)).shape == (3, 1)
    assert structs(STRUCT, array[:0]).shape == (0,)


def test_lists_of_structs() -> None:
    array = np.zeros(3, STRUCT.numpy_dtype)
    array["e"] = [1, 2, 3]
    found = to_library(AsJagged(STRUCT), Lists(np.array([0, 2, 2, 3]), array), "np")
    assert [[item.member("e") for item in entry] for entry in found] == [[1, 2], [], [3]]
    assert all(isinstance(item, Object) for item in found[0])


def test_references_among_structs() -> None:
    kind = AsStridedObjects(np.dtype([("@pidf", ">u2"), ("ref", ">u4")]), {"": "TRef"})
    array = np.zeros(2, kind.numpy_dtype)
    array["ref"] = [3, 4]
    found = structs(kind, array)
    assert [each.ref for each in found] == [3, 4]
    assert found[0].member("ref") == 3


# --- in stores


def store_with(refs: Path, interpretation: dict[str, Any]) -> Any:
    """The store, with a branch that is something else."""
    store = json.loads(refs.read_bytes())
    node = store["refs"]["Steady/x/zarr.json"]
    node["attributes"]["vroot"] = {"node": "branch", "interpretation": interpretation}
    node["attributes"]["root"]["num_entries"] = 2
    return store


HISTOGRAMS = {"kind": "instances", "reason": "TList"}


def test_histograms_in_a_branch(refs: Path) -> None:
    data = json.loads(refs.read_bytes())["refs"]["hist/zarr.json"]["attributes"]["vroot"]["data"]
    store = store_with(refs, {**HISTOGRAMS, "entries": [data, data]})
    tree = vroot.open(store)["Steady"]
    array = tree["x"].array(library="np")
    assert array.shape == (2,)
    assert array[0].member("fXaxis").member("fName") == "xaxis"
    assert array[1].values().tolist() == vroot.open(refs)["hist"].values().tolist()
    assert len(tree["x"].array(library="np", entry_start=1)) == 1
    assert tree.arrays(["x"], library="np")["x"][0].classname == array[0].classname
    for library in ("ak", "pd"):
        with pytest.raises(CannotBeAwkward, match=r"'/Steady;1:x'.*because of TList: use library"):
            tree["x"].array(library=library)
    with pytest.raises(CannotBeAwkward, match="TList"):
        tree["x"].interpretation.awkward_form()


def test_false_instances(refs: Path) -> None:
    store = store_with(refs, {**HISTOGRAMS, "entries": [{"kind": "object"}, None]})
    with pytest.raises(ReferenceStoreError, match="malformed") as caught:
        vroot.open(store)["Steady/x"].array(library="np")
    assert "'/Steady;1:x'" in caught.value.__notes__[0]
    store = store_with(refs, {**HISTOGRAMS, "entries": []})
    with pytest.raises(ReferenceStoreError, match="holds 0 of its 2 entries"):
        vroot.open(store)["Steady/x"].array(library="np")


def test_instances_hold_only_so_much_together() -> None:
    frame = base64.b64encode(zstandard.compress(bytes(1 << 27))).decode()
    zeros = {
        "kind": "array",
        "dtype": "|u1",
        "shape": [1 << 27],
        "base64": frame,
        "stored": "zstd",
    }
    with pytest.raises(ReferenceStoreError, match="more than"):
        to_library(AsInstances("", "", entries=[zeros] * 3), Kept([zeros] * 3), "np")


def test_a_store_without_description() -> None:
    array = ak.Array([[1], [2, 3]])
    form, _, buffers = ak.to_buffers(array)
    kind = AsInline(form.to_json(), {name: bytes(part) for name, part in buffers.items()})
    data = Objects(Buffers(2, {name: np.asarray(part) for name, part in buffers.items()}), 0, 2)
    assert to_library(kind, data, "ak").tolist() == array.tolist()
    with pytest.raises(UnsupportedError, match="scan the file again"):
        to_library(kind, data, "np")
