"""What is asked of trees and branches where they are selected and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self

from vroot.mapping.filters import Filter
from vroot.mapping.listing import Listed
from vroot.metadata.interpretations import Interpretation
from vroot.metadata.specs import BranchSpec
from vroot.read.columns import Column
from vroot.read.opened import OpenedFile

__all__ = ["Branch", "Branches"]


class Branches(Protocol):
    """A tree or branch: a mapping of branches."""

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        ...

    @property
    def tree(self) -> Any:
        """The tree that this is or belongs to."""
        ...

    @property
    def title(self) -> str:
        """Title in the ROOT file."""
        ...

    @property
    def object_path(self) -> str:
        """Path in the ROOT file."""
        ...

    @property
    def components(self) -> list[str]:
        """Components of the nodes of the branches, in the order of the ROOT file."""
        ...

    @property
    def itself(self) -> Sequence[tuple[str, Any]]:
        """Name and branch, if this is one."""
        ...

    @property
    def branches(self) -> Sequence[Any]:
        """The branches directly under this one."""
        ...

    def find(self, path: str, *, recursive: bool) -> Any:
        """Give the branch of a name or path, or None."""
        ...

    def keys(self, **filters: Any) -> list[str]:
        """Names of the branches."""
        ...

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterate over the names of the branches."""
        ...

    def iteritems(
        self,
        *,
        filter_name: Filter = ...,
        filter_typename: Filter = ...,
        filter_branch: Any = ...,
        recursive: bool = ...,
        full_paths: bool = ...,
        ignore_duplicates: bool = ...,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over names and branches."""
        ...

    def __getitem__(self, where: str) -> Any:
        """Give a branch by its name or path."""
        ...


class Branch(Branches, Listed, Protocol):
    """A branch."""

    @property
    def interpretation(self) -> Interpretation:
        """How the baskets become arrays."""
        ...

    @property
    def num_baskets(self) -> int:
        """Number of baskets."""
        ...

    @property
    def entry_offsets(self) -> list[int]:
        """Entry numbers where the baskets begin, and the number of entries."""
        ...

    @property
    def spec(self) -> BranchSpec:
        """What the store says of it."""
        ...

    @property
    def node_path(self) -> str:
        """Path of its node in the store."""
        ...

    @property
    def cache_key(self) -> str:
        """What names this among all files, as part of the keys of caches."""
        ...

    @property
    def column(self) -> Column:
        """What the engine needs to read it."""
        ...

    @property
    def parent(self) -> Any:
        """The tree or branch that it is in."""
        ...

    @property
    def count_branch(self) -> Self | None:
        """The branch that holds the number of items of each entry, if there is one."""
        ...

    def interpreted(self, interpretation: Any) -> Self:
        """Give the branch read with another interpretation."""
        ...
