"""The reading of columns: plan, fetch merged ranges, decode runs of baskets into their outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.basket import Basket
from vroot.decode.interpretation import Array, Decoded, Lists, decode_basket
from vroot.decode.offsets import SharedOffsets
from vroot.decode.output import ColumnData, Kept, Output, allocate_output, inline_objects
from vroot.decode.run import RunSizes, read_run
from vroot.exceptions import CorruptBasketError, ReferenceStoreError, UnsupportedError
from vroot.io.fetching import Ranges, Use
from vroot.metadata.entry_ranges import BasketRange, window_of_range
from vroot.metadata.interpretations import (
    AsDtype,
    AsGrouped,
    AsInline,
    AsInstances,
    AsJagged,
    Unsupported,
)
from vroot.metadata.specs import BranchSpec, IndexArray, Manifest
from vroot.read.runs import Baskets, bytes_for_runs, plan_baskets
from vroot.read.step_cache import StepCache

__all__ = ["Column", "read_columns"]

Fetch: TypeAlias = Callable[[Ranges, Use], None]


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


@dataclass(frozen=True, eq=False)
class _Task:
    """A column in the course of being read."""

    column: Column
    window: BasketRange
    output: Output
    shared: SharedOffsets
    counts: Counts | None = None
    cache: StepCache[Decoded] | None = None

    @cached_property
    def counter_and_itemsize(self) -> tuple[str, int] | None:
        """What the offsets of baskets must have in common with those of other columns."""
        spec = self.column.spec
        kind = spec.interpretation
        if spec.count_branch is None or not isinstance(kind, AsJagged) or kind.header_bytes:
            return None
        return spec.count_branch, kind.content.itemsize

    def put(self, part: BasketRange, decoded: Decoded, entries: int, *, in_place: bool) -> None:
        """Hand a run to the output, and keep it if the next step begins in it."""
        self.output.put(part, decoded, in_place=in_place)
        if self.cache is not None and part.stop < entries:
            self.cache.put(self.column.path, part.basket, decoded)


class Counts(NamedTuple):
    """Items in each entry of a column, from its counter branch.

    Parameters
    ----------
    first : int
        Number of the first entry.
    counts : ndarray of integers
        One an entry.
    """

    first: int
    counts: Array


def read_columns(
    columns: Sequence[Column],
    entry_start: int,
    entry_stop: int,
    fetch: Fetch,
    cache: StepCache[Decoded] | None = None,
) -> list[ColumnData]:
    """Read a range of entries of several columns.

    Parameters
    ----------
    columns : sequence of Column
        What to read.
    entry_start, entry_stop : int
        Half-open range of entries; a shorter branch gives what it has of it.
    fetch : callable
        Fetches byte ranges and has them used, see `vroot.io.fetching.fetch`.
    cache : StepCache, optional
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
            window = window_of_range(column.spec.baskets.edges, entry_start, entry_stop)
            counts = _read_counts(column, window, fetch)
            output = _allocate(column, window, shared)
            tasks.append(_Task(column, window, output, shared, counts, cache))
    if tasks:
        _read(tasks, fetch)
    if cache is not None:
        cache.turn()
    read = iter(tasks)
    return [_finish(next(read)) if result is None else result for result in results]


def _read(tasks: Sequence[_Task], fetch: Fetch) -> None:
    """Read the baskets of columns, and hand them to their outputs."""
    specs = [task.column.spec for task in tasks]
    baskets = plan_baskets(specs, [task.window for task in tasks])
    columns = baskets.column.tolist()

    empty = np.flatnonzero(baskets.is_empty).tolist()
    for begin, end in baskets.runs(empty):
        first = empty[begin]
        _put_empty(tasks[columns[first]], baskets, first, end - begin)
    wanted = baskets.is_read
    for number in np.flatnonzero(wanted & ~baskets.is_whole).tolist():
        wanted[number] = not _kept(tasks[columns[number]], baskets, number)
    numbers = np.flatnonzero(wanted)
    if numbers.size == 0:
        return

    def use(places: IndexArray, payloads: list[memoryview], url: str) -> None:
        # In plain Python: most often there are few, for which NumPy takes longer.
        found = numbers[places].tolist()
        order = sorted(range(len(found)), key=found.__getitem__)
        ascending = [found[i] for i in order]
        for begin, end in baskets.runs(ascending):
            first = ascending[begin]
            run = [payloads[i] for i in order[begin:end]]
            _read_run(tasks[columns[first]], baskets, first, run, url)

    fetch(_ranges(tasks, baskets, numbers), use)


def _ranges(tasks: Sequence[_Task], baskets: Baskets, numbers: IndexArray) -> Ranges:
    """Say where the bytes of baskets are."""
    manifests = [task.column.manifest for task in tasks]
    cuts = [slice(each.window.basket, each.window.basket + each.window.baskets) for each in tasks]
    cut = list(zip(manifests, cuts, strict=True))
    source = np.concatenate([manifest.source[part] for manifest, part in cut])[numbers]
    offset = np.concatenate([manifest.offset[part] for manifest, part in cut])[numbers]
    length = np.concatenate([manifest.length[part] for manifest, part in cut])[numbers]
    inline = {}
    for place in np.flatnonzero(source < 0).tolist():
        number = numbers[place]
        manifest = manifests[int(baskets.column[number])]
        inline[place] = manifest.inline.get(int(baskets.basket[number]), b"")
    return Ranges(
        source,
        offset,
        length,
        inline,
        None if inline or source[0] != source[-1] else baskets.groups(numbers, offset),
        bytes_for_runs(len(tasks), length),
        int(baskets.uncompressed_bytes[numbers].sum()),
    )


