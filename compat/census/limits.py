"""Limits on what uproot may do: which errors it may raise, and how long a branch may take."""

from __future__ import annotations

import signal
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from uproot.deserialization import DeserializationError
from uproot.interpretation.identify import UnknownInterpretation
from uproot.interpretation.objects import CannotBeAwkward, CannotBeForth, CannotBeStrided

from compat.census.records import FailureRecord

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator

__all__ = ["BRANCH_SECONDS", "ORACLE_ERRORS", "TimeLimitError", "observe", "time_limit"]

BRANCH_SECONDS = 20.0

T = TypeVar("T")


class TimeLimitError(BaseException):
    """Reading a branch took too long.

    Not an Exception, so that nothing on its way through uproot handles it.
    """


# uproot has no base class for its errors, and on files that it misreads nearly anything can
# come out of numpy, struct or its own code. Whatever is not in this list fails the whole file.
ORACLE_ERRORS: tuple[type[BaseException], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    CannotBeAwkward,
    CannotBeForth,
    CannotBeStrided,
    DeserializationError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TimeLimitError,
    TypeError,
    UnknownInterpretation,
    ValueError,
    struct.error,
    zlib.error,
)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitError when the block takes longer than this."""

    def expire(_signal: int, _frame: types.FrameType | None) -> None:
        raise TimeLimitError(f"more than {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def observe(look: Callable[[], T]) -> T | FailureRecord:
    """Return what a look at something gives, or a record of why it cannot be had."""
    try:
        return look()
    except ORACLE_ERRORS as error:
        return FailureRecord.of(error)
