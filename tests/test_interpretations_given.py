"""Branches read with interpretations of the user's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.exceptions import CorruptBasketError, DeserializationError, UnsupportedError


@pytest.fixture
def tree(refs: Path) -> Any:
    return vroot.open(refs)["Events"]


# `numpy.dtype` takes what stands for a dtype, which the types of the fields do not say.
AsDtype: Any = vroot.AsDtype


def theirs(kind: Any) -> Any:
    """The same interpretation in uproot."""
    match kind:
        case vroot.AsDtype(from_dtype, to_dtype):
            return uproot.AsDtype(from_dtype, to_dtype)
        case vroot.AsJagged(content, header):
            return uproot.AsJagged(theirs(content), header)
        case vroot.AsDouble32(low, high, bits):
            return uproot.AsDouble32(low, high, bits)
    return kind


@pytest.mark.parametrize(
    ("branch", "kind"),
    [
        ("run", "i4"),
        ("run", np.float32),
        ("run", AsDtype(">i4", "float32")),
        ("run", AsDtype("<u4")),
        ("run", AsDtype((">u2", (2,)))),
        ("run", vroot.AsDouble32(0.0, 1.0, 30)),
        ("weight", AsDtype([("a", ">f4"), ("b", ">i4")])),
        ("weight", AsDtype(">f8", "f4")),
        ("good", "u1"),
        ("matrix", AsDtype((">i4", (6,)))),
        ("Muon_pt", vroot.AsJagged(AsDtype(">u4"))),
        ("Muon_charge", vroot.AsJagged(AsDtype(">i4", "f8"))),
        ("Muon_charge", vroot.AsJagged(AsDtype(">f4"))),
    ],
)
def test_as_uproot(tree: Any, zlib_file: Path, branch: str, kind: Any) -> None:
    with uproot.open(zlib_file) as file:
        for library in ("ak", "np"):
            options: dict[str, Any] = {"library": library, "entry_start": 250, "entry_stop": 800}
            expected = file["Events"][branch].array(theirs(kind), **options)
            found = tree[branch].array(kind, **options)
            together = tree.arrays({branch: kind}, **options)[branch]
            for each in (found, together):
                if library == "ak":
                    assert each.type == expected.type
                    assert ak.array_equal(each, expected, equal_nan=True)
                else:
                    assert each.dtype == expected.dtype
                    for one, other in zip(each, expected, strict=True):
                        assert np.array_equal(one, other, equal_nan=one.dtype.names is None)
    # The branch itself is what it was.
    assert tree[branch].array().type == tree.arrays([branch])[branch].type


def test_equality() -> None:
    # NumPy says that float64 is equal to None.
    assert AsDtype(">i4", "f8") != AsDtype(">i4")
    assert AsDtype(">i4", "i4") == AsDtype(">i4")
    assert hash(AsDtype(">i4", "i4")) == hash(AsDtype(">i4"))
    assert AsDtype(">i4") != vroot.AsJagged(AsDtype(">i4"))
    array = np.zeros(3)
    kind = AsDtype(">i4")
    assert kind.inplace(array) == kind.inplace(array) != kind.inplace(np.zeros(3))
    assert kind.inplace(np.zeros(3, "i4")) != kind


def test_its_own_is_the_branch_itself(tree: Any) -> None:
    branch = tree["Muon_pt"]
    assert branch.interpreted(branch.interpretation) is branch


def test_steps(tree: Any) -> None:
    parts = list(tree.iterate({"run": "f4"}, step_size=170))
    assert ak.concatenate(parts).run.tolist() == tree["run"].array("f4").tolist()


def test_strings_read_as_bytes_are_refused(tree: Any) -> None:
    with pytest.raises(DeserializationError, match=r"'/Events;1:label'.* does not fit AsDtype"):
        tree["label"].array("u1")


@pytest.mark.parametrize(
    ("branch", "kind", "error", "message"),
    [
        ("run", "f8", DeserializationError, r"which does not fit AsDtype\('>f8'\)\nin file"),
        ("run", "nonsense", TypeError, "nonsense"),
        ("run", vroot.AsJagged(AsDtype(">f4")), CorruptBasketError, "no offsets"),
        ("run", vroot.AsStrings(), CorruptBasketError, "string"),
        ("Muon_pt", vroot.AsJagged(AsDtype(">f8")), ValueError, "does not fit|bytes"),
    ],
)
def test_what_does_not_fit(
    tree: Any, branch: str, kind: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        tree[branch].array(kind)
    if isinstance(caught.value, CorruptBasketError):
        assert f"read as {kind!r}" in caught.value.__notes__[0]
    with pytest.raises(error, match=message):
        tree.arrays([(branch, kind)])


def test_what_has_no_bytes(refs: Path) -> None:
    references = vroot.open(refs).references
    kinds = {
        "grouped": {"kind": "grouped"},
        "unsupported": {"kind": "unsupported", "reason": "too odd"},
    }
    for kind, data in kinds.items():
        store = vroot.scan(Path(references.sources[0].url.removeprefix("file://")))
        node = store["refs"]["Events/met/zarr.json"]
        node["attributes"]["vroot"] = {"node": "branch", "interpretation": data}
        branch = vroot.open(store)["Events/met"]
        with pytest.raises(UnsupportedError, match="cannot be read as AsDtype"):
            branch.array("f4")
        with pytest.raises(UnsupportedError, match="cannot be read as"):
            vroot.open(store)["Events/run"].array(branch.spec.interpretation)
        assert kind in repr(data)


def test_computed_columns_have_no_bytes(tree: Any) -> None:
    with pytest.raises(UnsupportedError, match="is computed and cannot be read as"):
        tree.arrays({"run + 1": "f4"})


def test_one_branch_in_two_ways(tree: Any) -> None:
    with pytest.raises(ValueError, match="several interpretations at once"):
        tree.arrays([("run", "f4"), ("run", "i4")], library="np")
    with pytest.raises(ValueError, match="several interpretations at once"):
        tree.arrays([("run", "f4"), "run + 1"])


def test_caches_tell_them_apart(tree: Any) -> None:
    cache: dict[str, Any] = {}
    plain = tree["run"].array(array_cache=cache, library="np")
    other = tree["run"].array("f4", array_cache=cache, library="np")
    again = tree["run"].array("f4", array_cache=cache, library="np")
    assert other.dtype == again.dtype == np.float32
    assert not np.array_equal(plain, other)
    assert len(cache) == 2


# --- in place


def test_in_place(tree: Any) -> None:
    weights, runs = np.zeros(1200), np.zeros(1000, np.int64)
    given = {
        "weight": tree["weight"].interpretation.inplace(weights),
        "run": tree["run"].interpretation.inplace(runs),
    }
    result = tree["weight"].array(interpretation=given["weight"], library="np")
    assert result.base is weights
    assert result.shape == (1000,)
    expected = tree["weight"].array(library="np")
    assert np.array_equal(weights[:1000], expected)
    assert not weights[1000:].any()
    arrays = tree.arrays(given, library="np", entry_start=300)
    assert arrays["run"].base is runs
    assert runs[:700].tolist() == list(range(300, 1000))


def test_in_place_of_any_kind_of_array(tree: Any) -> None:
    matrix = np.zeros((1000, 2, 3), ">f8")
    tree["matrix"].array(tree["matrix"].interpretation.inplace(matrix), library="np")
    assert np.array_equal(matrix, tree["matrix"].array(library="np"))
    apart = np.zeros(2000, np.float32)[::2]
    tree["met"].array(tree["met"].interpretation.inplace(apart), library="np")
    assert np.array_equal(apart, tree["met"].array(library="np"))


def test_in_place_is_not_cached(tree: Any) -> None:
    cache: dict[str, Any] = {}
    for _ in range(2):
        array = np.zeros(1000, np.uint32)
        given = tree["run"].interpretation.inplace(array)
        tree["run"].array(given, library="np", array_cache=cache)
        assert array.tolist() == list(range(1000))
    assert cache == {}


def test_in_place_refuses(tree: Any) -> None:
    kind = tree["run"].interpretation
    with pytest.raises(TypeError, match="'/Events;1:run' can be read in place with library=\"np\""):
        tree["run"].array(kind.inplace(np.zeros(1000, np.uint32)))
    with pytest.raises(ValueError, match=re.escape("array of 999 items (of float32)")):
        tree["run"].array(kind.inplace(np.zeros(999, np.float32)), library="np")
    with pytest.raises(ValueError, match="do not fit an array"):
        kind.inplace(np.zeros((1000, 2)))
    with pytest.raises(TypeError, match="not list"):
        kind.inplace([0] * 1000)
    frozen = np.zeros(1000)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kind.inplace(frozen)
