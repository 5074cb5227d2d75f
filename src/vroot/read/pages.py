"""The reading of an RNTuple's columns: which pages, and from their elements to buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.pages import CHECKSUM_BYTES, check_page, decode_page, packed_bytes, unpack_page
from vroot.exceptions import (
    CorruptPageError,
    DeserializationError,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.format.ntuples import NTupleSchema, Slot
from vroot.io.fetching import Ranges, Use
from vroot.metadata.specs import IndexArray, Manifest
from vroot.read.step_cache import StepCache

__all__ = ["read_buffers"]

Values: TypeAlias = npt.NDArray[Any]
PageBuffers: TypeAlias = dict[str, Values]


class _Page(msgspec.Struct, frozen=True, eq=False):
    """A page that is wanted.

    Parameters
    ----------
    source, offset, length : int
        Where it is.
    use : callable
        Called with its bytes, and with words for where they are from.
    work_bytes : int
        Bytes that come out of it, roughly.
    """

    source: int
    offset: int
    length: int
    use: Callable[[memoryview, str], None]
    work_bytes: int


@dataclass(frozen=True, eq=False)
class _Window:
    """The elements of a slot that an entry range needs.

    Elements that belong to entries are those of the range. The others, in collections and
    variants, are all of the clusters', since only the indexes tell which of them are needed.

    Parameters
    ----------
    first : int
        Number of the first cluster.
    counts : ndarray of int64, shape (clusters,)
        Elements in each of the clusters.
    start, stop : ndarray of int64, shape (clusters,)
        Half-open range of elements of each cluster.
    """

    first: int
    counts: IndexArray
    start: IndexArray
    stop: IndexArray

    @property
    def edges(self) -> IndexArray:
        """Where the elements of each cluster begin and end in the output."""
        edges = np.zeros(self.start.size + 1, np.int64)
        np.cumsum(self.stop - self.start, out=edges[1:])
        return edges


@dataclass(frozen=True, eq=False)
class _Task:
    """A column in the course of being read.

    Parameters
    ----------
    column : int
        Its number in the first representation.
    slot : Slot
        What it stands for.
    window : _Window
        What is read.
    output : ndarray
        The elements.
    """

    column: int
    slot: Slot
    window: _Window
    output: npt.NDArray[Any]


def read_buffers(
    schema: NTupleSchema,
    keys: Iterable[str],
    entries: tuple[int, int],
    manifest: Callable[[int], Manifest],
    fetch: Callable[[Ranges, Use], None],
    cache: StepCache[Values] | None = None,
) -> PageBuffers:
    """Read what the forms of some fields need.

    Parameters
    ----------
    schema : NTupleSchema
        The RNTuple.
    keys : iterable of str
        Form keys, as `vroot.ntuples.forms.FormBuilder` makes them.
    entries : tuple of int
        Half-open range of entries, within bounds.
    manifest : callable
        From the number of a column to where its pages are.
    fetch : callable
        Fetches byte ranges and has each used, see `vroot.io.fetching.fetch`.
    cache : StepCache, optional
        Pages that the last read of these columns has kept; it is given what the next one needs.

    Returns
    -------
    dict of str to ndarray
        What `ak.from_buffers` wants, for as many entries as the range has.

    Raises
    ------
    CorruptPageError
        If a page is damaged, or its elements are not possible.
    ReferenceStoreError
        If the store contradicts itself.
    UnsupportedError
        If a column cannot be read.
    """
    by_column: dict[int, list[str]] = {}
    for key in dict.fromkeys(keys):
        if key.startswith("column-"):
            by_column.setdefault(int(key.split("-")[1]), []).append(key)
    tasks = [_task(schema, column, entries, manifest) for column in by_column]
    beyond = _cluster_beyond(schema, entries)
    pages = [page for task in tasks for page in _pages(schema, task, manifest, beyond, cache)]
    _fetch_pages(pages, fetch)
    if cache is not None:
        cache.turn()
    buffers: PageBuffers = {"nones-index": np.array([-1], np.int64)}
    for task in tasks:
        finished = _finish(schema, task)
        for key in by_column[task.column]:
            buffers |= _buffers(key, finished)
    return buffers


def _task(
    schema: NTupleSchema,
    column: int,
    entries: tuple[int, int],
    manifest: Callable[[int], Manifest],
) -> _Task:
    slot = schema.slot(column)
    window = _window(schema, slot, entries)
    # Making the manifests checks that the pages can hold what they claim: before it is allocated.
    for each in set(schema.active(slot)[window.first :][: window.start.size].tolist()):
        manifest(each)
    is_index = schema.column_type(column).is_index
    if is_index and window.start.size and window.start[0] > 0:
        # The list that comes first begins where the one before it ends.
        window.start[0] -= 1
        head = 0
    else:
        head = int(is_index)
    size = head + int(window.edges[-1])
    try:
        output = np.zeros(size, schema.dtype(column))
    except (MemoryError, ValueError) as err:
        raise DeserializationError(f"column {column} has {size} elements: {err}") from err
    return _Task(column, slot, window, output)


def _window(schema: NTupleSchema, slot: Slot, entries: tuple[int, int]) -> _Window:
    counts = schema.counts(slot)
    start, stop = entries
    if start == stop:
        nothing = np.zeros(0, np.int64)
        return _Window(0, nothing, nothing, nothing)
    edges = schema.edges
    first = int(edges.searchsorted(start, side="right")) - 1
    last = int(edges.searchsorted(stop, side="left"))
    counts = counts[first:last]
    per_entry = schema.per_entry(slot)
    if per_entry is None:
        return _Window(first, counts, np.zeros_like(counts), counts.copy())
    begin, end = edges[first:last], edges[first + 1 : last + 1]
    return _Window(
        first,
        counts,
        (np.maximum(begin, start) - begin) * per_entry,
        (np.minimum(end, stop) - begin) * per_entry,
    )


# --- pages


def _cluster_beyond(schema: NTupleSchema, entries: tuple[int, int]) -> int | None:
    """The cluster that reaches beyond a range of entries, if one does."""
    last = int(schema.edges.searchsorted(entries[1], side="left"))
    reaches = 0 < last < schema.edges.size and schema.edges[last] > entries[1]
    return last - 1 if reaches else None


def _fetch_pages(pages: list[_Page], fetch: Callable[[Ranges, Use], None]) -> None:
    def use(numbers: IndexArray, payloads: list[memoryview], url: str) -> None:
        for number, payload in zip(numbers.tolist(), payloads, strict=True):
            page = pages[number]
            page.use(payload, f"offset {page.offset} of {url}")

    places = np.array([(page.source, page.offset, page.length) for page in pages], np.int64)
    source, offset, length = places.reshape(-1, 3).T
    work_bytes = sum(page.work_bytes for page in pages)
    fetch(Ranges(source, offset, length, work_bytes=work_bytes), use)


def _pages(
    schema: NTupleSchema,
    task: _Task,
    manifest: Callable[[int], Manifest],
    beyond: int | None,
    cache: StepCache[Values] | None,
) -> Iterable[_Page]:
    """The fetching of the pages that have something of a column's window, and are not at hand."""
    window = task.window
    active = schema.active(task.slot)
    starts = task.output.size - window.edges[-1] + window.edges
    for i in range(window.start.size):
        cluster = window.first + i
        column = int(active[cluster])
        pages = schema.pages(column)
        low, high = pages.bounds[cluster : cluster + 2].tolist()
        edges = np.zeros(high - low + 1, np.int64)
        np.cumsum(pages.elements[low:high], out=edges[1:])
        # What precedes the first page of a column that was added later is zero.
        edges += window.counts[i] - edges[-1]
        begin, end = int(window.start[i]), int(window.stop[i])
        for page in range(low, high):
            first, last = edges[page - low : page - low + 2].tolist()
            if first < end and last > begin:
                inside = slice(max(begin - first, 0), min(end, last) - first)
                position = int(starts[i]) + max(first - begin, 0)
                target = task.output[position : position + inside.stop - inside.start]
                kept = None if cache is None else cache.get(str(column), page)
                keep = cache if cluster == beyond else None
                if kept is None:
                    yield _page(schema, manifest(column), (column, page), inside, target, keep)
                    continue
                target[:] = kept[inside]
                if keep is not None:
                    keep.put(str(column), page, kept)


