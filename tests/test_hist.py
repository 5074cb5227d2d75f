"""Histograms, compared with uproot's."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boost_histogram as bh
import hist
import numpy as np
import pytest
import uproot
from hypothesis import given, settings
from hypothesis import strategies as st
from objects_data import histograms, write_objects

import vroot
from vroot.exceptions import (
    DeserializationError,
    MissingExtraError,
    ReferenceStoreError,
    UnsupportedError,
    VrootError,
)
from vroot.objects.decoding import decode_object

NAMES = list(histograms())
PROFILES = ("profile", "weighted_profile")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_objects(tmp_path_factory.mktemp("objects") / "objects.root")


@pytest.fixture(scope="module")
def ours(path: Path) -> Any:
    return vroot.open(vroot.scan(path))["hists"]


@pytest.fixture(scope="module")
def theirs(path: Path) -> Iterator[Any]:
    with uproot.open(path) as file:
        yield file["hists"]


class Data(dict[str, dict[str, Any]]):
    """Data by name; hypothesis shows the arguments of a test that fails."""

    def __repr__(self) -> str:
        return "the data"


@pytest.fixture(scope="module")
def data(path: Path) -> Data:
    """What the store has of each histogram."""
    refs = vroot.scan(path)["refs"]
    return Data(
        {name: refs[f"hists/{name}/zarr.json"]["attributes"]["vroot"]["data"] for name in NAMES}
    )


def same(got: Any, expected: Any) -> bool:
    """Same type, shape and bits."""
    got, expected = np.asarray(got), np.asarray(expected)
    return (got.dtype, got.shape) == (expected.dtype, expected.shape) and (
        got.tobytes() == expected.tobytes()
    )


@pytest.mark.parametrize("flow", [False, True])
@pytest.mark.parametrize("name", NAMES)
class TestLikeUproot:
    @pytest.mark.parametrize("method", ["values", "variances", "errors", "counts"])
    def test_contents(self, ours: Any, theirs: Any, name: str, flow: bool, method: str) -> None:
        got = getattr(ours[name], method)(flow=flow)
        assert same(got, getattr(theirs[name], method)(flow=flow))

    def test_axes(self, ours: Any, theirs: Any, name: str, flow: bool) -> None:
        assert len(ours[name].axes) == len(theirs[name].axes)
        for got, expected in zip(ours[name].axes, theirs[name].axes, strict=True):
            for method in ("edges", "intervals", "centers", "widths"):
                assert same(getattr(got, method)(flow=flow), getattr(expected, method)(flow=flow))
            assert got.labels(flow=flow) == expected.labels(flow=flow)

    def test_to_numpy(self, ours: Any, theirs: Any, name: str, flow: bool) -> None:
        if name in PROFILES:
            values, edges = ours[name].to_numpy(flow=flow)
            assert same(values, theirs[name].values(flow=flow))
            assert same(edges, theirs[name].axis().edges(flow=flow))
            return
        got, expected = ours[name].to_numpy(flow=flow), theirs[name].to_numpy(flow=flow)
        assert all(same(*pair) for pair in zip(got, expected, strict=True))
        values, edges = ours[name].to_numpy(flow=flow, dd=True)
        assert same(values, expected[0])
        assert all(same(*pair) for pair in zip(edges, expected[1:], strict=True))


@pytest.mark.parametrize("name", NAMES)
class TestConversion:
    def test_to_boost_and_hist(self, ours: Any, theirs: Any, name: str) -> None:
        for method in ("to_boost", "to_hist"):
            got, expected = getattr(ours[name], method)(), getattr(theirs[name], method)()
            assert type(got) is type(expected)
            assert got.storage_type is expected.storage_type
            assert same(got.view(flow=True), expected.view(flow=True))
            assert vars(got).keys() == vars(expected).keys()
            assert (got.name, got.label) == (expected.name, expected.label)
            assert got.axes == expected.axes
            assert [repr(axis) for axis in got.axes] == [repr(axis) for axis in expected.axes]
            # NaN is not equal to itself.
            assert name == "huge" or got == expected

    def test_implicitly(self, ours: Any, theirs: Any, name: str) -> None:
        assert name == "huge" or hist.Hist(ours[name]) == hist.Hist(theirs[name])
        assert same(bh.Histogram(ours[name]).view(), bh.Histogram(theirs[name]).view())

    def test_other_metadata(self, ours: Any, theirs: Any, name: str) -> None:
        chosen = {"metadata": {"cells": "fNcells"}, "axis_metadata": {"low": "fXmin"}}
        got, expected = ours[name].to_boost(**chosen), theirs[name].to_boost(**chosen)
        assert got.cells == expected.cells
        assert [axis.low for axis in got.axes] == [axis.low for axis in expected.axes]


@pytest.mark.parametrize("name", NAMES)
def test_properties(ours: Any, theirs: Any, name: str) -> None:
    got, expected = ours[name], theirs[name]
    for attribute in ("name", "title", "kind", "weighted", "classname"):
        assert getattr(got, attribute) == getattr(expected, attribute)
    for i, (axis, other) in enumerate(zip(got.axes, expected.axes, strict=True)):
        for attribute in ("low", "high", "width"):
            assert getattr(axis, attribute) == getattr(other, attribute)
        assert (axis.traits.discrete, axis.traits.circular) == (other.traits.discrete, False)
        assert len(axis) == len(other)
        assert np.array_equal(list(axis), list(other))
        assert np.array_equal(axis[1], other[1])
        assert got.axis(i) is axis is got.axis("xyz"[i])
        assert got.axis(i - len(got.axes)) is axis
        assert axis[1] in axis
        assert "absent" not in axis
    with pytest.raises(ValueError, match="axis must be"):
        got.axis("w")


@pytest.mark.parametrize("mode", ["", "s", "i", "g", None, 0, 1, 2, 3])
@pytest.mark.parametrize("name", PROFILES)
def test_error_modes(ours: Any, theirs: Any, name: str, mode: Any) -> None:
    for method in ("errors", "variances"):
        got = getattr(ours[name], method)(flow=True, error_mode=mode)
        assert same(got, getattr(theirs[name], method)(flow=True, error_mode=mode))


def test_wrong_error_mode(ours: Any) -> None:
    with pytest.raises(ValueError, match="error_mode must be"):
        ours["profile"].errors(error_mode="x")


def test_plottable(ours: Any) -> None:
    from uhi.numpy_plottable import ensure_plottable_histogram
    from uhi.typing.plottable import PlottableHistogram

    for name in NAMES:
        assert isinstance(ours[name], PlottableHistogram)
        assert ensure_plottable_histogram(ours[name]) is ours[name]


def test_equality(ours: Any, path: Path) -> None:
    again = vroot.open(vroot.scan(path))["hists"]
    for name in NAMES:
        assert (ours[name] == again[name]) is (name != "huge")
        assert ours[name].axes == again[name].axes
    assert ours["regular"] != ours["variable"]
    assert ours["regular"] != ours["two"]
    assert ours["regular"].axis() != ours["labels"].axis()
    assert ours["regular"] != "regular"


def test_results_are_the_callers_own(ours: Any) -> None:
    histogram = ours["regular"]
    before = histogram.values().copy()
    for method in ("values", "variances", "errors", "counts"):
        getattr(histogram, method)()[:] = -1
    histogram.axis().edges()[:] = 0
    assert same(histogram.values(), before)


def test_pickle(ours: Any) -> None:
    for name in NAMES:
        again = pickle.loads(pickle.dumps(ours[name]))  # noqa: S301
        assert repr(again)[:12] == repr(ours[name])[:12]
        assert same(again.values(flow=True), ours[name].values(flow=True))
        assert again.all_members.keys() == ours[name].all_members.keys()


def test_without_uproot(path: Path, tmp_path: Path, theirs: Any) -> None:
    out = tmp_path / "refs.json"
    vroot.scan(path, out)
    program = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot, pickle\n"
        f"hists = vroot.open({str(out)!r})['hists']\n"
        "made = {name: hists[name].to_hist() for name in hists.keys(cycle=False)}\n"
        "sys.stdout.buffer.write(pickle.dumps(made))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    made = pickle.loads(run.stdout)  # noqa: S301
    assert list(made) == NAMES
    for name in NAMES:
        assert name == "huge" or made[name] == theirs[name].to_hist()


def test_without_boost(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boost_histogram", None)
    for name in ("regular", "profile"):
        with pytest.raises(MissingExtraError, match=r"vroot\[hist\]"):
            ours[name].to_boost()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "hist", None)
    with pytest.raises(MissingExtraError, match="'hist'"):
        ours["regular"].to_hist()


# --- labels


def labelled(data: dict[str, dict[str, Any]], numbers: list[int], texts: list[str]) -> Any:
    """A histogram of three bins with other labels."""
    changed = copy.deepcopy(data["labels"])
    items = find(changed, "fLabels")["bases"][0]["value"]["items"]
    del items[len(texts) :]
    for item, number, text in zip(items, numbers, texts, strict=True):
        item["value"] = text
        item["bases"][0]["members"]["@fUniqueID"] = number
    return decode_object(changed)


def find(data: Any, name: str) -> Any:
    """Find a member of this name, depth first, that is an object."""
    if isinstance(data, dict):
        if isinstance(data.get(name), dict):
            return data[name]
        data = list(data.values())
    for item in data if isinstance(data, list) else []:
        if (found := find(item, name)) is not None:
            return found
    return None


def test_labels_are_those_of_their_bins(data: Any) -> None:
    texts = ["p", "q", "r"]
    assert labelled(data, [1, 2, 3], texts).axis().labels() == texts
    assert labelled(data, [3, 1, 2], texts).axis().labels() == ["q", "r", "p"]
    assert list(labelled(data, [3, 1, 2], texts).to_boost().axes[0]) == ["q", "r", "p"]
    # Older writers gave them no numbers.
    assert labelled(data, [0, 0, 0], texts).axis().labels() == texts


def test_labels_that_do_not_fit(data: Any) -> None:
    few = labelled(data, [1, 2], ["p", "q"])
    assert few.axis().labels() is None
    assert few.values().shape == (3,)
    with pytest.raises(DeserializationError, match=r"\(4,\) bins for \(3,\) labels"):
        few.to_boost()


# --- hostile data


def number_of(data: Any, name: str) -> dict[str, Any]:
    """Find the members of which one has this name and is no object."""
    if isinstance(data, dict):
        if name in data and not isinstance(data[name], dict):
            return data
        data = list(data.values())
    for item in data if isinstance(data, list) else []:
        if found := number_of(item, name):
            return found
    return {}


@pytest.mark.parametrize("value", [-1, 0, 2, 10**6, 1 << 62, None, "3", 3.0, [3], True])
@pytest.mark.parametrize("name", ["regular", "two", "three", "profile", "labels"])
def test_wrong_number_of_bins(data: Any, name: str, value: Any) -> None:
    changed = copy.deepcopy(data[name])
    number_of(changed, "fNbins")["fNbins"] = value
    with pytest.raises(ReferenceStoreError):
        decode_object(changed)


@pytest.mark.parametrize("member", ["fXaxis", "fName", "fTitle", "fNcells", "fSumw2"])
@pytest.mark.parametrize("value", [{"kind": "list", "items": []}, True])
def test_wrong_members(data: Any, member: str, value: Any) -> None:
    changed = copy.deepcopy(data["weighted"])
    holder = number_of(changed, member)
    if not holder:
        holder = changed["bases"][0]["members"]
    holder[member] = value
    with pytest.raises(ReferenceStoreError):
        decode_object(changed)


def use(value: Any) -> None:
    """Do everything with an object that can be done with it."""
    for name in ("name", "title", "weighted", "classname", "all_members", "bases", "value"):
        getattr(value, name, None)
    for name in ("values", "variances", "errors", "counts", "to_numpy", "to_boost", "to_hist"):
        method = getattr(value, name, None)
        if callable(method):
            method()
    for axis in getattr(value, "axes", ()):
        for name in ("edges", "intervals", "centers", "widths", "labels"):
            getattr(axis, name)(flow=True)
        assert axis.width is not None
        assert len(axis) > 0
        assert axis[0] is not None
    repr(value)
    value.tojson()


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Give every place in nested data, as a container and a key or an index."""
    keys = data.keys() if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


