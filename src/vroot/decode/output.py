"""The array of a column, allocated once and filled run by run of baskets, from any thread."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from vroot.decode.interpretation import Array, Buffers, Decoded, Lists
from vroot.decode.join import join_buffers
from vroot.decode.offsets import Offsets, SharedOffsets
from vroot.metadata.dtypes import split_dtype
from vroot.metadata.entry_ranges import BasketRange
from vroot.metadata.flat import AsDtypeInPlace
from vroot.metadata.interpretations import (
    AsBits,
    AsDtype,
    AsInline,
    AsJagged,
    AsObjects,
    AsStrings,
    Numerical,
    Program,
)
from vroot.metadata.specs import BranchSpec, IndexArray

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


Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Kept:
    """A column of objects that the store itself holds.

    Parameters
    ----------
    entries : list
        The objects, as `vroot.objects.decoding.decode_object` takes them.
    """

    entries: list[Any]


ColumnData: TypeAlias = Array | Lists | Objects | Kept


class Output(Protocol):
    """Collects the decoded baskets of one column."""

    def room(self, part: BasketRange) -> Bytes | None:
        """Give the memory of a run of whole baskets, if their data are the items and no more."""
        ...

    def put(self, part: BasketRange, decoded: Decoded, *, in_place: bool = False) -> None:
        """Bring the wanted entries of a run to their place, in native byte order.

        Parameters
        ----------
        part : BasketRange
            The run.
        decoded : ndarray, Lists or Buffers
            All of its entries.
        in_place : bool
            Whether they are where `room` says.
        """
        ...

    def finish(self) -> ColumnData:
        """Give the whole, once every basket has been put."""
        ...


def allocate_output(
    spec: BranchSpec, window: BasketRange, shared: SharedOffsets | None = None
) -> Output:
    """Make the output of a column.

    Parameters
    ----------
    spec : BranchSpec
        The branch.
    window : BasketRange
        The baskets that will be put, in runs or one by one.
    shared : SharedOffsets, optional
        What is known of the offsets of other columns.

    Returns
    -------
    Output
        To be filled.
    """
    table = spec.baskets
    match spec.interpretation:
        case AsJagged(content, header):
            items = (table.border_bytes - header * table.entries) // content.itemsize
            region = _edges(items[window.basket : window.basket + window.baskets])
            room = _Room(empty(content, int(region[-1])), header == 0 and _is_plain(content))
            sharing = None if spec.count_branch is None else (shared, spec.count_branch)
            return _JaggedOutput(room, window, region, sharing)
        case AsStrings():
            # At least a byte of each is its length.
            return _ListsOutput(np.dtype(np.uint8), window, table.border_bytes - table.entries)
        case AsBits(jagged=True):
            return _ListsOutput(np.dtype(np.uint32), window, table.border_bytes // 4)
        case AsObjects(program):
            return _ObjectsOutput(program, window.entries)
        case AsBits():
            return _FlatOutput(_Room(np.empty(window.entries, np.uint32), is_plain=False))
        case AsDtypeInPlace() as in_place:
            return _FlatOutput(_Room(in_place.allocate(window.entries), is_plain=False))
        case numerical:
            array = empty(numerical, window.entries)  # type: ignore[arg-type]  # Unsupported is never planned
            return _FlatOutput(_Room(array, _is_plain(numerical)))  # type: ignore[arg-type]


def _is_plain(content: Numerical) -> bool:
    """Whether items are in memory what they are in a basket, but for the order of their bytes."""
    if not isinstance(content, AsDtype):
        return False
    stored, native = split_dtype(content.from_dtype)[0], split_dtype(content.numpy_dtype)[0]
    in_order = stored.itemsize == 1 or not stored.isnative
    return stored.names is None and stored.newbyteorder("=") == native and in_order


def _edges(sizes: IndexArray) -> IndexArray:
    edges = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=edges[1:])
    return edges


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


@dataclass(frozen=True, eq=False)
class _Room:
    """The memory of the items of a column.

    Parameters
    ----------
    array : ndarray
        Native items.
    is_plain : bool
        Whether the data of baskets are the same but for the order of their bytes.
    """

    array: Array
    is_plain: bool

    def of(self, start: int, stop: int) -> Bytes | None:
        """Give a range of items as bytes, if data can be put there as they are."""
        return self.array[start:stop].reshape(-1).view(np.uint8) if self.is_plain else None

    def put(self, items: Array, start: int, *, in_place: bool) -> None:
        """Bring items to their place, in native byte order."""
        target = self.array[start : start + len(items)]
        if in_place:
            if target.dtype.itemsize > 1:
                target.byteswap(inplace=True)
        elif items.dtype.itemsize == target.dtype.itemsize:
            target[...] = items
        else:
            # A NaN of any kind is a value like others: widening it is no mistake to warn of.
            with np.errstate(invalid="ignore"):
                target[...] = items


class _FlatOutput:
    def __init__(self, items: _Room) -> None:
        self.items = items

    def room(self, part: BasketRange) -> Bytes | None:
        return self.items.of(part.position, part.position + part.entries)

    def put(self, part: BasketRange, decoded: Decoded, *, in_place: bool = False) -> None:
        items = decoded[part.start : part.stop]  # type: ignore[index]
        self.items.put(items, part.position, in_place=in_place)

    def finish(self) -> ColumnData:
        return self.items.array


class _JaggedOutput:
    """Lists whose number of items in each basket is known beforehand.

    Every basket has its own region of `content`; of the first and the last one only the wanted
    items are copied, and what is before and after them stays untouched memory.
    """

    def __init__(
        self,
        content: _Room,
        window: BasketRange,
        region: IndexArray,
        sharing: tuple[SharedOffsets | None, str] | None,
    ) -> None:
        self.content = content
        self.window = window
        self.region = region
        self.sharing = sharing
        self.offsets: dict[int, tuple[BasketRange, Offsets]] = {}

    def _region(self, part: BasketRange) -> tuple[int, int]:
        first = part.basket - self.window.basket
        return int(self.region[first]), int(self.region[first + part.baskets])

    def room(self, part: BasketRange) -> Bytes | None:
        return self.content.of(*self._region(part))

    def put(self, part: BasketRange, decoded: Decoded, *, in_place: bool = False) -> None:
        offsets, content = decoded.offsets, decoded.content  # type: ignore[union-attr]
        start, _ = self._region(part)
        first, last = int(offsets[part.start]), int(offsets[part.stop])
        self.content.put(content[first:last], start + first, in_place=in_place)
        self.offsets[part.position] = (part, offsets)

    def finish(self) -> ColumnData:
        runs = [run for _, run in sorted(self.offsets.items())]
        if not runs:
            return Lists(np.zeros(1, np.int64), self.content.array)
        (begin, head), (end, tail) = runs[0], runs[-1]
        first = int(self.region[0]) + int(head[begin.start])
        last = self._region(end)[0] + int(tail[end.stop])
        make = partial(self._joined, runs, first)
        shared, counter = self.sharing or (None, "")
        if shared is None:
            joined = make()
        else:
            key = (counter, self.window.start, self.window.entries)
            joined = shared.join(key, [offsets for _, offsets in runs], make)
        return Lists(joined, self.content.array[first:last])

    def _joined(self, runs: list[tuple[BasketRange, Offsets]], first: int) -> npt.NDArray[np.int64]:
        joined = np.empty(1 + self.window.entries, np.int64)
        joined[0] = 0
        for part, offsets in runs:
            np.add(
                offsets[part.start + 1 : part.stop + 1],
                self._region(part)[0] - first,
                out=joined[part.position + 1 : part.position + 1 + part.entries],
                dtype=np.int64,  # what is added may be more than offsets of a run can hold
            )
        return joined


class _ListsOutput:
    """Lists whose lengths only the baskets tell, which are moved together at the end."""

    def __init__(
        self, dtype: np.dtype[Any], window: BasketRange, most: npt.NDArray[np.int64]
    ) -> None:
        # The items of each basket go where they are if none of the baskets before has fewer than
        # it could have, so that most often nothing is moved.
        self.window = window
        self.region = _edges(most[window.basket : window.basket + window.baskets])
        self.content = np.empty(int(self.region[-1]), dtype)
        self.offsets: dict[int, tuple[BasketRange, Offsets]] = {}

    def room(self, part: BasketRange) -> Bytes | None:  # noqa: ARG002  # what is put is not alike
        return None

    def put(self, part: BasketRange, decoded: Decoded, *, in_place: bool = False) -> None:  # noqa: ARG002
        offsets = decoded.offsets[part.start : part.stop + 1]  # type: ignore[union-attr]
        content = decoded.content[offsets[0] : offsets[-1]]  # type: ignore[union-attr]
        start = self._start(part)
        self.content[start : start + content.size] = content
        self.offsets[part.position] = (part, offsets - offsets[0])

    def _start(self, part: BasketRange) -> int:
        return int(self.region[part.basket - self.window.basket])

    def finish(self) -> ColumnData:
        joined = np.zeros(1 + self.window.entries, np.int64)
        total = 0
        for position, (part, offsets) in sorted(self.offsets.items()):
            start, size = self._start(part), int(offsets[-1])
            if start > total:
                self.content[total : total + size] = self.content[start : start + size]
            stop = position + offsets.size
            np.add(offsets[1:], total, out=joined[position + 1 : stop], dtype=np.int64)
            total += size
        return Lists(joined, self.content[:total])


class _ObjectsOutput:
    """Buffers of a form, which are joined at the end."""

    def __init__(self, program: Program, entries: int) -> None:
        self.program = program
        self.entries = entries
        self.parts: dict[int, tuple[dict[str, Array], int, int]] = {}

    def room(self, part: BasketRange) -> Bytes | None:  # noqa: ARG002  # a program fills its own
        return None

    def put(self, part: BasketRange, decoded: Decoded, *, in_place: bool = False) -> None:  # noqa: ARG002
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