def _page(
    schema: NTupleSchema,
    manifest: Manifest,
    place: tuple[int, int],
    inside: slice,
    target: Values,
    keep: StepCache[Values] | None,
) -> _Page:
    column, page = place
    spec, column_type, bits = (
        schema.columns[column],
        schema.column_type(column),
        schema.bits(column),
    )
    elements = int(schema.pages(column).elements[page])
    checked = bool(schema.pages(column).checked[page])
    header = schema.header_bytes(column)
    if manifest.source[page] < 0 or manifest.offset[page] < header:
        raise ReferenceStoreError(
            f"page {page} of column {column} is not a byte range after its block header"
        )

    def use(stored: memoryview, where: str) -> None:
        try:
            packed = unpack_page(check_page(stored) if checked else stored, elements, bits)
            values = decode_page(packed, column_type, elements, bits, spec.value_range)
            target[:] = values[inside]
            if keep is not None:
                keep.put(str(column), page, values)
        except (CorruptPageError, UnsupportedError) as err:
            raise type(err)(
                f"field {schema.fields[spec.field].name!r}, column {column}, page {page}, "
                f"{where}: {err}"
            ) from err

    return _Page(
        int(manifest.source[page]),
        int(manifest.offset[page]) - header,
        int(manifest.length[page]) + header + (CHECKSUM_BYTES if checked else 0),
        use,
        packed_bytes(elements, bits),
    )


