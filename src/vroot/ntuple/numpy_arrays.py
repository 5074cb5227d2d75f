"""Arrays of RNTuple fields as NumPy arrays and pandas Series, and their grouping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vroot.exceptions import UnsupportedError
from vroot.frames import to_series
from vroot.library import How

__all__ = ["group_fields", "to_numpy", "to_pandas"]


def to_numpy(array: Any, name: str) -> npt.NDArray[Any]:
    """Turn an Awkward Array into a NumPy array, as uproot does for fields.

    Parameters
    ----------
    array : ak.Array
        One item an entry.
    name : str
        Name of the field, for errors.

    Returns
    -------
    ndarray
        Of numbers, strings or structs where all items are alike, and of objects otherwise.

    Raises
    ------
    UnsupportedError
        If that is not possible.
    """
    try:
        converted: npt.NDArray[Any] = array.to_numpy()
    except (ValueError, TypeError):
        try:
            converted = _nested(array)
        except (ValueError, TypeError, AttributeError, IndexError) as err:
            raise UnsupportedError(
                f'field {name!r} has no form for library="np": use library="ak"'
            ) from err
    return converted


def _nested(data: Any) -> Any:
    if isinstance(data, str):
        return data
    if getattr(getattr(data, "layout", None), "is_record", False) and hasattr(data, "__len__"):
        try:
            return data.to_numpy()
        except (ValueError, TypeError):
            return _structs(data)
    if not isinstance(data, Iterable) or len(data) == 0:  # type: ignore[arg-type]
        return np.asarray(data)
    items = [_nested(item) for item in data]
    shapes = {item.shape if isinstance(item, np.ndarray) else (1,) for item in items}
    if len(shapes) == 1:
        return np.array(items)
    objects = np.empty(len(items), dtype=object)
    objects[:] = items
    return objects


def _structs(records: Any) -> npt.NDArray[Any]:
    """A struct of each record, in which all that is not one number is an object."""
    columns = [_nested(records[name]) for name in records.fields]
    dtypes = [column.dtype if column.ndim == 1 else np.dtype(object) for column in columns]
    rows = [tuple(column[i] for column in columns) for i in range(len(records))]
    return np.array(rows, dtype=list(zip(records.fields, dtypes, strict=True)))


def to_pandas(array: npt.NDArray[Any], name: str, entry_start: int) -> Any:
    """Make a pandas Series of what `to_numpy` gave.

    Parameters
    ----------
    array : ndarray, shape (entries,)
        The items.
    name : str
        Name of the field, for errors.
    entry_start : int
        The first entry, where the index begins.

    Returns
    -------
    pandas.Series
        One item an entry.

    Raises
    ------
    UnsupportedError
        If pandas cannot hold the items.
    MissingExtraError
        If pandas is not installed.
    """
    try:
        return to_series(array, entry_start)
    except ValueError as err:
        raise UnsupportedError(
            f'field {name!r} has no form for library="pd": use library="ak": {err}'
        ) from err


def group_fields(arrays: Mapping[str, Any], how: How) -> Any:
    """Put the arrays of several fields together.

    Parameters
    ----------
    arrays : mapping of str to array
        The arrays by name.
    how : None, dict, tuple or list
        What to put them into; None is the same as dict.

    Returns
    -------
    dict, tuple or list
        As `how` says.

    Raises
    ------
    UnsupportedError
        For ``how="zip"``, which uproot does not have for RNTuples either.
    TypeError
        If `how` is none of these.
    """
    if how is None or how is dict:
        return dict(arrays)
    if how is tuple or how is list:
        return how(arrays.values())
    if how == "zip":
        raise UnsupportedError('how="zip" is not supported for RNTuples')
    raise TypeError(f"how must be tuple, list, dict or None, not {how!r}")
