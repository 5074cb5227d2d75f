"""Columns as pandas Series, and several of them as a DataFrame, as uproot makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vroot.exceptions import MissingExtraError

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["to_frame", "to_series"]


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as err:
        raise MissingExtraError('library="pd"', "pandas", "pandas") from err
    return pd


def to_series(array: np.ndarray[Any, Any] | ak.Array, entry_start: int) -> Any:
    """Make a Series of a column.

    Parameters
    ----------
    array : ndarray of numbers, shape (entries,), or ak.Array
        The column; an Awkward Array becomes an extension array of awkward-pandas, unless it is
        one number an entry.
    entry_start : int
        The first entry, where the index begins.

    Returns
    -------
    pandas.Series
        One item an entry.

    Raises
    ------
    MissingExtraError
        If pandas, or awkward-pandas where it is needed, is not installed.
    """
    pd = _pandas()
    index = pd.RangeIndex(entry_start, entry_start + len(array))
    if isinstance(array, np.ndarray):
        return pd.Series(array, index=index)
    if array.layout.is_numpy and array.layout.minmax_depth == (1, 1):
        return pd.Series(array.to_numpy(), index=index)
    try:
        import awkward_pandas
    except ImportError as err:
        raise MissingExtraError(
            'library="pd" for lists, strings and records', "awkward-pandas", "pandas"
        ) from err
    return pd.Series(awkward_pandas.AwkwardExtensionArray(array), index=index)


def to_frame(series: Sequence[tuple[str, Any]]) -> Any:
    """Put Series together, side by side.

    Parameters
    ----------
    series : sequence of (str, Series)
        Names and columns, with equal indexes.

    Returns
    -------
    pandas.DataFrame
        One row an entry.
    """
    pd = _pandas()
    columns = dict(series)
    if not columns:
        return pd.DataFrame()
    frame = pd.concat(list(columns.values()), axis=1, ignore_index=True)
    frame.columns = list(columns)
    return frame
