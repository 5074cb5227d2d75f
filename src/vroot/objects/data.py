"""Objects that are not trees, as plain data in a store; FORMAT.md specifies it."""

from __future__ import annotations

import base64
import math
import re
import struct
from typing import Literal, TypeAlias

import msgspec
import zstandard

from vroot.objects.basics import (
    AnyArray,
)

__all__ = [
    "ARRAY_DTYPE",
    "MAX_ARRAYS_BYTES",
    "MAX_VALUE_DEPTH",
    "ArrayData",
    "ContainerData",
    "FloatData",
    "ListData",
    "MapData",
    "ObjectData",
    "PartData",
    "ReferenceData",
    "TextData",
    "UnknownData",
    "Value",
    "encode_array",
    "encode_float",
    "encode_text",
]

#: How deep objects may be nested.
MAX_VALUE_DEPTH = 64

#: How much the arrays of one object may hold, in bytes: a small frame can become any length.
MAX_ARRAYS_BYTES = 1 << 28

ZSTD_LEVEL = 10

ARRAY_DTYPE = re.compile(r"\|[biu]1|[<>][iuf][248]")

# --- the data


class _Data(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True):
    """Anything that is more than a JSON value."""


class ObjectData(_Data, tag="object"):
    """An instance of a C++ class, or the part of one that a base class contributes.

    Parameters
    ----------
    classname : str
        C++ class.
    version : int, optional
        Version of the class, if it is known.
    bases : list of ObjectData
        What the direct base classes contribute.
    value : Value
        What lists, arrays, strings and references consist of.
    members : dict of str to Value
        Members of the class itself.
    id : int, optional
        Number under which a `ReferenceData` refers to it.
    """

    classname: str
    version: int | None = None
    bases: list[ObjectData | UnknownData] = []
    value: Value = None
    members: dict[str, Value] = {}
    id: int | None = None


class UnknownData(_Data, tag="unknown"):
    """An object inside another that the ROOT file does not describe."""

    classname: str
    version: int | None = None


class ReferenceData(_Data, tag="reference"):
    """An object that is there already, by its id."""

    id: int


class ArrayData(_Data, tag="array"):
    """Numbers; a NumPy scalar if without shape.

    Parameters
    ----------
    dtype : str
        In NumPy's notation.
    shape : list of int
        Length of each dimension.
    base64 : str
        The bytes of the C-contiguous array.
    stored : "raw" or "zstd"
        Whether they are a Zstandard frame.
    """

    dtype: str
    shape: list[int]
    base64: str
    stored: Literal["raw", "zstd"] = "raw"


class PartData(_Data, tag="part"):
    """Numbers that are where ROOT wrote them, in the object's payload.

    Parameters
    ----------
    dtype : str
        In NumPy's notation.
    shape : list of int
        Length of each dimension.
    offset : int
        Where they begin, in bytes of the uncompressed payload.
    """

    dtype: str
    shape: list[int]
    offset: int


class ListData(_Data, tag="list"):
    """A list; `array` says that it is an object array in uproot."""

    items: list[Value]
    array: bool = False


class TextData(_Data, tag="text"):
    """A string: `value`, or in base64 if its bytes are not UTF-8."""

    value: str = ""
    base64: str | None = None


class FloatData(_Data, tag="float"):
    """A number that JSON does not have: infinity or NaN, as the 16 digits of its 64 bits."""

    bits: str


ContainerType: TypeAlias = Literal["STLVector", "STLList", "STLSet", "STLBitSet", "ROOTRVec"]


class ContainerData(_Data, tag="container"):
    """A standard container except for maps; the keys of a set are in ascending order."""

    type: ContainerType
    values: Value


class MapData(_Data, tag="map"):
    """A ``std::map``; its keys are in ascending order."""

    keys: Value
    values: Value


Value: TypeAlias = (
    ObjectData
    | UnknownData
    | ReferenceData
    | ArrayData
    | PartData
    | ListData
    | TextData
    | FloatData
    | ContainerData
    | MapData
    | bool
    | int
    | float
    | str
    | None
)


def encode_array(array: AnyArray) -> ArrayData:
    """Turn an array of numbers, or a NumPy scalar, into data.

    Raises
    ------
    ValueError
        If its elements are not numbers of up to 64 bits.
    """
    dtype = array.dtype.str
    if not ARRAY_DTYPE.fullmatch(dtype):
        raise ValueError(f"an array of {array.dtype} has no plain form")
    content = array.tobytes()
    compressed = zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)
    # Histograms are mostly empty; other numbers are rather left to the compression of the store.
    short = 2 * len(compressed) < len(content)
    encoded = base64.b64encode(compressed if short else content).decode("ascii")
    return ArrayData(dtype, list(array.shape), encoded, "zstd" if short else "raw")


def encode_float(number: float) -> float | FloatData:
    """Turn a number into data, exactly."""
    return number if math.isfinite(number) else FloatData(struct.pack(">d", number).hex())


def encode_text(text: str) -> str | TextData:
    """Turn a string, in which lone surrogates stand for bytes, into data."""
    try:
        text.encode()
    except UnicodeEncodeError:
        content = text.encode(errors="surrogateescape")
        return TextData(base64=base64.b64encode(content).decode("ascii"))
    return text
