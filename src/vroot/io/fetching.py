"""Fetching of byte ranges: near ones merged, several requests at once, their bytes handed on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from vroot.io.byte_store import ByteStore
from vroot.io.merging import Request, coalesce
from vroot.metadata.specs import IndexArray

__all__ = ["WINDOW_BYTES", "Ranges", "Use", "fetch"]

#: How much of what was fetched, and not decoded yet, may be in memory, unless a file is told else.
WINDOW_BYTES = 64 << 20

#: Less than this is processed in one thread: starting others would take longer.
SERIAL_BYTES = 256 << 10

#: Of smaller pieces, more threads would mostly wait for each other: Python runs in one at a time.
SMALL_BYTES = 16 << 10

#: Given the numbers of ranges, their bytes, and the URL that they are from ("" if from none).
Use: TypeAlias = Callable[[IndexArray, list[memoryview], str], None]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Byte ranges that are wanted.

    Parameters
    ----------
    source, offset, length : ndarray of int64, shape (ranges,)
        The number of the source, and the range in bytes; the source is -1 for bytes that are here
        already.
    inline : mapping of int to bytes
        Those bytes, by the number of the range.
    group : ndarray of int64, shape (ranges,), optional
        Ranges that had better be used together have the same number; it does not fall where the
        offset in a source rises.
    batch_bytes : int
        How many bytes had better be used together.
    work_bytes : int
        Bytes that come out of their use, roughly.
    """

    source: IndexArray
    offset: IndexArray
    length: IndexArray
    inline: Mapping[int, bytes] = field(default_factory=dict)
    group: IndexArray | None = None
    batch_bytes: int = 0
    work_bytes: int = 0


