"""Objects that are not trees: their data, and how they behave."""

from __future__ import annotations

import copy
import datetime as dt
import json
import math
import operator
import pickle
import struct
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import uproot
from hypothesis import given
from hypothesis import strategies as st
from objects_data import parameter, tnamed, tobject, write_objects

import vroot
from vroot.exceptions import KeyInFileError, ReferenceStoreError, UnsupportedError
from vroot.objects.basics import TArray, TList, TObjString
from vroot.objects.data import encode_array, encode_float, encode_text
from vroot.objects.decoding import decode_object
from vroot.scanner.objects import object_data


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_objects(tmp_path_factory.mktemp("objects") / "objects.root")


@pytest.fixture(scope="module")
def ours(path: Path) -> Any:
    return vroot.open(vroot.scan(path))


def compare(got: Any, expected: Any) -> None:
    """Compare an object with uproot's, with all that it holds."""
    if not hasattr(expected, "all_members"):
        if isinstance(expected, np.ndarray):
            assert got.dtype == expected.dtype
            assert got.tobytes() == expected.tobytes()
        else:
            assert type(got) is type(expected)
            assert got == expected or (math.isnan(got) and math.isnan(expected))
        return
    assert (got.classname, got.class_version) == (expected.classname, expected.class_version)
    assert list(got.members) == list(expected.members)
    assert list(got.all_members) == list(expected.all_members)
    for name, value in expected.all_members.items():
        assert got.has_member(name)
        assert got.has_member(name, all=False) == expected.has_member(name, all=False)
        compare(got.member(name), value)
    for base, other in zip(got.bases, expected.bases, strict=True):
        compare(base, other)
    if isinstance(expected, Sequence):
        assert isinstance(got, Sequence)
        for item, other in zip(got, expected, strict=True):
            compare(item, other)
    assert isinstance(got, str) == isinstance(expected, str)


def test_members_are_those_of_uproot(path: Path, ours: Any) -> None:
    with uproot.open(path) as file:
        for key in file.keys(filter_classname=lambda name: name != "TDirectory"):
            compare(ours[key], file[key])
            assert ours.title_of(key) == file.key(key).title()
            if key.startswith("hists/"):
                ours_json, theirs_json = ours[key].tojson(), file[key].tojson()
                assert json.dumps(ours_json) == json.dumps(theirs_json)


def test_member(ours: Any) -> None:
    histogram = ours["hists/regular"]
    assert histogram.member("fXaxis").member("fNbins") == 7
    assert histogram.member("fName") == "regular"
    assert not histogram.has_member("fName", all=False)
    assert histogram.member("fNone", none_if_missing=True) is None
    with pytest.raises(KeyInFileError, match="no such member"):
        histogram.member("fNone")
    with pytest.raises(KeyInFileError):
        histogram.member("fName", all=False)


def test_classes(ours: Any) -> None:
    histogram = ours["hists/two"]
    assert histogram.is_instance("TH2D")
    assert histogram.is_instance("TH2")
    assert histogram.is_instance("TNamed", "TTree")
    assert histogram.is_instance(TArray)
    assert not histogram.is_instance("TTree")
    assert [base.classname for base in histogram.base("TObject", "TH1")] == ["TH1", "TObject"]
    assert [base.classname for base in histogram.bases] == ["TH2", "TArrayD"]
    assert repr(histogram).startswith("<TH2D (version 4) at 0x")
    assert repr(decode_object(tnamed())).startswith("<TNamed 'n' title='t' at 0x")
    assert repr(decode_object(tnamed("n", ""))).startswith("<TNamed 'n' at 0x")
    value = decode_object(parameter("Long64_t", 3))
    value._classname = "TParameter<long long>"
    assert value.is_instance("TParameter< Long64_t >")


def test_strings(ours: Any) -> None:
    assert isinstance(ours["text"], TObjString)
    assert ours["text"] == "some text, ünï"
    assert ours["long_text"] == "x" * 1000
    # A std::string is not an object.
    assert type(decode_object({"kind": "text", "value": "x"})) is str


def test_list(ours: Any) -> None:
    found = ours["list"]
    assert isinstance(found, TList)
    assert len(found) == 2
    assert list(found) == ["one", "two"]
    assert found[-1] == "two"
    assert found[:1] == ["one"]
    assert "one" in found
    assert isinstance(found[0], TObjString)
    assert found[0].title() == "One"
    assert hash(found[0]) == hash("one")
    assert repr(found[0]).startswith("<TObjString 'one' at 0x")
    assert repr(found).startswith("<TList of 2 items at 0x")
    assert found.tojson()["arr"][0]["fString"] == "one"


