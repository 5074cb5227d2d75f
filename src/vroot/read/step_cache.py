"""What was decoded for one step of a reading step by step, and is needed by the next."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["StepCache"]

T = TypeVar("T")


class StepCache(Generic[T]):
    """Decoded baskets or pages that the next read of the same columns needs again.

    What reaches beyond the entries of one step is kept for the next, and no more than that.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], T] = {}
        self._next: dict[tuple[str, int], T] = {}

    def get(self, column: str, number: int) -> T | None:
        """Give a basket or page of a column, if it was kept."""
        return self._kept.get((column, number))

    def put(self, column: str, number: int, decoded: T) -> None:
        """Keep a basket or page for the next read."""
        self._next[column, number] = decoded

    def turn(self) -> None:
        """Forget what the last read did not keep."""
        self._kept, self._next = self._next, {}
