"""Warnings that point at the line of the user, whatever it took to get there."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

__all__ = ["warn"]

PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something at the first line that is not of this package.

    Parameters
    ----------
    message : str
        What to say.
    category : type
        The class of the warning.
    """
    # From Python 3.12 on, `warnings.warn` does this itself.
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
