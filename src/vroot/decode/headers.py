"""The headers that ROOT writes before collections and objects: what they say must be true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from vroot.decode.offsets import Offsets
from vroot.exceptions import CorruptBasketError

__all__ = [
    "BYTE_COUNT_BIT",
    "COLLECTION_HEADER",
    "COUNT_BYTES",
    "MEMBERWISE_BIT",
    "STRING_HEADER",
    "check_collections",
    "check_objects",
    "check_strings",
]

# ROOT: TBufferFile::CheckByteCount, and TBufferFile::kStreamedMemberWise.
BYTE_COUNT_BIT = 0x40000000
MEMBERWISE_BIT = 0x4000

#: Before a string: how many bytes follow the first four, and a version.
STRING_HEADER = np.dtype([("byte_count", ">u4"), ("version", ">u2")])
#: Before a collection: the same, and how many items follow.
COLLECTION_HEADER = np.dtype([("byte_count", ">u4"), ("version", ">u2"), ("items", ">u4")])
COUNT_BYTES = 4  # which a byte count does not count


def check_collections(data: npt.NDArray[np.uint8], offsets: Offsets, item_offsets: Offsets) -> None:
    """Check that each entry begins with the header of just this collection.

    Parameters
    ----------
    data : ndarray of uint8
        The bytes of all entries.
    offsets : ndarray of integers, shape (entries + 1,)
        Where the entries begin and end in `data`; each has the bytes of a header.
    item_offsets : ndarray of integers, shape (entries + 1,)
        The same in items.

    Raises
    ------
    CorruptBasketError
        If a byte count is not that of the entry, if the items are written member by member, or
        if their number is another one.
    """
    headers = _headers(data, offsets, COLLECTION_HEADER)
    _check_byte_counts(headers, offsets)
    memberwise = headers["version"] & MEMBERWISE_BIT != 0
    if memberwise.any():
        raise CorruptBasketError(
            f"entry {int(memberwise.argmax())} of the basket has its items written member by "
            "member, expected item by item"
        )
    sizes = np.diff(item_offsets)
    wrong = headers["items"] != sizes
    if wrong.any():
        entry = int(wrong.argmax())
        raise CorruptBasketError(
            f"entry {entry} of the basket says that it has {headers['items'][entry]} items, "
            f"expected {sizes[entry]} by its length"
        )


def check_strings(data: npt.NDArray[np.uint8], offsets: Offsets) -> None:
    """Check that each entry begins with a byte count that is its own.

    Parameters
    ----------
    data : ndarray of uint8
        The bytes of all entries.
    offsets : ndarray of integers, shape (entries + 1,)
        Where the entries begin and end in `data`; each has the bytes of a header.

    Raises
    ------
    CorruptBasketError
        If it does not.
    """
    _check_byte_counts(_headers(data, offsets, STRING_HEADER), offsets)


def check_objects(
    data: npt.NDArray[np.uint8], itemsize: int, headers: Iterable[tuple[int, bytes]]
) -> None:
    """Check that all objects have the headers that they must have.

    Parameters
    ----------
    data : ndarray of uint8
        The bytes of all objects.
    itemsize : int
        Bytes of an object.
    headers : iterable of (int, bytes)
        Where in an object a header is, and its bytes: byte count, version, checksum.

    Raises
    ------
    CorruptBasketError
        If one does not: it is of another class, version or length.
    """
    rows = data.reshape(-1, itemsize)
    for offset, expected in headers:
        found = rows[:, offset : offset + len(expected)]
        wrong = (found != np.frombuffer(expected, np.uint8)).any(axis=1)
        if wrong.any():
            item = int(wrong.argmax())
            raise CorruptBasketError(
                f"object {item} of the basket has the header {found[item].tobytes().hex()} at its "
                f"byte {offset}, expected {expected.hex()}: it is of another class or version"
            )


def _headers(
    data: npt.NDArray[np.uint8], offsets: Offsets, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    # A view in which a header begins at every byte, so that those wanted are copied at once.
    whole = np.ndarray((max(0, data.size - dtype.itemsize + 1),), dtype, data, strides=(1,))
    return whole[offsets[:-1]]


def _check_byte_counts(headers: npt.NDArray[Any], offsets: Offsets) -> None:
    expected = np.diff(offsets) + (BYTE_COUNT_BIT - COUNT_BYTES)
    wrong = headers["byte_count"] != expected
    if wrong.any():
        entry = int(wrong.argmax())
        raise CorruptBasketError(
            f"entry {entry} of the basket begins with {int(headers['byte_count'][entry]):#010x}, "
            f"expected the byte count {int(expected[entry]):#010x} of its "
            f"{int(expected[entry]) - BYTE_COUNT_BIT + COUNT_BYTES} bytes"
        )
