"""The facade for files."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, MutableMapping
from typing import Any

from vroot.arrays.caches import ArrayCache, LRUCache, made_array_cache, made_object_cache
from vroot.files.directory import Directory
from vroot.files.source import OpenedSource
from vroot.format.references import References
from vroot.io.fetcher import Fetcher
from vroot.io.fetching import WINDOW_BYTES
from vroot.io.handed import Stores
from vroot.io.sources import PerformanceCounters, Sources
from vroot.registration import register_with_uproot

__all__ = ["File"]


class File(Directory):
    """An opened reference store: the top directory of the ROOT file.

    Parameters
    ----------
    references : References
        The store.
    file_path : str
        What was opened.
    storage_options : mapping, optional
        Options for fsspec, for reading the source.
    verify_sources : bool
        Whether to check that the ROOT file is what was scanned, before it is first read.
    object_cache, array_cache, window_bytes, store : optional
        As in `vroot.open`.
    sources : Sources, optional
        Those of the references, if they were looked at before.
    """

    def __init__(
        self,
        references: References,
        file_path: str,
        storage_options: Mapping[str, Any] | None = None,
        *,
        verify_sources: bool = True,
        object_cache: MutableMapping[str, Any] | int | None = 100,
        array_cache: ArrayCache = None,
        window_bytes: int = WINDOW_BYTES,
        store: Stores | None = None,
        sources: Sources | None = None,
    ) -> None:
        register_with_uproot()
        super().__init__(None, "", ())
        self.object_cache = made_object_cache(object_cache)
        self.array_cache = made_array_cache(array_cache)
        self.references = references
        self._file_path = file_path
        self._storage_options = storage_options
        self._verify = verify_sources
        self._store = store
        self.fetcher = Fetcher(
            sources
            or Sources(references.sources, storage_options, verify=verify_sources, stores=store),
            file_path,
            window_bytes,
        )

    def __repr__(self) -> str:
        return f"<File {self._file_path!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is in the caches is not pickled.
        caches = [
            each if isinstance(each, LRUCache) else None
            for each in (self.object_cache, self.array_cache)
        ]
        settings = (
            self._storage_options,
            self._verify,
            *caches,
            self.fetcher.window_bytes,
            self._store,
        )
        counters = self.performance_counters
        return (_reopen, (self.references, self._file_path, *settings, counters))

    @property
    def file(self) -> File:
        """The file itself."""
        return self

    @property
    def file_path(self) -> str:
        """What was opened."""
        return self._file_path

    @property
    def uuid(self) -> uuid.UUID:
        """The UUID in the header of the ROOT file."""
        return uuid.UUID(self.references.sources[0].uuid)

    @property
    def root_directory(self) -> File:
        """The file itself, which is its top directory."""
        return self

    @property
    def hex_uuid(self) -> str:
        """The text of `uuid`."""
        return str(self.uuid)

    @property
    def fUUID(self) -> bytes:  # noqa: N802  # the name that uproot has
        """The 16 bytes of `uuid`."""
        return self.uuid.bytes

    @property
    def source(self) -> OpenedSource:
        """The ROOT file, with counters of what was read of it."""
        return OpenedSource(self)

    @property
    def performance_counters(self) -> PerformanceCounters:
        """How much was read of the ROOT file since this was opened."""
        return self.fetcher.counters

    @property
    def closed(self) -> bool:
        """Whether the file was closed; nothing can be read then."""
        return self.fetcher.closed

    def close(self) -> None:
        """Refuse further reading; no handle is ever left open."""
        self.fetcher.close()


def _reopen(
    references: References,
    file_path: str,
    storage_options: Mapping[str, Any] | None,
    verify: bool,
    object_cache: LRUCache | None,
    array_cache: LRUCache | None,
    window_bytes: int,
    store: Stores | None,
    counters: PerformanceCounters,
) -> File:
    # As in uproot, a copy goes on counting from where the original was.
    sources = Sources(
        references.sources, storage_options, verify=verify, counters=counters, stores=store
    )
    return File(
        references,
        file_path,
        storage_options,
        verify_sources=verify,
        object_cache=object_cache,
        array_cache=array_cache,
        window_bytes=window_bytes,
        store=store,
        sources=sources,
    )
