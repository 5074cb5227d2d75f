"""What trees, branches, RNTuples and fields have in common: look-up, listings, and closing."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from vroot.exceptions import KeyInFileError
from vroot.mapping.filters import Filter, no_filter, regularize_filter
from vroot.read.opened import OpenedFile

__all__ = ["Closes", "Listed", "Listing"]


class Listed(Protocol):
    """What a listing lists: listings themselves, with a name and a type."""

    @property
    def name(self) -> str:
        """Name without path."""
        ...

    @property
    def typename(self) -> str:
        """C++ type of an entry."""
        ...

    def directly(self, name: str) -> Any:
        """Give the first member of a name."""
        ...

    def find(self, path: str, *, recursive: bool) -> Any:
        """Give what a name or path means, or None."""
        ...

    def find_below(self, name: str) -> Any:
        """Give the first of a name at any depth, or None."""
        ...

    def walk(self, *, recursive: bool, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Iterate over all names and members."""
        ...


T = TypeVar("T", bound=Listed)


class Closes:
    """A part of an opened store, which as a context manager closes all of it."""

    @property
    @abstractmethod
    def file(self) -> OpenedFile:
        """The opened store."""

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Listing(Closes, Mapping[str, T]):
    """A mapping with uproot's look-up and its methods for listing, made from `iteritems`."""

    #: What stands between the names of a path.
    _separator: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "iteritems" in vars(cls):
            for name, without in NOT_TAKEN.items():
                method = _with_parameters(getattr(cls, name), cls.iteritems, without)
                setattr(cls, name, method)

    @property
    def source(self) -> Any:
        """The ROOT file, with counters of what was read of it."""
        return self.file.source

    @property
    @abstractmethod
    def object_path(self) -> str:
        """Path in the ROOT file."""

    @property
    @abstractmethod
    def direct_members(self) -> list[T]:
        """What is directly in this, in the order of the ROOT file."""

    @property
    def listed(self) -> list[T]:
        """The members that listings name."""
        return self.direct_members

    @abstractmethod
    def directly(self, name: str) -> T | None:
        """Give the first member of a name."""

    @abstractmethod
    def iteritems(self, **filters: Any) -> Iterator[tuple[str, T]]:
        """Iterate over names and what they name."""

    # A mapping would be equal to another one with equal items, and have no hash.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return len(self.direct_members)

    def __iter__(self) -> Iterator[Any]:
        # As in uproot: the values of this mapping, not its keys.
        return iter(self.direct_members)

    # --- look-up

    def __contains__(self, where: object) -> bool:
        try:
            self[where]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def __getitem__(self, where: str | int) -> T:
        if isinstance(where, int | np.integer):
            return self.direct_members[where]
        if not isinstance(where, str):
            raise TypeError(f"where must be an integer or a string, not {where!r}")
        path = self._path_of(where)
        recursive = not path.startswith(self._separator)
        found = self.find(path.removeprefix(self._separator), recursive=recursive)
        if found is None:
            raise KeyInFileError(
                where,
                keys=self.keys(recursive=recursive),
                file_path=self.file.file_path,
                object_path=self.object_path,
            )
        return found

    def _path_of(self, where: str) -> str:
        return where

    def find(self, path: str, *, recursive: bool) -> T | None:
        """Give what a name or path means, or None."""
        found = self.directly(path)
        if found is not None:
            return found
        if self._separator in path:
            this: Any = self
            for piece in path.split(self._separator):
                if piece and this is not None:
                    this = this.find(piece, recursive=True)
            return this if this is not self else None
        return self.find_below(path) if recursive else None

    def find_below(self, name: str) -> T | None:
        """Give the first member of a name at any depth, or None."""
        for member in self.direct_members:
            found: T | None = member.directly(name)
            if found is None:  # not "or": what has no members is false
                found = member.find_below(name)
            if found is not None:
                return found
        return None

    # --- listings

    def _filtered(
        self,
        filter_name: Filter,
        filter_typename: Filter,
        accepts: Callable[[T], bool] | None,
        *,
        recursive: bool,
        full_paths: bool,
        ignore_duplicates: bool,
    ) -> Iterator[tuple[str, T]]:
        """Iterate over the names and members that filters accept, see `iteritems`."""
        accepts_name = regularize_filter(filter_name)
        accepts_type = regularize_filter(filter_typename)
        seen: set[str] = set()
        for path, member in self.walk(recursive=recursive):
            name = member.name
            if accepts_name is not no_filter and not (
                accepts_name(name)
                or (path != name and accepts_name(path))
                or accepts_name(self._separator + path)
            ):
                continue
            if accepts_type is not no_filter and not accepts_type(member.typename):
                continue
            if accepts is not None and not accepts(member):
                continue
            shown = path if full_paths else name
            if ignore_duplicates and shown in seen:
                continue
            seen.add(shown)
            yield shown, member

    def walk(self, *, recursive: bool, prefix: str = "") -> Iterator[tuple[str, T]]:
        """Iterate over the paths and members, in the order of the ROOT file."""
        for member in self.listed:
            path = prefix + member.name
            yield path, member
            if recursive:
                yield from member.walk(recursive=True, prefix=path + self._separator)

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterate over names; parameters as in `iteritems`."""
        return (name for name, _ in self.iteritems(**filters))

    def itervalues(self, **filters: Any) -> Iterator[T]:
        """Iterate over what is named; parameters as in `iteritems`."""
        return (each for _, each in self.iteritems(**{"full_paths": False} | filters))

    def itertypenames(self, **filters: Any) -> Iterator[tuple[str, str]]:
        """Iterate over names and C++ types; parameters as in `iteritems`."""
        return ((name, each.typename) for name, each in self.iteritems(**filters))

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names, as a list; parameters as in `iteritems`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[T]:  # type: ignore[override]
        """What is named, as a list; parameters as in `iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, T]]:  # type: ignore[override]
        """Names and what they name, as a list; parameters as in `iteritems`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Names and C++ types, as a dict; parameters as in `iteritems`."""
        return dict(self.itertypenames(**filters))

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()


#: The methods made from `iteritems`, and which of its parameters they do not take.
NOT_TAKEN: Mapping[str, tuple[str, ...]] = {
    "iterkeys": (),
    "itervalues": ("full_paths", "ignore_duplicates"),
    "itertypenames": ("ignore_duplicates",),
    "keys": (),
    "values": ("full_paths", "ignore_duplicates"),
    "items": ("ignore_duplicates",),
    "typenames": ("ignore_duplicates",),
}


def _with_parameters(
    method: Callable[..., Any], model: Callable[..., Any], without: tuple[str, ...]
) -> Callable[..., Any]:
    """Let a method show the parameters that it hands on to another one."""

    @wraps(method)
    def shown(self: Any, **filters: Any) -> Any:
        return method(self, **filters)

    kept = [
        each for each in inspect.signature(model).parameters.values() if each.name not in without
    ]
    signature = inspect.signature(method).replace(parameters=kept)
    shown.__signature__ = signature  # type: ignore[attr-defined]
    return shown
