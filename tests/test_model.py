"""The model refuses what cannot be, and says which numbers are at fault."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.metadata.dtypes import split_dtype
from vroot.metadata.interpretations import (
    AsBits,
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsJagged,
    AsStrings,
    Interpretation,
    Unsupported,
)
from vroot.metadata.specs import BasketTable, BranchSpec, Manifest, Source, Stored, no_manifest

ANY_TIME = settings(deadline=None)
UUID = "d5a1f1f2-1234-11ee-9999-0123456789ab"
FLOAT = AsDtype(np.dtype(">f4"))
HUGE = 10**18
MAX_BLOCK = 2**24 - 1  # three bytes of a ROOT block header


def longs(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


def table(
    entries: list[int],
    uncompressed: list[int],
    border: list[int] | None = None,
    stored: Stored = "raw",
) -> BasketTable:
    borders = uncompressed if border is None else border
    return BasketTable(longs(*entries), longs(*uncompressed), longs(*borders), stored)


def branch(
    interpretation: Interpretation,
    entries: list[int],
    uncompressed: list[int],
    border: list[int] | None = None,
    num_entries: int | None = None,
) -> BranchSpec:
    total = sum(entries) if num_entries is None else num_entries
    baskets = table(entries, uncompressed, border)
    return BranchSpec("b", "", "", "TBranch", total, interpretation, baskets)


def manifest(
    uncompressed: int, length: int, stored: Stored, *, source: int = 0, offset: int = 0
) -> Manifest:
    row = table([1], [uncompressed], stored=stored)
    return Manifest(row, longs(source), longs(offset), longs(length))


# --- dtypes


@pytest.mark.parametrize(
    ("dtype", "base", "shape"),
    [
        (">f4", ">f4", ()),
        ((">f4", (2,)), ">f4", (2,)),
        ((">f4", (2, 3)), ">f4", (2, 3)),
        (np.dtype((np.dtype((">f4", (2,))), (3,))), ">f4", (3, 2)),
        ([("x", ">f4"), ("y", ">i2", (2,))], [("x", ">f4"), ("y", ">i2", (2,))], ()),
    ],
)
def test_a_dtype_has_a_base_and_a_shape(dtype: Any, base: Any, shape: tuple[int, ...]) -> None:
    assert split_dtype(np.dtype(dtype)) == (np.dtype(base), shape)


def test_a_flat_column_is_native_in_memory_and_keeps_its_shape() -> None:
    kind = AsDtype(np.dtype((">f4", (2, 3))))
    assert kind.itemsize == 24
    assert kind.inner_shape == (2, 3)
    assert kind.numpy_dtype == np.dtype(("=f4", (2, 3)))
    assert kind.numpy_dtype.base.isnative


def test_a_flat_column_may_be_wider_in_memory() -> None:
    kind = AsDtype(np.dtype(">f4"), np.dtype("=f8"))
    assert kind.itemsize == 4
    assert kind.numpy_dtype == np.dtype("=f8")


@pytest.mark.parametrize(
    "dtype", ["O", "S3", "U2", "V4", "M8[s]", "m8[s]", ">c8", [("x", ">f4"), ("y", "O")]]
)
def test_what_is_no_number_is_refused(dtype: Any) -> None:
    with pytest.raises(ValueError, match="is not boolean, integer or floating point"):
        AsDtype(np.dtype(dtype))
    with pytest.raises(ValueError, match="is not boolean, integer or floating point"):
        AsDtype(np.dtype(">f4"), np.dtype(dtype))


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ([], 0),
        ((">f4", (0,)), 0),
        ((">f4", (2**28 + 1,)), 2**30 + 4),
        ((">f8", (2**14, 2**13 + 1)), 2**30 + 2**17),
    ],
)
def test_a_dtype_of_no_or_an_absurd_size_is_refused(dtype: Any, size: int) -> None:
    with pytest.raises(ValueError, match=f"has {size} bytes: expected 1 to {2**30}"):
        AsDtype(np.dtype(dtype))


def test_the_largest_allowed_dtype_is_allowed() -> None:
    assert AsDtype(np.dtype((">f4", (2**28,)))).itemsize == 2**30


def test_the_shapes_in_a_basket_and_in_memory_must_agree() -> None:
    with pytest.raises(ValueError, match=r"the shapes or the fields of .*\(2,\).* differ"):
        AsDtype(np.dtype((">f4", (2,))), np.dtype("=f8"))


# --- other interpretations


@pytest.mark.parametrize("kind", [AsDouble32, AsFloat16])
@pytest.mark.parametrize(
    ("low", "high", "bits", "dims", "message"),
    [
        (0.0, 1.0, 1, (), "num_bits must be between 2 and 32, not 1"),
        (0.0, 1.0, 33, (), "num_bits must be between 2 and 32, not 33"),
        (0.0, 1.0, -(10**18), (), f"not -{10**18}"),
        (1.0, 1.0, 8, (), r"low 1\.0, high 1\.0"),
        (2.0, 1.0, 8, (), r"low 2\.0, high 1\.0"),
        (math.nan, 1.0, 8, (), "low nan"),
        (0.0, math.nan, 8, (), "high nan"),
        (0.0, 1.0, 8, (0,), r"\(0,\)"),
        (0.0, 1.0, 8, (2, -1), r"\(2, -1\)"),
        (0.0, 1.0, 8, (HUGE,), f"has {4 * HUGE} bytes"),
        (0.0, 1.0, 8, (2**14, 2**15), f"has {2**31} bytes"),
        (0.0, 0.0, 12, (2**15, 2**14), f"has {3 * 2**29} bytes"),
    ],
)
def test_packed_reals_that_root_could_not_have_written_are_refused(
    kind: type[AsDouble32 | AsFloat16],
    low: float,
    high: float,
    bits: int,
    dims: tuple[int, ...],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        kind(low, high, bits, dims)


def test_packed_reals_have_their_size() -> None:
    assert AsDouble32(0.0, 1.0, 8).itemsize == 4
    assert AsDouble32(0.0, 0.0, 8).itemsize == 3
    assert AsFloat16(0.0, 0.0, 8, (2, 5)).itemsize == 30
    assert AsDouble32(0.0, 1.0, 8, (2, 5)).numpy_dtype == np.dtype(("=f8", (2, 5)))
    assert AsFloat16(0.0, 1.0, 8, (2, 5)).numpy_dtype == np.dtype(("=f4", (2, 5)))


@pytest.mark.parametrize("header", [-1, 256, HUGE])
def test_an_absurd_header_is_refused(header: int) -> None:
    with pytest.raises(ValueError, match=f"between 0 and 255, not {header}"):
        AsJagged(FLOAT, header)
    with pytest.raises(ValueError, match=f"between 0 and 255, not {header}"):
        AsStrings(header)


@pytest.mark.parametrize(
    ("interpretation", "text"),
    [
        (FLOAT, "AsDtype('>f4')"),
        (AsDtype(np.dtype((">f4", (3,)))), "AsDtype(\"('>f4', (3,))\")"),
        (AsDtype(np.dtype(">f4"), np.dtype("f8")), "AsDtype('>f4', 'float64')"),
        (AsJagged(FLOAT), "AsJagged(AsDtype('>f4'))"),
        (AsJagged(FLOAT, 10), "AsJagged(AsDtype('>f4'), header_bytes=10)"),
        (AsStrings(), "AsStrings()"),
        (AsStrings(6, "4"), "AsStrings(header_bytes=6, length_bytes='4')"),
        (AsBits(), "AsDtype('>u4')"),
        (AsBits(jagged=True), "AsJagged(AsDtype('>u4'))"),
        (AsDouble32(-1.0, 2.5, 8), "AsDouble32(-1.0, 2.5, 8)"),
        (AsFloat16(0.0, 0.0, 12, (2,)), "AsFloat16(0.0, 0.0, 12, to_dims=(2,))"),
        (Unsupported("no", "AsGrouped(...)"), "AsGrouped(...)"),
    ],
)
def test_an_interpretation_is_shown_as_in_uproot(interpretation: Interpretation, text: str) -> None:
    assert repr(interpretation) == text


# --- sources


def test_a_source_has_a_size_and_a_uuid() -> None:
    with pytest.raises(ValueError, match=r"the size of 'a\.root' is negative: -1"):
        Source("a.root", -1, UUID, "00")
    for wrong in ("", "x", UUID.upper(), UUID + "0", UUID.replace("-", "")):
        with pytest.raises(ValueError, match=r"the UUID of 'a\.root' is malformed"):
            Source("a.root", 1, wrong, "00")


# --- tables of baskets


def test_edges_are_where_baskets_begin_and_end() -> None:
    assert table([3, 0, 4], [12, 0, 16]).edges.tolist() == [0, 3, 3, 7]
    assert table([], []).edges.tolist() == [0]
    assert len(table([3, 0, 4], [12, 0, 16])) == 3


@pytest.mark.parametrize(
    ("entries", "uncompressed", "border", "message"),
    [
        ([1], [4, 4], [4, 4], "1 baskets have entries, 2 have uncompressed lengths and 2 have"),
        ([1, 1], [4], [4, 4], "2 baskets have entries, 1 have uncompressed lengths and 2 have"),
        ([1, 1], [4, 4], [], "2 have uncompressed lengths and 0 have borders"),
        ([1, -1], [4, 4], [4, 4], "a basket has -1 entries"),
        ([-HUGE], [4], [4], f"a basket has -{HUGE} entries"),
        ([1, 1], [4, 4], [4, 5], "basket 1 has its border at 5 bytes, outside of its 4"),
        ([1, 1], [4, 4], [-1, 4], "basket 0 has its border at -1 bytes, outside of its 4"),
        ([1], [-4], [-4], "a basket has -4 bytes"),
        # Sums that would wrap around in 64 bits, and come out small or negative.
        ([2**62] * 4, [0] * 4, [0] * 4, r"1\.84467e\+19 entries"),
        ([1] * 16, [2**60] * 16, [0] * 16, r"1\.84467e\+19 bytes"),
        ([10**17] * 20, [0] * 20, [0] * 20, r"2e\+18 entries"),
        ([1], [4], [HUGE], f"border at {HUGE} bytes"),
    ],
)
def test_impossible_tables_are_refused(
    entries: list[int], uncompressed: list[int], border: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        table(entries, uncompressed, border)


# --- manifests


@pytest.mark.parametrize(
    ("source", "offset", "length", "message"),
    [
        ([0, 0], [0], [4], "1 baskets have 2 sources, 1 offsets and 1 lengths"),
        ([0], [], [4], "1 baskets have 1 sources, 0 offsets and 1 lengths"),
        ([0], [0], [4, 4, 4], "1 baskets have 1 sources, 1 offsets and 3 lengths"),
        ([0], [-1], [4], "from -[0-9]+ to"),
        ([0], [0], [-4], "from -[0-9]+ to"),
        ([0], [-HUGE], [4], "from -[0-9]+ to"),
    ],
)
def test_impossible_ranges_are_refused(
    source: list[int], offset: list[int], length: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Manifest(table([1], [4]), longs(*source), longs(*offset), longs(*length))


@pytest.mark.parametrize(
    ("uncompressed", "length", "stored"),
    [
        (5, 4, "raw"),
        (4, 5, "raw"),
        (HUGE, 4, "raw"),
        (HUGE, 100, "blocks"),
        (HUGE, 100, "mixed"),
        # A block makes at most 2**24 - 1 bytes, and takes at least the 9 of its header.
        (12 * MAX_BLOCK + 1, 100, "blocks"),
        (MAX_BLOCK + 1, 10**6, "zlib"),
        (MAX_BLOCK + 1, 10**6, "zstd"),
        (HUGE, 10**6, "xz"),
    ],
)
def test_more_bytes_than_the_stored_ones_can_become_are_refused(
    uncompressed: int, length: int, stored: Stored
) -> None:
    message = f"cannot become {uncompressed} bytes from {length} that are stored as '{stored}'"
    with pytest.raises(ValueError, match=f"basket 0 {message}"):
        manifest(uncompressed, length, stored)


@given(
    st.lists(st.integers(1, MAX_BLOCK), min_size=1, max_size=5),
    st.integers(1, 1000),
    st.sampled_from(["blocks", "mixed"]),
)
@ANY_TIME
def test_what_blocks_can_become_is_accepted(
    sizes: list[int], compressed: int, stored: Stored
) -> None:
    # However well the blocks are compressed, each has its header.
    length = len(sizes) * (9 + compressed)
    built = manifest(sum(sizes), length, stored, offset=123)
    assert built.length.tolist() == [length]
    assert built.inline == {}


def test_a_whole_block_may_be_a_bare_stream() -> None:
    assert manifest(MAX_BLOCK, 20, "zlib").table.uncompressed_bytes.tolist() == [MAX_BLOCK]


def test_inline_bytes_need_no_range() -> None:
    built = Manifest(table([1], [4]), longs(-1), longs(0), longs(4), {0: b"abcd"})
    assert built.inline == {0: b"abcd"}


def test_a_column_without_baskets_has_an_empty_manifest() -> None:
    assert len(no_manifest().table) == 0
    assert no_manifest().inline == {}


# --- branches


@pytest.mark.parametrize(
    ("interpretation", "entries", "uncompressed", "border"),
    [
        (FLOAT, [2, 3], [8, 12], None),
        (FLOAT, [2], [8 + 4 * 4], [8]),
        (AsDouble32(0.0, 0.0, 12), [2], [6], None),
        (AsJagged(FLOAT), [3], [0], None),
        (AsJagged(FLOAT), [3], [40], [20]),
        (AsJagged(FLOAT, 10), [2], [28 + 16], [28]),
        (AsBits(), [2], [10 + 16], [10]),
        (AsBits(jagged=True), [3], [0], None),
        (AsStrings(), [2], [2], None),
        (AsStrings(), [0], [0], None),
        (Unsupported("no"), [], [], None),
    ],
    ids=str,
)
def test_a_branch_whose_baskets_fit_is_accepted(
    interpretation: Interpretation,
    entries: list[int],
    uncompressed: list[int],
    border: list[int] | None,
) -> None:
    spec = branch(interpretation, entries, uncompressed, border)
    assert spec.baskets.edges[-1] == sum(entries)


@pytest.mark.parametrize("num_entries", [-1, 0, 4, 6, HUGE, 10**30])
def test_baskets_that_do_not_add_up_to_the_branch_are_refused(num_entries: int) -> None:
    message = f"the baskets have 5 entries, the branch {num_entries}"
    with pytest.raises(ValueError, match=message):
        branch(FLOAT, [2, 3], [8, 12], num_entries=num_entries)


@pytest.mark.parametrize(
    ("interpretation", "entries", "border"),
    [
        (FLOAT, 2, 7),
        (FLOAT, 2, 12),
        (FLOAT, 0, 4),
        (FLOAT, HUGE // 10, 8),
        (FLOAT, 2**60, 0),
        (AsFloat16(0.0, 0.0, 12), 2, 8),
        (AsJagged(FLOAT), 2, 7),
        (AsJagged(FLOAT, 10), 2, 19),
        (AsJagged(FLOAT, 10), 2, 22),
        (AsJagged(FLOAT, 10), HUGE // 10, 20),
        (AsStrings(), 2, 0),
        (AsBits(), 2, 7),
    ],
    ids=str,
)
def test_baskets_that_do_not_fit_the_interpretation_are_refused(
    interpretation: Interpretation, entries: int, border: int
) -> None:
    # The number of the basket is shown, after one that fits.
    message = f"basket 1 has {border} bytes of data for {entries} entries, which does not fit"
    with pytest.raises(ValueError, match=message) as caught:
        branch(interpretation, [0, entries], [0, border])
    assert repr(interpretation) in str(caught.value)


def test_what_is_not_supported_needs_no_baskets() -> None:
    # The store says how many entries there are, and no more.
    assert branch(Unsupported("no"), [], [], num_entries=7).num_entries == 7
