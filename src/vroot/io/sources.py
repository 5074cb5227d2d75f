"""The sources of a store: how to reach them, and whether they are still what was scanned."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import xxhash

from vroot.exceptions import StaleReferencesError
from vroot.io.byte_store import ByteStore
from vroot.io.handed import Stores, find_store
from vroot.io.local import LocalStore, local_path
from vroot.io.remote import RemoteStore
from vroot.metadata.specs import Source

__all__ = ["HEADER_BYTES", "PerformanceCounters", "Sources", "byte_store", "header_checksum"]

HEADER_BYTES = 512


def byte_store(
    url: str,
    storage_options: Mapping[str, Any] | None = None,
    stores: Stores | None = None,
) -> ByteStore:
    """Choose how the bytes of a URL are read.

    Parameters
    ----------
    url : str
        A path or a URL.
    storage_options : mapping, optional
        Options for fsspec, if it is not a local path.
    stores : GetRanges, or mapping of str to GetRanges, optional
        What the user has handed in, see `vroot.io.handed.find_store`.

    Returns
    -------
    ByteStore
        Positioned reads for local files, fsspec for the rest.
    """
    handed = find_store(stores, url)
    if handed is not None:
        return handed
    return LocalStore() if local_path(url) is not None else RemoteStore(storage_options)


def header_checksum(store: ByteStore, url: str, size_bytes: int) -> str:
    """Sum up the beginning of a ROOT file, see `vroot.metadata.specs.Source`.

    Parameters
    ----------
    store : ByteStore
        How to read it.
    url : str
        The file.
    size_bytes : int
        Its length, or what that should be.

    Returns
    -------
    str
        xxh64 of its first 512 bytes, in hexadecimal.
    """
    (header,) = store.get_ranges(url, starts=[0], lengths=[min(HEADER_BYTES, size_bytes)])
    return xxhash.xxh64_hexdigest(header)


@dataclass(frozen=True)
class PerformanceCounters:
    """How much was read of the sources of a store since it was opened.

    Parameters
    ----------
    num_requested_bytes : int
        Bytes.
    num_requests : int
        Requests.
    num_requested_chunks : int
        Byte ranges, of which a request may have several.
    """

    num_requested_bytes: int = 0
    num_requests: int = 0
    num_requested_chunks: int = 0

    def asdict(self) -> dict[str, int]:
        """Give the counters by name."""
        return asdict(self)


class _CountingStore:
    """A store that tells the sources what it is asked for."""

    def __init__(self, store: ByteStore, sources: Sources) -> None:
        self._store = store
        self._sources = sources

    @property
    def max_gap_bytes(self) -> int:
        return self._store.max_gap_bytes

    @property
    def max_request_bytes(self) -> int:
        return self._store.max_request_bytes

    @property
    def concurrency(self) -> int:
        return self._store.concurrency

    def size(self, url: str) -> int:
        return self._store.size(url)

    def get_ranges(
        self, url: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[memoryview]:
        self._sources.count(lengths)
        return self._store.get_ranges(url, starts=starts, lengths=lengths)


class Sources:
    """The sources of one store, checked when they are first read.

    Parameters
    ----------
    sources : sequence of Source
        What the store says of them.
    storage_options : mapping, optional
        Options for fsspec.
    verify : bool
        Whether to check that a source is what was scanned.
    counters : PerformanceCounters, optional
        What was read before.
    stores : GetRanges, or mapping of str to GetRanges, optional
        Byte stores that the user has handed in.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        storage_options: Mapping[str, Any] | None = None,
        *,
        verify: bool = True,
        counters: PerformanceCounters | None = None,
        stores: Stores | None = None,
    ) -> None:
        self.urls = [source.url for source in sources]
        self._unchecked = {source.url: source for source in sources} if verify else {}
        self._storage_options = storage_options
        self._stores = stores
        self._lock = threading.Lock()
        self.counters = counters or PerformanceCounters()

    def count(self, lengths: Sequence[int]) -> None:
        """Count a request for byte ranges of these lengths."""
        with self._lock:
            before = self.counters
            self.counters = PerformanceCounters(
                before.num_requested_bytes + sum(lengths),
                before.num_requests + 1,
                before.num_requested_chunks + len(lengths),
            )

    def store(self, url: str) -> ByteStore:
        """Give the way to read a source.

        Raises
        ------
        FileNotFoundError
            If a local source is not there.
        StaleReferencesError
            If the source is not what was scanned.
        """
        uncounted = byte_store(url, self._storage_options, self._stores)
        store = _CountingStore(uncounted, self)
        source = self._unchecked.get(url)
        if source is not None:
            _check(store, source, with_size=isinstance(uncounted, LocalStore))
            self._unchecked.pop(url, None)
        return store


def _check(store: ByteStore, source: Source, *, with_size: bool) -> None:
    try:
        if with_size and (size := store.size(source.url)) != source.size_bytes:
            raise StaleReferencesError(_stale(source, f"it has {size} bytes"))
        checksum = header_checksum(store, source.url, source.size_bytes)
    except FileNotFoundError as err:
        raise FileNotFoundError(
            err.errno,
            "the ROOT file that the references point to is not there (moved? scan it again, with "
            "url= for where it will be read from)",
            source.url,
        ) from err
    if checksum != source.header_xxh64:
        raise StaleReferencesError(_stale(source, "its header is another one"))


def _stale(source: Source, what: str) -> str:
    return (
        f"{source.url} has changed since it was scanned ({source.size_bytes} bytes, UUID "
        f"{source.uuid}): {what}. Scan it again; to read it all the same, open the references with "
        "verify_sources=False"
    )
