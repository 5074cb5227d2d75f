"""From the bytes of baskets to the array of a column: any cut into baskets gives the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest
from baskets import KINDS, Chunk, Column, columns
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vroot.decode.basket import split_basket
from vroot.decode.compression import decompress
from vroot.decode.interpretation import Decoded, Lists, decode_basket
from vroot.decode.output import ColumnData, allocate_output
from vroot.exceptions import CorruptBasketError
from vroot.metadata.entry_ranges import BasketRange, baskets_of_range, window_of_range
from vroot.metadata.interpretations import AsDtype, AsJagged, AsStrings, Interpretation
from vroot.metadata.specs import BasketTable, BranchSpec

ANY_TIME = settings(deadline=None)
NOTHING = BasketRange(0, 0, 0, 0, 0)


def decode(column: Column, chunk: Chunk, payload: bytes | None = None) -> Decoded:
    data = memoryview(chunk.payload if payload is None else payload)
    plain = decompress(data, column.spec.baskets.stored, len(chunk.plain))
    basket = split_basket(plain, chunk.border, chunk.entries)
    if chunk.counts is not None:
        basket = msgspec.structs.replace(basket, counts=np.array(chunk.counts, np.int32))
    return decode_basket(column.spec.interpretation, basket)


def read(column: Column, window: BasketRange, order: list[BasketRange]) -> ColumnData:
    output = allocate_output(column.spec, window)
    for part in order:
        output.put(part, decode(column, column.chunks[part.basket]))
    return output.finish()


def plain_items(array: np.ndarray[Any, Any]) -> list[Any]:
    """Python values, structs as dicts, of an array that must be native."""
    assert array.dtype.isnative
    if array.dtype.names is None:
        values: list[Any] = array.tolist()
        return values
    columns_ = {name: array[name].tolist() for name in array.dtype.names}
    return [dict(zip(columns_, row, strict=True)) for row in zip(*columns_.values(), strict=True)]


def plain_entries(interpretation: Interpretation, decoded: ColumnData) -> list[Any]:
    if isinstance(decoded, np.ndarray):
        return plain_items(decoded)
    assert isinstance(decoded, Lists)
    offsets = decoded.offsets.tolist()
    # Awkward takes these buffers as they are: they begin at 0, and nothing is left over.
    assert offsets[0] == 0
    assert offsets[-1] == len(decoded.content)
    flat = plain_items(decoded.content)
    lists = [flat[start:stop] for start, stop in pairwise(offsets)]
    if isinstance(interpretation, AsStrings):
        return [bytes(text) for text in lists]
    return lists


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(ANY_TIME, max_examples=200)
def test_any_cut_into_baskets_gives_the_same_entries(kind: str, data: st.DataObject) -> None:
    column = data.draw(columns(kind))
    entries = len(column.expected)
    start = data.draw(st.just(0) | st.integers(0, entries))
    stop = data.draw(st.just(entries) | st.integers(start, entries))
    parts = baskets_of_range(column.spec.baskets.edges, start, stop)
    # Threads finish in any order.
    order = data.draw(st.permutations(parts))
    interpretation = column.spec.interpretation
    window = window_of_range(column.spec.baskets.edges, start, stop)
    assert plain_entries(interpretation, read(column, window, order)) == column.expected[start:stop]


@given(columns())
@ANY_TIME
def test_every_basket_alone_gives_its_own_entries(column: Column) -> None:
    edges = column.spec.baskets.edges.tolist()
    for number, chunk in enumerate(column.chunks):
        parts = [BasketRange(number, 0, chunk.entries, 0)] if chunk.entries else []
        window = parts[0] if parts else NOTHING
        entries = plain_entries(column.spec.interpretation, read(column, window, parts))
        assert entries == column.expected[edges[number] : edges[number + 1]]


@given(columns(), st.data())
@ANY_TIME
def test_every_truncation_of_a_payload_raises(column: Column, data: st.DataObject) -> None:
    chunk = data.draw(st.sampled_from(column.chunks))
    assume(chunk.plain)  # what holds nothing may be empty, and is not read
    for length in range(len(chunk.payload)):
        with pytest.raises(CorruptBasketError):
            decode(column, chunk, chunk.payload[:length])


@given(columns(), st.binary(min_size=1, max_size=20), st.data())
@ANY_TIME
def test_appended_bytes_raise(column: Column, more: bytes, data: st.DataObject) -> None:
    chunk = data.draw(st.sampled_from(column.chunks))
    stored = column.spec.baskets.stored
    assume(chunk.plain and stored != "zlib")
    # The one length that makes a mixed payload a raw one.
    assume(stored != "mixed" or len(chunk.payload + more) != len(chunk.plain))
    with pytest.raises(CorruptBasketError):
        decode(column, chunk, chunk.payload + more)


@given(columns(), st.data())
@ANY_TIME
def test_every_truncation_of_the_uncompressed_bytes_raises(
    column: Column, data: st.DataObject
) -> None:
    # What a store would say that has been cut like the basket: nothing contradicts it before
    # the bytes are interpreted.
    chunk = data.draw(st.sampled_from(column.chunks))
    counts = None if chunk.counts is None else np.array(chunk.counts, np.int32)
    without_offsets = chunk.border == len(chunk.plain)
    for length in range(0 if without_offsets else chunk.border + 1, len(chunk.plain)):
        plain = np.frombuffer(chunk.plain, np.uint8)[:length]
        with pytest.raises(CorruptBasketError):
            decode_basket(
                column.spec.interpretation,
                msgspec.structs.replace(
                    split_basket(plain, min(chunk.border, length), chunk.entries), counts=counts
                ),
            )


def table_of(*entries: int, itemsize: int) -> BasketTable:
    number = np.array(entries, np.int64)
    return BasketTable(number, number * itemsize, number * itemsize)


def test_an_empty_range_has_the_dtype_and_the_shape_of_the_column() -> None:
    interpretation = AsDtype(np.dtype((">i2", (2, 3))))
    spec = BranchSpec("b", "", "", "TBranch", 5, interpretation, table_of(2, 3, itemsize=12))
    array = allocate_output(spec, NOTHING).finish()
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.dtype("=i2")
    assert array.shape == (0, 2, 3)


def test_an_empty_range_of_lists_has_one_offset() -> None:
    interpretation = AsJagged(AsDtype(np.dtype(">f8")))
    spec = BranchSpec("b", "", "", "TBranch", 5, interpretation, table_of(2, 3, itemsize=8))
    lists = allocate_output(spec, NOTHING).finish()
    assert isinstance(lists, Lists)
    assert lists.offsets.tolist() == [0]
    assert lists.offsets.dtype == np.int64
    assert lists.content.dtype == np.dtype("=f8")
    assert lists.content.size == 0


def test_vectors_of_three_baskets_join_without_gaps() -> None:
    # Each basket's region of the content is its items without the headers, and no larger.
    kind = AsJagged(AsDtype(np.dtype(">i2")), header_bytes=10)
    counts = [[2, 1], [0, 3], [1]]
    border = np.array([10 * len(each) + 2 * sum(each) for each in counts])
    entries = np.array([2, 2, 1])
    table = BasketTable(entries, border + 4 * (entries + 2), border)
    spec = BranchSpec("b", "", "", "TBranch", 5, kind, table)
    baskets = [
        Lists(np.cumsum([0, *each]), np.arange(sum(each)) + 10 * number)
        for number, each in enumerate(counts)
    ]
    expected = [[0, 1], [2], [], [10, 11, 12], [20]]
    for start in range(6):
        for stop in range(start, 6):
            parts = baskets_of_range(table.edges, start, stop)
            output = allocate_output(spec, window_of_range(table.edges, start, stop))
            for part in reversed(parts):
                output.put(part, baskets[part.basket])
            assert plain_entries(kind, output.finish()) == expected[start:stop]


def test_the_output_is_written_in_place_and_not_joined_at_the_end() -> None:
    # The design's point: a flat column is allocated once, whatever the baskets.
    spec = BranchSpec(
        "b", "", "", "TBranch", 5, AsDtype(np.dtype(">u2")), table_of(2, 3, itemsize=2)
    )
    parts = baskets_of_range(spec.baskets.edges, 0, 5)
    output = allocate_output(spec, window_of_range(spec.baskets.edges, 0, 5))
    before = output.finish()
    assert isinstance(before, np.ndarray)
    output.put(parts[1], np.array([3, 4, 5], ">u2"))
    output.put(parts[0], np.array([1, 2], ">u2"))
    assert output.finish() is before
    assert before.tolist() == [1, 2, 3, 4, 5]
