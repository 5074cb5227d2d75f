"""Arrays of several columns put together, and those of several files joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vroot.arrays.pandas_frames import to_frame, to_series
from vroot.exceptions import (
    DeserializationError,
)

if TYPE_CHECKING:
    import awkward as ak

from vroot.arrays.libraries import How, LibraryName

__all__ = ["group", "join", "records_of", "shift_index"]


def group(
    arrays: Sequence[tuple[str, Any]], jagged: Sequence[bool], library: LibraryName, how: How
) -> Any:
    """Put the arrays of several branches together.

    Parameters
    ----------
    arrays : sequence of (str, array)
        Names and arrays.
    jagged : sequence of bool
        Which of them are lists of numbers, for ``how="zip"``.
    library : "ak", "np" or "pd"
        What the arrays are.
    how : None, dict, tuple, list or "zip"
        None makes records in Awkward, a dict in NumPy and a DataFrame in pandas; "zip" makes
        records of the lists that have the same lengths, in Awkward only.

    Returns
    -------
    ak.Array, DataFrame, dict, tuple or list
        As `how` says.

    Raises
    ------
    TypeError
        If `how` is none of these.
    """
    if how is tuple:
        return tuple(array for _, array in arrays)
    if how is list:
        return [array for _, array in arrays]
    if how is dict or (how is None and library == "np"):
        return dict(arrays)
    if library == "pd" and (how is None or isinstance(how, str)):
        # As in uproot, what is computed and has no index gets one that begins with 0.
        return to_frame(
            [
                (name, array if hasattr(array, "iloc") else to_series(np.atleast_1d(array), 0))
                for name, array in arrays
            ]
        )
    if library == "ak" and how is None:
        import awkward as ak

        for name, array in arrays:
            if not hasattr(array, "__len__"):
                raise TypeError(f"{name!r} gives a single value, not one for each entry")
        _check_lengths(arrays)
        if not arrays:
            return ak.Array(ak.contents.RecordArray([], fields=[], length=0))
        return ak.Array(dict(arrays))
    if library == "ak" and how == "zip":
        return _zip(arrays, jagged)
    allowed = {"ak": '"zip", ', "pd": "str, "}.get(library, "") + "tuple, list, dict or None"
    raise TypeError(f"for library {library!r}, how must be {allowed}, not {how!r}")


def records_of(layouts: Mapping[str, Any]) -> ak.Array:
    """Put the layouts of several branches together, as `group` does with their arrays.

    An Awkward Array for each of them would take more time than a small basket.
    """
    import awkward as ak

    _check_lengths(layouts.items())
    return ak.Array(ak.contents.RecordArray(list(layouts.values()), list(layouts)))


def _check_lengths(arrays: Iterable[tuple[str, Any]]) -> None:
    lengths = {name: len(array) for name, array in arrays}
    if len(set(lengths.values())) > 1:
        different = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DeserializationError(
            f"the branches have different numbers of entries: {different}; read them with "
            "how=dict, or one by one"
        )


def _zip(arrays: Sequence[tuple[str, Any]], jagged: Sequence[bool]) -> ak.Array:
    """Records whose lists of equal lengths are zipped under their common prefix."""
    import awkward as ak

    # What is computed from lists need not be one.
    lists = {
        name
        for (name, array), is_list in zip(arrays, jagged, strict=True)
        if is_list and isinstance(array, ak.Array) and array.layout.is_list
    }
    flat = {name: array for name, array in arrays if name not in lists}
    zipped: list[tuple[Any, dict[str, Any]]] = []
    for name, array in arrays:
        if name not in lists:
            continue
        # After a cut, the lists need not be contiguous, or begin with the first item.
        offsets = array.layout.to_ListOffsetArray64(True).offsets.data
        for known, members in zipped:
            if np.array_equal(known, offsets):
                members[name] = array
                break
        else:
            zipped.append((offsets, {name: array}))
    output = ak.Array(flat) if flat else None
    for number, (_, members) in enumerate(zipped):
        prefix = _common_prefix(list(members))
        common = prefix.strip("_./")
        if not prefix or (output is not None and common in ak.fields(output)):
            prefix, common = "", f"jagged{number}"
        names = {
            name[len(prefix) :].strip("_./") if prefix else name: array
            for name, array in members.items()
        }
        records = ak.zip(names)
        output = (
            ak.Array({common: records})
            if output is None
            else ak.with_field(output, records, common)
        )
    return output


def _common_prefix(names: list[str]) -> str:
    """The longest common beginning that ends in "_", "." or "/"."""
    cut = len(names[0])
    for name in names:
        cut = min(cut, len(name))
        while cut > 0 and (name[:cut] != names[0][:cut] or name[cut - 1] not in "_./"):
            cut -= 1
    return names[0][:cut]


def shift_index(arrays: Any, offset: int, library: LibraryName) -> Any:
    """Let the indexes of pandas go on from those of the files before.

    Parameters
    ----------
    arrays : array, or tuple, list or dict of arrays
        What `group` gave.
    offset : int
        Entries in the files before.
    library : "ak", "np" or "pd"
        What the arrays are; only pandas has indexes.

    Returns
    -------
    array, tuple, list or dict
        The same arrays.
    """
    if library != "pd":
        return arrays
    if isinstance(arrays, tuple | list):
        return type(arrays)(shift_index(each, offset, library) for each in arrays)
    if isinstance(arrays, dict):
        return {name: shift_index(each, offset, library) for name, each in arrays.items()}
    arrays.index = arrays.index + offset
    return arrays


def join(parts: Sequence[Any], library: LibraryName) -> Any:
    """Join what several calls of `group` gave.

    Parameters
    ----------
    parts : sequence of arrays, or of tuples, lists or dicts of arrays
        All of one kind.
    library : "ak", "np" or "pd"
        What the arrays are.

    Returns
    -------
    array, tuple, list or dict
        As the parts are; an empty list if there are none.
    """
    if not parts:
        return []
    first = parts[0]
    if isinstance(first, dict):
        return {name: join([part[name] for part in parts], library) for name in first}
    if isinstance(first, tuple | list):
        return type(first)(join(each, library) for each in zip(*parts, strict=True))
    if library == "np":
        return np.concatenate(parts)
    if library == "pd":
        import pandas as pd

        return pd.concat(parts)
    import awkward as ak

    return ak.concatenate(parts)
