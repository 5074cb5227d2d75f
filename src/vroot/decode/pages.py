"""RNTuple pages to arrays: checksum, blocks, and the encodings of the column types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from vroot.decode.compression import decompress
from vroot.exceptions import CorruptBasketError, CorruptPageError, UnsupportedError

__all__ = [
    "CHECKSUM_BYTES",
    "COLUMN_TYPES",
    "SWITCH",
    "ColumnType",
    "check_page",
    "decode_page",
    "packed_bytes",
    "unpack_page",
]

Bytes = npt.NDArray[np.uint8]

CHECKSUM_BYTES = 8

#: An element of a Switch column: an index into the column of the alternative, and which
#: alternative, from 1; 0 is a variant without a value.
SWITCH = np.dtype([("index", np.int64), ("tag", np.int32)])


@dataclass(frozen=True)
class ColumnType:
    """How the elements of a column are packed.

    Parameters
    ----------
    number : int
        Its number in ROOT's files.
    dtype : numpy.dtype
        Of the elements in memory.
    bits : int
        Of an element in a page; 0 if each column says it.
    split : bool
        Whether all first bytes come first, then all second bytes, and so on.
    zigzag : bool
        Whether the sign is in the lowest bit.
    delta : bool
        Whether an element is the difference to the one before it in its page.
    is_index : bool
        Whether the elements say where lists end, from the beginning of the cluster.
    """

    number: int
    dtype: np.dtype[Any]
    bits: int
    split: bool = False
    zigzag: bool = False
    delta: bool = False
    is_index: bool = False


def _plain(number: int, code: str, *, is_index: bool = False) -> ColumnType:
    dtype = np.dtype(code)
    return ColumnType(number, dtype, 8 * dtype.itemsize, is_index=is_index)


def _split(number: int, code: str, *, delta: bool = False) -> ColumnType:
    dtype = np.dtype(code)
    zigzag = dtype.kind == "i" and not delta
    bits = 8 * dtype.itemsize
    return ColumnType(number, dtype, bits, split=True, zigzag=zigzag, delta=delta, is_index=delta)


#: Names and numbers of ROOT: tree/ntuple/doc/BinaryFormatSpecification.md, "Column Description".
#: Indexes are unsigned there, but the offsets of Awkward Arrays, which they become, are not.
COLUMN_TYPES: dict[str, ColumnType] = {
    "Bit": ColumnType(0x00, np.dtype(np.bool_), 1),
    "Byte": _plain(0x01, "u1"),
    "Char": _plain(0x02, "u1"),
    "Int8": _plain(0x03, "i1"),
    "UInt8": _plain(0x04, "u1"),
    "Int16": _plain(0x05, "i2"),
    "UInt16": _plain(0x06, "u2"),
    "Int32": _plain(0x07, "i4"),
    "UInt32": _plain(0x08, "u4"),
    "Int64": _plain(0x09, "i8"),
    "UInt64": _plain(0x0A, "u8"),
    "Real16": _plain(0x0B, "f2"),
    "Real32": _plain(0x0C, "f4"),
    "Real64": _plain(0x0D, "f8"),
    "Index32": _plain(0x0E, "i4", is_index=True),
    "Index64": _plain(0x0F, "i8", is_index=True),
    "Switch": ColumnType(0x10, SWITCH, 96),
    "SplitInt16": _split(0x11, "i2"),
    "SplitUInt16": _split(0x12, "u2"),
    "SplitInt32": _split(0x13, "i4"),
    "SplitUInt32": _split(0x14, "u4"),
    "SplitInt64": _split(0x15, "i8"),
    "SplitUInt64": _split(0x16, "u8"),
    "SplitReal16": _split(0x17, "f2"),
    "SplitReal32": _split(0x18, "f4"),
    "SplitReal64": _split(0x19, "f8"),
    "SplitIndex32": _split(0x1A, "i4", delta=True),
    "SplitIndex64": _split(0x1B, "i8", delta=True),
    "Real32Trunc": ColumnType(0x1C, np.dtype(np.float32), 0),
    "Real32Quant": ColumnType(0x1D, np.dtype(np.float32), 0),
}


def packed_bytes(elements: int, bits: int) -> int:
    """Length in bytes of an uncompressed page: its elements, packed without gaps."""
    return (elements * bits + 7) // 8


def check_page(stored: memoryview) -> memoryview:
    """Check the checksum of a page.

    Parameters
    ----------
    stored : memoryview of bytes
        The page as it is stored, and the checksum right after it: an xxh3 of 64 bits,
        little-endian.

    Returns
    -------
    memoryview
        The page alone.

    Raises
    ------
    CorruptPageError
        If the checksum is not that of the page.
    """
    page = stored[: len(stored) - CHECKSUM_BYTES]
    expected = int.from_bytes(stored[len(page) :], "little")
    checksum = xxhash.xxh3_64_intdigest(page)
    if len(stored) < CHECKSUM_BYTES or checksum != expected:
        raise CorruptPageError(
            f"the checksum of the page's {len(page)} bytes is {checksum:#018x}, expected "
            f"{expected:#018x}"
        )
    return page


def unpack_page(page: memoryview, elements: int, bits: int) -> Bytes:
    """Decompress a page if it is compressed, which its length tells.

    Parameters
    ----------
    page : memoryview of bytes
        The page as it is stored, block headers included, without checksum.
    elements : int
        Elements in it.
    bits : int
        Of an element.

    Returns
    -------
    ndarray of uint8, shape (packed_bytes(elements, bits),)
        The packed elements.

    Raises
    ------
    CorruptPageError
        If the blocks are damaged or hold another number of bytes.
    """
    try:
        return decompress(page, "mixed", packed_bytes(elements, bits))
    except CorruptBasketError as err:
        raise CorruptPageError(str(err)) from err


def decode_page(
    packed: Bytes,
    column_type: ColumnType,
    elements: int,
    bits: int,
    value_range: tuple[float, float] | None = None,
) -> npt.NDArray[Any]:
    """Decode the elements of one page.

    Parameters
    ----------
    packed : ndarray of uint8
        The uncompressed page.
    column_type : ColumnType
        What they are.
    elements : int
        How many there are.
    bits : int
        Of an element.
    value_range : tuple of float, optional
        The lowest and the highest value, for Real32Quant.

    Returns
    -------
    ndarray, shape (elements,)
        In native byte order. Indexes count from the beginning of the cluster.

    Raises
    ------
    CorruptPageError
        If the page has another length than its elements need.
    UnsupportedError
        If no column of this type has so many bits.
    """
    if packed.size != packed_bytes(elements, bits):
        raise CorruptPageError(
            f"{elements} elements of {bits} bits need {packed_bytes(elements, bits)} bytes, not "
            f"{packed.size}"
        )
    if bits != (column_type.bits or min(max(bits, 1), 32)):
        raise UnsupportedError(f"a column of type {column_type.number:#x} with {bits} bits")
    if column_type.bits == 0:
        return _reals(packed, column_type, elements, bits, value_range)
    if column_type.bits == 1:
        return np.unpackbits(packed, count=elements, bitorder="little").view(np.bool_)
    dtype = column_type.dtype
    if column_type.split:
        packed = np.ascontiguousarray(packed.reshape(dtype.itemsize, elements).T).reshape(-1)
    values = packed.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
    if column_type.zigzag:
        unsigned = values.view(f"u{dtype.itemsize}")
        return ((unsigned >> 1) ^ -(unsigned & 1)).view(dtype)
    if column_type.delta:
        return np.cumsum(values, dtype=dtype)
    return values


def _reals(
    packed: Bytes,
    column_type: ColumnType,
    elements: int,
    bits: int,
    value_range: tuple[float, float] | None,
) -> npt.NDArray[np.float32]:
    """Reals of any number of bits: the upper bits of a float, or steps between two limits."""
    integers = _integers(packed, elements, bits)
    if column_type.number == COLUMN_TYPES["Real32Trunc"].number:
        return (integers << np.uint32(32 - bits)).view(np.float32)
    if value_range is None:
        raise CorruptPageError("a column of quantized reals does not say between which limits")
    low, high = value_range
    with np.errstate(over="ignore", invalid="ignore"):
        reals: npt.NDArray[np.float64] = low + integers * (high - low) / ((1 << bits) - 1)
        return reals.astype(np.float32)


def _integers(packed: Bytes, elements: int, bits: int) -> npt.NDArray[np.uint32]:
    """Unpack unsigned integers of 1 to 32 bits; the first is in the lowest bits."""
    position = np.arange(elements, dtype=np.int64) * bits
    first = position >> 3
    # With up to 7 bits before it, an integer lies within 5 bytes.
    padded = np.zeros(packed.size + 5, np.uint8)
    padded[: packed.size] = packed
    window = np.zeros(elements, np.uint64)
    for i in range(5):
        window |= padded[first + i].astype(np.uint64) << np.uint64(8 * i)
    window >>= (position & 7).astype(np.uint64)
    return (window & np.uint64((1 << bits) - 1)).astype(np.uint32)
