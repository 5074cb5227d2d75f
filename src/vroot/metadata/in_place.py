"""Numbers that are read into an array of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vroot.metadata.interpretations import AsDtype

__all__ = ["AsDtypeInPlace"]


class AsDtypeInPlace(AsDtype, tag_field="kind", tag="in_place"):
    """Like `AsDtype`, but the numbers are written into an array, a part of which is returned.

    `AsDtype.inplace` makes these; no store has them.

    Parameters
    ----------
    from_dtype : numpy.dtype
        Layout of one entry in a basket.
    to_dtype : None
        Not used: the dtype in memory is that of the array.
    to_fill : ndarray
        Where the numbers are written, from its beginning.
    """

    to_fill: Any = None

    def __post_init__(self) -> None:
        """Refuse what is no array of such entries that can be written into."""
        super().__post_init__()
        array = self.to_fill
        if not isinstance(array, np.ndarray):
            raise TypeError(f"an array of NumPy can be filled in place, not {type(array).__name__}")
        if not array.flags.writeable:
            raise ValueError("the array that is to be filled in place is read-only")
        if array.shape[1:] != self.inner_shape or array.dtype.names != self.from_dtype.base.names:
            raise ValueError(
                f"entries of {self.from_dtype} do not fit an array of {array.dtype} with shape "
                f"{array.shape}"
            )

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.to_fill is getattr(other, "to_fill", None)

    def __hash__(self) -> int:
        return hash((type(self), self.from_dtype, id(self.to_fill)))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Dtype of one entry in memory, with its shape."""
        array: npt.NDArray[Any] = self.to_fill
        return np.dtype((array.dtype, array.shape[1:]))

    def allocate(self, length: int) -> npt.NDArray[Any]:
        """Give the part of the array that so many entries go to.

        Parameters
        ----------
        length : int
            Number of entries.

        Returns
        -------
        ndarray
            A view of the array.

        Raises
        ------
        ValueError
            If the array is too short.
        """
        array: npt.NDArray[Any] = self.to_fill
        if length > len(array):
            raise ValueError(
                f"an array of {len(array)} items (of {array.dtype}) cannot be filled in place with "
                f"{length} entries (of {self.from_dtype})"
            )
        return array[:length]
