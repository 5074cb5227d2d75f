"""Byte stores that the user hands in, in the shape of obspec: an obstore store is one as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable
from urllib.parse import unquote

from vroot.io.byte_store import check_lengths
from vroot.io.local import local_path

__all__ = ["GetRanges", "HandedStore", "Stores", "find_store"]


@runtime_checkable
class GetRanges(Protocol):
    """What a store must have: `get_ranges`, as in obspec's protocol of this name."""

    def get_ranges(self, path: str, *, starts: Sequence[int], lengths: Sequence[int]) -> Any:
        """Fetch byte ranges of one object.

        Parameters
        ----------
        path : str
            The object, as the store names it.
        starts, lengths : sequences of int
            The ranges, in bytes.

        Returns
        -------
        sequence of buffers
            The bytes, in the order of the ranges.
        """
        ...


#: One for all sources, or by the beginning of URLs.
Stores: TypeAlias = GetRanges | Mapping[str, GetRanges]


class HandedStore:
    """A byte store around one that the user has handed in.

    Parameters
    ----------
    store : GetRanges
        The user's.
    prefix : str
        What the URLs of its objects begin with, before the path in the store; "" for the scheme and
        the host, whatever they are.
    """

    max_gap_bytes = 1 << 20
    max_request_bytes = 32 << 20
    concurrency = 8

    def __init__(self, store: GetRanges, prefix: str = "") -> None:
        self._store = store
        self._prefix = prefix

    def size(self, url: str) -> int:
        """Length of what is at `url`, in bytes, as the store's `head` says it."""
        head: Any = self._store.head(self._path(url))  # type: ignore[attr-defined]  # of obspec
        return int(head["size"])

    def get_ranges(
        self, url: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[memoryview]:
        """Fetch byte ranges of one source, see `ByteStore.get_ranges`."""
        parts = self._store.get_ranges(self._path(url), starts=starts, lengths=lengths)
        views = [memoryview(part).cast("B") for part in parts]
        check_lengths(url, starts, lengths, views)
        return views

    def _path(self, url: str) -> str:
        if self._prefix:
            return url.removeprefix(self._prefix).lstrip("/")
        path = local_path(url)
        if path is not None:
            return path.as_posix().lstrip("/")
        return unquote(url.partition("://")[2].partition("/")[2].partition("?")[0])


def find_store(stores: Stores | None, url: str) -> HandedStore | None:
    """Find the store that the user has handed in for a URL.

    Parameters
    ----------
    stores : GetRanges, or mapping of str to GetRanges, optional
        One for all, or by the beginning of URLs, the longest of which counts.
    url : str
        A path or a URL.

    Returns
    -------
    HandedStore or None
        None if there is none for it.

    Raises
    ------
    TypeError
        If something is not a store.
    """
    if stores is None:
        return None
    prefix = ""
    if isinstance(stores, Mapping):
        # "s3://bucket" is not the beginning of "s3://bucket2/a.root".
        fitting = [
            each for each in stores if not each or f"{url}/".startswith(f"{each.rstrip('/')}/")
        ]
        if not fitting:
            return None
        prefix = max(fitting, key=len)
        store: Any = stores[prefix]
    else:
        store = stores
    if not isinstance(store, GetRanges):
        raise TypeError(
            "store must have a method get_ranges(path, *, starts, lengths), as stores of obstore "
            f"have, or be a mapping of URL prefixes to such, not {store!r}"
        )
    return HandedStore(store, prefix)
