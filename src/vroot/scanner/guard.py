"""What uproot raises when it meets bytes that it misreads."""

from __future__ import annotations

import re

__all__ = ["UPROOT_ERRORS", "describe", "without_addresses"]

#: Misread bytes surface in uproot as any exception, UnboundLocalError and RuntimeError included. A
#: list of those that were seen would let the next one end the scan of a whole file for one branch.
UPROOT_ERRORS: tuple[type[Exception], ...] = (Exception,)

MAX_REASON_LENGTH = 300


def describe(error: BaseException) -> str:
    """Give an error of uproot in one line, shortened.

    Parameters
    ----------
    error : BaseException
        Whatever was raised.

    Returns
    -------
    str
        Its class and the beginning of its message, the same in every process.
    """
    text = without_addresses(" ".join(f"{type(error).__name__}: {error}".split()))
    return text if len(text) <= MAX_REASON_LENGTH else text[:MAX_REASON_LENGTH] + "..."


def without_addresses(text: str) -> str:
    """Leave out of a text what differs from one process to the next, as a store must not.

    Parameters
    ----------
    text : str
        Perhaps with addresses of objects in it.

    Returns
    -------
    str
        Without them.
    """
    return re.sub(r"( at)? 0x[0-9a-f]+", "", text)
