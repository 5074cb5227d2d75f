"""Packed reals, and other branches of ROOT's files, against the values that ROOT gives."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.exceptions import UnsupportedError
from vroot.scanner.packing import parse_range

MADE = Path(__file__).parent / "data/rootmade"

#: Made with ROOT 6.40 too: leaves of many titles, and the members of ``members.h``, split.
PACKED = Path(__file__).parent / "data/packed"


def roots_values(name: str) -> dict[str, tuple[list[int], list[list[float]]]]:
    """Entries, and their values that ROOT 6.40 gave for each branch."""
    (tree,) = json.loads((MADE / f"{name}.root.json").read_text()).values()
    return {
        branch: (said["at"] or list(range(said["entries"])), [v[branch] for v in said["values"]])
        for branch, said in tree["tree"]["branches"].items()
    }


@pytest.mark.parametrize(
    "name",
    ["leaves_min_float16", "leaves_min_double32arr", "leaves_min_d32bits", "leaves_pk_d_0_1_32_"],
)
def test_packed_reals_are_those_of_root(name: str) -> None:
    (tree,) = vroot.open(vroot.scan(MADE / f"{name}.root")).values()
    expected = roots_values(name)
    assert tree.keys() == list(expected)
    for branch, (entries, values) in expected.items():
        arrays = tree[branch].array()
        # ROOT's text of a float has fewer digits than that of a double.
        tolerance = 1e-6 if "Float16" in repr(tree[branch].interpretation) else 1e-15
        for entry, value in zip(entries, values, strict=True):
            got = np.ravel(arrays[entry]).tolist()
            assert got == pytest.approx(value, rel=tolerance, abs=1e-12), (branch, entry)


def numbers(values: Any) -> Any:
    """All numbers of nested lists, as one array."""
    return np.asarray(ak.flatten(ak.Array(values), axis=None), "f8")


def assert_close(got: ak.Array, expected: list[Any]) -> None:
    """Compare what was read of a branch with what ROOT read, up to the rounding of a float."""
    assert len(got) == len(expected)
    for entry, value in zip(got, expected, strict=True):
        np.testing.assert_allclose(numbers([entry]), numbers([value]), rtol=3e-7, atol=1e-6)


def test_leaves_of_any_title_are_read_as_root_reads_them() -> None:
    expected = json.loads((PACKED / "leaves.json").read_text())
    tree = vroot.open(vroot.scan(PACKED / "leaves.root"))["t"]
    assert len(expected) == 100
    for title, values in expected.items():
        assert_close(tree[re.split(r"[\[/]", title)[0]].array(), values)


def test_members_of_split_objects_are_read_as_root_reads_them() -> None:
    expected = json.loads((PACKED / "members.json").read_text())
    tree = vroot.open(vroot.scan(PACKED / "members.root"))["t"]
    for name in ("p", "q", "vd", "vf"):
        assert_close(tree[f"e./e.{name}"].array(), [event[name] for event in expected])
    for member, value in expected[0]["one"].items():
        name = member + "[2][3]" * isinstance(value, list)
        one = tree[f"e./e.one/e.one.{name}"]
        assert_close(one.array(), [event["one"][member] for event in expected])
        items = tree[f"e./e.items/e.items.{name}"].array()
        assert_close(items, [[item[member] for item in event["items"]] for event in expected])
    whole = tree["e."].array()
    assert_close(whole["e.vf"], [event["vf"] for event in expected])


def test_unsplit_classes_whose_packed_reals_uproot_misreads_are_refused() -> None:
    file = vroot.open(vroot.scan(PACKED / "unsplit.root"))
    assert len(file.keys()) == 16
    for name in ("C1", "C3", "C5", "C6", "C7", "C8"):
        with pytest.raises(UnsupportedError, match=f"misreads the packed reals of class {name}"):
            file[f"{name}_t"]["o"].array()
    # uproot gives 4.6e-41 for 5.0, from as many bytes.
    with pytest.raises(UnsupportedError, match="misreads the packed reals of class In"):
        _ = file["C5_o"]


def test_shapes_and_ranges_of_a_title_are_told_apart() -> None:
    opened = vroot.open(vroot.scan(MADE / "leaves_min_double32arr.root"))["t/x"]
    assert repr(opened.interpretation) == "AsDouble32(0.0, 10.0, 16, to_dims=(3,))"
    opened = vroot.open(vroot.scan(MADE / "leaves_min_float16.root"))["t/x"]
    assert repr(opened.interpretation) == "AsFloat16(0.0, 0.0, 12, to_dims=(3,))"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("x", (0, 0, 0)),
        ("x[3]", (0, 0, 0)),
        ("x[3][2]/d[0,10,16]", (0, 10, 16)),
        ("x[n]/f[0,10]", (0, 10, 32)),
        ("[-1.5e1, +.5, 7] a comment", (-15, 0.5, 7)),
        ("[n][0,1,2]", (0, 1, 2)),
        ("a comment [see a, b]", (0, 0, 0)),
        ("[0,1,33]", (0, 1, 32)),
        ("[0,1,1]", (0, 1, 32)),
        ("[0,0,12]", (0, 0, 12)),
        ("[0,0,16]", (0, 0, 0)),
        ("[0,0]", (0, 0, 0)),
        ("[10,5]", (0, 0, 10)),  # ROOT takes the lower limit for a number of bits
        ("[5,5,8]", (0, 0, 8)),
        ("[-pi,pi,16]", (-math.pi, math.pi, 16)),
        ("[-pi/2, pi/4]", (-math.pi / 2, math.pi / 4, 32)),
        ("[0, 2 * pi]", (0, 2 * math.pi, 32)),
        ("[0,TwoPi,20", (0, 0, 0)),
        ("[0,TwoPi,20]", (0, 2 * math.pi, 20)),
    ],
)
def test_ranges_are_read_as_root_reads_them(title: str, expected: tuple[float, float, int]) -> None:
    assert parse_range(title) == expected


@pytest.mark.parametrize("title", ["[0x0,0x10,16]", "[-inf,inf,16]", "[nan,1]"])
def test_limits_that_are_no_decimal_numbers_are_refused(title: str) -> None:
    with pytest.raises(ValueError, match="limit"):
        parse_range(title)


@pytest.mark.parametrize("error", [UnboundLocalError, RuntimeError, ImportError, BufferError])
def test_any_error_of_uproot_on_one_branch_is_the_reason_of_that_branch(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = uproot.TBranch.interpretation

    def fail(branch: Any) -> Any:
        if branch.name == "x":
            raise error("misread")
        return found.fget(branch)

    monkeypatch.setattr(uproot.TBranch, "interpretation", property(fail))
    opened = vroot.open(vroot.scan(MADE / "leaves_min_float16.root"))["t"]
    assert opened["i"].array().tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(UnsupportedError, match=f"{error.__name__}: misread"):
        opened["x"].array()


@pytest.mark.parametrize(
    "compression",
    [None, uproot.ZLIB(1), uproot.LZMA(1), uproot.LZ4(1), uproot.ZSTD(1)],
    ids=["none", "zlib", "lzma", "lz4", "zstd"],
)
def test_entries_of_more_than_16_mib(tmp_path: Path, compression: Any) -> None:
    items = (18 << 20) // 4
    values = np.zeros((2, items), "f4")
    values[:, :: items // 7] = np.arange(2)[:, None] + 1.5
    path = tmp_path / "big.root"
    with uproot.recreate(path, compression=compression) as file:
        file.mktree("t", {"x": np.dtype(("f4", (items,)))}).extend({"x": values})
    array = vroot.open(vroot.scan(path))["t/x"].array(library="np")
    assert array.dtype == np.float32
    assert np.array_equal(array, values)