# --- from elements to buffers


def _finish(schema: NTupleSchema, task: _Task) -> npt.NDArray[Any]:
    """Let indexes count from the beginning of the output, and check that they can be followed."""
    if schema.column_type(task.column).is_index:
        _finish_index(schema, task)
    elif schema.column_type(task.column).dtype.names is not None:
        _finish_switch(schema, task)
    return task.output


def _finish_index(schema: NTupleSchema, task: _Task) -> None:
    output, window = task.output, task.window
    items = _items(schema, task)
    highest = int(np.iinfo(output.dtype).max)
    starts = (output.size - window.edges[-1] + window.edges).tolist()
    base = 0
    for i in range(window.start.size):
        part = output[starts[i] : starts[i + 1]]
        last = int(part[-1]) if part.size else 0
        steps = np.diff(part)
        limit = None if items is None else int(items[i])
        whole = window.stop[i] == window.counts[i]
        if (
            (part.size and part[0] < 0)
            or (steps < 0).any()
            or (limit is not None and (last > limit or (whole and last != limit)))
        ):
            raise CorruptPageError(
                f"column {task.column}, cluster {window.first + i}: the index does not rise to "
                f"the {limit} items that there are, but ends at {last}"
            )
        if base + last > highest:
            raise UnsupportedError(
                f"column {task.column} is an index of {output.dtype.itemsize} bytes, too narrow "
                f"for {base + last} items: read fewer entries at once"
            )
        part += base if part.size else 0
        base += last if limit is None else limit


def _items(schema: NTupleSchema, task: _Task) -> IndexArray | None:
    """How many items the lists of a column have in each cluster, if anything tells."""
    field = schema.fields[task.slot.field]
    if field.role == "collection":
        children = schema.children[task.slot.field]
        counts = schema.field_counts(children[0]) if len(children) == 1 else None
    else:
        counts = schema.counts(Slot(task.slot.field, 1))
    if counts is None:
        return None
    return counts[task.window.first : task.window.first + task.window.start.size]


def _finish_switch(schema: NTupleSchema, task: _Task) -> None:
    output, window = task.output, task.window
    children = schema.children[task.slot.field]
    tags, index = output["tag"], output["index"]
    if tags.size and not 0 <= tags.min() <= tags.max() <= len(children):
        raise CorruptPageError(
            f"column {task.column}: a variant of {len(children)} alternatives has tags from "
            f"{tags.min()} to {tags.max()}"
        )
    index[tags == 0] = 0
    edges = window.edges.tolist()
    for tag, child in enumerate(children, 1):
        counts = schema.field_counts(child)
        base = 0
        for i in range(window.start.size):
            part = slice(edges[i], edges[i + 1])
            chosen = np.flatnonzero(tags[part] == tag) + edges[i]
            limit = None if counts is None else int(counts[window.first + i])
            found = index[chosen]
            if found.size and (found.min() < 0 or (limit is not None and found.max() >= limit)):
                raise CorruptPageError(
                    f"column {task.column}, cluster {window.first + i}: the indexes of "
                    f"alternative {tag} run from {found.min()} to {found.max()}, with {limit} items"
                )
            # An index counts from the beginning of its cluster.
            index[chosen] += base
            base += limit or 0


def _buffers(key: str, values: npt.NDArray[Any]) -> PageBuffers:
    if key.endswith("-cardinality"):
        return {f"{key}-data": np.diff(values)}
    if key.endswith("-optional"):
        counts = np.diff(values)
        if counts.size and counts.max() > 1:
            raise CorruptPageError(f"{key}: an optional value has {counts.max()} values")
        return {f"{key}-index": np.where(counts == 0, values.dtype.type(-1), values[:-1])}
    if values.dtype.names is not None:
        tags = values["tag"].astype(np.int8)
        return {f"{key}-tags": tags, f"{key}-index": np.ascontiguousarray(values["index"])}
    return {f"{key}-data": values, f"{key}-offsets": values}
