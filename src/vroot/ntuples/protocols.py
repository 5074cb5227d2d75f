"""What fields and buffers ask of their RNTuple, and RNTuples of their fields."""

from __future__ import annotations

from collections.abc import MutableMapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import Any, Protocol

from vroot.format.ntuples import NTupleSchema
from vroot.mapping.listing import Listed
from vroot.metadata.specs import Manifest
from vroot.read.opened import OpenedFile
from vroot.read.step_cache import StepCache

__all__ = ["Field", "NTuple"]


class NTuple(Protocol):
    """An RNTuple."""

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        ...

    @property
    def object_path(self) -> str:
        """Path in the ROOT file, with its cycle."""
        ...

    @property
    def cache_key(self) -> str:
        """What names it among all files, as part of the keys of caches."""
        ...

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        ...

    @property
    def schema(self) -> NTupleSchema:
        """Its fields and columns, checked."""
        ...

    def manifest(self, column: int) -> Manifest:
        """Give where the pages of a column are."""
        ...

    def located(self) -> AbstractContextManager[None]:
        """Say in errors which RNTuple of which file they are about."""
        ...

    def read(
        self,
        form: Any,
        entries: tuple[int, int],
        *,
        executor: Executor | None = ...,
        array_cache: MutableMapping[str, Any] | None = ...,
        virtual: bool = ...,
        access_log: Any = ...,
        pages: StepCache[Any] | None = ...,
    ) -> Any:
        """Read what a form needs."""
        ...

    def form_bytes(self, form: Any, entries: tuple[int, int]) -> int:
        """Say how large the buffers of a form are."""
        ...


class Field(Listed, Protocol):
    """A field of an RNTuple."""

    @property
    def description(self) -> str:
        """What its author wrote about it."""
        ...

    @property
    def in_variant(self) -> bool:
        """Whether it is in a variant, with which alone it can be read."""
        ...

    def lines(self, first: str, others: str, filters: Any, *, recursive: bool) -> Any:
        """Give the lines of `show`."""
        ...