@dataclass(frozen=True, eq=False)
class _Batch:
    """Requests whose bytes are used together."""

    ranges: Ranges
    requests: list[Request]
    url: str
    store: ByteStore
    use: Use

    def run(self) -> None:
        """Fetch, and use."""
        starts = [request.offset for request in self.requests]
        parts = self.store.get_ranges(
            self.url, starts=starts, lengths=[request.length for request in self.requests]
        )
        payloads: list[memoryview] = []
        for request, start, part in zip(self.requests, starts, parts, strict=True):
            begins = self.ranges.offset[request.members] - start
            ends = begins + self.ranges.length[request.members]
            payloads += [
                part[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
        self.use(np.concatenate([each.members for each in self.requests]), payloads, self.url)


@dataclass(frozen=True, eq=False)
class _Inline:
    """Bytes that are here already."""

    ranges: Ranges
    members: IndexArray
    use: Use

    def run(self) -> None:
        """Use them."""
        inline = self.ranges.inline
        payloads = [memoryview(inline.get(i, b"")) for i in self.members.tolist()]
        self.use(self.members, payloads, "")


_Job: TypeAlias = _Batch | _Inline


def fetch(
    ranges: Ranges,
    use: Use,
    *,
    urls: Sequence[str],
    store: Callable[[str], ByteStore],
    executor: Executor | None = None,
    window_bytes: int = WINDOW_BYTES,
) -> None:
    """Fetch byte ranges and use each.

    Parameters
    ----------
    ranges : Ranges
        What is wanted, in any order.
    use : callable
        Called, in any thread, with what one batch has brought.
    urls : sequence of str
        The sources.
    store : callable
        Gives the ByteStore for a URL.
    executor : concurrent.futures.Executor, optional
        Runs the batches; threads of its own for this call if not given. Any object will do that
        has a method `submit` or else `map` like it, for instance those of uproot.
    window_bytes : int
        Fetched bytes that may be in memory at once, as far as the threads are those of this call
        and no single range is larger.

    Raises
    ------
    TypeError
        If the executor has neither.
    OSError
        If a source cannot be read.
    Exception
        Whatever `use` raises, the first of it.
    """
    jobs = _plan(ranges, use, urls, store, window_bytes)
    if executor is not None:
        _run_in(executor, jobs)
        return
    workers = _workers(jobs, ranges)
    if workers <= 1:
        for job in jobs:
            job.run()
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="vroot") as own:
            _wait(own.submit(job.run) for job in jobs)


def _workers(jobs: Sequence[_Job], ranges: Ranges) -> int:
    """Say in how many threads to run jobs: as many as there may be requests, or as cores."""
    requests = max((job.store.concurrency for job in jobs if isinstance(job, _Batch)), default=1)
    worthwhile = ranges.work_bytes >= max(SERIAL_BYTES, ranges.source.size * SMALL_BYTES)
    cores = (os.cpu_count() or 1) if worthwhile else 1
    return min(len(jobs), max(requests, cores))


def _plan(
    ranges: Ranges,
    use: Use,
    urls: Sequence[str],
    store: Callable[[str], ByteStore],
    window_bytes: int,
) -> list[_Job]:
    jobs: list[_Job] = []
    order: IndexArray = np.lexsort((ranges.offset, ranges.source))
    sources = ranges.source[order]
    bounds = [0, *(np.flatnonzero(np.diff(sources)) + 1).tolist(), order.size]
    for first, last in pairwise(bounds):
        if first == last:
            continue
        members, source = order[first:last], int(sources[first])
        if source < 0:
            jobs.append(_Inline(ranges, members, use))
            continue
        byte_store = store(urls[source])
        jobs += [
            _Batch(ranges, requests, urls[source], byte_store, use)
            for requests in _batches(ranges, members, byte_store, window_bytes)
        ]
    return jobs


def _batches(
    ranges: Ranges, members: IndexArray, store: ByteStore, window_bytes: int
) -> list[list[Request]]:
    """Divide ranges of one source, which are sorted by offset, into batches of requests."""

    def requests_for(members: IndexArray) -> list[Request]:
        requests = coalesce(
            ranges.source[members],
            ranges.offset[members],
            ranges.length[members],
            max_gap_bytes=store.max_gap_bytes,
            max_request_bytes=min(store.max_request_bytes, window_bytes // store.concurrency),
        )
        return [replace(request, members=members[request.members]) for request in requests]

    if store.concurrency > 1:
        # Here the requests that are under way at once are what takes the time.
        return [[request] for request in requests_for(members)]
    workers = os.cpu_count() or 1
    limit = min(max(ranges.batch_bytes, store.max_request_bytes), window_bytes // (2 * workers))
    cut = _cut(ranges, members, max(limit, 1), store.max_gap_bytes)
    return [requests_for(batch) for batch in cut]


def _bytes_until(ranges: Ranges, members: IndexArray, max_gap_bytes: int) -> IndexArray:
    """Count the bytes that are fetched up to each range, those of the gaps within requests too."""
    offset, length = ranges.offset[members], ranges.length[members]
    gaps = offset[1:] - (offset + length)[:-1]
    gaps[(gaps < 0) | (gaps > max_gap_bytes)] = 0
    total: IndexArray = np.cumsum(length)
    total[1:] += np.cumsum(gaps)
    return total


def _cut(
    ranges: Ranges, members: IndexArray, limit_bytes: int, max_gap_bytes: int
) -> Iterator[IndexArray]:
    """Divide ranges into parts of at most so many bytes, at the ends of groups if possible."""
    total = _bytes_until(ranges, members, max_gap_bytes)
    group = np.arange(members.size) if ranges.group is None else ranges.group[members]
    # Numbers of ranges after which a group ends.
    ends = np.append(np.flatnonzero(np.diff(group)) + 1, members.size)
    start = before = 0
    while start < members.size:
        most = int(total.searchsorted(before + limit_bytes, side="right"))
        stop = int(ends[max(0, int(ends.searchsorted(most, side="right")) - 1)])
        if not start < stop <= most or 2 * (int(total[stop - 1]) - before) < limit_bytes:
            stop = max(most, start + 1)
        yield members[start:stop]
        start, before = stop, int(total[stop - 1])


def _run(job: _Job) -> None:
    job.run()


def _run_in(executor: Any, jobs: Sequence[_Job]) -> None:
    if hasattr(executor, "submit"):
        _wait(executor.submit(job.run) for job in jobs)
    elif hasattr(executor, "map"):
        # What comes back is perhaps computed only when it is asked for.
        for _ in executor.map(_run, jobs):
            pass
    else:
        raise TypeError(f"an executor must have a method submit or map, not {executor!r}")


def _wait(futures: Iterable[Any]) -> None:
    """Wait for results, and after an error call off what has not begun, where that is possible."""
    started = list(futures)
    try:
        for future in started:
            future.result()
    finally:
        for future in started:
            if hasattr(future, "cancel"):
                future.cancel()
