"""The uncompressed bytes of baskets, taken apart into data and entry offsets."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.offsets import KnownOffsets, Offsets
from vroot.exceptions import CorruptBasketError

__all__ = ["Basket", "Edges", "check_offsets", "join_basket", "split_basket"]

OFFSET = struct.Struct(">i")
MAX_OFFSET = 2**31 - 1
STORED_OFFSET = np.dtype(">i4")


class Edges(NamedTuple):
    """Where the baskets of a run begin, and where the last one ends.

    Parameters
    ----------
    entries, data_bytes : list of int
        Counted in entries, and in bytes of the data; one more than there are baskets.
    """

    entries: list[int]
    data_bytes: list[int]


class Basket(msgspec.Struct, frozen=True, eq=False):
    """The data of one basket or of a run of consecutive ones, ready to be interpreted.

    Parameters
    ----------
    data : ndarray of uint8
        The bytes of all entries, one after the other.
    entries : int
        Number of entries.
    offsets : ndarray of int32, shape (entries + 1,), optional
        Where the entries begin and end in `data`, if the basket stores it.
    counts : ndarray of integers, shape (entries,), optional
        Items in each entry according to the counter branch, for baskets without offsets.
    item_offsets : ndarray of int32, shape (entries + 1,), optional
        The offsets in items, if they are known.
    edges : Edges, optional
        Where the baskets are, if there are several.
    """

    data: npt.NDArray[np.uint8]
    entries: int
    offsets: Offsets | None = None
    counts: npt.NDArray[Any] | None = None
    item_offsets: Offsets | None = None
    edges: Edges | None = None


def split_basket(
    payload: npt.NDArray[np.uint8],
    border_bytes: int,
    entries: int,
    known: KnownOffsets | None = None,
    key_bytes: int | None = None,
) -> Basket:
    """Cut a basket's uncompressed bytes at its border.

    Parameters
    ----------
    payload : ndarray of uint8
        Everything after the TKey, uncompressed.
    border_bytes : int
        Length of the data (``fLast - fKeylen``).
    entries : int
        Entries in the basket.
    known : KnownOffsets, optional
        What the offsets of so many entries may be; they are checked if they are not.
    key_bytes : int, optional
        Length of the TKey, if it is known.

    Returns
    -------
    Basket
        Without offsets if the data fill the payload.

    Raises
    ------
    CorruptBasketError
        If the tail is not a list of offsets that fit the data and the number of entries.

    Notes
    -----
    The tail is big-endian int32: n + 1, the n offsets, counted from the beginning of the TKey, and
    one unused word (ROOT: ``TBasket::Streamer``, ``TBuffer::WriteArray``). The first entry begins
    right after the key, which is how the length of the key is known here if it is not given. The
    offsets of a basket within the tree's own object count from the data.
    """
    data = payload[:border_bytes]
    if border_bytes == payload.size:
        return Basket(data, entries)
    tail = payload[border_bytes:]
    if tail.size != OFFSET.size * (entries + 2):
        raise CorruptBasketError(
            f"{tail.size} bytes of offsets do not belong to {entries} entries: expected "
            f"{OFFSET.size * (entries + 2)}"
        )
    words = tail.view(STORED_OFFSET).astype(np.int32)
    if words[0] != entries + 1:
        raise CorruptBasketError(
            f"the list of offsets has length {words[0]}, expected {entries + 1}"
        )
    if border_bytes and not entries:
        raise CorruptBasketError(f"{border_bytes} bytes of data, but no entries")
    if border_bytes > MAX_OFFSET:
        raise CorruptBasketError(f"{border_bytes} bytes of data are beyond any offset")
    offsets = words[1:]
    # By a damaged first offset, all entries would be wrong.
    if entries and key_bytes is not None and offsets[0] not in (0, key_bytes):
        raise CorruptBasketError(
            f"the first entry begins at byte {offsets[0]}, after a key of {key_bytes} bytes"
        )
    offsets -= offsets[0]
    offsets[-1] = border_bytes
    if known is not None and (offsets == known.in_bytes).all():
        return Basket(data, entries, known.in_bytes, item_offsets=known.in_items)
    return Basket(data, entries, check_offsets(offsets))


def check_offsets(offsets: Offsets) -> Offsets:
    """Check that offsets ascend.

    Raises
    ------
    CorruptBasketError
        If they do not, with the entry.
    """
    falling = offsets[1:] < offsets[:-1]
    if falling.any():
        entry = int(falling.argmax())
        raise CorruptBasketError(
            f"entry {entry} of the basket ends before it begins: bytes {offsets[entry]} to "
            f"{offsets[entry + 1]}"
        )
    return offsets


def join_basket(data: bytes, offsets: npt.NDArray[np.integer[Any]] | None) -> bytes:
    """Put data and offsets into one payload: the inverse of `split_basket`.

    Parameters
    ----------
    data : bytes
        The bytes of all entries.
    offsets : ndarray of integers, shape (entries + 1,), optional
        Where the entries begin and end in `data`.

    Returns
    -------
    bytes
        The payload of an uncompressed basket, whose border is the length of `data`.
    """
    if offsets is None:
        return data
    tail = np.zeros(offsets.size + 1, ">i4")
    tail[0] = offsets.size
    tail[1:-1] = offsets[:-1]
    return data + tail.tobytes()