def _kept(task: _Task, baskets: Baskets, number: int) -> bool:
    """Take a basket from the cache, if it is there."""
    if task.cache is None:
        return False
    decoded = task.cache.get(task.column.path, int(baskets.basket[number]))
    if decoded is None:
        return False
    part = baskets.part(number, 1, task.window)
    task.put(part, decoded, int(baskets.entries[number]), in_place=False)
    return True


def _put_empty(task: _Task, baskets: Baskets, first: int, number: int) -> None:
    """Put baskets without items, which have no chunk in the store, and need none."""
    entries = int(baskets.entries[first : first + number].sum())
    nothing = Basket(np.zeros(0, np.uint8), entries, counts=np.zeros(entries, np.int64))
    decoded = decode_basket(task.column.spec.interpretation, nothing)
    task.output.put(baskets.part(first, number, task.window), decoded)


def _read_run(
    task: _Task, baskets: Baskets, first: int, payloads: list[memoryview], url: str
) -> None:
    """Decode a run, and put it; if that is not possible, find the basket that is damaged."""
    part = baskets.part(first, len(payloads), task.window)
    sizes = baskets.sizes(first, len(payloads), task.column.spec.baskets)
    room = task.output.room(part) if len(payloads) > 1 else None
    begin = int(baskets.first_entry[first])
    try:
        decoded = _decode(task, sizes, begin, payloads, room)
    except CorruptBasketError as err:
        for i, payload in enumerate(payloads if len(payloads) > 1 else ()):
            begin = int(baskets.first_entry[first + i])
            try:
                _decode(task, sizes.only(i), begin, [payload])
            except CorruptBasketError as cause:
                raise _named(task, part.basket + i, url, cause) from cause
        raise _named(task, part.basket, url, err) from err
    task.put(part, decoded, sum(sizes.entries), in_place=room is not None)


def _named(task: _Task, basket: int, url: str, err: CorruptBasketError) -> CorruptBasketError:
    offset = int(task.column.manifest.offset[basket])
    where = f"offset {offset} of {url}" if url else "inline bytes"
    return CorruptBasketError(f"branch {task.column.path!r}, basket {basket}, {where}: {err}")


def _decode(
    task: _Task,
    sizes: RunSizes,
    begin: int,
    payloads: list[memoryview],
    room: npt.NDArray[np.uint8] | None = None,
) -> Decoded:
    """Decode a run that begins with an entry, with what is known of its offsets."""
    kind = task.column.spec.interpretation
    common = task.counter_and_itemsize
    if common is None:
        return decode_basket(kind, read_run(payloads, sizes, room))
    counter, itemsize = common
    key = (counter, begin, sum(sizes.entries))
    basket = read_run(payloads, sizes, room, task.shared.find(key, itemsize))
    if basket.offsets is None and task.counts is not None:
        start = begin - task.counts.first
        counts = task.counts.counts[start : start + basket.entries]
        basket = msgspec.structs.replace(basket, counts=counts)
    decoded = decode_basket(kind, basket)
    if basket.offsets is None or basket.item_offsets is not None or not isinstance(decoded, Lists):
        return decoded
    return Lists(task.shared.add(key, itemsize, basket.offsets, decoded.offsets), decoded.content)


def _finish(task: _Task) -> ColumnData:
    try:
        return task.output.finish()
    except ReferenceStoreError as err:
        raise ReferenceStoreError(f"branch {task.column.path!r}: {err}") from err


def _allocate(column: Column, window: BasketRange, shared: SharedOffsets) -> Output:
    try:
        return allocate_output(column.spec, window, shared)
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


def _read_counts(column: Column, window: BasketRange, fetch: Fetch) -> Counts | None:
    """Get the counts for the baskets that store no offsets, over each basket's own entries."""
    table = column.spec.baskets
    if column.counter is None or not isinstance(column.spec.interpretation, AsJagged):
        return None
    wanted = slice(window.basket, window.basket + window.baskets)
    data, all_bytes = table.border_bytes[wanted], table.uncompressed_bytes[wanted]
    needed = np.flatnonzero((data == all_bytes) & (data > 0))
    if needed.size == 0:
        return None
    edges = table.edges
    begin = int(edges[window.basket + needed[0]])
    end = int(edges[window.basket + needed[-1] + 1])
    counter = column.counter()
    # Checked before it is read: a counter with a counter might be its own.
    kind = counter.spec.interpretation
    if not isinstance(kind, AsDtype) or kind.numpy_dtype.kind not in "iu" or kind.inner_shape:
        raise ReferenceStoreError(
            f"branch {column.path!r}: its counter branch {counter.path!r} is {kind!r}, not counts"
        )
    (counts,) = read_columns([counter], begin, end, fetch)
    return Counts(begin, np.asarray(counts))