def test_array(ours: Any) -> None:
    (array,) = ours["hists/regular"].base("TArrayD")
    assert len(array) == array.member("fN") == 9
    assert np.asarray(array).dtype == ">f8"
    assert np.asarray(array, dtype="f4").dtype == np.float32
    assert array.nbytes == 72
    assert array[0] == np.asarray(array)[0]
    assert "TArrayD" in repr(array)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(array)[0] = 1


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        ("double", 1.5, 1.5),
        ("float", -0.0, -0.0),
        ("int", -3, -3),
        ("Long64_t", 1 << 62, 1 << 62),
        ("bool", True, True),
        ("bool", 0, False),
        ("double", {"kind": "float", "bits": "fff0000000000000"}, -math.inf),
    ],
)
def test_parameter(kind: str, stored: Any, value: Any) -> None:
    found = decode_object(parameter(kind, stored))
    assert type(found.value) is type(value)
    assert found.value == value
    assert math.copysign(1, found.value) == math.copysign(1, value)
    assert bool(found) is bool(value)
    assert float(found) == float(value)
    assert found.name == "p"
    with pytest.raises(AttributeError):
        _ = found.title
    if math.isfinite(value):
        assert int(found) == int(value)
    if kind in ("int", "Long64_t"):
        assert operator.index(found) == value
    else:
        with pytest.raises(TypeError):
            operator.index(found)


@pytest.mark.parametrize(
    "data", [parameter("double", "x"), parameter("int", None), parameter("int", 0.5), tobject()]
)
def test_parameters_without_a_number(data: dict[str, Any]) -> None:
    data["classname"] = "TParameter<int>"
    with pytest.raises(ReferenceStoreError, match="fVal must be"):
        decode_object(data)


def test_datime() -> None:
    code = (2024 - 1995) << 26 | 11 << 22 | 25 << 17 | 19 << 12 | 53 << 6 | 37
    data = {"kind": "object", "classname": "TDatime", "members": {"fDatime": code}}
    assert decode_object(data).to_datetime() == dt.datetime(2024, 11, 25, 19, 53, 37)
    data["members"] = {"fDatime": 1 << 32}
    with pytest.raises(ReferenceStoreError, match="32 bits"):
        decode_object(data)


def plain(data: Any) -> dict[str, Any]:
    """Give data as a store has them."""
    found: dict[str, Any] = msgspec.to_builtins(data)
    return found


def numbers(*values: float) -> dict[str, Any]:
    """Give the data of an array."""
    return plain(encode_array(np.array(values, ">f8")))


def graph(classname: str, **arrays: tuple[float, ...]) -> Any:
    """Make a graph with these arrays."""
    members = {name: numbers(*values) for name, values in arrays.items()}
    data = {"kind": "object", "classname": classname, "bases": [tnamed()], "members": members}
    return decode_object(data)


ERRORS = {
    "fEXlow": (0.5, 0.5), "fEXhigh": (0.5, 0.5), "fEYlow": (1.0, 2.0), "fEYhigh": (3.0, 2.0)
}  # fmt: skip


def test_graph() -> None:
    points = graph("TGraph", fX=(1.0, 2.0), fY=(3.0, 4.0))
    assert [array.tolist() for array in points.values()] == [[1, 2], [3, 4]]
    for axis in (1, -1, "y"):
        assert points.values(axis).tolist() == [3, 4]
    assert points.values("x").dtype == np.dtype("f8")
    with pytest.raises(ValueError, match="axis must be"):
        points.values("z")
    with pytest.raises(ReferenceStoreError, match="points"):
        graph("TGraph", fX=(1.0, 2.0), fY=(3.0,))
    with pytest.raises(ReferenceStoreError, match="fY must be an array"):
        graph("TGraph", fX=(1.0, 2.0))


def test_graph_with_errors() -> None:
    points = graph("TGraphAsymmErrors", fX=(1.0, 2.0), fY=(3.0, 4.0), **ERRORS)
    expected = {"low": [1, 2], "high": [3, 2], "mean": [2, 2], "diff": [2, 0]}
    for which, values in expected.items():
        assert points.errors(which, "y").tolist() == values
        assert points.errors(which)[1].tolist() == values
    with pytest.raises(ValueError, match="which must be"):
        points.errors("middle")


def test_roofit_histogram() -> None:
    bins = graph("RooHist", fX=(1.0, 2.0), fY=(3.0, 4.0), **ERRORS)
    assert [array.tolist() for array in bins.to_numpy()] == [[3, 4], [0.5, 1.5, 2.5]]
    made = bins.to_hist()
    assert (made.name, made.axes[0].name) == ("n", "n")
    assert made.variances().tolist() == [4, 4]
    apart = graph("RooHist", fX=(1.0, 3.0), fY=(3.0, 4.0), **ERRORS)
    with pytest.raises(ValueError, match="do not touch"):
        apart.to_numpy()


