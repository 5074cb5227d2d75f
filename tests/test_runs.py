"""Runs of baskets: the same as its baskets one by one, with every check."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from baskets import KINDS, Column, columns
from hypothesis import given, settings
from hypothesis import strategies as st

import vroot
from vroot.decode.interpretation import decode_basket
from vroot.decode.run import RunSizes, read_run
from vroot.exceptions import CorruptBasketError
from vroot.io.fetching import Ranges, _batches, _cut
from vroot.io.local import LocalStore
from vroot.metadata.entry_ranges import window_of_range
from vroot.metadata.interpretations import AsBits, AsDtype, AsJagged, AsStrings
from vroot.metadata.specs import BasketTable, BranchSpec
from vroot.read.runs import plan_baskets

ENTRIES, BASKETS = 50, 40


@pytest.fixture(scope="module")
def small_baskets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of many small baskets, of several kinds of branches."""
    path = tmp_path_factory.mktemp("runs") / "small.root"
    rng = np.random.default_rng(5)
    with uproot.recreate(path, compression=uproot.LZ4(1)) as file:
        types = {"x": "f8", "flag": "?", "jet": "var * float32", "muon": "var * int16"}
        tree = file.mktree("Events", types | {"name": "string"}, initial_basket_capacity=BASKETS)
        for basket in range(BASKETS):
            counts = rng.poisson(2 if basket % 7 else 0, ENTRIES)
            items = int(counts.sum())
            tree.extend(
                {
                    "x": rng.integers(0, 3, ENTRIES).astype("f8"),
                    "flag": rng.random(ENTRIES) < 0.5,
                    "jet": ak.unflatten(rng.integers(0, 3, items).astype("f4"), counts),
                    "muon": ak.unflatten(rng.integers(0, 9, items).astype("i2"), counts),
                    "name": ["abc"[: i % 4] for i in range(ENTRIES)],
                }
            )
    return path


@pytest.mark.parametrize("window_bytes", [64 << 20, 3000])
@pytest.mark.parametrize("entries", [(None, None), (49, 1951), (130, 140), (100, 150), (5, 5)])
def test_any_range_of_small_baskets(
    small_baskets: Path, entries: tuple[int | None, int | None], window_bytes: int
) -> None:
    start, stop = entries
    with uproot.open({small_baskets: "Events"}) as tree:
        expected = tree.arrays(entry_start=start, entry_stop=stop)
    refs = vroot.scan(small_baskets)
    with vroot.open(refs, window_bytes=window_bytes) as file:
        array = file["Events"].arrays(entry_start=start, entry_stop=stop)
    assert array.type == expected.type
    assert ak.array_equal(array, expected)


def test_columns_of_one_counter_share_their_offsets(small_baskets: Path) -> None:
    with vroot.open(vroot.scan(small_baskets)) as file:
        tree = file["Events"]
        jagged = [each.name for each in tree.branches if each.typename.endswith("[]")]
        assert len(jagged) == 2
        arrays = tree.arrays(jagged, how=tuple)
    for array, name in zip(arrays, jagged, strict=True):
        with uproot.open({small_baskets: "Events"}) as expected:
            assert ak.array_equal(array, expected[name].array())


@pytest.mark.parametrize("basket", [1, 11, BASKETS - 1])
@pytest.mark.parametrize("name", ["x", "jet", "name"])
def test_the_damaged_basket_of_a_run_is_named(
    small_baskets: Path, tmp_path: Path, name: str, basket: int
) -> None:
    refs = vroot.scan(small_baskets)
    with vroot.open(refs) as file:
        offset = int(file[f"Events/{name}"].column.manifest.offset[basket])
    content = bytearray(small_baskets.read_bytes())
    content[offset + 20] ^= 0xFF
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(content)
    refs["templates"]["s0"] = str(damaged)
    with vroot.open(refs, verify_sources=False) as file:
        tree = file["Events"]
        with pytest.raises(
            CorruptBasketError, match=rf":{name}', basket {basket}, offset {offset} of .*damaged"
        ):
            tree.arrays()
        others = [each.name for each in tree.branches if each.name != name]
        assert len(tree.arrays(others)) == ENTRIES * BASKETS


