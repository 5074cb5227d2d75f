"""Decoded columns as arrays of Awkward, NumPy or pandas, alone and together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from vroot.arrays.pandas_frames import to_series
from vroot.decode.interpretation import Lists
from vroot.decode.output import ColumnData, Kept, Objects, empty
from vroot.exceptions import (
    CannotBeAwkward,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.metadata.interpretation_base import Base
from vroot.metadata.interpretations import (
    AsBits,
    AsGroup,
    AsGrouped,
    AsInline,
    AsJagged,
    AsObjects,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Unsupported,
)
from vroot.objects.decoding import decode_objects, object_array
from vroot.objects.instances import instances, structs
from vroot.registration import cannot_be_awkward

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["How", "LibraryName", "form_of", "regularize_library", "to_layout", "to_library"]

LibraryName: TypeAlias = Literal["ak", "np", "pd"]
How: TypeAlias = Any  # None, dict, tuple, list or "zip": types and a string, as uproot has it

NAMES: dict[str, LibraryName] = {
    "ak": "ak",
    "awkward": "ak",
    "np": "np",
    "numpy": "np",
    "pd": "pd",
    "pandas": "pd",
}


def regularize_library(library: Any) -> LibraryName:
    """Turn a library, or one of its names, into its short name.

    Parameters
    ----------
    library : str or module
        "ak", "awkward", "np", "numpy", "pd", "pandas", or the module itself.

    Returns
    -------
    str
        "ak", "np" or "pd".

    Raises
    ------
    ValueError
        For anything else.
    """
    name = library if isinstance(library, str) else getattr(library, "__name__", repr(library))
    if name.lower() in NAMES:
        return NAMES[name.lower()]
    raise ValueError(f'library {library!r} is not recognized: use "ak", "np" or "pd"')


def to_library(
    interpretation: Interpretation,
    data: ColumnData,
    library: LibraryName,
    entry_start: int = 0,
) -> Any:
    """Turn one column into an array of a library.

    Parameters
    ----------
    interpretation : Interpretation
        What the column is.
    data : ndarray, Lists, Objects or Kept
        Its values, native.
    library : "ak", "np" or "pd"
        What to make of it.
    entry_start : int
        The first entry, where the index of pandas begins.

    Returns
    -------
    ak.Array, ndarray or pandas.Series
        One item an entry; in NumPy, what is not numbers is Python objects.

    Raises
    ------
    UnsupportedError
        If there is no such array of it.
    ReferenceStoreError
        If the buffers that the store holds do not fit their form.
    """
    if library == "np":
        return _to_numpy(interpretation, data)
    if library == "ak":
        return _to_awkward(interpretation, data)
    plain = isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.names is None
    return to_series(data if plain else _to_awkward(interpretation, data), entry_start)


def form_of(interpretation: Interpretation) -> ak.forms.Form:
    """Give the Awkward form of the arrays that `to_library` makes.

    Parameters
    ----------
    interpretation : Interpretation
        What a column is.

    Returns
    -------
    ak.forms.Form
        The form, without the number of entries.

    Raises
    ------
    CannotBeAwkward
        If the column cannot be read, with the reason.
    """
    import awkward as ak

    match interpretation:
        case AsGroup(subbranches=below):
            return ak.forms.RecordForm([form_of(each) for each in below.values()], list(below))
        case AsGrouped():
            raise CannotBeAwkward("a group has the form of its branches: ask the branch")
        case Unsupported(reason):
            raise cannot_be_awkward(reason)
        case AsObjects() | AsInline():
            return ak.forms.from_json(_form_json(interpretation))
        case AsJagged(content):
            data: ColumnData = Lists(np.zeros(1, np.int64), empty(content, 0))
        case AsStrings():
            data = Lists(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        case AsBits(jagged):
            bits = np.zeros(0, np.uint32)
            data = Lists(np.zeros(1, np.int64), bits) if jagged else bits
        case numerical:
            data = empty(numerical, 0)
    return _to_awkward(interpretation, data).layout.form


Base.form_maker = staticmethod(form_of)


def _to_numpy(interpretation: Interpretation, data: ColumnData) -> npt.NDArray[Any]:
    content = interpretation.content if isinstance(interpretation, AsJagged) else interpretation
    if isinstance(data, Kept):
        return object_array(decode_objects(data.entries))
    if isinstance(data, Objects):
        return _instances(interpretation, data)
    if isinstance(data, Lists):
        if isinstance(content, AsStridedObjects):
            data = Lists(data.offsets, structs(content, data.content))
        return object_array(list(_slices(interpretation, data)))
    return structs(content, data) if isinstance(content, AsStridedObjects) else data


def _instances(interpretation: Interpretation, data: Objects) -> npt.NDArray[Any]:
    """Python objects of the classes that the store tells of."""
    layout = _to_awkward(interpretation, data).layout
    kept = interpretation.program if isinstance(interpretation, AsObjects) else interpretation
    objects_json = getattr(kept, "objects_json", "")
    if not objects_json:
        raise UnsupportedError(
            f'what {interpretation!r} is in Python, for library="np", is not in the store: scan '
            'the file again, or use library="ak"'
        )
    return instances(layout, objects_json)


def _slices(interpretation: Interpretation, lists: Lists) -> Iterator[Any]:
    bounds = lists.offsets.tolist()
    if isinstance(interpretation, AsStrings):
        characters = lists.content.tobytes()
        for start, stop in pairwise(bounds):
            yield characters[start:stop].decode(errors="surrogateescape")
    else:
        for start, stop in pairwise(bounds):
            yield lists.content[start:stop]


def _form_json(interpretation: AsObjects | AsInline) -> str:
    if isinstance(interpretation, AsObjects):
        return interpretation.program.form_json
    return interpretation.form_json


def _to_awkward(interpretation: Interpretation, data: ColumnData) -> ak.Array:
    import awkward as ak  # opening and listing a store starts without it

    return ak.Array(to_layout(interpretation, data))


def to_layout(interpretation: Interpretation, data: ColumnData) -> Any:
    """Turn one column into the layout of an Awkward Array, see `to_library`."""
    import awkward as ak

    if isinstance(data, Objects | Kept):
        if isinstance(data, Kept) or not isinstance(interpretation, AsObjects | AsInline):
            raise UnsupportedError(f"{interpretation!r} has no Awkward Array")
        return _objects(interpretation, data)
    content = interpretation.content if isinstance(interpretation, AsJagged) else interpretation
    if not isinstance(data, Lists):
        return _items(content, data)
    offsets = ak.index.Index64(data.offsets)
    if isinstance(interpretation, AsStrings):
        characters = ak.contents.NumpyArray(data.content, parameters={"__array__": "char"})
        return ak.contents.ListOffsetArray(offsets, characters, parameters={"__array__": "string"})
    return ak.contents.ListOffsetArray(offsets, _items(content, data.content))


def _objects(interpretation: AsObjects | AsInline, data: Objects) -> Any:
    """Layout of objects, made of their buffers."""
    import awkward as ak

    try:
        form = ak.forms.from_json(_form_json(interpretation))
        if data.start == data.stop:
            return form.length_zero_array(highlevel=False)
        buffers = data.buffers
        layout = ak.from_buffers(form, buffers.length, buffers.buffers, highlevel=False)
        layout = layout[data.start : data.stop]
        if isinstance(interpretation, AsInline):
            # A program's outputs have been checked when they were joined; these may be anything.
            problem = ak.validity_error(layout)
            if problem:
                raise ReferenceStoreError(f"{interpretation!r}: {problem}")
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as err:  # what awkward raises for invalid forms and buffers
        raise ReferenceStoreError(
            f"{interpretation!r}: the buffers do not fit their form: {err}"
        ) from err
    return layout


def _items(content: Interpretation, array: npt.NDArray[Any]) -> Any:
    """Layout of a NumPy array: fixed dimensions become RegularArray, fields a RecordArray."""
    import awkward as ak

    if array.ndim == 1 and array.dtype.names is None:
        return ak.contents.NumpyArray(array)
    if array.dtype.names is None:
        return ak.from_numpy(array, regulararray=True, highlevel=False)
    flat = array.reshape(-1)
    if isinstance(content, AsStridedObjects):
        layout = _record(content, "", flat)
    else:
        contents = [_field(flat, name) for name in array.dtype.names]
        layout = ak.contents.RecordArray(contents, list(array.dtype.names))
    for size in array.shape[:0:-1]:
        layout = ak.contents.RegularArray(layout, size)
    return layout


def _field(flat: npt.NDArray[Any], name: str) -> Any:
    import awkward as ak

    return ak.from_numpy(np.array(flat[name]), regulararray=True, highlevel=False)


def _record(content: AsStridedObjects, path: str, flat: npt.NDArray[Any]) -> Any:
    """Layout of the object at a path of members, without what ROOT has for itself."""
    import awkward as ak

    prefix = f"{path}/" if path else ""
    contents: dict[str, Any] = {}
    for full in flat.dtype.names or ():
        member = full.removeprefix(prefix).partition("/")[0]
        if not full.startswith(prefix) or member.startswith("@") or member in contents:
            continue
        below = prefix + member
        contents[member] = (
            _record(content, below, flat) if below in content.records else _field(flat, full)
        )
    parameters = {"__record__": content.records[path]}
    return ak.contents.RecordArray(
        list(contents.values()), list(contents), len(flat), parameters=parameters
    )
