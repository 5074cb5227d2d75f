"""Which baskets of several columns are read, and which of them together: pure arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vroot.decode.run import RunSizes
from vroot.metadata.entry_ranges import BasketRange
from vroot.metadata.interpretations import AsJagged
from vroot.metadata.specs import BasketTable, BranchSpec, IndexArray

__all__ = ["Baskets", "bytes_for_runs", "plan_baskets"]

#: Baskets of no more bytes are joined before they are interpreted; a single one may have more.
RUN_BYTES = 4 << 20

#: So many baskets had better be in a run, if they are small.
RUN_BASKETS = 16
SMALL_BASKET_BYTES = 8 << 10

Mask = npt.NDArray[np.bool_]


class _Rows(NamedTuple):
    """Columns of `Baskets` as numbers of Python, which are quicker to take one by one."""

    basket: list[int]
    before: list[int]
    entries: list[int]
    uncompressed_bytes: list[int]
    border_bytes: list[int]
    joins: list[bool]


@dataclass(frozen=True, eq=False)
class Baskets:
    """The baskets that an entry range wants of several columns, as parallel arrays.

    One column follows the other, and its baskets follow each other.

    Parameters
    ----------
    column, basket : ndarray of int64, shape (baskets,)
        Number of the column, and of the basket in it.
    first_entry : ndarray of int64
        Number of the first entry in the column.
    before : ndarray of int64
        Entries before it in the baskets of the column that are here.
    entries, uncompressed_bytes, border_bytes : ndarray of int64
        See `vroot.metadata.specs.BasketTable`.
    is_whole : ndarray of bool
        Whether all entries are wanted.
    is_empty : ndarray of bool
        Which baskets have entries, but no items: they have no chunk in the store, and need none.
    is_read : ndarray of bool
        Which baskets have bytes that must be read.
    joins : ndarray of bool
        Which baskets may be in one run with the one before.
    """

    column: IndexArray
    basket: IndexArray
    first_entry: IndexArray
    before: IndexArray
    entries: IndexArray
    uncompressed_bytes: IndexArray
    border_bytes: IndexArray
    is_whole: Mask
    is_empty: Mask
    is_read: Mask
    joins: Mask

    def runs(self, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Divide some baskets into runs.

        Parameters
        ----------
        numbers : sequence of int
            Numbers of baskets, ascending.

        Yields
        ------
        tuple of int
            Half-open range of places in `numbers`, at which there are consecutive baskets.
        """
        joins = self._rows.joins
        begin = 0
        for place in range(1, len(numbers)):
            number = numbers[place]
            if not joins[number] or number != numbers[place - 1] + 1:
                yield begin, place
                begin = place
        if numbers:
            yield begin, len(numbers)

    def part(self, first: int, baskets: int, window: BasketRange) -> BasketRange:
        """Say which part of a run is wanted.

        Parameters
        ----------
        first, baskets : int
            Number of its first basket among all of these, and how many there are.
        window : BasketRange
            What is wanted of the column.
        """
        last = first + baskets - 1
        rows = self._rows
        start, stop = rows.before[first], rows.before[last] + rows.entries[last]
        begin = max(window.start - start, 0)
        return BasketRange(
            rows.basket[first],
            begin,
            min(window.stop, stop) - start,
            start + begin - window.start,
            baskets,
        )

    def sizes(self, first: int, baskets: int, table: BasketTable) -> RunSizes:
        """Give the sizes of the baskets of a run.

        Parameters
        ----------
        first, baskets : int
            As in `part`.
        table : BasketTable
            The baskets of the column.
        """
        rows, run = self._rows, slice(first, first + baskets)
        number, keys = rows.basket[first], table.key_bytes
        return RunSizes(
            table.stored,
            rows.entries[run],
            rows.uncompressed_bytes[run],
            rows.border_bytes[run],
            None if keys is None else keys[number : number + baskets].tolist(),
        )

    @cached_property
    def _rows(self) -> _Rows:
        return _Rows(
            self.basket.tolist(),
            self.before.tolist(),
            self.entries.tolist(),
            self.uncompressed_bytes.tolist(),
            self.border_bytes.tolist(),
            self.joins.tolist(),
        )

    def groups(self, numbers: IndexArray, offset: IndexArray) -> IndexArray:
        """Find the places of a file where the entries of all columns have been cut.

        Parameters
        ----------
        numbers : ndarray of int64
            Numbers of baskets of one source.
        offset : ndarray of int64
            Where they are in it.

        Returns
        -------
        ndarray of int64
            For each of `numbers`, that of the group: all entries of one come before all entries
            of the next, in the file as in the columns. Runs that end with a group are the same
            for all columns, so that they can share offsets.
        """
        order = np.argsort(offset, kind="stable")
        first = self.first_entry[numbers][order]
        stop = first + self.entries[numbers][order]
        highest = np.maximum.accumulate(stop)
        lowest = np.minimum.accumulate(first[::-1])[::-1]
        groups = np.zeros(numbers.size, np.int64)
        groups[order[1:]] = np.cumsum(highest[:-1] <= lowest[1:])
        return groups