def test_roofit_curve() -> None:
    curve = graph("RooCurve", fX=(0.0, 1.0, 2.0), fY=(0.0, 10.0, 20.0))
    band = graph("RooCurve", fX=(0.0, 2.0, 2.0, 0.0, 0.0), fY=(2.0, 2.0, 0.0, 0.0, 2.0))
    assert (curve.curve_type, band.curve_type) == ("VALUES", "ERRORS")
    assert curve.interpolate([0.5]).tolist() == [5]
    assert band.interpolate_errors([0.5, 1.5]).tolist() == [1, 1]
    edges = np.array([0.0, 1.0, 2.0])
    assert curve.to_boost(edges).values().tolist() == [5, 15]
    assert curve.to_hist(edges, band).variances().tolist() == [1, 1]
    with pytest.raises(ValueError, match="try interpolate_errors"):
        band.interpolate([0.5])
    with pytest.raises(ValueError, match="try interpolate"):
        curve.interpolate_errors([0.5])


# --- containers


def test_containers() -> None:
    def member(data: Any) -> Any:
        held = decode_object({"kind": "object", "classname": "T", "members": {"x": data}})
        return held.member("x")

    vector = member({"kind": "container", "type": "STLVector", "values": numbers(2, 1)})
    assert vector == [2, 1]
    assert vector.tolist() == np.asarray(vector).tolist() == [2, 1]
    keys = member({"kind": "container", "type": "STLSet", "values": numbers(1, 2)})
    assert keys == {1, 2}
    assert 2 in keys
    words = {"kind": "list", "items": ["a", "b"], "array": True}
    table = member({"kind": "map", "keys": words, "values": numbers(1, 2)})
    assert table["b"] == 2
    assert table.get("c") is None
    assert table.tolist() == {"a": 1, "b": 2}
    assert list(table.keys()) == ["a", "b"]
    assert member({"kind": "list", "items": [1, None]}) == [1, None]
    assert all(map(isinstance, (vector, keys, table), (Sequence, AbstractSet, Mapping)))
    for again in (vector, keys, table):
        assert pickle.loads(pickle.dumps(again)).tolist() == again.tolist()  # noqa: S301
        assert repr(again).startswith("<STL")
    with pytest.raises(ReferenceStoreError, match="2 keys for 1 values"):
        member({"kind": "map", "keys": words, "values": numbers(1)})


# --- cycles


def in_itself() -> dict[str, Any]:
    """Give the data of an object that is a member of its own member."""
    inner = {"kind": "object", "classname": "In", "members": {"up": {"kind": "reference", "id": 1}}}
    return {"kind": "object", "classname": "Out", "id": 1, "members": {"down": inner}}


def test_an_object_in_itself() -> None:
    found = decode_object(in_itself())
    assert found.member("down").member("up") is found
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again.member("down").member("up") is again
    assert list(copy.deepcopy(found).all_members) == ["down"]
    with pytest.raises(UnsupportedError, match="in itself"):
        found.tojson()


def test_references_that_refer_to_nothing() -> None:
    early = in_itself()
    early["id"] = 2
    twice = in_itself()
    twice["members"]["down"]["id"] = 1
    for data in (early, twice, {"kind": "reference", "id": 1}):
        with pytest.raises(ReferenceStoreError, match="the id"):
            decode_object(data)


# --- exact numbers and texts


@given(st.integers(0, (1 << 64) - 1))
def test_every_number_survives(bits: int) -> None:
    number = struct.unpack(">d", struct.pack(">Q", bits))[0]
    stored = encode_float(number)
    if not isinstance(stored, float):
        stored = {"kind": "float", "bits": stored.bits}  # type: ignore[assignment]
    data = json.loads(json.dumps(parameter("double", stored), allow_nan=False))
    assert struct.pack(">d", decode_object(data).value) == struct.pack(">Q", bits)


@given(st.binary())
def test_every_text_survives(content: bytes) -> None:
    text = content.decode(errors="surrogateescape")
    stored = encode_text(text)
    data = {"kind": "text", "value": stored}
    if not isinstance(stored, str):
        data = {"kind": "text", "base64": str(stored.base64)}
    assert decode_object(json.loads(json.dumps(data))) == text


