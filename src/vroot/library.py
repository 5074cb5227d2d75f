"""Decoded columns as Awkward or NumPy arrays, alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from vroot.decode.interpretation import Decoded, Lists
from vroot.exceptions import UnsupportedError
from vroot.interpretations import AsStrings, Interpretation

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["How", "LibraryName", "group", "regularize_library", "to_library"]

LibraryName: TypeAlias = Literal["ak", "np"]
How: TypeAlias = Any  # None, dict, tuple, list or "zip": types and a string, as uproot has it

NAMES: dict[str, LibraryName] = {"ak": "ak", "awkward": "ak", "np": "np", "numpy": "np"}


def regularize_library(library: Any) -> LibraryName:
    """Turn a library, or one of its names, into its short name.

    Parameters
    ----------
    library : str or module
        "ak", "awkward", "np", "numpy", or the module itself.

    Returns
    -------
    str
        "ak" or "np".

    Raises
    ------
    UnsupportedError
        For pandas, which is not supported yet.
    ValueError
        For anything else.
    """
    name = library if isinstance(library, str) else getattr(library, "__name__", repr(library))
    if name.lower() in NAMES:
        return NAMES[name.lower()]
    if name.lower() in ("pd", "pandas"):
        raise UnsupportedError(
            'library="pd" is not supported yet: use library="ak" and ak.to_dataframe, or "np"'
        )
    raise ValueError(f'library {library!r} is not recognized: use "ak" or "np"')


def to_library(interpretation: Interpretation, decoded: Decoded, library: LibraryName) -> Any:
    """Turn one decoded column into an array of a library.

    Parameters
    ----------
    interpretation : Interpretation
        What the column is.
    decoded : ndarray or Lists
        Its values, native.
    library : "ak" or "np"
        What to make of it.

    Returns
    -------
    ak.Array or ndarray
        One item an entry; variable-length ones are Python objects in NumPy.
    """
    if library == "ak":
        return _to_awkward(interpretation, decoded)
    if not isinstance(decoded, Lists):
        return decoded
    output = np.zeros(decoded.offsets.size - 1, dtype=object)
    bounds = decoded.offsets.tolist()
    if isinstance(interpretation, AsStrings):
        characters = decoded.content.tobytes()
        for i in range(output.size):
            text = characters[bounds[i] : bounds[i + 1]]
            output[i] = text.decode(errors="surrogateescape")
    else:
        for i in range(output.size):
            output[i] = decoded.content[bounds[i] : bounds[i + 1]]
    return output


def _to_awkward(interpretation: Interpretation, decoded: Decoded) -> ak.Array:
    import awkward as ak  # opening and listing a store starts without it

    if not isinstance(decoded, Lists):
        return ak.Array(_numbers(decoded))
    offsets = ak.index.Index64(decoded.offsets)
    if isinstance(interpretation, AsStrings):
        characters = ak.contents.NumpyArray(decoded.content, parameters={"__array__": "char"})
        return ak.Array(
            ak.contents.ListOffsetArray(offsets, characters, parameters={"__array__": "string"})
        )
    return ak.Array(ak.contents.ListOffsetArray(offsets, _numbers(decoded.content)))


def _numbers(array: Any) -> Any:
    """Layout of a NumPy array: fixed dimensions become RegularArray, fields a RecordArray."""
    import awkward as ak

    if array.dtype.names is None:
        return ak.from_numpy(array, regulararray=True, highlevel=False)
    flat = array.reshape(-1)
    contents = [
        ak.from_numpy(np.array(flat[name]), regulararray=True, highlevel=False)
        for name in array.dtype.names
    ]
    layout = ak.contents.RecordArray(contents, list(array.dtype.names))
    for size in array.shape[:0:-1]:
        layout = ak.contents.RegularArray(layout, size)
    return layout


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
    library : "ak" or "np"
        What the arrays are.
    how : None, dict, tuple, list or "zip"
        None makes records in Awkward and a dict in NumPy; "zip" makes records of the lists that
        have the same lengths, in Awkward only.

    Returns
    -------
    ak.Array, dict, tuple or list
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
    if library == "ak" and how is None:
        import awkward as ak

        if not arrays:
            return ak.Array(ak.contents.RecordArray([], fields=[], length=0))
        return ak.Array(dict(arrays))
    if library == "ak" and how == "zip":
        return _zip(arrays, jagged)
    allowed = 'tuple, list, dict, "zip" or None' if library == "ak" else "tuple, list, dict or None"
    raise TypeError(f"for library {library!r}, how must be {allowed}, not {how!r}")


def _zip(arrays: Sequence[tuple[str, Any]], jagged: Sequence[bool]) -> ak.Array:
    """Records whose lists of equal lengths are zipped under their common prefix."""
    import awkward as ak

    flat = {
        name: array for (name, array), is_list in zip(arrays, jagged, strict=True) if not is_list
    }
    zipped: list[tuple[Any, dict[str, Any]]] = []
    for (name, array), is_list in zip(arrays, jagged, strict=True):
        if not is_list:
            continue
        offsets = array.layout.offsets.data
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
