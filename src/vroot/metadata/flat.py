"""Numbers, one item an entry; also read into an array of the user's."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.metadata.dtypes import check_dtype, split_dtype
from vroot.metadata.interpretation_base import Base

__all__ = ["AsDtype", "AsDtypeInPlace"]


class AsDtype(Base, omit_defaults=True, tag_field="kind", tag="flat"):
    """Numbers, fixed-size arrays of numbers, or packed structs of them, one item an entry.

    Parameters
    ----------
    from_dtype : numpy.dtype
        Layout of one entry in a basket: big-endian, with its fixed shape and its fields; or what
        `numpy.dtype` takes for one.
    to_dtype : numpy.dtype, optional
        Layout of one entry in memory; the native equivalent of `from_dtype` if not given.
    """

    from_dtype: np.dtype
    to_dtype: np.dtype | None = None

    def __post_init__(self) -> None:
        """Check that there are plain numbers, of a possible size."""
        for name in ("from_dtype", "to_dtype"):
            given = getattr(self, name)
            # As in uproot, ">f4" does for a dtype.
            if given is not None and not isinstance(given, np.dtype):
                msgspec.structs.force_setattr(self, name, np.dtype(given))
        check_dtype(self.from_dtype)
        if self.to_dtype is not None:
            check_dtype(self.to_dtype)
            if self.to_dtype != self.to_dtype.newbyteorder("="):
                raise ValueError(f"{self.to_dtype} is not in this machine's byte order")
            base, shape = split_dtype(self.to_dtype)
            if shape != self.inner_shape or base.names != split_dtype(self.from_dtype)[0].names:
                raise ValueError(
                    f"the shapes or the fields of {self.from_dtype} and {self.to_dtype} differ"
                )

    # NumPy takes None for the dtype of floats: the fields must not be compared one by one.
    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AsDtype)
            and type(other) is type(self)
            and self.from_dtype == other.from_dtype
            and self.numpy_dtype == other.numpy_dtype
        )

    def __hash__(self) -> int:
        return hash((type(self), self.from_dtype, self.numpy_dtype))

    def __repr__(self) -> str:
        if self.to_dtype is None:
            return f"AsDtype({str(self.from_dtype)!r})"
        return f"AsDtype({str(self.from_dtype)!r}, {str(self.to_dtype)!r})"

    @property
    def itemsize(self) -> int:
        """Bytes of one entry in a basket, all dimensions and fields included."""
        return self.from_dtype.itemsize

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry, ``()`` for a scalar."""
        return split_dtype(self.from_dtype)[1]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return self.from_dtype.newbyteorder("=") if self.to_dtype is None else self.to_dtype

    def inplace(self, array: np.ndarray[Any, np.dtype[Any]]) -> AsDtypeInPlace:
        """Give an interpretation that fills an array of yours, see `AsDtypeInPlace`."""
        return AsDtypeInPlace(self.from_dtype, to_fill=array)


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
        """Check that the array can be written into, and has such entries."""
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
