"""The array of a column, allocated once and filled basket by basket, from any thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from vroot.decode.interpretation import Array, Buffers, Decoded, Lists
from vroot.decode.join import join_buffers
from vroot.decode.offsets import Offsets, SharedOffsets
from vroot.dtypes import split_dtype
from vroot.in_place import AsDtypeInPlace
from vroot.interpretations import (
    AsBits,
    AsInline,
    AsJagged,
    AsObjects,
    AsStrings,
    Numerical,
    Program,
)
from vroot.model import BranchSpec
from vroot.plan import BasketRange

__all__ = [
    "ColumnData",
    "Kept",
    "Objects",
    "Output",
    "allocate_output",
    "empty",
    "inline_objects",
]


@dataclass(frozen=True, eq=False)
class Objects:
    """A column of objects.

    Parameters
    ----------
    buffers : Buffers
        Buffers of the column's form.
    start, stop : int
        Half-open range of their entries that is wanted.
    """

    buffers: Buffers
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Kept:
    """A column of objects that the store itself holds.

    Parameters
    ----------
    entries : list
        The objects, as `vroot.objects.data.decode_object` takes them.
    """

    entries: list[Any]


ColumnData: TypeAlias = Array | Lists | Objects | Kept


class Output(Protocol):
    """Collects the decoded baskets of one column."""

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        """Copy the wanted entries of a basket to their place, in native byte order."""
        ...

    def finish(self) -> ColumnData:
        """Give the whole, once every basket has been put."""
        ...


def allocate_output(
    spec: BranchSpec, parts: Sequence[BasketRange], shared: SharedOffsets | None = None
) -> Output:
    """Make the output of a column.

    Parameters
    ----------
    spec : BranchSpec
        The branch.
    parts : sequence of BasketRange
        The baskets that will be put.
    shared : SharedOffsets, optional
        What is known of the offsets of other columns.

    Returns
    -------
    Output
        To be filled.
    """
    entries = sum(part.stop - part.start for part in parts)
    table = spec.baskets
    match spec.interpretation:
        case AsJagged(content, header):
            items = (table.border_bytes - header * table.entries) // content.itemsize
            return _JaggedOutput(content, parts, items, shared or SharedOffsets())
        case AsStrings():
            # At least a byte of each is its length.
            return _ListsOutput(np.dtype(np.uint8), parts, table.border_bytes - table.entries)
        case AsBits(jagged=True):
            return _ListsOutput(np.dtype(np.uint32), parts, table.border_bytes // 4)
        case AsObjects(program):
            return _ObjectsOutput(program, entries)
        case AsBits():
            return _FlatOutput(np.empty(entries, np.uint32))
        case AsDtypeInPlace() as in_place:
            return _FlatOutput(in_place.allocate(entries))
        case numerical:
            return _FlatOutput(empty(numerical, entries))  # type: ignore[arg-type]  # Unsupported is never planned


def empty(content: Numerical, length: int) -> Array:
    """Allocate an array of native numbers, with its fixed dimensions.

    Parameters
    ----------
    content : Numerical
        One item.
    length : int
        Number of items.

    Returns
    -------
    ndarray
        Not initialized.
    """
    dtype, shape = split_dtype(content.numpy_dtype)
    return np.empty((length, *shape), dtype)


def _copy(items: Array, target: Array) -> None:
    """Copy items to their place, in native byte order."""
    if items.dtype.itemsize == target.dtype.itemsize:
        target[...] = items
    else:
        # A NaN of any kind is a value like others: widening it is no mistake to warn of.
        with np.errstate(invalid="ignore"):
            target[...] = items


class _FlatOutput:
    def __init__(self, array: Array) -> None:
        self.array = array

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        stop = part.position + part.stop - part.start
        _copy(decoded[part.start : part.stop], self.array[part.position : stop])  # type: ignore[index]

    def finish(self) -> ColumnData:
        return self.array


class _JaggedOutput:
    """Lists whose number of items in each basket is known beforehand.

    Every basket has its own region of `content`; of the first and the last one only the wanted
    items are copied, and what is before and after them stays untouched memory.
    """

    def __init__(
        self,
        content: Numerical,
        parts: Sequence[BasketRange],
        items: npt.NDArray[np.int64],
        shared: SharedOffsets,
    ) -> None:
        wanted = items[[part.basket for part in parts]] if parts else np.zeros(0, np.int64)
        starts = np.cumsum(wanted) - wanted
        self.parts = parts
        self.regions = {
            part.basket: start for part, start in zip(parts, starts.tolist(), strict=True)
        }
        self.content = empty(content, int(wanted.sum()))
        self.offsets: dict[int, Offsets] = {}
        self.shared = shared

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        offsets, content = decoded.offsets, decoded.content  # type: ignore[union-attr]
        region = self.regions[part.basket]
        first, last = int(offsets[part.start]), int(offsets[part.stop])
        _copy(content[first:last], self.content[region + first : region + last])
        self.offsets[part.basket] = offsets

    def finish(self) -> ColumnData:
        if not self.parts:
            return Lists(np.zeros(1, np.int64), self.content)
        begin, end = self.parts[0], self.parts[-1]
        first = int(self.offsets[begin.basket][begin.start])
        last = self.regions[end.basket] + int(self.offsets[end.basket][end.stop])
        # Columns of one counter mostly have the very same arrays of offsets.
        key = (begin.start, end.stop, *(id(self.offsets[part.basket]) for part in self.parts))
        joined = self.shared.joined(key)
        if joined is None:
            joined = self._joined(first)
            self.shared.join(key, joined)
        return Lists(joined, self.content[first:last])

    def _joined(self, first: int) -> npt.NDArray[np.int64]:
        joined = np.empty(1 + sum(part.stop - part.start for part in self.parts), np.int64)
        joined[0] = 0
        for part in self.parts:
            np.add(
                self.offsets[part.basket][part.start + 1 : part.stop + 1],
                self.regions[part.basket] - first,
                out=joined[part.position + 1 : part.position + 1 + part.stop - part.start],
            )
        return joined


class _ListsOutput:
    """Lists whose lengths only the baskets tell, which are moved together at the end."""

    def __init__(
        self, dtype: np.dtype[Any], parts: Sequence[BasketRange], most: npt.NDArray[np.int64]
    ) -> None:
        # The items of each basket go where they are if none of the baskets before has fewer than
        # it could have, so that most often nothing is moved.
        sizes = most[[part.basket for part in parts]] if parts else np.zeros(0, np.int64)
        starts = (np.cumsum(sizes) - sizes).tolist()
        self.parts = parts
        self.starts = {part.basket: start for part, start in zip(parts, starts, strict=True)}
        self.content = np.empty(int(sizes.sum()), dtype)
        self.offsets: dict[int, Offsets] = {}

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        offsets = decoded.offsets[part.start : part.stop + 1]  # type: ignore[union-attr]
        content = decoded.content[offsets[0] : offsets[-1]]  # type: ignore[union-attr]
        start = self.starts[part.basket]
        self.content[start : start + content.size] = content
        self.offsets[part.basket] = offsets - offsets[0]

    def finish(self) -> ColumnData:
        joined = np.zeros(1 + sum(part.stop - part.start for part in self.parts), np.int64)
        total = 0
        for part in self.parts:
            offsets, start = self.offsets[part.basket], self.starts[part.basket]
            size = int(offsets[-1])
            if start > total:
                self.content[total : total + size] = self.content[start : start + size]
            stop = part.position + offsets.size
            np.add(offsets[1:], total, out=joined[part.position + 1 : stop])
            total += size
        return Lists(joined, self.content[:total])


class _ObjectsOutput:
    """Buffers of a form, which are joined at the end."""

    def __init__(self, program: Program, entries: int) -> None:
        self.program = program
        self.entries = entries
        self.parts: dict[int, tuple[dict[str, Array], int, int]] = {}

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        buffers = dict(decoded.buffers)  # type: ignore[union-attr]
        self.parts[part.position] = (buffers, part.start, part.stop)

    def finish(self) -> ColumnData:
        parts = [part for _, part in sorted(self.parts.items())]
        joined = join_buffers(self.program, parts) if parts else {}
        return Objects(Buffers(self.entries, joined), 0, self.entries)


def inline_objects(interpretation: AsInline, length: int, start: int, stop: int) -> Objects:
    """Give a range of entries of a column whose buffers the store itself holds.

    Parameters
    ----------
    interpretation : AsInline
        Form and buffers.
    length : int
        Entries that they hold.
    start, stop : int
        Half-open range of entries.

    Returns
    -------
    Objects
        That range.
    """
    buffers = {
        name: np.frombuffer(content, np.uint8) for name, content in interpretation.buffers.items()
    }
    return Objects(Buffers(length, buffers), start, stop)
