"""Pages of RNTuples, encoded independently, are decoded; damaged ones are refused."""

from __future__ import annotations

import math
import struct
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
from baskets import COMPRESSORS, compressed_block
from hypothesis import given, settings
from hypothesis import strategies as st
from ntuples import CODES, bit_string, checksum, encode_page, is_same

from vroot.decode.pages import (
    COLUMN_TYPES,
    check_page,
    decode_page,
    packed_bytes,
    unpack_page,
)
from vroot.exceptions import CorruptPageError, UnsupportedError
from vroot.metadata.specs import MAX_BLOCK_BYTES

REALS: dict[str, Literal[16, 32, 64]] = {"e": 16, "f": 32, "d": 64}
NUMBERS = [name for name in COLUMN_TYPES if name not in ("Bit", "Switch") and "32T" not in name]
NUMBERS = [name for name in NUMBERS if "Quant" not in name]


def decode(page: bytes, name: str, elements: int, bits: int = 0, limits: Any = None) -> Any:
    column_type = COLUMN_TYPES[name]
    packed = np.frombuffer(page, np.uint8)
    return decode_page(packed, column_type, elements, bits or column_type.bits, limits)


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A column type and values for it."""
    name = draw(st.sampled_from(NUMBERS))
    code = CODES[name.removeprefix("Split")]
    if code in REALS:
        return name, draw(st.lists(st.floats(width=REALS[code]), max_size=40))
    size = 8 * struct.calcsize(f"<{code}")
    if "Index" in name:
        # Indexes become signed offsets, so that the upper half is not used.
        steps = draw(st.lists(st.integers(0, (1 << (size - 1)) // 64), max_size=40))
        return name, np.cumsum(np.array(steps, np.int64)).tolist()
    low = -(1 << (size - 1)) if code.islower() else 0
    high = (1 << (size - 1 if code.islower() else size)) - 1
    return name, draw(st.lists(st.integers(low, high), max_size=40))


@given(pages())
def test_numbers(page: tuple[str, list[Any]]) -> None:
    name, values = page
    decoded = decode(encode_page(values, name), name, len(values))
    assert decoded.dtype == COLUMN_TYPES[name].dtype
    assert decoded.dtype.isnative
    assert len(decoded) == len(values)
    assert all(map(is_same, decoded.tolist(), values))


@given(pages(), st.data())
def test_a_page_of_another_length_is_refused(page: tuple[str, list[Any]], data: Any) -> None:
    name, values = page
    encoded = encode_page(values, name)
    length = data.draw(st.integers(0, len(encoded) + 20).filter(lambda n: n != len(encoded)))
    other = (encoded + bytes(20))[:length]
    with pytest.raises(CorruptPageError, match="bytes"):
        decode(other, name, len(values))


@given(st.lists(st.booleans(), max_size=70))
def test_bits(values: list[bool]) -> None:
    decoded = decode(encode_page(values, "Bit"), "Bit", len(values))
    assert decoded.dtype == np.bool_
    assert decoded.tolist() == values


@given(st.lists(st.tuples(st.integers(0, (1 << 63) - 1), st.integers(0, (1 << 31) - 1))))
def test_switches(values: list[tuple[int, int]]) -> None:
    decoded = decode(encode_page(values, "Switch"), "Switch", len(values))
    assert decoded.tolist() == values


@given(st.integers(1, 32), st.lists(st.floats(width=32, allow_nan=False), max_size=40))
def test_truncated_reals(bits: int, values: list[float]) -> None:
    decoded = decode(encode_page(values, "Real32Trunc", bits), "Real32Trunc", len(values), bits)
    kept = ~((1 << (32 - bits)) - 1)
    for got, value in zip(decoded.tolist(), values, strict=True):
        (word,) = struct.unpack("<I", struct.pack("<f", value))
        assert is_same(got, struct.unpack("<f", struct.pack("<I", word & kept))[0])


@given(st.integers(1, 32), st.data())
def test_quantized_reals(bits: int, data: Any) -> None:
    limit = st.floats(-1e6, 1e6, allow_subnormal=False)
    limits = data.draw(st.tuples(limit, limit).filter(lambda two: two[0] + 1e-3 < two[1]))
    steps = (1 << bits) - 1
    integers = data.draw(st.lists(st.integers(0, steps), max_size=40))
    page = bit_string(integers, bits)
    decoded = decode(page, "Real32Quant", len(integers), bits, limits)
    low, high = limits
    for got, integer in zip(decoded.tolist(), integers, strict=True):
        assert math.isclose(
            got, low + integer * (high - low) / steps, rel_tol=1e-6, abs_tol=1e-6 * abs(high - low)
        )


def test_quantized_reals_without_limits() -> None:
    with pytest.raises(CorruptPageError, match="limits"):
        decode(b"\x00", "Real32Quant", 1, 8)


@pytest.mark.parametrize(("name", "bits"), [("Int32", 16), ("Bit", 8), ("Real32Trunc", 33)])
def test_a_type_with_other_bits_is_refused(name: str, bits: int) -> None:
    with pytest.raises(UnsupportedError, match="bits"):
        decode(bytes(packed_bytes(8, bits)), name, 8, bits)


def test_numbers_of_the_types_are_those_of_the_format() -> None:
    assert [column_type.number for column_type in COLUMN_TYPES.values()] == list(range(0x1E))


@given(st.binary(max_size=200))
def test_checksums(page: bytes) -> None:
    assert bytes(check_page(memoryview(page + checksum(page)))) == page


@given(st.binary(max_size=200), st.data())
def test_every_flipped_bit_is_found(page: bytes, data: Any) -> None:
    stored = bytearray(page + checksum(page))
    bit = data.draw(st.integers(0, 8 * len(stored) - 1))
    stored[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CorruptPageError, match="checksum"):
        check_page(memoryview(bytes(stored)))


@given(st.integers(0, 7))
def test_a_checksum_that_is_cut_off(length: int) -> None:
    with pytest.raises(CorruptPageError, match="checksum"):
        check_page(memoryview(checksum(b"")[:length]))


@settings(deadline=None)
@given(st.sampled_from(sorted(COMPRESSORS)), st.integers(0, 300), st.integers(1, 4), st.data())
def test_compressed_pages(tag: bytes, elements: int, parts: int, data: Any) -> None:
    plain = encode_page([7] * elements, "UInt64")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(plain)), min_size=parts, max_size=parts)))
    bounds = [0, *cuts, len(plain)]
    pieces = [plain[start:stop] for start, stop in pairwise(bounds)]
    stored = b"".join(compressed_block(tag, piece) for piece in pieces if piece)
    if len(stored) >= len(plain):
        # ROOT stores a page raw that does not shrink; its length is how that is known.
        stored = plain
    packed = unpack_page(memoryview(stored), elements, 64)
    assert packed.tobytes() == plain


@settings(deadline=None)
@given(st.sampled_from(sorted(COMPRESSORS)), st.data())
def test_truncated_compressed_pages_are_refused(tag: bytes, data: Any) -> None:
    stored = compressed_block(tag, encode_page([7] * 200, "UInt64"))
    length = data.draw(st.integers(0, len(stored) - 1))
    with pytest.raises(CorruptPageError):
        unpack_page(memoryview(stored[:length]), 200, 64)


@settings(deadline=None)
@given(st.sampled_from(sorted(COMPRESSORS)), st.integers(0, 400).filter(lambda n: n != 200))
def test_another_number_of_elements_is_refused(tag: bytes, elements: int) -> None:
    stored = compressed_block(tag, encode_page([7] * 200, "UInt64"))
    if len(stored) != packed_bytes(elements, 64):
        with pytest.raises(CorruptPageError):
            unpack_page(memoryview(stored), elements, 64)


def test_a_page_of_several_blocks() -> None:
    plain = bytes(MAX_BLOCK_BYTES + 1000)
    stored = compressed_block(b"ZS", plain[:MAX_BLOCK_BYTES])
    stored += compressed_block(b"ZS", plain[MAX_BLOCK_BYTES:])
    assert unpack_page(memoryview(stored), len(plain), 8).tobytes() == plain


@given(st.binary(max_size=100), st.integers(0, 1000), st.sampled_from(list(COLUMN_TYPES)))
def test_any_bytes_give_elements_or_an_error(page: bytes, elements: int, name: str) -> None:
    bits = COLUMN_TYPES[name].bits or 11
    try:
        packed = unpack_page(memoryview(page), elements, bits)
        decoded = decode_page(packed, COLUMN_TYPES[name], elements, bits, (0.0, 1.0))
    except CorruptPageError:
        return
    assert decoded.shape == (elements,)
    assert decoded.dtype == COLUMN_TYPES[name].dtype