def run_of(column: Column) -> tuple[list[memoryview], RunSizes]:
    chunks = [chunk for chunk in column.chunks if chunk.entries]
    sizes = RunSizes(
        column.spec.baskets.stored,
        [chunk.entries for chunk in chunks],
        [len(chunk.plain) for chunk in chunks],
        [chunk.border for chunk in chunks],
    )
    return [memoryview(chunk.payload) for chunk in chunks], sizes


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(deadline=None, max_examples=30)
def test_the_data_of_a_run_are_those_of_its_baskets(kind: str, data: st.DataObject) -> None:
    payloads, sizes = run_of(data.draw(columns(kind)))
    alike = {plain == border for plain, border in zip(
        sizes.uncompressed_bytes, sizes.border_bytes, strict=True
    )}  # fmt: skip
    if len(payloads) < 2 or len(alike) > 1:
        return
    run = read_run(payloads, sizes)
    each = [read_run([payload], sizes.only(i)) for i, payload in enumerate(payloads)]
    assert run.entries == sum(basket.entries for basket in each)
    assert run.data.tobytes() == b"".join(basket.data.tobytes() for basket in each)
    if run.offsets is not None:
        lengths = [np.diff(basket.offsets) for basket in each if basket.offsets is not None]
        assert np.diff(run.offsets).tolist() == np.concatenate(lengths).tolist()


def tail(*words: int) -> bytes:
    return struct.pack(f">{len(words)}i", *words)


FLOATS = AsJagged(AsDtype(np.dtype(">f4")))


@pytest.mark.parametrize(
    "second",
    [
        tail(4, 70, 74, 0),  # another number of offsets
        tail(3, 71, 74, 0),  # a first entry that does not begin after the key
        tail(3, 70, 66, 0),  # an entry that ends before it begins
        tail(3, 70, 82, 0),  # an entry that ends in the basket after it
        tail(3, 70, 74),  # a word too few
    ],
)
def test_damaged_offsets_within_a_run(second: bytes) -> None:
    good = bytes(8) + tail(3, 70, 74, 0)
    bad = bytes(8) + second
    payloads = [memoryview(each) for each in (good, bad, good)]
    sizes = RunSizes("raw", [2, 2, 2], [len(each) for each in payloads], [8, 8, 8], [70, 70, 70])
    with pytest.raises(CorruptBasketError):
        read_run(payloads, sizes)
    with pytest.raises(CorruptBasketError):
        read_run(payloads[1:2], sizes.only(1))
    assert read_run([payloads[0], payloads[2]], RunSizes(
        "raw", [2, 2], [len(good)] * 2, [8, 8], [70, 70]
    )).offsets is not None  # fmt: skip


def test_first_offsets_of_any_size_do_not_overflow() -> None:
    for key in (-(2**31), 2**31 - 1):
        payload = memoryview(bytes(8) + tail(3, key, key, 0))
        run = read_run([payload, payload], RunSizes("raw", [2, 2], [len(payload)] * 2, [8, 8]))
        assert run.offsets is not None
        assert run.offsets.tolist() == [0, 0, 8, 8, 16]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (AsStrings(), b"\2ab\4cd", b"ef\1a"),
        (AsBits(), b"\0\0\0\1\0\0\0\x10", b"\0\7\0\0\0\3\0\0\0\1"),
    ],
)
def test_no_entry_reaches_into_the_basket_after_it(
    kind: AsStrings | AsBits, first: bytes, second: bytes
) -> None:
    # As one basket this would be right.
    together = memoryview(first + second)
    whole = RunSizes("raw", [4], [len(together)], [len(together)])
    good = read_run([together[:]], whole) if isinstance(kind, AsBits) else None
    if good is not None:
        decode_basket(kind, good)
    lengths = [len(first), len(second)]
    run = read_run(
        [memoryview(first), memoryview(second)], RunSizes("raw", [2, 2], lengths, lengths)
    )
    with pytest.raises(CorruptBasketError):
        decode_basket(kind, run)


