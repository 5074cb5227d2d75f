"""What trees, RNTuples and objects ask of the file that they are in."""

from __future__ import annotations

import uuid
from collections.abc import MutableMapping
from typing import Any, Protocol

from vroot.format.references import References
from vroot.io.fetcher import Fetcher

__all__ = ["OpenedDirectory", "OpenedFile"]


class OpenedFile(Protocol):
    """An opened store, as its parts see it.

    Attributes
    ----------
    references : References
        The store.
    fetcher : Fetcher
        The way to the bytes of its sources.
    object_cache, array_cache : MutableMapping, optional
        Where objects and arrays are kept.
    """

    references: References
    fetcher: Fetcher
    object_cache: MutableMapping[str, Any] | None
    array_cache: MutableMapping[str, Any] | None

    @property
    def file_path(self) -> str:
        """What was opened."""
        ...

    @property
    def uuid(self) -> uuid.UUID:
        """The UUID in the header of the ROOT file."""
        ...

    @property
    def hex_uuid(self) -> str:
        """The text of `uuid`."""
        ...

    @property
    def source(self) -> Any:
        """The ROOT file, with counters of what was read of it."""
        ...

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...

    def __getitem__(self, where: str) -> Any:
        """Give an object by its path."""
        ...


class OpenedDirectory(Protocol):
    """A directory of an opened store, as what is in it sees it."""

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        ...

    @property
    def object_path(self) -> str:
        """Path in the ROOT file, with a slash at both ends."""
        ...
