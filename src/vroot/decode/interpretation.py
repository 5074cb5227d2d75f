"""From a basket's data to arrays: one function a kind of interpretation."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.basket import Basket
from vroot.decode.bits import decode_bits
from vroot.decode.forth import run_program
from vroot.decode.headers import (
    COLLECTION_HEADER,
    STRING_HEADER,
    check_collections,
    check_objects,
    check_strings,
)
from vroot.decode.offsets import Offsets
from vroot.exceptions import CorruptBasketError, UnsupportedError
from vroot.metadata.dtypes import split_dtype
from vroot.metadata.interpretations import (
    AsBits,
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsJagged,
    AsObjects,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Numerical,
)

__all__ = ["Array", "Buffers", "Decoded", "Lists", "decode_basket"]

Array: TypeAlias = npt.NDArray[Any]

STRING_LENGTH = struct.Struct(">I")
LONG_STRING = 255
MAX_MANTISSA_BITS = 23  # of a 4-byte float, into which truncated reals are unpacked
INTEGER_BITS = 32
MAX_INTEGER = (1 << INTEGER_BITS) - 1


class Lists(msgspec.Struct, frozen=True, eq=False):
    """Variable-length lists, one an entry.

    Parameters
    ----------
    offsets : ndarray of int64 or int32, shape (entries + 1,)
        Where the lists begin and end in `content`; the first is 0. Those of a whole column are
        int64.
    content : ndarray
        The items of all lists.
    """

    offsets: Offsets
    content: Array


@dataclass(frozen=True, eq=False)
class Buffers:
    """Buffers of an Awkward form.

    Parameters
    ----------
    length : int
        How many entries they hold.
    buffers : mapping of str to ndarray
        The buffers, by form key and attribute.
    """

    length: int
    buffers: Mapping[str, Array]


Decoded: TypeAlias = Array | Lists | Buffers


@singledispatch
def decode_basket(interpretation: Interpretation, basket: Basket) -> Decoded:  # noqa: ARG001
    """Interpret the data of one basket.

    Parameters
    ----------
    interpretation : Interpretation
        What the bytes mean.
    basket : Basket
        The bytes.

    Returns
    -------
    ndarray, Lists or Buffers
        One item an entry. Numbers may still be big-endian: copying them into their place is also
        what swaps them.

    Raises
    ------
    CorruptBasketError
        If the bytes do not fit the interpretation.
    UnsupportedError
        If there is no way to interpret them.
    """
    raise UnsupportedError(f"no decoder for {interpretation!r}")


@decode_basket.register
def _(
    interpretation: AsDtype | AsStridedObjects | AsDouble32 | AsFloat16, basket: Basket
) -> Decoded:
    if basket.data.size != interpretation.itemsize * basket.entries:
        raise CorruptBasketError(
            f"{basket.entries} entries of {interpretation.itemsize} bytes in a basket of "
            f"{basket.data.size} bytes"
        )
    if basket.edges is not None:
        _check_edges(basket, np.array(basket.edges.entries) * interpretation.itemsize)
    return _items(interpretation, basket.data)


def _check_edges(basket: Basket, found: npt.NDArray[np.integer[Any]]) -> None:
    """Check that each basket of a run ends where its entries do, at the bytes that were found."""
    if basket.edges is not None and not np.array_equal(basket.edges.data_bytes, found):
        raise CorruptBasketError("the entries of a basket do not end where its data do")


@decode_basket.register
def _(interpretation: AsJagged, basket: Basket) -> Decoded:
    header, data = interpretation.header_bytes, basket.data
    offsets = basket.item_offsets
    if offsets is None:
        offsets = _item_offsets(interpretation, basket)
    if header and data.size:
        if basket.offsets is None:
            raise CorruptBasketError("entries with headers, but the basket stores no offsets")
        if header == COLLECTION_HEADER.itemsize:
            check_collections(data, basket.offsets, offsets)
        data = _without_headers(data, basket.offsets, header, interpretation.content.itemsize)
    itemsize = interpretation.content.itemsize
    if int(offsets[-1]) * itemsize != data.size:
        raise CorruptBasketError(
            f"{offsets[-1]} items of {itemsize} bytes in a basket of {data.size} bytes"
        )
    return Lists(offsets, _items(interpretation.content, data))


@decode_basket.register
def _(interpretation: AsStrings, basket: Basket) -> Decoded:
    if basket.offsets is None:
        starts, counts = _walk_strings(interpretation, basket)
    else:
        starts, counts = _find_strings(interpretation, basket.data, basket.offsets)
        if interpretation.header_bytes == STRING_HEADER.itemsize:
            check_strings(basket.data, basket.offsets)
    offsets = np.zeros(basket.entries + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return Lists(offsets, _gather(basket.data, starts, counts, int(offsets[-1])))


@decode_basket.register
def _(interpretation: AsBits, basket: Basket) -> Decoded:
    bits, starts = decode_bits(basket.data)
    if interpretation.jagged:
        if basket.offsets is None:
            raise CorruptBasketError("bits of objects, but the basket stores no offsets")
        offsets = np.searchsorted(starts, basket.offsets)
        wrong = starts[offsets] != basket.offsets
        if wrong.any():
            raise CorruptBasketError(
                f"entry {max(0, int(wrong.argmax()) - 1)} of the basket ends within an item"
            )
        return Lists(offsets, bits)
    if bits.size != basket.entries:
        raise CorruptBasketError(f"{bits.size} items in a basket of {basket.entries} entries")
    if basket.edges is not None:
        _check_edges(basket, starts[basket.edges.entries])
    return bits


@decode_basket.register
def _(interpretation: AsObjects, basket: Basket) -> Decoded:
    return Buffers(basket.entries, run_program(interpretation.program, basket))


def _items(content: Numerical, data: npt.NDArray[np.uint8]) -> Array:
    """Interpret bytes that are nothing but items."""
    if isinstance(content, AsDouble32 | AsFloat16):
        return _unpack(content, data)
    if content.from_dtype.kind in "biuf":
        return data.view(content.from_dtype)
    dtype, shape = split_dtype(content.from_dtype)
    if isinstance(content, AsStridedObjects):
        if content.header_bytes:
            dtype = _behind_header(dtype, content.header_bytes)
        check_objects(data, dtype.itemsize, content.headers)
    return np.reshape(data.view(dtype), (-1, *shape))


def _behind_header(dtype: np.dtype[Any], header_bytes: int) -> np.dtype[Any]:
    """The same struct, after bytes that belong to no member."""
    names = dtype.names or ()
    fields = [dtype.fields[name] for name in names] if dtype.fields else []
    return np.dtype(
        {
            "names": list(names),
            "formats": [field[0] for field in fields],
            "offsets": [header_bytes + field[1] for field in fields],
            "itemsize": header_bytes + dtype.itemsize,
        }
    )


def _unpack(interpretation: AsDouble32 | AsFloat16, data: npt.NDArray[np.uint8]) -> Array:
    """Unpack ranged or truncated reals (ROOT: ``TBufferFile::ReadWithFactor``, ``ReadWithNbits``).

    The arithmetic, its order and its intermediate types are uproot's, so that every bit agrees,
    unless uproot's are wrong by more than their rounding.
    """
    dtype, shape = split_dtype(interpretation.numpy_dtype)
    bits = interpretation.num_bits
    if interpretation.is_truncated:
        if bits > MAX_MANTISSA_BITS:
            raise CorruptBasketError(f"a truncated real of {bits} mantissa bits")
        raw = data.reshape(-1, 3)
        exponent = raw[:, 0].astype(np.int32)
        mantissa = (raw[:, 1].astype(np.int32) << 8) | raw[:, 2]
        exponent <<= MAX_MANTISSA_BITS
        exponent |= (mantissa & ((1 << (bits + 1)) - 1)) << (MAX_MANTISSA_BITS - bits)
        sign = ((1 << (bits + 1)) & mantissa != 0) * -2 + 1
        # Any bits are a number, or a NaN: none of them is a mistake to warn of.
        with np.errstate(invalid="ignore"):
            output = (exponent.view(np.float32) * sign).astype(dtype)
    elif bits > MAX_MANTISSA_BITS and (bits == INTEGER_BITS or dtype == np.float32):
        # Here uproot is wrong: of 32 bits ROOT scales by the largest integer, not by the power of
        # two above it, and a float32 cannot hold integers of more than its mantissa.
        largest = MAX_INTEGER if bits == INTEGER_BITS else 1 << bits
        factor = largest / (interpretation.high - interpretation.low)
        with np.errstate(over="ignore", invalid="ignore"):
            output = (data.view(">u4") / factor + interpretation.low).astype(dtype)
    else:
        output = data.view(">u4").astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            output *= float(interpretation.high - interpretation.low) / (1 << bits)
            output += interpretation.low
    return np.reshape(output, (-1, *shape))


def _item_offsets(interpretation: AsJagged, basket: Basket) -> Offsets:
    """Where the entries begin and end, in items."""
    header, itemsize = interpretation.header_bytes, interpretation.content.itemsize
    ends = _byte_offsets(interpretation, basket)
    if header:
        ends = ends - header * np.arange(ends.size)
    offsets: Offsets = ends // itemsize
    # Without a header they ascend, as has been seen when the basket was split.
    wrong = offsets * itemsize != ends
    if header:
        wrong[1:] |= ends[1:] < ends[:-1]
    if wrong.any():
        entry = max(0, int(wrong.argmax()) - 1)
        size = ends[entry + 1] - ends[entry] + header
        raise CorruptBasketError(
            f"entry {entry} of the basket has {size} bytes, which are not a header of {header} "
            f"bytes and a number of items of {itemsize} bytes each"
        )
    return offsets


def _byte_offsets(interpretation: AsJagged, basket: Basket) -> Offsets:
    """Where the entries begin and end, in bytes, their headers included."""
    if basket.offsets is not None:
        return basket.offsets
    if basket.counts is None:
        raise CorruptBasketError("the basket stores no offsets, and there is no counter branch")
    if basket.counts.size != basket.entries:
        raise CorruptBasketError(
            f"{basket.counts.size} counts for a basket of {basket.entries} entries"
        )
    if (basket.counts < 0).any() or (basket.counts > basket.data.size).any():
        raise CorruptBasketError(
            f"the counter branch has counts from {basket.counts.min()} to {basket.counts.max()}, "
            f"for a basket of {basket.data.size} bytes"
        )
    offsets = np.zeros(basket.entries + 1, np.int64)
    np.cumsum(basket.counts, out=offsets[1:])
    offsets *= interpretation.content.itemsize
    if interpretation.header_bytes:
        offsets += interpretation.header_bytes * np.arange(basket.entries + 1)
    if basket.edges is not None:
        _check_edges(basket, offsets[basket.edges.entries])
    return offsets


def _without_headers(
    data: npt.NDArray[np.uint8], offsets: Offsets, header_bytes: int, itemsize: int
) -> npt.NDArray[np.uint8]:
    # The larger the steps in which headers and items can be counted, the fewer there are.
    step = math.gcd(header_bytes, itemsize, 8)
    units = data.view(f"u{step}")
    keep = np.ones(units.size, np.bool_)
    starts = offsets[:-1] // step
    for i in range(header_bytes // step):
        keep[starts + i] = False
    return units[keep].view(np.uint8)


def _find_strings(
    interpretation: AsStrings, data: npt.NDArray[np.uint8], basket_offsets: Offsets
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Starts and lengths of the characters of each entry, by the stored offsets."""
    offsets = basket_offsets.astype(np.int64)
    starts = offsets[:-1] + interpretation.header_bytes
    stops = offsets[1:]
    # A length byte must lie in its own entry before it is looked at.
    _check_strings(starts < stops, starts, stops)
    if interpretation.length_bytes == "4":
        prefix: npt.NDArray[np.int64] | int = STRING_LENGTH.size
    else:
        prefix = np.where(data[starts] == LONG_STRING, 1 + STRING_LENGTH.size, 1)
    first = starts + prefix
    _check_strings(first <= stops, starts, stops)
    counts = stops - first
    _check_strings(counts == _stated_lengths(data, starts, first), starts, stops)
    return first, counts


