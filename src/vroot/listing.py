"""What trees, branches, RNTuples and fields have in common: filtered listings, and closing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from vroot.file import File

__all__ = ["Closes", "Listing"]


class Typed(Protocol):
    """What a listing lists."""

    @property
    def typename(self) -> str:
        """C++ type of an entry."""
        ...


T = TypeVar("T", bound=Typed)


class Closes:
    """A part of an opened store, which as a context manager closes all of it."""

    @property
    @abstractmethod
    def file(self) -> File:
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
    """A mapping with uproot's methods for listing it, all of them made from `iteritems`."""

    @abstractmethod
    def iteritems(self, **filters: Any) -> Iterator[tuple[str, T]]:
        """Iterate over names and what they name."""

    # A mapping would be equal to another one with equal items, and have no hash.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

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
