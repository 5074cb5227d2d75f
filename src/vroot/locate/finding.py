"""Finding the references of a ROOT file: beside it, by the catalog, or by scanning it."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vroot.exceptions import ReferenceStoreError, StaleReferencesError, StaleReferencesWarning
from vroot.format.compressed import BEGIN_BYTES, ROOT_MAGIC, looks_like_references, unpacked
from vroot.format.references import References, is_reference_name, load_references
from vroot.io.local import LocalStore, local_path
from vroot.io.remote import exists, read_begin, read_file
from vroot.io.sources import Sources, header_checksum
from vroot.io.urls import beside, name_of
from vroot.locate.catalog import SIDECAR_SUFFIXES, current_catalog
from vroot.user_warnings import warn

__all__ = ["Found", "find_references", "source_url"]

#: References, and their sources if those are checked already.
Found = tuple[References, Sources | None]

#: A name of a ROOT file, or of a part of one.
ROOT_NAME = re.compile(r"\.root(\.\d+)?$", re.IGNORECASE)


def find_references(
    location: str, storage_options: Mapping[str, Any] | None, *, verify_sources: bool
) -> Found | None:
    """Load references, or find those of a ROOT file.

    Those of a ROOT file are looked for where it costs least: beside a local file; by the
    catalog; beside a remote file, which takes one or two requests.

    Parameters
    ----------
    location : str
        Absolute path or URL of references or of a ROOT file.
    storage_options : mapping, optional
        Options for fsspec.
    verify_sources : bool
        Whether references that are not beside a local file must describe the ROOT file.

    Returns
    -------
    tuple of References and (Sources or None), or None
        The references, and their sources if they are checked already; None for a ROOT file that has
        none that can be used.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    IsADirectoryError
        If it is a folder.
    ReferenceStoreError
        If it is a store, but none that this version reads.
    CatalogError
        If the catalog of the environment is malformed.
    """
    path = local_path(location)
    if path is None:
        return _find_remote(location, storage_options, verify=verify_sources)
    if not _is_root_file(path, location):
        return load_references(location), None
    sidecar = _beside_local(path, location)
    if sidecar is not None:
        return sidecar, None
    return _in_catalog(location, storage_options, verify=verify_sources)


def _find_remote(
    location: str, storage_options: Mapping[str, Any] | None, *, verify: bool
) -> Found | None:
    """Find references of what is remote, or in an archive.

    The first bytes tell references from ROOT files. They are looked at when that costs no request,
    or when the name does not tell what to expect, or when no references were found.
    """
    name = name_of(location)
    begin = b""
    if is_reference_name(name):
        content = read_file(location, storage_options)
        if not content.startswith(ROOT_MAGIC):
            return References(unpacked(content, location), location), None
        begin = ROOT_MAGIC
    elif not ROOT_NAME.search(name):
        begin = read_begin(location, BEGIN_BYTES, storage_options)
        if not begin.startswith(ROOT_MAGIC):
            return load_references(location, storage_options=storage_options), None
    found = _in_catalog(location, storage_options, verify=verify)
    if found is None:
        found = _beside_remote(location, storage_options, verify=verify)
    if found is not None:
        return found
    if not begin and looks_like_references(read_begin(location, BEGIN_BYTES, storage_options)):
        return load_references(location, storage_options=storage_options), None
    return None


def _is_root_file(path: Path, location: str) -> bool:
    if os.path.isdir(path):  # noqa: PTH112  # unlike pathlib's, for names of any length
        raise IsADirectoryError(f"{location} is a folder, not a file")
    if not os.path.exists(path):  # noqa: PTH110
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), location)
    with path.open("rb") as file:
        begin = file.read(BEGIN_BYTES)
    if ROOT_NAME.search(path.name):
        return not looks_like_references(begin)
    return begin.startswith(ROOT_MAGIC)


def _beside_local(path: Path, location: str) -> References | None:
    for suffix in SIDECAR_SUFFIXES:
        sidecar = path.with_name(path.name + suffix)
        if not os.path.isfile(sidecar):  # noqa: PTH113  # also if the name is too long for one
            continue
        try:
            references = load_references(str(sidecar), source_url=source_url(location))
        except (ReferenceStoreError, OSError) as err:
            _not_used(str(sidecar), str(err))
            continue
        if _is_fresh(references, sidecar, path):
            return references
        _not_used(str(sidecar), f"{location} has changed since it was scanned")
    return None


def _is_fresh(references: References, sidecar: Path, path: Path) -> bool:
    """Whether references describe the file beside them.

    A rewriting within one second may leave ROOT's own marks as they were, hence the times too.
    """
    if sidecar.stat().st_mtime_ns < path.stat().st_mtime_ns or not references.sources:
        return False
    source, store = references.sources[0], LocalStore()
    size = store.size(str(path))
    if size != source.size_bytes:
        return False
    return header_checksum(store, str(path), size) == source.header_xxh64


def _in_catalog(
    location: str, storage_options: Mapping[str, Any] | None, *, verify: bool
) -> Found | None:
    catalog = current_catalog()
    stores = () if catalog is None else catalog.stores(location)
    for store in stores:
        # Options, credentials among them, are for the place of the ROOT file.
        theirs = storage_options if _place(store) == _place(location) else None
        try:
            references = load_references(
                store, storage_options=theirs, source_url=source_url(location)
            )
        except (FileNotFoundError, PermissionError):
            continue  # object stores deny what is not there
        except (ReferenceStoreError, IsADirectoryError) as err:
            _not_used(f"{store}, which the catalog names,", str(err))
            return None
        return _checked(references, storage_options, verify=verify)
    if stores:
        _not_used(f"{stores[0]}, which the catalog names for {location},", "it is not there")
    return None


def _beside_remote(
    location: str, storage_options: Mapping[str, Any] | None, *, verify: bool
) -> Found | None:
    for suffix in SIDECAR_SUFFIXES:
        sidecar = beside(location, suffix)
        if not exists(sidecar, storage_options):
            continue
        try:
            references = load_references(
                sidecar, storage_options=storage_options, source_url=location
            )
        except ReferenceStoreError as err:
            _not_used(sidecar, str(err))
            continue
        found = _checked(references, storage_options, verify=verify)
        if found is not None:
            return found
    return None


def _checked(
    references: References, storage_options: Mapping[str, Any] | None, *, verify: bool
) -> Found | None:
    """Give references with their sources, if those are what was scanned."""
    sources = Sources(references.sources, storage_options, verify=verify)
    try:
        for url in sources.urls:
            sources.store(url)
    except StaleReferencesError as err:
        _not_used(references.location, str(err))
        return None
    return references, sources


def _not_used(what: str, why: str) -> None:
    warn(f"{what} is not used: {why}", StaleReferencesWarning)


def source_url(location: str) -> str:
    """Where a ROOT file is read that the user named: at its absolute path, or its URL."""
    path = local_path(location)
    return location if path is None else str(path.absolute())


def _place(url: str) -> str:
    """Scheme and host of a URL; nothing for local paths."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if separator and local_path(url) is None else ""
