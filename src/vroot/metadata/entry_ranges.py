"""Entry range and columns to the baskets that must be fetched: pure arithmetic."""

from __future__ import annotations

from itertools import pairwise
from typing import SupportsIndex, SupportsInt

import msgspec

from vroot.metadata.specs import IndexArray

__all__ = ["BasketRange", "baskets_of_range", "regularize_entry_range", "window_of_range"]


class BasketRange(msgspec.Struct, frozen=True):
    """The part of consecutive baskets that an entry range wants.

    Parameters
    ----------
    basket : int
        Number of the first basket.
    start, stop : int
        Half-open range of entries, counted from the first entry of the first basket.
    position : int
        Where the first of them goes in the output.
    baskets : int
        How many baskets there are.
    """

    basket: int
    start: int
    stop: int
    position: int
    baskets: int = 1

    @property
    def entries(self) -> int:
        """Number of entries that are wanted."""
        return self.stop - self.start


def regularize_entry_range(
    num_entries: int, entry_start: int | None, entry_stop: int | None
) -> tuple[int, int]:
    """Bring an entry range into bounds, as uproot does.

    Parameters
    ----------
    num_entries : int
        Entries that there are.
    entry_start, entry_stop : int, optional
        Half-open range; negative ones count from the end, those beyond an end are cut.

    Returns
    -------
    tuple of int
        Start and stop with ``0 <= start <= stop <= num_entries``.

    Raises
    ------
    TypeError
        If one of them is not a number.
    """
    for name, given in (("entry_start", entry_start), ("entry_stop", entry_stop)):
        if given is not None and not isinstance(given, SupportsInt | SupportsIndex):
            raise TypeError(f"{name} must be an integer or None, not {given!r}")
    start = 0 if entry_start is None else entry_start
    stop = num_entries if entry_stop is None else entry_stop
    start += num_entries if start < 0 else 0
    stop += num_entries if stop < 0 else 0
    start = min(num_entries, max(0, start))
    stop = min(num_entries, max(0, stop))
    return int(start), int(max(start, stop))


def baskets_of_range(edges: IndexArray, entry_start: int, entry_stop: int) -> list[BasketRange]:
    """Find the baskets that hold a range of entries.

    Parameters
    ----------
    edges : ndarray of int64, shape (baskets + 1,)
        Entry numbers where the baskets begin and end.
    entry_start, entry_stop : int
        Half-open range of entries.

    Returns
    -------
    list of BasketRange
        In order; baskets without a wanted entry are left out.
    """
    if entry_stop <= entry_start:
        return []
    first = int(edges.searchsorted(entry_start, side="right")) - 1
    last = int(edges.searchsorted(entry_stop, side="left"))
    bounds = edges[first : last + 1].tolist()
    ranges = []
    for i, (begin, end) in enumerate(pairwise(bounds)):
        start, stop = max(begin, entry_start), min(end, entry_stop)
        if start < stop:
            ranges.append(BasketRange(first + i, start - begin, stop - begin, start - entry_start))
    return ranges


def window_of_range(edges: IndexArray, entry_start: int, entry_stop: int) -> BasketRange:
    """Find the consecutive baskets that hold a range of entries.

    Parameters
    ----------
    edges : ndarray of int64, shape (baskets + 1,)
        Entry numbers where the baskets begin and end.
    entry_start, entry_stop : int
        Half-open range of entries; what is beyond the last edge is left out.

    Returns
    -------
    BasketRange
        Its first and its last basket have a wanted entry; it has no baskets if nothing is wanted.
    """
    entry_stop = min(entry_stop, int(edges[-1]))
    if entry_stop <= entry_start:
        return BasketRange(0, 0, 0, 0, 0)
    first = int(edges.searchsorted(entry_start, side="right")) - 1
    last = int(edges.searchsorted(entry_stop, side="left"))
    begin = int(edges[first])
    return BasketRange(first, entry_start - begin, entry_stop - begin, 0, last - first)
