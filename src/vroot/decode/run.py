"""Runs: consecutive baskets of one column, decompressed and put one after the other."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.basket import OFFSET, Basket, Edges, check_offsets, split_basket
from vroot.decode.compression import Plain, decompress, decompress_each
from vroot.decode.offsets import KnownOffsets, Offsets
from vroot.exceptions import CorruptBasketError
from vroot.metadata.specs import Stored

__all__ = ["RunSizes", "read_run"]

Bytes = npt.NDArray[np.uint8]
#: What the offsets of a basket begin with: how many there are, and the first of them.
LENGTH_AND_FIRST = struct.Struct(">ii")


class RunSizes(msgspec.Struct, frozen=True, eq=False):
    """Sizes of the baskets of a run; of each list one item a basket.

    Parameters
    ----------
    stored : str
        How the payloads are stored.
    entries, uncompressed_bytes, border_bytes : list of int
        As in `vroot.metadata.specs.BasketTable`. Where there are several baskets, none is without
        entries, and either all store offsets or none does.
    key_bytes : list of int, optional
        Lengths of the TKeys.
    """

    stored: Stored
    entries: list[int]
    uncompressed_bytes: list[int]
    border_bytes: list[int]
    key_bytes: list[int] | None = None

    def only(self, basket: int) -> RunSizes:
        """Give the sizes of one basket, by its number in the run."""
        return RunSizes(
            self.stored,
            [self.entries[basket]],
            [self.uncompressed_bytes[basket]],
            [self.border_bytes[basket]],
            None if self.key_bytes is None else [self.key_bytes[basket]],
        )


def read_run(
    payloads: Sequence[memoryview],
    sizes: RunSizes,
    room: Bytes | None = None,
    known: KnownOffsets | None = None,
) -> Basket:
    """Decompress the baskets of a run, and put their data and their offsets together.

    Parameters
    ----------
    payloads : sequence of memoryview
        The bytes after the TKeys.
    sizes : RunSizes
        What they must become.
    room : ndarray of uint8, shape (data,), optional
        Where to put the data of several baskets; memory of its own if not given.
    known : KnownOffsets, optional
        What the offsets may be, see `split_basket`.

    Returns
    -------
    Basket
        As if it were one basket.

    Raises
    ------
    CorruptBasketError
        If a basket cannot be decompressed, or its offsets do not fit it. Read each of a run
        alone to learn which one.
    """
    if len(payloads) == 1:
        return split_basket(
            decompress(payloads[0], sizes.stored, sizes.uncompressed_bytes[0]),
            sizes.border_bytes[0],
            sizes.entries[0],
            known,
            None if sizes.key_bytes is None else sizes.key_bytes[0],
        )
    edges = Edges(_edges(sizes.entries), _edges(sizes.border_bytes))
    data = np.empty(edges.data_bytes[-1], np.uint8) if room is None else room
    plains = decompress_each(payloads, sizes.stored, sizes.uncompressed_bytes)
    entries = edges.entries[-1]
    if sizes.border_bytes == sizes.uncompressed_bytes:
        target = memoryview(data)
        for plain, (start, stop) in zip(plains, pairwise(edges.data_bytes), strict=True):
            target[start:stop] = memoryview(plain)
        return Basket(data, entries, edges=edges)
    offsets = _put_apart(plains, sizes, edges, data)
    if known is not None and (offsets == known.in_bytes).all():
        return Basket(data, entries, known.in_bytes, item_offsets=known.in_items, edges=edges)
    return Basket(data, entries, check_offsets(offsets), edges=edges)


def _put_apart(plains: Iterable[Plain], sizes: RunSizes, edges: Edges, data: Bytes) -> Offsets:
    """Put data and offsets each to their like; give the offsets, counted in all data."""
    words = np.empty(OFFSET.size * edges.entries[-1], np.uint8)
    data_target, words_target = memoryview(data), memoryview(words)
    shifts = []
    known_keys: Sequence[int | None] = sizes.key_bytes or [None] * len(sizes.entries)
    start = first = 0
    for plain, size, border, entries, key_bytes in zip(
        plains,
        sizes.uncompressed_bytes,
        sizes.border_bytes,
        sizes.entries,
        known_keys,
        strict=True,
    ):
        if size - border != OFFSET.size * (entries + 2):
            raise CorruptBasketError(f"{size - border} bytes of offsets for {entries} entries")
        view = memoryview(plain)
        length, begin = LENGTH_AND_FIRST.unpack_from(view, border)
        if length != entries + 1 or (key_bytes is not None and begin not in (0, key_bytes)):
            raise CorruptBasketError(f"{length} offsets, the first of which is {begin}")
        data_target[start : start + border] = view[:border]
        words_target[first : first + OFFSET.size * entries] = view[
            border + OFFSET.size : -OFFSET.size
        ]
        shifts.append(start - begin)
        start += border
        first += OFFSET.size * entries
    return _shifted(words.view(">i4"), shifts, edges)


def _shifted(words: npt.NDArray[np.int32], shifts: list[int], edges: Edges) -> Offsets:
    """Count the offsets of all baskets from the beginning of the data."""
    offsets = np.empty(words.size + 1, np.int32)
    starts = offsets[:-1]
    starts[:] = words
    # They may be damaged: only what ascends is used, so that they may well wrap around here.
    shift = np.array(shifts).astype(np.int32)
    if len({stop - start for start, stop in pairwise(edges.entries)}) == 1:
        starts.reshape(shift.size, -1)[:] += shift[:, np.newaxis]
    else:
        for each, (first, last) in zip(shift, pairwise(edges.entries), strict=True):
            starts[first:last] += each
    offsets[-1] = edges.data_bytes[-1]
    return offsets


def _edges(sizes: list[int]) -> list[int]:
    return [0, *accumulate(sizes)]