def bytes_for_runs(columns: int, length: IndexArray) -> int:
    """Say how many bytes had better be used together, for runs of some baskets.

    Parameters
    ----------
    columns : int
        Number of columns that the bytes are of.
    length : ndarray of int64
        Lengths of all baskets, in bytes.

    Returns
    -------
    int
        0 for large baskets, which had better be alone, while they are in the processor's cache.
    """
    mean = float(length.mean())
    return int(columns * RUN_BASKETS * mean) if mean < SMALL_BASKET_BYTES else 0


def plan_baskets(specs: Sequence[BranchSpec], windows: Sequence[BasketRange]) -> Baskets:
    """Put the baskets of columns together.

    Parameters
    ----------
    specs : sequence of BranchSpec
        The columns.
    windows : sequence of BasketRange
        What is wanted of each.

    Returns
    -------
    Baskets
        All of them.
    """
    tables = [spec.baskets for spec in specs]
    cuts = [slice(window.basket, window.basket + window.baskets) for window in windows]

    def joined(arrays: Sequence[IndexArray]) -> IndexArray:
        return np.concatenate([a[cut] for a, cut in zip(arrays, cuts, strict=True)])

    number = np.array([window.baskets for window in windows])
    begins = np.cumsum(number) - number
    column = np.repeat(np.arange(number.size), number)
    basket = np.arange(column.size) - np.repeat(
        begins - [window.basket for window in windows], number
    )
    entries = joined([table.entries for table in tables])
    uncompressed = joined([table.uncompressed_bytes for table in tables])
    border = joined([table.border_bytes for table in tables])
    first_entry = joined([table.edges for table in tables])
    # Of a jagged column, the bytes of an entry without items; of others less than there can be.
    header = [
        spec.interpretation.header_bytes if isinstance(spec.interpretation, AsJagged) else -1
        for spec in specs
    ]
    is_empty = (border == entries * np.repeat(header, number)) & (entries > 0)
    filled = number > 0
    first, last = begins[filled], (begins + number - 1)[filled]
    before = first_entry - np.repeat(first_entry[first], number[filled])
    is_whole = np.ones(column.size, np.bool_)
    is_whole[first] = np.array([window.start for window in windows])[filled] == 0
    wanted = np.array([window.stop for window in windows])[filled]
    is_whole[last] &= wanted == before[last] + entries[last]
    joins = np.zeros(column.size, np.bool_)
    joins[1:] = is_whole[1:] & is_whole[:-1]
    # Each alike, or not in one run.
    run_number = np.cumsum(uncompressed) // RUN_BYTES
    for kind in (column, run_number, uncompressed != border, is_empty):
        joins[1:] &= kind[1:] == kind[:-1]
    return Baskets(
        column, basket, first_entry, before, entries, uncompressed, border,
        is_whole, is_empty, (entries > 0) & ~is_empty, joins,
    )  # fmt: skip
