"""Arrays of RNTuple fields as NumPy arrays and pandas Series, and their grouping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vroot.arrays.libraries import How, LibraryName
from vroot.arrays.pandas_frames import to_frame, to_series
from vroot.exceptions import UnsupportedError

__all__ = ["group_fields", "in_library", "member_of", "to_plain"]


def to_plain(array: Any, name: str, library: LibraryName, entry_start: int) -> Any:
    """Turn an Awkward Array into one of NumPy or pandas, as uproot does for fields.

    Parameters
    ----------
    array : ak.Array
        One item an entry.
    name : str
        Name of the field, for errors.
    library : "ak", "np" or "pd"
        What to make of it; "ak" leaves it as it is.
    entry_start : int
        The first entry, where the index of pandas begins.

    Returns
    -------
    ak.Array, ndarray or Series
        One item an entry: numbers, strings or structs where all are alike, and otherwise objects.

    Raises
    ------
    UnsupportedError
        If that is not possible.
    MissingExtraError
        If pandas is not installed.
    """
    if library == "ak":
        return array
    try:
        converted = _to_numpy(array)
        return converted if library == "np" else to_series(converted, entry_start)
    except (ValueError, TypeError, AttributeError, IndexError) as err:
        raise UnsupportedError(
            f'field {name!r} has no form for library="{library}": use library="ak": {err}'
        ) from err


def _to_numpy(array: Any) -> npt.NDArray[Any]:
    try:
        converted: npt.NDArray[Any] = array.to_numpy()
    except (ValueError, TypeError):
        converted = _nested(array)
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


def member_of(records: Any, name: str) -> Any:
    """Give a field of an array of records; the only item of a tuple has the name "0"."""
    if name not in records.fields and name.isdigit() and records.fields == ["0"]:
        return records["0"]
    return records[name]


def in_library(
    records: Any, path: Sequence[str] | None, library: LibraryName, how: How, entry_start: int
) -> Any:
    """Give the fields of records as a library has them.

    Parameters
    ----------
    records : ak.Array
        One record an entry.
    path : sequence of str, optional
        The names that lead to the field that is wanted, within the records.
    library : "ak", "np" or "pd"
        What to make of them.
    how : None, dict, tuple or list
        What to put them into; None is records, a dict or a DataFrame.
    entry_start : int
        The first entry, where the index of pandas begins.

    Returns
    -------
    ak.Array, DataFrame, dict, tuple or list
        As `library` and `how` say.
    """
    for step in (path or [])[:-1]:
        records = member_of(records, step)
    if library == "ak" and how is None:
        return records
    parts = {
        field: to_plain(records[field], field, library, entry_start) for field in records.fields
    }
    if library == "pd" and how is None:
        return to_frame(list(parts.items()))
    return group_fields(parts, how)
