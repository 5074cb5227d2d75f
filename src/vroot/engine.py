"""The reading of columns: plan, fetch merged ranges, decode in threads into their outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import msgspec
import numpy as np

from vroot.decode.basket import Basket, split_basket
from vroot.decode.compression import decompress
from vroot.decode.interpretation import Array, Decoded, Lists, decode_basket
from vroot.decode.offsets import SharedOffsets
from vroot.decode.output import ColumnData, Kept, Output, allocate_output, inline_objects
from vroot.exceptions import CorruptBasketError, ReferenceStoreError, UnsupportedError
from vroot.fetch import Piece
from vroot.interpretations import (
    AsDtype,
    AsGrouped,
    AsInline,
    AsInstances,
    AsJagged,
    Unsupported,
)
from vroot.model import BranchSpec, Manifest
from vroot.plan import BasketRange, baskets_of_range

__all__ = ["BasketCache", "Column", "read_columns"]


@dataclass(frozen=True, eq=False)
class Column:
    """A branch with all that is needed to read it.

    Parameters
    ----------
    path : str
        Path of the branch, for errors.
    spec : BranchSpec
        What it is.
    manifest : Manifest
        Where its baskets are.
    counter : callable, optional
        Gives the column of its counter branch, which is asked for only where a basket stores no
        offsets.
    """

    path: str
    spec: BranchSpec
    manifest: Manifest
    counter: Callable[[], Column] | None = None


class BasketCache:
    """Decoded baskets that the next read of the same columns needs again.

    It is for reading step by step: what reaches beyond the entries of one step is kept for the
    next, and no more than that.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Decoded] = {}
        self._next: dict[tuple[str, int], Decoded] = {}

    def get(self, path: str, basket: int) -> Decoded | None:
        """Give a basket, if it was kept."""
        return self._kept.get((path, basket))

    def put(self, path: str, basket: int, decoded: Decoded) -> None:
        """Keep a basket for the next read."""
        self._next[path, basket] = decoded

    def turn(self) -> None:
        """Forget what the last read did not keep."""
        self._kept, self._next = self._next, {}


@dataclass(frozen=True, eq=False)
class _Task:
    """A column in the course of being read."""

    column: Column
    parts: list[BasketRange]
    output: Output
    shared: SharedOffsets
    counts: dict[int, Array] = field(default_factory=dict)
    cache: BasketCache | None = None

    @cached_property
    def sizes(self) -> list[tuple[int, int, int, int, int | None]]:
        """First entry, entries, border and uncompressed bytes of each basket, and of its key.

        As numbers of Python, which are quicker to take from a list than from arrays one by one.
        """
        table = self.column.spec.baskets
        columns = (table.edges[:-1], table.entries, table.border_bytes, table.uncompressed_bytes)
        keys = [None] * len(table.entries) if table.key_bytes is None else table.key_bytes.tolist()
        return list(zip(*(column.tolist() for column in columns), keys, strict=True))

    @cached_property
    def counter_and_itemsize(self) -> tuple[str, int] | None:
        """What the offsets of baskets must have in common with those of other columns."""
        spec = self.column.spec
        kind = spec.interpretation
        if spec.count_branch is None or not isinstance(kind, AsJagged) or kind.header_bytes:
            return None
        return spec.count_branch, kind.content.itemsize

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        """Hand a basket to the output, and keep it if the next step begins in it."""
        self.output.put(part, decoded)
        if self.cache is not None and part.stop < self.sizes[part.basket][1]:
            self.cache.put(self.column.path, part.basket, decoded)


def read_columns(
    columns: Sequence[Column],
    entry_start: int,
    entry_stop: int,
    fetch: Callable[[Sequence[Piece]], None],
    cache: BasketCache | None = None,
) -> list[ColumnData]:
    """Read a range of entries of several columns.

    Parameters
    ----------
    columns : sequence of Column
        What to read.
    entry_start, entry_stop : int
        Half-open range of entries; a shorter branch gives what it has of it.
    fetch : callable
        Fetches baskets and has each decoded, see `vroot.fetch.fetch`.
    cache : BasketCache, optional
        What the last read of these columns has kept; it is given what the next one needs.

    Returns
    -------
    list of ndarray, Lists or Objects
        One result a column, in native byte order.

    Raises
    ------
    UnsupportedError
        If a column cannot be read, with its branch and the reason.
    CorruptBasketError
        If a basket is damaged, with its file, branch, number and offset.
    OSError
        If a source cannot be read.
    """
    results: list[ColumnData | None] = []
    tasks: list[_Task] = []
    shared = SharedOffsets()
    for column in columns:
        stop = min(entry_stop, column.spec.num_entries)
        ready = _without_reading(column, min(entry_start, stop), stop)
        results.append(ready)
        if ready is None:
            parts = baskets_of_range(column.spec.baskets.edges, entry_start, stop)
            output = _allocate(column, parts, shared)
            task = _Task(column, parts, output, shared, cache=cache)
            _read_counts(task, fetch)
            tasks.append(task)
    pieces = [piece for task in tasks for piece in _pieces(task)]
    fetch(pieces)
    if cache is not None:
        cache.turn()
    read = iter(tasks)
    return [_finish(next(read)) if result is None else result for result in results]