def _stated_lengths(
    data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Lengths as the prefixes say, big-endian in the bytes right before the characters."""
    short = first - starts == 1
    stated = np.zeros(starts.size, np.int64)
    stated[short] = data[starts[short]]
    wide = first[~short]
    value = np.zeros(wide.size, np.int64)
    for i in range(STRING_LENGTH.size, 0, -1):
        value = (value << 8) | data[wide - i]
    stated[~short] = value
    return stated


def _check_strings(
    good: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> None:
    if not good.all():
        entry = int((~good).argmax())
        raise CorruptBasketError(
            f"entry {entry} of the basket is not a string: its length and its characters do not "
            f"fill bytes {starts[entry]} to {stops[entry]}"
        )


def _walk_strings(
    interpretation: AsStrings, basket: Basket
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Starts and lengths of the characters of each entry, one string after the other."""
    if interpretation.header_bytes:
        raise CorruptBasketError("entries with headers, but the basket stores no offsets")
    data = basket.data.tobytes()
    starts = np.zeros(basket.entries, np.int64)
    counts = np.zeros(basket.entries, np.int64)
    position = 0
    for entry in range(basket.entries):
        count: int | None = None
        if interpretation.length_bytes == "1-5" and position < len(data):
            count = data[position]
            position += 1
        if (count is None or count == LONG_STRING) and position + STRING_LENGTH.size <= len(data):
            (count,) = STRING_LENGTH.unpack_from(data, position)
            position += STRING_LENGTH.size
        if count is None or position + count > len(data):
            raise CorruptBasketError(
                f"entry {entry} of the basket is not a string within its {len(data)} bytes"
            )
        starts[entry], counts[entry] = position, count
        position += count
    if position != len(data):
        raise CorruptBasketError(
            f"{basket.entries} strings take {position} of the basket's {len(data)} bytes"
        )
    if basket.edges is not None:
        _check_edges(basket, np.append(0, starts + counts)[basket.edges.entries])
    return starts, counts


def _gather(
    data: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    total: int,
) -> npt.NDArray[np.uint8]:
    """Leave out what is between the ranges ``data[start:start + count]``: the prefixes of each."""
    begins = np.zeros_like(starts)
    np.add(starts[:-1], counts[:-1], out=begins[1:])
    prefix = starts - begins
    shortest, longest = (int(prefix.min()), int(prefix.max())) if prefix.size else (0, 0)
    keep = np.ones(data.size, np.bool_)
    for i in range(longest):
        keep[(begins if i < shortest else begins[prefix > i]) + i] = False
    output = data[keep]
    if output.size != total:
        raise CorruptBasketError(f"{output.size} characters where {total} were announced")
    return output
