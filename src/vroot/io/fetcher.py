"""The one road for bytes of a file that was opened."""

from __future__ import annotations

from concurrent.futures import Executor

from vroot.exceptions import ClosedFileError
from vroot.io.fetching import WINDOW_BYTES, Ranges, Use, fetch
from vroot.io.sources import PerformanceCounters, Sources

__all__ = ["Fetcher"]


class Fetcher:
    """Fetches byte ranges of the sources of one store, as long as its file is open.

    Parameters
    ----------
    sources : Sources
        The sources of the store.
    file_path : str
        What was opened, for errors.
    window_bytes : int
        Fetched bytes that may be in memory at once.

    Raises
    ------
    ValueError
        If `window_bytes` is not positive.
    """

    def __init__(self, sources: Sources, file_path: str, window_bytes: int = WINDOW_BYTES) -> None:
        if window_bytes < 1:
            raise ValueError(f"window_bytes must be positive, not {window_bytes}")
        self.window_bytes = window_bytes
        self._sources = sources
        self._file_path = file_path
        self._closed = False

    @property
    def counters(self) -> PerformanceCounters:
        """How much was read of the sources."""
        return self._sources.counters

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._closed

    def close(self) -> None:
        """Refuse further reading; no handle is ever left open."""
        self._closed = True

    def check_open(self) -> None:
        """Raise a `ClosedFileError` if the file is closed."""
        if self._closed:
            raise ClosedFileError(f"{self._file_path} is closed")

    def fetch(
        self,
        ranges: Ranges,
        use: Use,
        executor: Executor | None = None,
        *,
        even_closed: bool = False,
    ) -> None:
        """Fetch byte ranges of the sources, and use each.

        Parameters
        ----------
        ranges : Ranges
            What is wanted.
        use : callable
            What is to be done with it, see `vroot.io.fetching.fetch`.
        executor : Executor, optional
            Runs that.
        even_closed : bool
            Whether to do it although the file is closed: virtual arrays that were made before
            outlive that, since no handle is ever left open.

        Raises
        ------
        ClosedFileError
            If the file is closed.
        """
        if not even_closed:
            self.check_open()
        fetch(
            ranges,
            use,
            urls=self._sources.urls,
            store=self._sources.store,
            executor=executor,
            window_bytes=self.window_bytes,
        )
