"""The cut of a basket into its data and the offsets of its entries."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from baskets import tail_of_offsets
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.decode.basket import Basket, join_basket, split_basket
from vroot.exceptions import CorruptBasketError

ANY_TIME = settings(deadline=None)
ENTRIES = st.lists(st.binary(max_size=5), max_size=8)


def split(payload: bytes, border: int, entries: int) -> Basket:
    return split_basket(np.frombuffer(payload, np.uint8), border, entries)


def starts_of(entries: list[bytes]) -> list[int]:
    return [len(b"".join(entries[:i])) for i in range(len(entries))]


def tail(*words: int) -> bytes:
    return struct.pack(f">{len(words)}i", *words)


@given(ENTRIES, st.integers(0, 10**6))
@ANY_TIME
def test_offsets_count_from_the_key_and_end_at_the_border(
    entries: list[bytes], key_length: int
) -> None:
    data = b"".join(entries)
    payload = data + tail_of_offsets(starts_of(entries), key_length)
    basket = split(payload, len(data), len(entries))
    assert basket.data.tobytes() == data
    assert basket.entries == len(entries)
    assert basket.counts is None
    assert basket.offsets is not None
    assert basket.offsets.dtype == np.int32
    assert basket.offsets.tolist() == [*starts_of(entries), len(data)]


@given(st.binary(max_size=20), st.integers(0, 10))
@ANY_TIME
def test_data_that_fill_the_payload_have_no_offsets(data: bytes, entries: int) -> None:
    basket = split(data, len(data), entries)
    assert basket.data.tobytes() == data
    assert basket.entries == entries
    assert basket.offsets is None


def test_an_example_written_out_in_bytes_is_read() -> None:
    # Three entries, "ab", "" and "c", after a key of 70 bytes; the last word is not used.
    payload = b"abc" + bytes.fromhex("00000004 00000046 00000048 00000048 7fffffff")
    basket = split(payload, 3, 3)
    assert basket.offsets is not None
    assert basket.offsets.tolist() == [0, 2, 2, 3]


def test_the_data_are_a_view_of_the_payload() -> None:
    payload = np.frombuffer(b"abc" + tail(2, 70, 0), np.uint8)
    assert np.shares_memory(split_basket(payload, 3, 1).data, payload)


@given(ENTRIES, st.data())
@ANY_TIME
def test_every_truncation_of_the_offsets_raises(entries: list[bytes], data: st.DataObject) -> None:
    plain = b"".join(entries)
    payload = plain + tail_of_offsets(starts_of(entries))
    # None of them at all would be a basket without offsets.
    for length in range(len(plain) + 1, len(payload)):
        expected = rf"{length - len(plain)} bytes of offsets.*{len(entries)} entries"
        with pytest.raises(CorruptBasketError, match=expected):
            split(payload[:length], len(plain), len(entries))


@given(ENTRIES, st.binary(min_size=1, max_size=9))
@ANY_TIME
def test_more_bytes_after_the_offsets_raise(entries: list[bytes], more: bytes) -> None:
    plain = b"".join(entries)
    payload = plain + tail_of_offsets(starts_of(entries)) + more
    with pytest.raises(CorruptBasketError, match="bytes of offsets"):
        split(payload, len(plain), len(entries))


@given(ENTRIES, st.integers(1, 20))
@ANY_TIME
def test_a_border_beyond_the_payload_raises(entries: list[bytes], beyond: int) -> None:
    plain = b"".join(entries)
    with pytest.raises(CorruptBasketError, match="0 bytes of offsets"):
        split(plain, len(plain) + beyond, len(entries))


@pytest.mark.parametrize("n", [2, 4, 0, -1, 2**31 - 1, -(2**31)])
def test_a_list_of_another_length_than_the_entries_raises(n: int) -> None:
    with pytest.raises(CorruptBasketError, match=f"length {n}, expected 3"):
        split(b"abcd" + tail(n, 70, 72, 0), 4, 2)


def test_the_length_is_big_endian() -> None:
    little = struct.pack("<4i", 3, 70, 72, 0)
    with pytest.raises(CorruptBasketError, match=f"length {3 << 24}, expected 3"):
        split(b"abcd" + little, 4, 2)


@pytest.mark.parametrize("entries", [0, 1, 3, 10**18])
def test_another_number_of_entries_than_the_offsets_raises(entries: int) -> None:
    with pytest.raises(CorruptBasketError, match=f"do not belong to {entries} entries"):
        split(b"abcd" + tail(3, 70, 72, 0), 4, entries)


@pytest.mark.parametrize(
    ("offsets", "entry", "begin", "end"),
    [
        ((70, 73, 72), 1, 3, 2),  # decreasing
        ((70, 69, 71), 0, 0, -1),  # before the first
        ((70, 71, 75), 2, 5, 4),  # the last begins beyond the border
        ((70, 76, 76), 2, 6, 4),
        ((70, 2**31 - 1, 72), 1, 2**31 - 71, 2),
        ((-(2**31), 2**31 - 1, 0), 0, 0, -1),  # the difference wraps around
        ((0, -(2**31), 2), 0, 0, -(2**31)),
    ],
)
def test_offsets_that_are_not_ascending_within_the_data_raise(
    offsets: tuple[int, ...], entry: int, begin: int, end: int
) -> None:
    message = f"entry {entry} of the basket ends before it begins: bytes {begin} to {end}"
    with pytest.raises(CorruptBasketError, match=message):
        split(b"abcd" + tail(4, *offsets, 0), 4, 3)


@given(st.binary(max_size=60), st.integers(0, 12), st.integers(0, 60))
@ANY_TIME
def test_garbage_raises_or_gives_ascending_offsets_within_the_data(
    payload: bytes, entries: int, border: int
) -> None:
    try:
        basket = split(payload, border, entries)
    except CorruptBasketError:
        return
    assert basket.data.tobytes() == payload[:border]
    if basket.offsets is None:
        assert border == len(payload)
        return
    offsets = basket.offsets.tolist()
    assert len(offsets) == entries + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == border
    assert entries == 0 or offsets[0] == 0


@given(ENTRIES)
@ANY_TIME
def test_joining_gives_the_bytes_that_root_would_write(entries: list[bytes]) -> None:
    data = b"".join(entries)
    offsets = np.array([*starts_of(entries), len(data)], np.int32)
    payload = join_basket(data, offsets)
    # All but the last word, which ROOT does not define.
    assert payload[:-4] == (data + tail_of_offsets(starts_of(entries), key_length=0))[:-4]
    again = split(payload, len(data), len(entries))
    assert again.offsets is not None
    assert again.offsets.tolist() == offsets.tolist()


def test_joining_without_offsets_gives_the_data_alone() -> None:
    assert join_basket(b"abc", None) == b"abc"


@pytest.mark.parametrize("first", [60, 0])
def test_the_first_entry_begins_behind_the_key_or_with_the_data(first: int) -> None:
    payload = np.frombuffer(b"abcd" + tail(3, first, first + 1, 0), np.uint8)
    basket = split_basket(payload, 4, 2, key_bytes=60)
    assert basket.offsets is not None
    assert basket.offsets.tolist() == [0, 1, 4]


@pytest.mark.parametrize("first", [59, 61, -60, 2**31 - 1])
def test_a_first_entry_elsewhere_raises(first: int) -> None:
    payload = np.frombuffer(b"abcd" + tail(3, first, 61, 0), np.uint8)
    with pytest.raises(CorruptBasketError, match=rf"begins at byte {first}, .* 60 bytes"):
        split_basket(payload, 4, 2, key_bytes=60)
