"""Objects that Python has a type for: sequences, strings, numbers, dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from vroot.objects.model import Object

__all__ = [
    "AnyArray",
    "TArray",
    "TDatime",
    "THashList",
    "TList",
    "TNamed",
    "TObjString",
    "TParameter",
    "TRef",
    "TRefArray",
]

AnyArray: TypeAlias = npt.NDArray[Any]

# --- sequences


class _Items(Object, Sequence[Any]):
    """An object that is a sequence."""

    def __repr__(self) -> str:
        return f"<{self._described} of {len(self)} items at 0x{id(self):012x}>"

    @overload
    def __getitem__(self, where: int) -> Any: ...
    @overload
    def __getitem__(self, where: slice) -> Sequence[Any]: ...
    def __getitem__(self, where: int | slice) -> Any:
        return self.plain_value[where]

    def __len__(self) -> int:
        return len(self.plain_value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain_value)


class TList(_Items):
    """A ``TList`` or ``TObjArray``: a sequence of objects."""

    def check_value(self) -> None:
        """Check that there are items."""
        if not isinstance(self.plain_value, list):
            raise TypeError(f"it is a list but has {type(self.plain_value).__name__} for items")

    def json_value(self) -> Any:
        """Give what `tojson` shows of it."""
        items = [
            item.json_value() if isinstance(item, Object) else item for item in self.plain_value
        ]
        found = {"_typename": self._classname, "name": self._classname, "arr": items}
        return found | ({"opt": [""] * len(items)} if self._classname == "TList" else {})


class THashList(_Items):
    """A ``THashList``: the items are those of its base, a `TList`."""

    def check_value(self) -> None:
        """Check that the base is a list."""
        if len(self._bases) != 1 or not isinstance(self._bases[0], TList):
            raise TypeError("its base is not a TList")
        self.plain_value = self._bases[0].plain_value


#: Types of the elements (ROOT: core/cont/inc/TArray*.h).
ELEMENTS = {
    "TArrayC": "i1",
    "TArrayS": "i2",
    "TArrayI": "i4",
    "TArrayL": "i8",
    "TArrayL64": "i8",
    "TArrayF": "f4",
    "TArrayD": "f8",
}


class TArray(_Items):
    """A ``TArrayD`` or another of its kind: a sequence, and an array for NumPy."""

    def check_value(self) -> None:
        """Check that there is a one-dimensional array of the elements of the class."""
        dtype = np.dtype(ELEMENTS[self._classname])
        array = self.plain_value
        if not isinstance(array, np.ndarray) or array.dtype.newbyteorder("=") != dtype:
            raise TypeError(f"its elements must be an array of {dtype}, not {_kind(array)}")
        if array.ndim != 1:
            raise ValueError(f"its elements have shape {array.shape}")

    def __repr__(self) -> str:
        elements = np.array2string(self.plain_value, separator=", ", threshold=6)
        return f"<{self._described} {elements} at 0x{id(self):012x}>"

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.plain_value, dtype=dtype, copy=copy)

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes."""
        return int(self.plain_value.nbytes)

    def json_value(self) -> Any:
        """Give what `tojson` shows of it."""
        return self.plain_value.tolist()


class TRefArray(_Items):
    """A ``TRefArray``: a sequence of the numbers of the objects that it refers to."""

    def check_value(self) -> None:
        """Check that there is an array."""
        if not isinstance(self.plain_value, np.ndarray) or self.plain_value.ndim != 1:
            raise TypeError(f"its references must be a list, not {_kind(self.plain_value)}")

    @property
    def refs(self) -> AnyArray:
        """The numbers."""
        return np.asarray(self.plain_value)


# --- values


class TRef(Object):
    """A ``TRef``: the number of the object that it refers to."""

    def check_value(self) -> None:
        """Check that there is a number."""
        if type(self.plain_value) is not int:
            raise TypeError(f"its reference must be a number, not {_kind(self.plain_value)}")

    def __repr__(self) -> str:
        return f"<TRef {self.plain_value}>"

    @property
    def ref(self) -> int:
        """The number."""
        return int(self.plain_value)


class TNamed(Object):
    """A ``TNamed`` of no other class: a name and a title."""

    def __repr__(self) -> str:
        title = f" title={self.title!r}" if self.title else ""
        return f"<TNamed {self.name!r}{title} at 0x{id(self):012x}>"


class TObjString(Object, str):  # noqa: SLOT000  # it has what objects have
    """A ``TObjString`` or ``TString``: an object that is a string."""

    @classmethod
    def shell(cls, classname: str, version: int | None, value: Any) -> Self:
        """Make an instance, which is the string from the beginning."""
        if not isinstance(value, str):
            raise TypeError(f"it must be a string, not {_kind(value)}")
        self = str.__new__(cls, value)
        self._classname, self._version = classname, version
        self._bases, self._members, self.plain_value = [], {}, None
        return self

    def __repr__(self) -> str:
        return f"<{self._described} {str.__repr__(self)} at 0x{id(self):012x}>"

    def __str__(self) -> str:
        return str.__str__(self)

    title = str.title  # type: ignore[assignment]  # a string's, as in uproot

    def json_value(self) -> Any:
        """Give what `tojson` shows of it."""
        if self._classname == "TString":
            return str(self)
        found: dict[str, Any] = {}
        for base in self._bases:
            found.update(base.json_value())
        return {**found, "_typename": self._classname, "fString": str(self)}


class TParameter(Object):
    """A ``TParameter<T>``: a named number."""

    def check(self, *, concrete: bool) -> None:
        """Check that there is a number."""
        value = self.member("fVal", none_if_missing=True)
        if concrete and not isinstance(value, bool | int | float | np.number):
            raise TypeError(f"its fVal must be a number, not {_kind(value)}")
        if concrete and self._type is int and not float(value).is_integer():
            raise ValueError(f"its fVal must be a whole number, not {value}")

    @property
    def _type(self) -> type[bool | int | float]:
        """Python's type for C++'s."""
        kind = self._classname.partition("<")[2].removesuffix(">").strip()
        if kind in ("bool", "Bool_t"):
            return bool
        floating = ("float", "double", "long double", "Float_t", "Double_t", "LongDouble_t")
        return float if kind in floating else int

    @property
    def value(self) -> bool | int | float:
        """The number."""
        return self._type(self.member("fVal"))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __index__(self) -> int:
        if self._type is not int:
            raise TypeError(f"{self._classname} cannot be interpreted as an integer")
        return int(self.value)


class TDatime(Object):
    """A ``TDatime``: a date and time, to the second."""

    def check(self, *, concrete: bool) -> None:
        """Check that there is a number of 32 bits."""
        code = self.member("fDatime", none_if_missing=True)
        if concrete and not (type(code) is int and 0 <= code < 1 << 32):
            raise ValueError(f"its fDatime must be a number of 32 bits, not {code!r}")

    def to_datetime(self) -> datetime:
        """Give the date and time, which ROOT packs into 32 bits (ROOT: TDatime.cxx).

        Raises
        ------
        ValueError
            If there is no such date.
        """
        code = int(self.member("fDatime"))
        return datetime(  # ROOT's have no time zone
            (code >> 26) + 1995,
            code >> 22 & 0b1111,
            code >> 17 & 0b11111,
            code >> 12 & 0b11111,
            code >> 6 & 0b111111,
            code & 0b111111,
        )


def _kind(value: Any) -> str:
    """Describe a value in an error."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return type(value).__name__