def test_counts_that_move_items_from_one_basket_to_the_next() -> None:
    lengths = [8, 8]
    payloads = [memoryview(bytes(8))] * 2
    for counts, right in (([1, 1, 2, 0], True), ([1, 2, 1, 0], False)):
        run = read_run(payloads, RunSizes("raw", [2, 2], lengths, lengths))
        basket = type(run)(run.data, 4, counts=np.array(counts), edges=run.edges)
        if right:
            decode_basket(FLOATS, basket)
        else:
            with pytest.raises(CorruptBasketError, match="do not end where its data do"):
                decode_basket(FLOATS, basket)


# --- which baskets together


def spec_of(entries: list[int], border: list[int], tails: list[bool]) -> BranchSpec:
    number, data = np.array(entries), np.array(border)
    table = BasketTable(number, data + 4 * (number + 2) * np.array(tails), data)
    return BranchSpec("b", "", "", "TBranch", int(number.sum()), FLOATS, table)


def test_runs_end_where_baskets_are_not_alike() -> None:
    spec = spec_of(
        [2, 2, 2, 0, 2, 2, 2, 2], [8, 8, 8, 0, 8, 0, 8, 8],
        [True, True, False, False, False, False, False, False],
    )  # fmt: skip
    baskets = plan_baskets([spec] * 2, [window_of_range(spec.baskets.edges, 1, 13)] * 2)
    assert baskets.is_read.tolist() == [True, True, True, False, True, False, True, True] * 2
    assert baskets.is_empty.tolist() == [False] * 5 + [True] + [False] * 7 + [True] + [False] * 2
    numbers = np.flatnonzero(baskets.is_read)
    runs = [numbers[begin:end].tolist() for begin, end in baskets.runs(numbers.tolist())]
    # The first and the last one of a column are wanted in part.
    assert runs == [[0], [1], [2], [4], [6], [7], [8], [9], [10], [12], [14], [15]]


def test_no_run_becomes_too_large() -> None:
    size = 3 << 20
    spec = spec_of([1] * 4, [size] * 4, [False] * 4)
    baskets = plan_baskets([spec], [window_of_range(spec.baskets.edges, 0, 4)])
    numbers = np.arange(4)
    assert max(end - begin for begin, end in baskets.runs(numbers.tolist())) <= 2


def test_batches_end_with_groups() -> None:
    number = 12
    ranges = Ranges(
        np.zeros(number, np.int64),
        np.arange(number) * 10,
        np.full(number, 10),
        group=np.arange(number) // 4,
    )
    members = np.arange(number)
    cut: Callable[[int], list[list[int]]] = lambda limit: [  # noqa: E731
        part.tolist() for part in _cut(ranges, members, limit, 0)
    ]
    assert [len(part) for part in cut(90)] == [8, 4]
    assert [len(part) for part in cut(50)] == [4, 4, 4]
    # Groups that are too large are divided.
    assert [len(part) for part in cut(30)] == [3, 3, 2, 3, 1]
    assert [len(part) for part in cut(1)] == [1] * number
    assert [number for part in cut(70) for number in part] == members.tolist()


def test_batches_keep_to_the_window() -> None:
    ranges = Ranges(np.zeros(50, np.int64), np.arange(50) * 100, np.full(50, 100), batch_bytes=4000)
    batches = _batches(ranges, np.arange(50), LocalStore(), 4000)
    lengths = [sum(request.length for request in batch) for batch in batches]
    assert max(lengths) <= 2000
    assert sum(lengths) == 5000
    found: list[Any] = [i for batch in batches for each in batch for i in each.members.tolist()]
    assert found == list(range(50))


def test_gaps_within_requests_count_as_bytes_of_a_batch() -> None:
    ranges = Ranges(np.zeros(50, np.int64), np.arange(50) * 100, np.full(50, 10), batch_bytes=4000)
    batches = _batches(ranges, np.arange(50), LocalStore(), 4000)
    lengths = [sum(request.length for request in batch) for batch in batches]
    assert max(lengths) <= 2000
    # Gaps that are too wide to be read cost nothing.
    apart = Ranges(np.zeros(50, np.int64), np.arange(50) << 20, np.full(50, 10), batch_bytes=4000)
    batches = _batches(apart, np.arange(50), LocalStore(), 64 << 20)
    assert [len(batch) for batch in batches] == [50]