@pytest.mark.parametrize("dtype", [">f8", "<i2", ">u8", "|b1", "|i1", ">f4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2)])
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    members = {"x": plain(encode_array(array))}
    found = decode_object({"kind": "object", "classname": "T", "members": members}).member("x")
    assert found.shape == array.shape
    # NumPy's scalars are always native.
    assert found.dtype == array.dtype if shape else array.dtype.newbyteorder("=")
    assert np.array_equal(found, array)
    assert isinstance(found, np.ndarray if shape else np.generic)


# --- hostile data


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "array", "dtype": ">f8", "shape": [1 << 40], "base64": ""},
        {"kind": "array", "dtype": ">f8", "shape": [-1, -1], "base64": "AAAAAAAAAAA="},
        {"kind": "array", "dtype": ">f8", "shape": [1], "base64": "not base64"},
        {"kind": "array", "dtype": "O", "shape": [1], "base64": "AAAAAAAAAAA="},
        {"kind": "array", "dtype": ">f16", "shape": [1], "base64": ""},
        {"kind": "array", "dtype": ">f8", "shape": 1, "base64": ""},
        {"kind": "array", "dtype": ">f8", "shape": [], "base64": ""},
        {"kind": "float", "bits": "7ff8"},
        {"kind": "text", "base64": "?"},
        {"kind": "container", "type": "STLVector", "values": 3},
        {"kind": "container", "type": "dict", "values": numbers()},
        {"kind": "nothing"},
        {"kind": "object"},
        {"kind": "object", "classname": "T", "more": 1},
        {"kind": "object", "classname": "TList", "value": 3},
        {"kind": "object", "classname": "THashList", "bases": [tobject()]},
        {"kind": "object", "classname": "TArrayD", "value": {"kind": "list", "items": []}},
        {"kind": "object", "classname": "TArrayI", "value": numbers(1)},
        {"kind": "object", "classname": "TObjString"},
        {"kind": "object", "classname": "TRef", "value": "x"},
        {"kind": "object", "classname": "TRefArray", "value": 1},
        {"kind": "object", "classname": "T", "bases": [{"kind": "text"}]},
        {},
        [],
    ],
)
def test_malformed_data(value: Any) -> None:
    for data in (value, {"kind": "object", "classname": "T", "members": {"x": value}}):
        with pytest.raises(ReferenceStoreError, match="malformed"):
            decode_object(data)


def test_compressed_arrays() -> None:
    zeros = encode_array(np.zeros(100_000, ">f8"))
    assert zeros.stored == "zstd"
    assert len(zeros.base64) < 100
    array = decode_object(plain(zeros))
    assert array.dtype == ">f8"
    assert not array.any()
    for shape in ([99_999], [100_001], [1 << 40], [1 << 26]):
        with pytest.raises(ReferenceStoreError, match="bytes"):
            decode_object({**plain(zeros), "shape": shape})
    with pytest.raises(ReferenceStoreError):
        decode_object({**plain(zeros), "shape": [10], "base64": "AAAAAAAAAAA="})


def test_arrays_that_are_too_large_together() -> None:
    zeros = encode_array(np.zeros(1 << 22, ">f8"))
    item = plain(zeros)
    assert len(decode_object({"kind": "list", "items": [item] * 8})) == 8
    with pytest.raises(ReferenceStoreError, match="more than 268435456 bytes"):
        decode_object({"kind": "list", "items": [item] * 9})


def test_data_that_are_too_deep() -> None:
    data: dict[str, Any] = tobject()
    for _ in range(3000):
        data = {"kind": "object", "classname": "T", "members": {"x": data}}
    with pytest.raises(ReferenceStoreError, match="too deep"):
        decode_object(data)


def test_the_error_names_the_object(path: Path) -> None:
    references = vroot.scan(path)
    own = references["refs"]["hists/two/zarr.json"]["attributes"]["vroot"]
    own["data"]["bases"].pop()
    file = vroot.open(references)
    assert file.classname_of("hists/two") == "TH2D"
    with pytest.raises(ReferenceStoreError, match=r"/hists/two;1 \(TH2D\): .* TH2D: its 24 bins"):
        _ = file["hists/two"]


# --- what is not in the store


def test_an_object_that_is_too_large(path: Path) -> None:
    with uproot.open(path) as file:
        key = file.key("hists/regular")
        size = key.data_uncompressed_bytes
        assert decode_object(object_data(key, size)).name == "regular"
        with pytest.raises(UnsupportedError, match=f"its {size} bytes are more than the limit"):
            object_data(key, size - 1)


def test_an_object_that_the_file_does_not_describe(path: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.root"
    content = path.read_bytes()
    # Class and name, as the keys have them.
    assert b"\x05TList\x04list" in content
    broken.write_bytes(content.replace(b"\x05TList\x04list", b"\x05TLost\x04list"))
    file = vroot.open(vroot.scan(broken))
    assert file.classname_of("list") == "TLost"
    with pytest.raises(UnsupportedError, match="the file does not describe its class"):
        _ = file["list"]
    assert file["hists/regular"].name == "regular"


def test_the_store_is_deterministic(path: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        vroot.scan(path, tmp_path / name, url="objects.root")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert b"NaN" not in (tmp_path / "a.json").read_bytes()
