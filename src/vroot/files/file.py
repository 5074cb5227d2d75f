"""The facade for files."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, MutableMapping
from typing import Any

import msgspec

from vroot.arrays.caches import ArrayCache, LRUCache, made_array_cache, made_object_cache
from vroot.exceptions import ReferenceStoreError
from vroot.files.directory import Directory
from vroot.files.options import DEFAULTS, regularize_open_options
from vroot.files.source import Source
from vroot.format.references import References
from vroot.io.fetcher import Fetcher
from vroot.io.fetching import WINDOW_BYTES
from vroot.io.sources import PerformanceCounters, Sources
from vroot.locate.finding import find_references
from vroot.locate.paths import absolute_location, regularize_path, split_object_path
from vroot.registration import register_with_uproot

__all__ = ["File", "open_file", "open_location"]


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
    object_cache, array_cache, window_bytes : optional
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
        self.fetcher = Fetcher(
            sources or Sources(references.sources, storage_options, verify=verify_sources),
            file_path,
            window_bytes,
        )

    def __repr__(self) -> str:
        return f"<File {self._file_path!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is in the caches stays behind.
        caches = [
            each if isinstance(each, LRUCache) else None
            for each in (self.object_cache, self.array_cache)
        ]
        settings = (self._storage_options, self._verify, *caches, self.fetcher.window_bytes)
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
    def source(self) -> Source:
        """The ROOT file, with counters of what was read of it."""
        return Source(self)

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
    counters: PerformanceCounters,
) -> File:
    # As in uproot, a copy goes on counting from where the original was.
    sources = Sources(references.sources, storage_options, verify=verify, counters=counters)
    return File(
        references,
        file_path,
        storage_options,
        verify_sources=verify,
        object_cache=object_cache,
        array_cache=array_cache,
        window_bytes=window_bytes,
        sources=sources,
    )


def open_file(
    path: Any,
    *,
    object_cache: MutableMapping[str, Any] | int | None = 100,
    array_cache: ArrayCache = None,
    custom_classes: Any = None,
    decompression_executor: Any = None,  # noqa: ARG001  # uproot's
    interpretation_executor: Any = None,  # noqa: ARG001  # uproot's
    storage_options: Mapping[str, Any] | None = None,
    verify_sources: bool = True,
    window_bytes: int = WINDOW_BYTES,
    **options: Any,
) -> Any:
    """Open a reference store, or the references of a ROOT file.

    Parameters
    ----------
    path : str, pathlib.Path, or mapping
        A path or URL of references (``.json``, ``.json.zst``), also as ``"refs.json:object"`` or
        ``{"refs.json": "object"}``; the references themselves, as `vroot.scan` returns them; or a
        ROOT file, by its references if there are fresh ones, beside it (``f.root.refs.json``) or
        in the catalogue that `vroot.set_catalog` sets, or else by scanning it in memory.
    object_cache : None, MutableMapping or int
        Where trees and other objects are kept when they have been looked up, or how many of them
        the file keeps.
    array_cache : None, MutableMapping, int or str
        Where arrays of branches and fields are kept when they have been read, or how much memory
        such as "100 MB" the file keeps for them, unless a call of `arrays` says otherwise. Unlike
        in uproot, the file keeps none by default: reading again is quick, and takes no memory.
    custom_classes : None
        Classes of the user's are not supported.
    decompression_executor, interpretation_executor
        Accepted, as in uproot, and of no effect: vroot has threads of its own, and `arrays` and the
        like take executors for one call.
    storage_options : mapping, optional
        Options for fsspec, where it is used.
    verify_sources : bool
        Whether to check that the ROOT file is what was scanned, before it is first read.
    window_bytes : int
        How many bytes that were fetched, and not decoded yet, may be in memory at once: with what
        is returned, about what reading takes at most. A smaller window makes smaller requests.
    **options
        More options for fsspec, as in uproot. Those of uproot itself (``handler``, ``timeout``,
        ``num_workers``, and whatever else is in ``uproot.open.defaults``) have no effect.

    Returns
    -------
    File, TTree or other object
        The file, or the object that was named.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    KeyInFileError
        If there is no such object.
    ReferenceStoreError
        If it is not a store that this version reads.
    UnsupportedError
        If custom classes are given.
    MissingExtraError
        If a ROOT file has no references and cannot be scanned here.
    """
    storage_options = regularize_open_options(options, storage_options, custom_classes)
    settings: dict[str, Any] = {
        "verify_sources": verify_sources,
        "object_cache": object_cache,
        "array_cache": array_cache,
        "window_bytes": window_bytes,
    }
    if isinstance(path, Mapping) and "refs" in path:
        references = _in_memory(path)
        return File(references, "references in memory", storage_options, **settings)
    object_path: str | None = None
    if isinstance(path, Mapping):
        if len(path) != 1:
            raise ValueError(
                "a mapping must be references or have one item, {file: object}, not "
                f"{len(path)} items"
            )
        ((path, object_path),) = path.items()
    elif isinstance(path, str):
        path, object_path = split_object_path(path)
    given = regularize_path(path)
    file = open_location(absolute_location(given), given, storage_options, **settings)
    return file if object_path is None else file[object_path]


def open_location(
    location: str,
    given: str,
    storage_options: Mapping[str, Any] | None = None,
    *,
    verify_sources: bool = True,
    **settings: Any,
) -> File:
    """Open what is named by an absolute path or URL, in which no object is named.

    Parameters
    ----------
    location : str
        The absolute path or URL.
    given : str
        What the user has written for it, which is the `File.file_path`.
    storage_options, verify_sources, **settings
        As in `vroot.open`.

    Returns
    -------
    File
        The file.
    """
    references, sources = find_references(location, storage_options, verify_sources=verify_sources)
    settings |= {"verify_sources": verify_sources, "sources": sources}
    return File(references, given, storage_options, **settings)


# As uproot has it; changing it changes nothing here.
vars(open_file)["defaults"] = dict(DEFAULTS)


def _in_memory(given: Mapping[str, Any]) -> References:
    try:
        return References(msgspec.json.encode(given), "references in memory")
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError) as err:
        raise ReferenceStoreError(f"references in memory: not plain data: {err}") from err
