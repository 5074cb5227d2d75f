"""What scripts found, as plain data that is equal only if everything about it is."""

from __future__ import annotations

from typing import Any

import awkward as ak
import boost_histogram as bh
import numpy as np
import pandas as pd

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Turn what a script found into plain data.

    Parameters
    ----------
    value : object
        Arrays, tables, histograms, numbers, text, and containers of these.

    Returns
    -------
    object
        Lists, mappings of str, and text, with the types said; numbers as text that tells all of
        them apart and lets NaN be equal to itself.

    Raises
    ------
    TypeError
        If it is something else, which the script should have made one of these.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | complex | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, bytes):
        return f"bytes {value!r}"
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(plain, value)]
    return _data(value)


def _data(value: Any) -> Any:
    if isinstance(value, ak.Array):
        return {
            "array": str(value.type),
            "parameters": plain(ak.parameters(value)),
            "items": plain(value.to_list()),
        }
    if isinstance(value, ak.Record):
        return {"record": str(value.type), "fields": plain(value.to_list())}
    if isinstance(value, np.ndarray):
        return {"ndarray": f"{value.dtype} {value.shape}", "items": plain(value.tolist())}
    if isinstance(value, pd.DataFrame):
        columns = {str(name): plain(value[name]) for name in value.columns}
        return {"frame": plain(value.columns.tolist()), "columns": columns}
    if isinstance(value, pd.Series):
        return {
            "series": f"{value.dtype} {value.name}",
            "index": plain([value.index.names, value.index.tolist()]),
            "items": plain(value.tolist()),
        }
    if isinstance(value, bh.Histogram):
        axes = [(repr(axis), axis.edges) for axis in value.axes]
        return {"histogram": type(value).__name__, "axes": plain(axes),
                "storage": repr(value.storage_type), "view": plain(value.view(flow=True).tolist()),
                "dtype": str(value.view().dtype)}  # fmt: skip
    raise TypeError(f"{type(value).__name__} is not plain: {value!r:.200}")