def mutated(data: Any, seed: int) -> Any:
    """Change a few places at random."""
    chosen, changed = random.Random(seed), copy.deepcopy(data)  # noqa: S311
    for _ in range(chosen.randint(1, 3)):
        all_places = list(places(changed))
        holder, key = chosen.choice(all_places)
        other_holder, other_key = chosen.choice(all_places)
        replacements = [
            None, True, -1, 0, 1, 3, 1 << 40, 1 << 63, 0.5, -1e308, "", "x", "TAxis", "THashList",
            [], {}, [[]], {"kind": "reference", "id": 1},
            {"kind": "float", "bits": "7ff8" + "0" * 12},
            {"kind": "list", "items": []}, copy.deepcopy(other_holder[other_key]),
        ]  # fmt: skip
        if chosen.random() < 0.2 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = chosen.choice(replacements)
    return changed


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 1 << 40), name=st.sampled_from(NAMES))
def test_mutated_data_are_refused_or_used(data: Any, seed: int, name: str) -> None:
    changed = mutated(data[name], seed)
    try:
        value = decode_object(changed)
    except ReferenceStoreError:
        return
    if not hasattr(value, "all_members"):
        return
    try:
        use(value)
    except VrootError:
        return


def test_axes_of_one_name(data: Any) -> None:
    changed = copy.deepcopy(data["two"])
    for name in ("fXaxis", "fYaxis"):
        number_of(find(changed, name), "fName")["fName"] = "same"
    value = decode_object(changed)
    assert [axis.name for axis in value.to_boost().axes] == ["same", "same"]
    with pytest.raises(DeserializationError, match="hist has no axes"):
        value.to_hist()


def test_contents_that_are_not_supported(data: Any) -> None:
    changed = copy.deepcopy(data["two"])
    changed["bases"][0]["classname"] = "TH2Poly"
    value = decode_object(changed)
    assert [len(axis) for axis in value.axes] == [4, 2]
    with pytest.raises(UnsupportedError, match="contents of a"):
        value.values()


def test_two_dimensional_profiles(data: Any) -> None:
    changed = copy.deepcopy(data["two"])
    changed["classname"] = "TProfile2D"
    changed["members"] = {"fBinEntries": copy.deepcopy(find(data["two"], "fSumw2"))}
    value = decode_object(changed)
    assert value.kind == "MEAN"
    assert value.values().shape == value.errors().shape == (4, 2)
    with pytest.raises(UnsupportedError, match="cannot be converted"):
        value.to_boost()


def test_the_store_is_plain(path: Path, data: Any) -> None:
    assert json.dumps(vroot.scan(path)) == json.dumps(vroot.scan(path))
    for name in NAMES:
        assert json.loads(json.dumps(data[name], allow_nan=False)) == data[name]
