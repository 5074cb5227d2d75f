"""C++'s standard containers inside objects, as Python's collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Container", "STLMap", "STLSequence", "STLSet"]

AnyArray: TypeAlias = npt.NDArray[Any]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, Container | np.ndarray) else value


class Container:
    """A standard container.

    Parameters
    ----------
    typename : str
        Which one, as uproot calls it: ``STLVector``, ``STLSet``, ...
    values : ndarray
        Its items, or its keys in ascending order; an object array if they are not numbers.
    """

    def __init__(self, typename: str, values: AnyArray) -> None:
        self._typename = typename
        self._values = values

    @property
    def typename(self) -> str:
        """Which container it is, as uproot calls it."""
        return self._typename

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __repr__(self) -> str:
        return f"<{self._typename} {self.tolist()} at 0x{id(self):012x}>"

    def tolist(self) -> Any:
        """Give the items as Python's own lists, sets and dicts."""
        return [_plain(value) for value in self]


class STLSequence(Container, Sequence[Any]):
    """A ``std::vector``, ``std::list``, ``std::bitset`` or ``ROOT::RVec``."""

    def __getitem__(self, where: Any) -> Any:
        return self._values[where]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self._values, dtype=dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and np.array_equal(self._values, np.asarray(other))

    __hash__ = None  # type: ignore[assignment]


class STLSet(Container, AbstractSet[Any]):
    """A ``std::set``."""

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self._values, dtype=dtype, copy=copy)

    def __contains__(self, value: object) -> bool:
        return value in self._values.tolist()

    def tolist(self) -> Any:
        """Give the keys as a set."""
        return {_plain(value) for value in self}


class STLMap(Container, Mapping[Any, Any]):
    """A ``std::map``.

    Parameters
    ----------
    typename : str
        What uproot calls it.
    keys : ndarray
        Its keys in ascending order.
    items : ndarray
        The values for them.
    """

    def __init__(self, typename: str, keys: AnyArray, items: AnyArray) -> None:
        super().__init__(typename, keys)
        self._items = items

    def __getitem__(self, where: Any) -> Any:
        keys = self._values.tolist()
        if where not in keys:
            raise KeyError(where)
        return self._items[keys.index(where)]

    def keys(self) -> AnyArray:  # type: ignore[override]
        """Keys, as an array."""
        return self._values

    def values(self) -> AnyArray:  # type: ignore[override]
        """Values, as an array."""
        return self._items

    def items(self) -> AnyArray:  # type: ignore[override]
        """Pairs of keys and values, as an array of shape (length, 2)."""
        return np.transpose(np.vstack([self._values, self._items]))

    def tolist(self) -> Any:
        """Give the keys and values as a dict."""
        return {key: _plain(item) for key, item in zip(self._values, self._items, strict=True)}
