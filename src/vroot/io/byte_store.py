"""The one thing that reading asks of a storage: byte ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from vroot.exceptions import ShortReadError

__all__ = ["ByteStore", "check_lengths"]


@runtime_checkable
class ByteStore(Protocol):
    """Where the bytes of the sources come from.

    Attributes
    ----------
    max_gap_bytes : int
        Two ranges that are at most this far apart are cheaper to fetch as one.
    max_request_bytes : int
        A merged range is not to be larger than this.
    concurrency : int
        How many requests may be under way at once.
    """

    @property
    def max_gap_bytes(self) -> int:
        """Largest gap that is worth reading through, in bytes."""
        ...

    @property
    def max_request_bytes(self) -> int:
        """Largest merged range, in bytes."""
        ...

    @property
    def concurrency(self) -> int:
        """Requests under way at once."""
        ...

    def size(self, url: str) -> int:
        """Length in bytes of what is at `url`.

        Raises
        ------
        OSError
            If it cannot be had; FileNotFoundError if there is nothing.
        """
        ...

    def get_ranges(
        self, url: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[memoryview]:
        """Fetch byte ranges of one source.

        Parameters
        ----------
        url : str
            The source.
        starts, lengths : sequences of int
            Byte ranges, as many of each.

        Returns
        -------
        list of memoryview
            The bytes, in the order of the ranges.

        Raises
        ------
        ShortReadError
            If a range comes back with another length.
        OSError
            If the source cannot be read.
        """
        ...


def check_lengths(
    url: str, offsets: Sequence[int], lengths: Sequence[int], parts: Sequence[memoryview]
) -> None:
    """Insist that every range has come back whole.

    Raises
    ------
    ShortReadError
        If one has not, with the numbers.
    """
    if len(parts) != len(lengths):
        raise ShortReadError(f"{url}: asked for {len(lengths)} byte ranges, got {len(parts)}")
    for offset, length, part in zip(offsets, lengths, parts, strict=True):
        if len(part) != length:
            raise ShortReadError(
                f"{url}: asked for {length} bytes at offset {offset}, got {len(part)}: the file is "
                "shorter than at the time of the scan, or the server does not serve byte ranges"
            )
