"""What uproot raises when it meets bytes that it misreads."""

from __future__ import annotations

import lzma
import re
import struct
import zlib

import cramjam
from uproot.deserialization import DeserializationError
from uproot.interpretation.identify import NotNumerical, UnknownInterpretation
from uproot.interpretation.objects import CannotBeAwkward, CannotBeForth, CannotBeStrided

__all__ = ["UPROOT_ERRORS", "describe", "without_addresses"]

#: Misread bytes surface in uproot as almost any exception. They are listed, so that an interrupt
#: or a mistake of our own in naming things (NameError, ImportError) is never taken for one.
UPROOT_ERRORS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RecursionError,
    struct.error,
    SyntaxError,
    TypeError,
    ValueError,
    cramjam.CompressionError,
    cramjam.DecompressionError,
    lzma.LZMAError,
    zlib.error,
    CannotBeAwkward,
    CannotBeForth,
    CannotBeStrided,
    DeserializationError,
    NotNumerical,
    UnknownInterpretation,
)

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
