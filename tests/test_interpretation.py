"""The interpretation of a basket's data, one kind after the other."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from baskets import joined, string_header, tail_of_offsets
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.decode.basket import Basket, split_basket
from vroot.decode.interpretation import Array, Lists, decode_basket
from vroot.exceptions import CorruptBasketError, UnsupportedError
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

ANY_TIME = settings(deadline=None)
VECTOR_HEADER = bytes.fromhex("40000006 0009 00000000")  # length, version, number of items
FLOATS = AsJagged(AsDtype(np.dtype(">f4")))
VECTORS = AsJagged(AsDtype(np.dtype(">f4")), header_bytes=10)


def basket_of(data: bytes, entries: int, counts: list[int] | None = None) -> Basket:
    array = np.frombuffer(data, np.uint8)
    return Basket(array, entries, counts=None if counts is None else np.array(counts))


def with_offsets(*entries: bytes) -> Basket:
    payload = joined(list(entries), with_offsets=True)
    return split_basket(np.frombuffer(payload, np.uint8), len(b"".join(entries)), len(entries))


def flat(interpretation: Interpretation, basket: Basket) -> Array:
    decoded = decode_basket(interpretation, basket)
    assert isinstance(decoded, np.ndarray)
    return decoded


def lists(interpretation: Interpretation, basket: Basket) -> list[Any]:
    decoded = decode_basket(interpretation, basket)
    assert isinstance(decoded, Lists)
    assert decoded.offsets.dtype in (np.int32, np.int64)
    edges, content = decoded.offsets.tolist(), decoded.content.tolist()
    assert edges[0] == 0
    assert edges[-1] == len(content)
    return [content[edges[i] : edges[i + 1]] for i in range(len(edges) - 1)]


def texts(interpretation: AsStrings, basket: Basket) -> list[bytes]:
    return [bytes(text) for text in lists(interpretation, basket)]


# --- numbers


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        (">i4", "00000001 fffffffe", [1, -2]),
        (">u2", "0001 fffe", [1, 65534]),
        (">f4", "3fc00000 c0200000", [1.5, -2.5]),
        (">f8", "3ff8000000000000 c004000000000000", [1.5, -2.5]),
        (">i8", "8000000000000000 0000000000000001", [-(2**63), 1]),
        ("|b1", "0100", [True, False]),
        ((">i2", (2,)), "00010002 00030004", [[1, 2], [3, 4]]),
        ((">i2", (2, 2)), "00010002 00030004", [[[1, 2], [3, 4]]]),
        ("<i2", "0100 0200", [1, 2]),  # nothing says that a basket must be big-endian
    ],
)
def test_numbers_are_read_as_they_are_written(
    dtype: Any, data: str, expected: list[object]
) -> None:
    array = flat(AsDtype(np.dtype(dtype)), basket_of(bytes.fromhex(data), len(expected)))
    assert array.tolist() == expected


def test_a_struct_of_a_leaf_list_is_packed() -> None:
    dtype = np.dtype([("n", ">i4"), ("x", ">f4", (2,)), ("flag", "|b1")])
    data = bytes.fromhex("00000007 3f800000 40000000 01") * 2
    array = flat(AsDtype(dtype), basket_of(data, 2))
    assert array["n"].tolist() == [7, 7]
    assert array["x"].tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert array["flag"].tolist() == [True, True]


def test_no_number_is_rounded_or_normalised() -> None:
    # A NaN with a payload, minus zero, the smallest subnormal: the bits go through as they are.
    data = bytes.fromhex("ffc12345 80000000 00000001")
    array = flat(AsDtype(np.dtype(">f4")), basket_of(data, 3))
    assert array.tobytes() == data


def test_offsets_of_a_flat_basket_do_not_matter() -> None:
    # 190 branches in the wild store them; ROOT does not look at them either.
    basket = with_offsets(b"\0\1", b"\0\2")
    assert flat(AsDtype(np.dtype(">i2")), basket).tolist() == [1, 2]


@pytest.mark.parametrize(
    "interpretation",
    [AsDtype(np.dtype(">f4")), AsDouble32(0.0, 1.0, 8), AsFloat16(0.0, 1.0, 8)],
    ids=repr,
)
@pytest.mark.parametrize("size", [0, 1, 7, 9, 12, 16])
def test_a_flat_basket_of_another_length_raises(interpretation: Interpretation, size: int) -> None:
    with pytest.raises(CorruptBasketError, match=f"2 entries of 4 bytes in a basket of {size}"):
        decode_basket(interpretation, basket_of(bytes(size), 2))


# --- packed reals, worked out by hand from the bits


@pytest.mark.parametrize(
    ("low", "high", "bits", "stored", "expected"),
    [
        (0.0, 1.0, 2, 0, 0.0),
        (0.0, 1.0, 2, 3, 0.75),
        (-1.0, 1.0, 8, 128, 0.0),
        (-1.0, 1.0, 8, 255, 0.9921875),
        (-10.0, 10.0, 4, 1, -8.75),
        (0.0, 65535.0, 32, 2**32 - 1, 65535.0),  # the largest integer is the upper limit
        (-1.0, 1.0, 32, 0, -1.0),
        (0.0, 1.0, 2, 4, 1.0),  # the upper limit itself does not fit the bits, but is written
    ],
)
@pytest.mark.parametrize("kind", [AsDouble32, AsFloat16])
def test_a_ranged_real_is_a_fraction_of_its_range(
    kind: type[AsDouble32 | AsFloat16],
    low: float,
    high: float,
    bits: int,
    stored: int,
    expected: float,
) -> None:
    array = flat(kind(low, high, bits), basket_of(struct.pack(">I", stored), 1))
    assert array.dtype == (np.float64 if kind is AsDouble32 else np.float32)
    assert array.tolist() == [expected]


@pytest.mark.parametrize(
    ("bits", "data", "expected"),
    [
        (12, "7f 0000", 1.0),
        (12, "7f 0800", 1.5),  # the highest of the 12 bits of the mantissa
        (12, "7f 2000", -1.0),  # the sign is two above it
        (12, "80 2c00", -3.5),
        (12, "00 0000", 0.0),
        (2, "7f 0003", 1.75),
        (2, "7f 0009", -1.25),
        (14, "01 0001", math.ldexp(1 + 2.0**-14, -126)),
        (12, "ff 0000", math.inf),
        (12, "ff 2000", -math.inf),
    ],
)
@pytest.mark.parametrize("kind", [AsDouble32, AsFloat16])
def test_a_truncated_real_is_an_exponent_and_a_short_mantissa(
    kind: type[AsDouble32 | AsFloat16], bits: int, data: str, expected: float
) -> None:
    array = flat(kind(0.0, 0.0, bits), basket_of(bytes.fromhex(data), 1))
    assert array.dtype == (np.float64 if kind is AsDouble32 else np.float32)
    assert array.tolist() == [expected]


def test_a_truncated_minus_zero_keeps_its_sign() -> None:
    array = flat(AsFloat16(0.0, 0.0, 12), basket_of(bytes.fromhex("00 2000"), 1))
    assert math.copysign(1.0, array[0]) == -1.0


def test_packed_reals_have_their_fixed_shape() -> None:
    data = struct.pack(">8I", *range(8))
    array = flat(AsDouble32(0.0, 8.0, 3, (2, 2)), basket_of(data, 2))
    assert array.tolist() == [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]


def test_a_mantissa_longer_than_that_of_a_float_raises() -> None:
    with pytest.raises(CorruptBasketError, match="24 mantissa bits"):
        decode_basket(AsFloat16(0.0, 0.0, 24), basket_of(bytes(3), 1))


# --- lists


def test_vectors_lose_their_headers() -> None:
    one = bytes.fromhex("40000012 0009 00000003") + struct.pack(">3f", 1, 2, 3)
    none = VECTOR_HEADER
    assert lists(VECTORS, with_offsets(one, none, one)) == [[1, 2, 3], [], [1, 2, 3]]


def test_lists_without_headers_follow_the_offsets() -> None:
    entries = [struct.pack(f">{n}f", *range(n)) for n in (2, 0, 3)]
    assert lists(FLOATS, with_offsets(*entries)) == [[0, 1], [], [0, 1, 2]]


def test_lists_without_offsets_follow_the_counter() -> None:
    basket = basket_of(struct.pack(">5f", *range(5)), 3, counts=[2, 0, 3])
    assert lists(FLOATS, basket) == [[0, 1], [], [2, 3, 4]]


@pytest.mark.parametrize("dtype", ["u1", "i1", "u4", ">i4", "u8"])
def test_counters_of_any_integer_type_are_counts(dtype: str) -> None:
    data = np.frombuffer(bytes(4 * 200), np.uint8)
    basket = Basket(data, 2, counts=np.array([127, 73], dtype))
    assert [len(entry) for entry in lists(FLOATS, basket)] == [127, 73]


def test_stored_offsets_come_before_the_counter() -> None:
    basket = with_offsets(bytes(4), bytes(8))
    both = Basket(basket.data, 2, basket.offsets, np.array([2, 1]))
    assert [len(entry) for entry in lists(FLOATS, both)] == [1, 2]


def test_items_may_be_arrays_and_packed_reals() -> None:
    pairs = AsJagged(AsDtype(np.dtype((">i2", (2,)))))
    assert lists(pairs, with_offsets(bytes.fromhex("0001000200030004"), b"")) == [
        [[1, 2], [3, 4]],
        [],
    ]
    reals = AsJagged(AsFloat16(0.0, 0.0, 12), header_bytes=1)
    entries = [bytes.fromhex("aa 7f0000 7f0800"), b"\xaa"]
    assert lists(reals, with_offsets(*entries)) == [[1.0, 1.5], []]


@pytest.mark.parametrize("size", [0, 2, 6, 9, 11, 13, 15])
def test_an_entry_that_is_no_header_and_whole_items_raises(size: int) -> None:
    message = f"entry 1 of the basket has {size} bytes"
    with pytest.raises(CorruptBasketError, match=message):
        decode_basket(VECTORS, with_offsets(VECTOR_HEADER, bytes(size), VECTOR_HEADER))


def test_entries_with_headers_need_offsets() -> None:
    with pytest.raises(CorruptBasketError, match="no offsets"):
        decode_basket(VECTORS, basket_of(VECTOR_HEADER, 1))
    with pytest.raises(CorruptBasketError, match="no offsets"):
        decode_basket(VECTORS, basket_of(VECTOR_HEADER, 1, counts=[0]))


def test_lists_without_offsets_need_a_counter() -> None:
    with pytest.raises(CorruptBasketError, match="no counter branch"):
        decode_basket(FLOATS, basket_of(bytes(8), 2))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 1, 1], "3 counts for a basket of 2 entries"),
        ([2], "1 counts for a basket of 2 entries"),
        ([], "0 counts for a basket of 2 entries"),
        ([-1, 3], "counts from -1 to 3"),
        ([3, -1], "counts from -1 to 3"),
        ([1, 10**18], rf"counts from 1 to {10**18}"),
        ([2**62, 2**62], f"counts from {2**62} to {2**62}"),
        ([1, 0], "1 items of 4 bytes in a basket of 8 bytes"),
        ([2, 1], "3 items of 4 bytes in a basket of 8 bytes"),
        ([0, 0], "0 items of 4 bytes in a basket of 8 bytes"),
    ],
)
def test_counts_that_do_not_fit_the_basket_raise(counts: list[int], message: str) -> None:
    with pytest.raises(CorruptBasketError, match=message):
        decode_basket(FLOATS, basket_of(bytes(8), 2, counts=counts))


def test_an_unsigned_count_beyond_all_bounds_raises() -> None:
    basket = Basket(np.zeros(8, np.uint8), 2, counts=np.array([2**64 - 1, 3], np.uint64))
    with pytest.raises(CorruptBasketError, match=f"to {2**64 - 1}"):
        decode_basket(FLOATS, basket)


# --- strings


LENGTHS = [0, 1, 253, 254, 255, 256, 70_000]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("stored_offsets", [True, False], ids=["offsets", "no offsets"])
def test_the_length_of_a_string_takes_one_byte_or_five(length: int, stored_offsets: bool) -> None:
    prefix = bytes([length]) if length < 255 else b"\xff" + length.to_bytes(4, "big")
    entries = [prefix + b"x" * length, b"\x03end"]
    basket = with_offsets(*entries) if stored_offsets else basket_of(b"".join(entries), 2)
    assert texts(AsStrings(), basket) == [b"x" * length, b"end"]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("stored_offsets", [True, False], ids=["offsets", "no offsets"])
def test_the_length_of_a_string_takes_always_four_bytes(length: int, stored_offsets: bool) -> None:
    entries = [length.to_bytes(4, "big") + b"x" * length, b"\0\0\0\x03end"]
    basket = with_offsets(*entries) if stored_offsets else basket_of(b"".join(entries), 2)
    assert texts(AsStrings(length_bytes="4"), basket) == [b"x" * length, b"end"]


def test_strings_of_a_short_length_may_use_the_long_form() -> None:
    # ROOT does not write this, but its reader takes it.
    data = b"\xff\0\0\0\x02ab"
    assert texts(AsStrings(), with_offsets(data)) == [b"ab"]
    assert texts(AsStrings(), basket_of(data, 1)) == [b"ab"]


def test_strings_lose_their_headers() -> None:
    texts_with_lengths = (b"\x02ab", b"\x00", b"\x01c")
    basket = with_offsets(*(string_header(6, len(each)) + each for each in texts_with_lengths))
    assert texts(AsStrings(header_bytes=6), basket) == [b"ab", b"", b"c"]


def test_strings_may_hold_any_byte() -> None:
    data = b"\0\xff\x80\n"
    assert texts(AsStrings(), basket_of(b"\x04" + data, 1)) == [data]


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        (AsStrings(), b""),  # no room for the length
        (AsStrings(), b"\x02a"),  # fewer characters than stated
        (AsStrings(), b"\x02abc"),  # more
        (AsStrings(), b"\xff\0\0\0"),  # the long length is cut
        (AsStrings(), b"\xff\0\0\0\x03ab"),
        (AsStrings(), b"\xff\xff\xff\xff\xffab"),
        (AsStrings(length_bytes="4"), b"\0\0\0"),
        (AsStrings(length_bytes="4"), b"\0\0\0\x02a"),
        (AsStrings(length_bytes="4"), b"\x80\0\0\x01a"),
        (AsStrings(header_bytes=6), b"\0\0\0"),
        (AsStrings(header_bytes=6), b"\0\0\0\0\0\0"),
        (AsStrings(header_bytes=255), b"\x01a"),
    ],
    ids=str,
)
def test_an_entry_that_its_string_does_not_fill_raises(kind: AsStrings, entry: bytes) -> None:
    good = bytes(kind.header_bytes) + (b"\0\0\0\x01z" if kind.length_bytes == "4" else b"\x01z")
    with pytest.raises(CorruptBasketError, match="entry 1 of the basket is not a string"):
        decode_basket(kind, with_offsets(good, entry, good))


@pytest.mark.parametrize(
    ("kind", "data", "entries", "message"),
    [
        (AsStrings(), b"\x02a", 1, "entry 0 .* within its 2 bytes"),
        (AsStrings(), b"\x01a", 2, "entry 1 .* within its 2 bytes"),
        (AsStrings(), b"\x01ab", 1, "1 strings take 2 of the basket's 3 bytes"),
        (AsStrings(), b"a", 0, "0 strings take 0 of the basket's 1 bytes"),
        (AsStrings(), b"\xff\0\0\0", 1, "entry 0 .* within its 4 bytes"),
        (AsStrings(), b"\xff\xff\xff\xff\xff", 1, "entry 0 .* within its 5 bytes"),
        (AsStrings(length_bytes="4"), b"\0\0\0", 1, "entry 0 .* within its 3 bytes"),
        (AsStrings(header_bytes=6), b"\0\0\0\0\0\0\x01a", 1, "no offsets"),
    ],
)
def test_strings_that_do_not_fill_a_basket_without_offsets_raise(
    kind: AsStrings, data: bytes, entries: int, message: str
) -> None:
    with pytest.raises(CorruptBasketError, match=message):
        decode_basket(kind, basket_of(data, entries))


# --- anything


@given(
    st.sampled_from(
        [FLOATS, VECTORS, AsStrings(), AsStrings(6), AsStrings(length_bytes="4"), AsStrings(1, "4")]
    ),
    st.binary(max_size=40),
    st.lists(st.integers(0, 12), max_size=5),
)
@ANY_TIME
def test_garbage_raises_or_gives_one_list_an_entry(
    interpretation: Interpretation, data: bytes, sizes: list[int]
) -> None:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    payload = np.frombuffer(data + tail_of_offsets(starts), np.uint8)
    try:
        basket = split_basket(payload, len(data), len(sizes))
        decoded = lists(interpretation, basket)
    except CorruptBasketError:
        return
    assert len(decoded) == len(sizes)


def test_what_is_not_supported_says_so() -> None:
    with pytest.raises(UnsupportedError, match="no decoder"):
        decode_basket(Unsupported("because", "AsGrouped(...)"), basket_of(b"", 0))


# --- the bits of TObjects

PLAIN = bytes.fromhex("03000000")
REFERENCED = bytes.fromhex("03000010 0007")  # kIsReferenced, and the number of a process


def test_the_number_of_a_process_is_no_item() -> None:
    basket = with_offsets(PLAIN + REFERENCED, b"", REFERENCED * 2)
    plain, referenced = 0x0300_0000, 0x0300_0010
    assert lists(AsBits(jagged=True), basket) == [[plain, referenced], [], [referenced] * 2]
    one_each = flat(AsBits(), with_offsets(REFERENCED, PLAIN))
    assert one_each.dtype == np.uint32
    assert one_each.tolist() == [referenced, plain]


@pytest.mark.parametrize(
    ("interpretation", "basket", "message"),
    [
        (AsBits(jagged=True), basket_of(PLAIN, 1), "stores no offsets"),
        (
            AsBits(jagged=True),
            with_offsets(REFERENCED[:4], PLAIN + b"\0\0"),
            "entry 0 .* within",
        ),
        (AsBits(jagged=True), with_offsets(PLAIN, REFERENCED[:5]), "9 bytes end within the bits"),
        (AsBits(), with_offsets(PLAIN, REFERENCED[:4]), "8 bytes end within the bits"),
        (AsBits(), with_offsets(PLAIN * 2, REFERENCED), "3 items in a basket of 2 entries"),
    ],
    ids=str,
)
def test_bits_that_do_not_fit_their_entries_raise(
    interpretation: AsBits, basket: Basket, message: str
) -> None:
    with pytest.raises(CorruptBasketError, match=message):
        decode_basket(interpretation, basket)


def test_dtypes_by_name() -> None:
    named = AsDtype(">f4", np.float64)  # type: ignore[arg-type]  # as scripts of uproot have it
    assert named == AsDtype(np.dtype(">f4"), np.dtype(np.float64))
    assert repr(named) == "AsDtype('>f4', 'float64')"
    with pytest.raises(TypeError, match="zzz"):
        AsDtype("zzz")  # type: ignore[arg-type]
