"""Numbers that are read into an array of the user's."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.interpretations import AsDtype

__all__ = ["AsDtypeInPlace"]


class AsDtypeInPlace(AsDtype, tag_field="kind", tag="flat"):
    """Like `AsDtype`, but the numbers are written into a given array, which is what is returned.

    Parameters
    ----------
    array : ndarray
        Where they are written, from the beginning; its dtype is that of the numbers in memory.
    from_dtype : numpy.dtype
        Layout of one entry in a basket.
    """

    to_fill: Any = None

    def __init__(self, array: npt.NDArray[Any], from_dtype: npt.DTypeLike) -> None:
        super().__init__(np.dtype(from_dtype))
        msgspec.structs.force_setattr(self, "to_fill", array)
