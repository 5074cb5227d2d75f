"""Byte ranges of local files."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from vroot.io.byte_store import check_lengths

__all__ = ["LocalStore", "is_chain", "is_local", "local_path"]

#: What a chain of file systems begins with: what is within another file, or is a copy of it.
CHAIN = re.compile(
    r"(?:zip|tar|libarchive|dir|reference)://|(?:simplecache|filecache|blockcache|cached)(?:://)?::"
)
#: The schemes of those that hold nothing but what is in the file that the chain ends with.
LOCAL_LINKS = frozenset(
    ("", "file", "local", "zip", "tar", "libarchive", "simplecache", "filecache", "blockcache",
     "cached")
)  # fmt: skip


def is_chain(url: str) -> bool:
    """Whether a URL is a chain of file systems, such as ``zip://a.root::x.zip``."""
    return CHAIN.match(url) is not None and "::" in url


def local_path(url: str) -> Path | None:
    """Path of a local file, from a path or a ``file:`` URL.

    Parameters
    ----------
    url : str
        A path or a URL.

    Returns
    -------
    pathlib.Path or None
        None if the URL is of another scheme.
    """
    if url.startswith("file:") and not url.startswith("file://") and not os.path.exists(url):  # noqa: PTH110
        url = "file://" + url.removeprefix("file:")  # RFC 8089 has both
    scheme, separator, rest = url.partition("://")
    if not separator:
        chained = is_chain(url) and not os.path.exists(url)  # noqa: PTH110
        return None if chained else Path(url)
    if scheme not in ("file", "local"):
        return None
    # fsspec takes the rest of a file URL as it is; a quoted one is what RFC 8089 means.
    path = Path(rest)
    return path if os.path.exists(path) else Path(unquote(rest, errors="surrogateescape"))  # noqa: PTH110


def is_local(url: str) -> bool:
    """Whether what a URL names is local beyond doubt: a file, or in an archive that is one.

    Parameters
    ----------
    url : str
        A path, a URL, or a chain such as ``zip://a.root::x.zip``.

    Returns
    -------
    bool
        False for whatever is remote, or might be.
    """
    if local_path(url) is not None:
        return True
    *links, last = url.split("::")
    schemes = {link.partition("://")[0] for link in links}
    return is_chain(url) and schemes <= LOCAL_LINKS and local_path(last) is not None


class LocalStore:
    """Byte ranges of local files, by positioned reads that need no lock between threads."""

    max_gap_bytes = 64 << 10
    max_request_bytes = 1 << 20
    concurrency = 1

    def size(self, url: str) -> int:
        """Length of the file in bytes."""
        return self._path(url).stat().st_size

    def get_ranges(
        self, url: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[memoryview]:
        """Read byte ranges of one file, see `ByteStore.get_ranges`."""
        # A handle a call: none is shared between threads or processes, none is left open.
        with self._path(url).open("rb", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            parts = [
                memoryview(_read_at(file, offset, min(length, end - offset)))
                for offset, length in zip(starts, lengths, strict=True)
            ]
        check_lengths(url, starts, lengths, parts)
        return parts

    @staticmethod
    def _path(url: str) -> Path:
        path = local_path(url)
        if path is None:
            raise ValueError(f"{url!r} is not a local path")
        return path


def _read_at(file: io.FileIO, offset: int, length: int) -> bytes:
    """Read up to `length` bytes, which the caller has limited to what the file has."""
    file.seek(offset)
    parts: list[bytes] = []
    while length > 0:
        part = file.read(length)
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
