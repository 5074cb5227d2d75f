"""Entry offsets that the columns of one counter have in common, worked out once for all of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["KnownOffsets", "SharedOffsets"]

Offsets: TypeAlias = npt.NDArray[np.integer[Any]]
Key: TypeAlias = tuple[str, int, int]


class KnownOffsets(NamedTuple):
    """Offsets of a run of baskets, which have been checked.

    Parameters
    ----------
    in_bytes : ndarray of int32, shape (entries + 1,)
        Where the entries begin and end in the data.
    in_items : ndarray of int32, shape (entries + 1,)
        The same in items.
    """

    in_bytes: Offsets
    in_items: Offsets


class SharedOffsets:
    """Offsets by counter and entries: an aid to speed, which decides nothing.

    The offsets of a run of baskets are compared with those of another column for the same entries.
    Only where they are equal is the work of checking and joining them saved, and their memory.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Key, int], KnownOffsets] = {}
        self._items: dict[Key, Offsets] = {}
        self._joined: dict[Key, list[tuple[list[Offsets], npt.NDArray[np.int64]]]] = {}

    def find(self, key: Key, itemsize: int) -> KnownOffsets | None:
        """Give what another column with items of the same size has for a run of baskets.

        Parameters
        ----------
        key : tuple of str, int and int
            Counter, first entry of the run, and its number of entries.
        itemsize : int
            Bytes of an item.
        """
        return self._known.get((key, itemsize))

    def add(self, key: Key, itemsize: int, in_bytes: Offsets, in_items: Offsets) -> Offsets:
        """Let others know the offsets of a run, which have been checked.

        Parameters
        ----------
        key, itemsize
            As in `find`.
        in_bytes, in_items : ndarrays of int32
            See `KnownOffsets`.

        Returns
        -------
        ndarray of int32
            `in_items`, or the equal array of another column.
        """
        first = self._items.setdefault(key, in_items)
        shared = first if np.array_equal(first, in_items) else in_items
        self._known.setdefault((key, itemsize), KnownOffsets(in_bytes, shared))
        return shared

    def join(
        self,
        key: Key,
        parts: Sequence[Offsets],
        make: Callable[[], npt.NDArray[np.int64]],
    ) -> npt.NDArray[np.int64]:
        """Put the offsets of a whole column together, unless that is done for another one.

        Parameters
        ----------
        key : tuple of str, int and int
            Counter, first entry and number of entries.
        parts : sequence of ndarrays
            The offsets of its runs, as `add` gave them.
        make : callable
            Puts them together.

        Returns
        -------
        ndarray of int64
            The same array for columns that have the very same parts.
        """
        known = self._joined.setdefault(key, [])
        for others, joined in known:
            if len(others) == len(parts) and all(map(operator.is_, others, parts)):
                return joined
        joined = make()
        known.append((list(parts), joined))
        return joined
