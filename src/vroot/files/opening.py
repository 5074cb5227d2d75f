"""`vroot.open`: from what the user named to an opened file, or an object in it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import msgspec

from vroot.arrays.caches import ArrayCache
from vroot.exceptions import ReferenceStoreError
from vroot.files.file import File
from vroot.files.options import DEFAULTS, regularize_open_options
from vroot.format.references import References
from vroot.io.fetching import WINDOW_BYTES
from vroot.io.handed import Stores
from vroot.io.local import local_path
from vroot.io.urls import absolute_location
from vroot.locate.finding import Found, find_references, source_url
from vroot.locate.paths import regularize_path, split_object_path
from vroot.scanner.front import scan

__all__ = ["open_file", "open_location"]

#: Before the location of a ROOT file, in that of references which are in no file.
SCANNED = "references scanned from"


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
    store: Stores | None = None,
    **options: Any,
) -> Any:
    """Open a reference store, or the references of a ROOT file.

    Parameters
    ----------
    path : str, pathlib.Path, or mapping
        A path or URL of references (``.json``, ``.json.zst``), also as ``"refs.json:object"`` or
        ``{"refs.json": "object"}``; the references themselves, as `vroot.scan` returns them; or a
        ROOT file, by its references if there are fresh ones, beside it (``f.root.refs.json``) or
        in the catalog that `vroot.set_catalog` sets, or else by scanning it in memory.
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
    store : object with a method get_ranges, or mapping of str to such objects, optional
        Where the bytes of ROOT files are from, in the place of fsspec: a store of obstore, or any
        other in the shape of obspec, ``get_ranges(path, *, starts, lengths)``. A mapping has stores
        by the beginning of URLs, and the rest of a URL is the path in the store; for a single
        store, that is the URL without scheme and host. References are read as without it.
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
        "store": store,
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
    found = find_references(location, storage_options, verify_sources=verify_sources)
    references, sources = _scanned(location, storage_options) if found is None else found
    if settings.get("store") is not None:
        sources = None  # those were looked at by fsspec
    settings |= {"verify_sources": verify_sources, "sources": sources}
    return File(references, given, storage_options, **settings)


# As uproot has it; changing it changes nothing here.
vars(open_file)["defaults"] = dict(DEFAULTS)


def _in_memory(given: Mapping[str, Any]) -> References:
    try:
        return References(msgspec.json.encode(given), "references in memory")
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError) as err:
        raise ReferenceStoreError(f"references in memory: not plain data: {err}") from err


def _scanned(location: str, storage_options: Mapping[str, Any] | None) -> Found:
    path = local_path(location)
    # As a path, a name with a colon in it is not split again.
    scanned = scan(location if path is None else path, storage_options=storage_options)
    # What is read is what the user named, wherever it is.
    content, where = msgspec.json.encode(scanned), f"{SCANNED} {location}"
    return References(content, where, source_url=source_url(location)), None
