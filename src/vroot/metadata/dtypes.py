"""NumPy's dtypes, as far as a store may have them: numbers, fixed arrays and structs of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["MAX_ITEMSIZE_BYTES", "check_dtype", "split_dtype"]

MAX_ITEMSIZE_BYTES = 1 << 30  # of an entry: ROOT's buffers were no longer for most of its life
SIMPLE_KINDS = "biuf"


def split_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Split a dtype into its innermost base and the fixed shape around it.

    Parameters
    ----------
    dtype : numpy.dtype
        Possibly with a subarray shape, such as ``(">f4", (2, 3))``.

    Returns
    -------
    tuple
        The base dtype, which may have fields, and the shape, ``()`` for a scalar.
    """
    shape: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    return dtype, shape


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Check that a dtype is of plain numbers, of a possible size.

    Parameters
    ----------
    dtype : numpy.dtype
        Possibly with a shape and with fields.

    Raises
    ------
    ValueError
        If it is of another kind or size.
    """
    if not 0 < dtype.itemsize <= MAX_ITEMSIZE_BYTES:
        raise ValueError(
            f"dtype {dtype!s} has {dtype.itemsize} bytes: expected 1 to {MAX_ITEMSIZE_BYTES}"
        )
    base, _ = split_dtype(dtype)
    if base.names is not None:
        for name in base.names:
            check_dtype(base[name])
    elif base.kind not in SIMPLE_KINDS:
        raise ValueError(f"dtype {dtype!s} is not boolean, integer or floating point")
