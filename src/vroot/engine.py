"""The reading of columns: plan, fetch merged ranges, decode in threads into their outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vroot.decode.basket import Basket, split_basket
from vroot.decode.compression import decompress
from vroot.decode.interpretation import Array, Decoded, Lists, decode_basket
from vroot.decode.offsets import SharedOffsets
from vroot.decode.output import ColumnData, Output, allocate_output, inline_objects
from vroot.exceptions import CorruptBasketError, ReferenceStoreError, UnsupportedError
from vroot.fetch import Piece, fetch
from vroot.interpretations import AsDtype, AsGrouped, AsInline, AsJagged, Unsupported
from vroot.model import BranchSpec, Manifest
from vroot.plan import BasketRange, baskets_of_range
from vroot.store.bytes import ByteStore

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

    def key(self, basket: int) -> tuple[tuple[str, int, int], int] | None:
        """What the offsets of a basket may have in common with those of other columns."""
        spec = self.column.spec
        kind = spec.interpretation
        if spec.count_branch is None or not isinstance(kind, AsJagged) or kind.header_bytes:
            return None
        first, stop = self.edges[basket : basket + 2]
        return (spec.count_branch, first, stop - first), kind.content.itemsize

    @cached_property
    def edges(self) -> list[int]:
        """Entries where the baskets begin, and the end of the last."""
        edges: list[int] = self.column.spec.baskets.edges.tolist()
        return edges

    def put(self, part: BasketRange, decoded: Decoded) -> None:
        """Hand a basket to the output, and keep it if the next step begins in it."""
        self.output.put(part, decoded)
        if self.cache is not None and part.stop < self.column.spec.baskets.entries[part.basket]:
            self.cache.put(self.column.path, part.basket, decoded)


def read_columns(
    columns: Sequence[Column],
    entry_start: int,
    entry_stop: int,
    *,
    urls: Sequence[str],
    store: Callable[[str], ByteStore],
    executor: Executor | None = None,
    cache: BasketCache | None = None,
) -> list[ColumnData]:
    """Read a range of entries of several columns.

    Parameters
    ----------
    columns : sequence of Column
        What to read.
    entry_start, entry_stop : int
        Half-open range of entries; a shorter branch gives what it has of it.
    urls : sequence of str
        The sources.
    store : callable
        Gives the ByteStore for a URL.
    executor : concurrent.futures.Executor, optional
        Runs the decoding; threads of its own for this call if not given.
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
            _read_counts(task, urls=urls, store=store, executor=executor)
            tasks.append(task)
    pieces = [_piece(task, part) for task in tasks for part in task.parts if not _kept(task, part)]
    fetch(pieces, urls=urls, store=store, executor=executor)
    if cache is not None:
        cache.turn()
    read = iter(tasks)
    return [next(read).output.finish() if result is None else result for result in results]


def _allocate(column: Column, parts: list[BasketRange], shared: SharedOffsets) -> Output:
    try:
        return allocate_output(column.spec, parts, shared)
    except (ValueError, OverflowError) as err:
        # NumPy's words for what no memory could hold; only a false store asks for that.
        raise ReferenceStoreError(f"branch {column.path!r} is too large: {err}") from err


def _without_reading(column: Column, start: int, stop: int) -> ColumnData | None:
    """Give what the store itself holds of a column, and refuse what it does not represent."""
    match column.spec.interpretation:
        case Unsupported(reason):
            raise UnsupportedError(f"branch {column.path!r} cannot be read: {reason}")
        case AsGrouped():
            raise UnsupportedError(f"branch {column.path!r} only groups other branches")
        case AsInline() as inline:
            return inline_objects(inline, column.spec.num_entries, start, stop)
    return None


def _read_counts(task: _Task, **options: Any) -> None:
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
    (data,) = read_columns([counter], begin, end, **options)
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


def _piece(task: _Task, part: BasketRange) -> Piece:
    """The fetching of one basket."""
    manifest, basket = task.column.manifest, part.basket

    def use(payload: memoryview, where: str) -> None:
        _decode(task, part, payload, where)

    return Piece(
        int(manifest.source[basket]),
        int(manifest.offset[basket]),
        int(manifest.length[basket]),
        use,
        int(manifest.table.uncompressed_bytes[basket]),
        manifest.inline.get(basket, b""),
    )


def _decode(task: _Task, part: BasketRange, payload: memoryview, where: str) -> None:
    spec = task.column.spec
    basket = part.basket
    try:
        data = _basket(task, basket, payload)
        decoded = decode_basket(spec.interpretation, data)
        task.put(part, _with_shared_offsets(task, basket, data, decoded))
    except CorruptBasketError as err:
        raise CorruptBasketError(
            f"branch {task.column.path!r}, basket {basket}, {where}: {err}"
        ) from err


def _basket(task: _Task, basket: int, payload: memoryview) -> Basket:
    spec = task.column.spec
    entries = int(spec.baskets.entries[basket])
    border_bytes = int(spec.baskets.border_bytes[basket])
    if (
        isinstance(spec.interpretation, AsJagged)
        and border_bytes == entries * spec.interpretation.header_bytes
    ):
        # A basket without items has no chunk in the store, and needs none.
        return Basket(np.zeros(0, np.uint8), entries, counts=np.zeros(entries, np.int64))
    uncompressed_bytes = int(spec.baskets.uncompressed_bytes[basket])
    plain = decompress(payload, spec.baskets.stored, uncompressed_bytes)
    key = task.key(basket)
    known = None if key is None else task.shared.find(*key)
    data = split_basket(plain, border_bytes, entries, known)
    if basket in task.counts:
        return dataclasses.replace(data, counts=task.counts[basket])
    return data


def _with_shared_offsets(task: _Task, basket: int, data: Basket, decoded: Decoded) -> Decoded:
    """Give the offsets of a basket to the columns of the same counter, or have theirs."""
    key = task.key(basket)
    if key is None or data.offsets is None or data.item_offsets is not None:
        return decoded
    if not isinstance(decoded, Lists):
        return decoded
    return Lists(task.shared.add(*key, data.offsets, decoded.offsets), decoded.content)
