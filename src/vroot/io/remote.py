"""Byte ranges of anything that fsspec reaches: HTTP, S3, XRootD, memory."""

from __future__ import annotations

import errno
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from vroot.exceptions import MissingExtraError, UnsupportedError
from vroot.io.byte_store import check_lengths

__all__ = ["RemoteStore", "exists", "filesystem", "is_remote", "read_begin", "read_file"]

#: The extra, and the package it brings, for the schemes that need one.
EXTRAS = {
    "http": ("http", "aiohttp"),
    "https": ("http", "aiohttp"),
    "s3": ("s3", "s3fs"),
    "root": ("xrootd", "fsspec-xrootd"),
}

#: What a store or a catalog that is itself remote may name: no local files, and no archives or
#: other file systems that may be backed by them.
REMOTE_SCHEMES = frozenset(
    ("http", "https", "ftp", "s3", "s3a", "gs", "gcs", "az", "abfs", "adl", "oci", "hf", "root",
     "xroot", "webdav", "webdavs", "memory", "simplecache", "filecache", "blockcache")
)  # fmt: skip

#: HTTP statuses that say that something may not be read.
DENIED = (401, 403)

#: The HTTP status that says that there is nothing.
NOT_FOUND = 404


class RemoteStore:
    """Byte ranges by fsspec.

    Parameters
    ----------
    storage_options : mapping, optional
        Options for fsspec's file systems, as in ``fsspec.open``.
    """

    max_gap_bytes = 1 << 20
    max_request_bytes = 32 << 20
    concurrency = 8

    def __init__(self, storage_options: Mapping[str, Any] | None = None) -> None:
        self.storage_options = dict(storage_options or {})

    def size(self, url: str) -> int:
        """Length of what is at `url`, in bytes."""
        fs, path = filesystem(url, self.storage_options)
        try:
            return int(fs.size(path))
        except FileNotFoundError as err:
            # fsspec says so of HTTP whatever it was that kept it from asking.
            cause = err.__cause__
            status = cause.status if isinstance(cause, _http_errors()) else None
            if status in DENIED:
                raise _denied(url, status) from cause
            if cause is None or status == NOT_FOUND or isinstance(cause, FileNotFoundError):
                raise
            raise cause from None

    def get_ranges(
        self, url: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[memoryview]:
        """Fetch byte ranges of one source, see `ByteStore.get_ranges`."""
        fs, path = filesystem(url, self.storage_options)
        stops = [offset + length for offset, length in zip(starts, lengths, strict=True)]
        parts = fs.cat_ranges([path] * len(stops), list(starts), stops, on_error="raise")
        views = [memoryview(part) for part in parts]
        check_lengths(url, starts, lengths, views)
        return views


def filesystem(url: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    """Find the fsspec file system of a URL.

    Parameters
    ----------
    url : str
        With its scheme.
    storage_options : mapping
        Options for the file system.

    Returns
    -------
    tuple
        The file system, which fsspec caches, and the path in it.

    Raises
    ------
    MissingExtraError
        If the package that speaks the scheme is not installed.
    UnsupportedError
        If fsspec knows no such scheme.
    """
    import fsspec.core  # local reading starts without it

    scheme = url.partition("://")[0]
    try:
        fs, path = fsspec.core.url_to_fs(url, **storage_options)
    except ImportError as err:
        extra, package = EXTRAS.get(scheme, ("all", err.name or scheme))
        raise MissingExtraError(f"reading {scheme}:// URLs", package, extra) from err
    except ValueError as err:
        if scheme in EXTRAS:
            # The scheme is registered by the package that is missing.
            extra, package = EXTRAS[scheme]
            raise MissingExtraError(f"reading {scheme}:// URLs", package, extra) from err
        raise UnsupportedError(f"{url}: fsspec knows no such URLs: {err}") from err
    return fs, str(path)


def read_file(url: str, storage_options: Mapping[str, Any] | None = None) -> bytes:
    """Fetch a whole file.

    Parameters
    ----------
    url : str
        With its scheme.
    storage_options : mapping, optional
        Options for the file system.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    PermissionError
        If it may not be read.
    """
    return _read(url, storage_options, None)


def read_begin(url: str, num_bytes: int, storage_options: Mapping[str, Any] | None = None) -> bytes:
    """Fetch the beginning of a file; parameters and errors as of `read_file`.

    Returns
    -------
    bytes
        As many bytes as asked for; fewer if the file is shorter.
    """
    return _read(url, storage_options, num_bytes)[:num_bytes]


def _read(url: str, storage_options: Mapping[str, Any] | None, stop: int | None) -> bytes:
    fs, path = filesystem(url, storage_options or {})
    try:
        return bytes(fs.cat_file(path, None if stop is None else 0, stop))
    except _http_errors() as err:
        if err.status not in DENIED:
            raise
        raise _denied(url, err.status) from err


def _denied(url: str, status: int) -> PermissionError:
    return PermissionError(errno.EACCES, f"HTTP status {status}", url)


def _http_errors() -> tuple[type[Any], ...]:
    """The error of aiohttp for a status, if aiohttp is in use; the one for 404 is Python's."""
    aiohttp = sys.modules.get("aiohttp")
    return () if aiohttp is None else (aiohttp.ClientResponseError,)


def is_remote(url: str) -> bool:
    """Whether a URL, with all that it is chained of, is remote beyond doubt.

    Parameters
    ----------
    url : str
        A URL, possibly a chain such as ``simplecache::https://…``.

    Returns
    -------
    bool
        False for whatever is, or might be, a local file.
    """
    chain = url.split("::")
    schemes = [*chain[:-1], chain[-1].partition("://")[0] if "://" in chain[-1] else ""]
    return all(scheme in REMOTE_SCHEMES for scheme in schemes)


def exists(url: str, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether there is a file that can be read.

    Parameters
    ----------
    url : str
        With its scheme.
    storage_options : mapping, optional
        Options for the file system.

    Returns
    -------
    bool
        False also if the server does not say, or denies it.
    """
    fs, path = filesystem(url, storage_options or {})
    try:
        return bool(fs.exists(path))
    except OSError:
        return False
