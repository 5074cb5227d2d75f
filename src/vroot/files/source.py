"""What of uproot's sources there is here: where the bytes are from, and how many were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from vroot.io.sources import PerformanceCounters
from vroot.read.opened import OpenedFile

if TYPE_CHECKING:
    from types import TracebackType


__all__ = ["OpenedSource"]


class OpenedSource:
    """The ROOT file of an opened store, and counters of what was read of it.

    Parameters
    ----------
    file : OpenedFile
        The opened store.
    """

    def __init__(self, file: OpenedFile) -> None:
        self._file = file

    def __repr__(self) -> str:
        return f"<OpenedSource {self.file_path!r} at 0x{id(self):012x}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def file_path(self) -> str:
        """Path or URL of the ROOT file; of the first one, if the store is of several."""
        return self._file.references.sources[0].url

    @property
    def num_bytes(self) -> int:
        """Length of the ROOT file in bytes when it was scanned; of all, if there are several."""
        return sum(source.size_bytes for source in self._file.references.sources)

    @property
    def num_requests(self) -> int:
        """Requests that were made."""
        return self.performance_counters.num_requests

    @property
    def num_requested_chunks(self) -> int:
        """Byte ranges that were asked for, of which a request may have several."""
        return self.performance_counters.num_requested_chunks

    @property
    def num_requested_bytes(self) -> int:
        """Bytes that were asked for, with those between baskets that are read through."""
        return self.performance_counters.num_requested_bytes

    @property
    def performance_counters(self) -> PerformanceCounters:
        """All counters at one time."""
        return self._file.fetcher.counters

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._file.closed

    def close(self) -> None:
        """Close the file."""
        self._file.close()