def _finish(task: _Task) -> ColumnData:
    try:
        return task.output.finish()
    except ReferenceStoreError as err:
        raise ReferenceStoreError(f"branch {task.column.path!r}: {err}") from err


def _allocate(column: Column, parts: list[BasketRange], shared: SharedOffsets) -> Output:
    try:
        return allocate_output(column.spec, parts, shared)
    except (ValueError, OverflowError) as err:
        # NumPy's words for what no memory could hold; only a false store asks for that.
        raise ReferenceStoreError(f"branch {column.path!r} is too large: {err}") from err


def _without_reading(column: Column, start: int, stop: int) -> ColumnData | None:
    """Give what the store itself holds of a column, and refuse what it does not represent."""
    match column.spec.interpretation:
        case AsInstances(entries=entries):
            if len(entries) != column.spec.num_entries:
                raise ReferenceStoreError(
                    f"branch {column.path!r}: the store holds {len(entries)} of its "
                    f"{column.spec.num_entries} entries"
                )
            return Kept(entries[start:stop])
        case Unsupported(reason):
            raise UnsupportedError(f"branch {column.path!r} cannot be read: {reason}")
        case AsGrouped():
            raise UnsupportedError(f"branch {column.path!r} only groups other branches")
        case AsInline() as inline:
            return inline_objects(inline, column.spec.num_entries, start, stop)
    return None


def _read_counts(task: _Task, fetch: Callable[[Sequence[Piece]], None]) -> None:
    """Get the counts for the baskets that store no offsets, over each basket's own entries."""
    column, table = task.column, task.column.spec.baskets
    if column.counter is None or not isinstance(column.spec.interpretation, AsJagged):
        return
    needed = [
        part.basket
        for part in task.parts
        if table.border_bytes[part.basket] == table.uncompressed_bytes[part.basket] > 0
    ]
    if not needed:
        return
    edges = table.edges
    begin, end = int(edges[needed[0]]), int(edges[needed[-1] + 1])
    counter = column.counter()
    # Checked before it is read: a counter with a counter might be its own.
    kind = counter.spec.interpretation
    if not isinstance(kind, AsDtype) or kind.numpy_dtype.kind not in "iu" or kind.inner_shape:
        raise ReferenceStoreError(
            f"branch {column.path!r}: its counter branch {counter.path!r} is {kind!r}, not counts"
        )
    (data,) = read_columns([counter], begin, end, fetch)
    counts = np.asarray(data)
    for basket in needed:
        task.counts[basket] = counts[edges[basket] - begin : edges[basket + 1] - begin]


def _kept(task: _Task, part: BasketRange) -> bool:
    """Take a basket from the cache, if it is there."""
    decoded = None if task.cache is None else task.cache.get(task.column.path, part.basket)
    if decoded is None:
        return False
    task.put(part, decoded)
    return True


def _pieces(task: _Task) -> Iterator[Piece]:
    """The fetching of the baskets that are not at hand."""
    manifest = task.column.manifest
    columns = (manifest.source, manifest.offset, manifest.length)
    source, offset, length = (column.tolist() for column in columns)
    for part in task.parts:
        if _kept(task, part):
            continue
        basket = part.basket
        yield Piece(
            source[basket],
            offset[basket],
            length[basket],
            partial(_decode, task, part),
            task.sizes[basket][3],
            manifest.inline.get(basket, b""),
        )


def _decode(task: _Task, part: BasketRange, payload: memoryview, where: str) -> None:
    try:
        task.put(part, _decoded(task, part.basket, payload))
    except CorruptBasketError as err:
        raise CorruptBasketError(
            f"branch {task.column.path!r}, basket {part.basket}, {where}: {err}"
        ) from err


def _decoded(task: _Task, basket: int, payload: memoryview) -> Decoded:
    spec = task.column.spec
    kind, stored = spec.interpretation, spec.baskets.stored
    first, entries, border_bytes, uncompressed_bytes, key_bytes = task.sizes[basket]
    if isinstance(kind, AsJagged) and border_bytes == entries * kind.header_bytes:
        # A basket without items has no chunk in the store, and needs none.
        nothing = np.zeros(entries, np.int64)
        return decode_basket(kind, Basket(np.zeros(0, np.uint8), entries, counts=nothing))
    plain = decompress(payload, stored, uncompressed_bytes)
    common = task.counter_and_itemsize
    if common is None:
        return decode_basket(kind, split_basket(plain, border_bytes, entries, None, key_bytes))
    counter, itemsize = common
    key = (counter, first, entries)
    known = task.shared.find(key, itemsize)
    data = split_basket(plain, border_bytes, entries, known, key_bytes)
    if data.offsets is None and basket in task.counts:
        data = msgspec.structs.replace(data, counts=task.counts[basket])
    decoded = decode_basket(kind, data)
    if data.offsets is None or data.item_offsets is not None or not isinstance(decoded, Lists):
        return decoded
    return Lists(task.shared.add(key, itemsize, data.offsets, decoded.offsets), decoded.content)
