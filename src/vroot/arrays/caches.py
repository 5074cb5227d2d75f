"""Caches that forget what was least recently used, under uproot's names."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Any, TypeAlias

import numpy as np

from vroot.read.opened import OpenedFile
from vroot.read.steps import bytes_of_size

__all__ = [
    "ArrayCache",
    "LRUArrayCache",
    "LRUCache",
    "copied",
    "made_array_cache",
    "made_object_cache",
    "regularize_array_cache",
]

#: What users may give: "inherit", None, a mapping, or a size of memory.
ArrayCache: TypeAlias = MutableMapping[str, Any] | int | str | None


class LRUCache(MutableMapping[Any, Any]):
    """A mapping that evicts what was least recently used when it has too many items.

    It may be used by several threads. Its pickle is empty, with the same limit.

    Parameters
    ----------
    limit : int, optional
        Items, at most; no limit if not given.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._current = 0
        self._data: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._limit,))

    def __repr__(self) -> str:
        full = "no limit" if self._limit is None else f"{self._current}/{self._limit} full"
        return f"<{type(self).__name__} ({full}) at 0x{id(self):012x}>"

    @classmethod
    def sizeof(cls, what: Any) -> int:  # noqa: ARG003  # each is one item
        """Give the size of an object in the unit of the limit: here 1."""
        return 1

    @property
    def limit(self) -> int | None:
        """What it may hold at most."""
        return self._limit

    @property
    def current(self) -> int:
        """What it holds, in the unit of the limit."""
        return self._current

    def __getitem__(self, where: Any) -> Any:
        with self._lock:
            found = self._data[where]
            self._data.move_to_end(where)
            return found

    def __setitem__(self, where: Any, what: Any) -> None:
        size = self.sizeof(what)
        with self._lock:
            if where in self._data:
                self._current -= self.sizeof(self._data.pop(where))
            self._data[where] = what
            self._current += size
            while self._limit is not None and self._current > self._limit and self._data:
                _, evicted = self._data.popitem(last=False)
                self._current -= self.sizeof(evicted)

    def __delitem__(self, where: Any) -> None:
        with self._lock:
            self._current -= self.sizeof(self._data.pop(where))

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter(list(self._data))

    def __len__(self) -> int:
        return len(self._data)


class LRUArrayCache(LRUCache):
    """A mapping that evicts what was least recently used when its arrays are too large.

    Parameters
    ----------
    limit_bytes : int or str, optional
        Bytes, or a size such as "100 MB"; no limit if not given.
    """

    default_nbytes = 1024

    def __init__(self, limit_bytes: int | str | None) -> None:
        super().__init__(None if limit_bytes is None else bytes_of_size(limit_bytes))

    @classmethod
    def sizeof(cls, what: Any) -> int:
        """Give the size of an array in bytes; 1024 for what does not tell."""
        if hasattr(what, "nbytes"):
            return int(what.nbytes)
        if callable(getattr(what, "memory_usage", None)):
            return int(np.sum(what.memory_usage()))
        return cls.default_nbytes


def regularize_array_cache(
    array_cache: ArrayCache, file: OpenedFile
) -> MutableMapping[str, Any] | None:
    """Turn what users give for a cache into one.

    Parameters
    ----------
    array_cache : "inherit", None, MutableMapping, int or str
        "inherit" is that of the file; a size of memory makes a new one.
    file : OpenedFile
        The opened store.

    Returns
    -------
    MutableMapping or None
        The cache, if there is to be one.

    Raises
    ------
    TypeError
        If it is nothing of this kind.
    """
    if isinstance(array_cache, str) and array_cache == "inherit":
        return file.array_cache
    return made_array_cache(array_cache)


def made_array_cache(array_cache: ArrayCache) -> MutableMapping[str, Any] | None:
    """Make a cache of a size of memory, see `regularize_array_cache`."""
    if array_cache is None or isinstance(array_cache, MutableMapping):
        return array_cache
    if isinstance(array_cache, int | str):
        return LRUArrayCache(array_cache)
    raise TypeError("array_cache must be None, a MutableMapping, or a memory size")


def made_object_cache(object_cache: Any) -> MutableMapping[str, Any] | None:
    """Make a cache of objects of a number of them; parameters as in `vroot.open`."""
    if object_cache is None or isinstance(object_cache, MutableMapping):
        return object_cache
    if isinstance(object_cache, int):
        return LRUCache(object_cache)
    raise TypeError("object_cache must be None, a MutableMapping, or an int")


def copied(array: Any) -> Any:
    """Copy an array on its way into or out of a cache.

    What a user does to an array of NumPy or pandas must not change what is read later. Awkward
    Arrays share their buffers, which are not to be changed.
    """
    return copy.copy(array)
