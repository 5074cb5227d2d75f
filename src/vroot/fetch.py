"""Fetching of byte ranges: near ones merged, several requests at once, each piece handed on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from vroot.store.bytes import ByteStore
from vroot.store.coalesce import Request, coalesce

__all__ = ["WINDOW_BYTES", "Piece", "fetch"]

#: How much of what was fetched, and not decoded yet, may be in memory, unless a file is told else.
WINDOW_BYTES = 64 << 20

#: Less than this is processed in one thread: starting others would take longer.
SERIAL_BYTES = 256 << 10

#: Of smaller pieces, more threads would mostly wait for each other: Python runs in one at a time.
SMALL_BYTES = 16 << 10


class Piece(msgspec.Struct, frozen=True, eq=False):
    """A byte range that is wanted, and what is to be done with it.

    Parameters
    ----------
    source : int
        Number of the source; -1 for bytes that are here already.
    offset, length : int
        The range, in bytes.
    use : callable
        Called, in any thread, with the bytes and with words for where they are from.
    work_bytes : int
        Bytes that come out of `use`, roughly.
    inline : bytes
        The bytes themselves, if `source` is -1.
    """

    source: int
    offset: int
    length: int
    use: Callable[[memoryview, str], None]
    work_bytes: int
    inline: bytes = b""


@dataclass(frozen=True, eq=False)
class _Job:
    """Pieces that one request brings, or that need none."""

    pieces: list[Piece]
    request: Request | None = None
    url: str = ""
    store: ByteStore | None = None

    def run(self) -> None:
        """Fetch, and hand on."""
        if self.request is None or self.store is None:
            for piece in self.pieces:
                piece.use(memoryview(piece.inline), "inline bytes")
            return
        start = self.request.offset
        (fetched,) = self.store.get_ranges(self.url, [start], [self.request.length])
        for piece in self.pieces:
            begin = piece.offset - start
            payload = fetched[begin : begin + piece.length]
            piece.use(payload, f"offset {piece.offset} of {self.url}")


def fetch(
    pieces: Sequence[Piece],
    *,
    urls: Sequence[str],
    store: Callable[[str], ByteStore],
    executor: Executor | None = None,
    window_bytes: int = WINDOW_BYTES,
) -> None:
    """Fetch byte ranges and use each.

    Parameters
    ----------
    pieces : sequence of Piece
        What is wanted, in any order.
    urls : sequence of str
        The sources.
    store : callable
        Gives the ByteStore for a URL.
    executor : concurrent.futures.Executor, optional
        Runs the jobs; threads of its own for this call if not given. Any object will do that has
        a method `submit` or else `map` like it, for instance those of uproot.
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
        Whatever a `use` raises, the first of it.
    """
    jobs = _plan(pieces, urls, store, window_bytes)
    if executor is not None:
        _run_in(executor, jobs)
        return
    workers = _workers(jobs, sum(piece.work_bytes for piece in pieces), len(pieces))
    if workers <= 1:
        for job in jobs:
            job.run()
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="vroot") as own:
            _wait(own.submit(job.run) for job in jobs)


def _workers(jobs: Sequence[_Job], work_bytes: int, pieces: int) -> int:
    """Say in how many threads to run jobs: as many as there may be requests, or as cores."""
    requests = max((job.store.concurrency for job in jobs if job.store), default=1)
    worthwhile = work_bytes >= max(SERIAL_BYTES, pieces * SMALL_BYTES)
    cores = (os.cpu_count() or 1) if worthwhile else 1
    return min(len(jobs), max(requests, cores))


def _plan(
    pieces: Sequence[Piece],
    urls: Sequence[str],
    store: Callable[[str], ByteStore],
    window_bytes: int,
) -> list[_Job]:
    by_source: dict[int, list[Piece]] = {}
    for piece in pieces:
        by_source.setdefault(piece.source, []).append(piece)
    here = by_source.pop(-1, [])
    jobs = [_Job(here)] if here else []
    for source, members in by_source.items():
        url = urls[source]
        byte_store = store(url)
        requests = coalesce(
            np.full(len(members), source),
            np.array([piece.offset for piece in members]),
            np.array([piece.length for piece in members]),
            max_gap_bytes=byte_store.max_gap_bytes,
            max_request_bytes=min(
                byte_store.max_request_bytes, window_bytes // byte_store.concurrency
            ),
        )
        jobs.extend(
            _Job([members[i] for i in request.members.tolist()], request, url, byte_store)
            for request in requests
        )
    return jobs


def _run_in(executor: Any, jobs: Sequence[_Job]) -> None:
    if hasattr(executor, "submit"):
        _wait(executor.submit(job.run) for job in jobs)
    elif hasattr(executor, "map"):
        # What comes back is perhaps computed only when it is asked for.
        for _ in executor.map(_Job.run, jobs):
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
