"""From plain data to objects."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import zstandard

from vroot.exceptions import ReferenceStoreError
from vroot.objects.axis import TAxis
from vroot.objects.basics import (
    AnyArray,
    TArray,
    TDatime,
    THashList,
    TList,
    TNamed,
    TObjString,
    TParameter,
    TRef,
    TRefArray,
)
from vroot.objects.containers import STLMap, STLSequence, STLSet
from vroot.objects.data import (
    ARRAY_DTYPE,
    MAX_ARRAYS_BYTES,
    MAX_VALUE_DEPTH,
    ArrayData,
    ContainerData,
    FloatData,
    ListData,
    MapData,
    ObjectData,
    PartData,
    ReferenceData,
    TextData,
    UnknownData,
    Value,
)
from vroot.objects.graph import RooCurve, RooHist, TGraph, TGraphAsymmErrors
from vroot.objects.hist import TH1, TH2, TH3, TH2Poly
from vroot.objects.model import Object, UnknownObject
from vroot.objects.profile import TProfile, TProfile2D, TProfile3D

__all__ = [
    "decode_object",
    "decode_objects",
    "facade_of",
    "object_array",
]


#: Classes that are found by their own name only.
OWN: dict[str, type[Object]] = {
    "TList": TList,
    "TObjArray": TList,
    "THashList": THashList,
    "TArrayC": TArray,
    "TArrayS": TArray,
    "TArrayI": TArray,
    "TArrayL": TArray,
    "TArrayL64": TArray,
    "TArrayF": TArray,
    "TArrayD": TArray,
    "TNamed": TNamed,
    "TObjString": TObjString,
    "TString": TObjString,
    "TRef": TRef,
    "TRefArray": TRefArray,
}

#: Classes that those that inherit from them behave like too.
INHERITED: dict[str, type[Object]] = {
    "TAxis": TAxis,
    "TDatime": TDatime,
    "TGraph": TGraph,
    "TGraphAsymmErrors": TGraphAsymmErrors,
    "RooCurve": RooCurve,
    "RooHist": RooHist,
    "TH1": TH1,
    "TH2": TH2,
    "TH2Poly": TH2Poly,
    "TH3": TH3,
    "TProfile": TProfile,
    "TProfile2D": TProfile2D,
    "TProfile3D": TProfile3D,
}


def facade_of(data: ObjectData) -> type[Object]:
    """Choose how an object behaves."""
    if data.classname in OWN:
        return OWN[data.classname]
    return _inherited(data) or Object


def _inherited(data: ObjectData | UnknownData) -> type[Object] | None:
    """Find the nearest class that says how to behave, depth first."""
    if data.classname in INHERITED:
        return INHERITED[data.classname]
    if data.classname.startswith("TParameter<"):
        return TParameter
    found = map(_inherited, data.bases if isinstance(data, ObjectData) else [])
    return next((kind for kind in found if kind is not None), None)


class _Decoder:
    """Makes the objects of one tree of data; a reference is to what stands before it."""

    def __init__(self, payload: AnyArray | None = None, left_bytes: int = MAX_ARRAYS_BYTES) -> None:
        self._known: dict[int, Object] = {}
        self._made: list[tuple[Object, bool]] = []
        self.left_bytes = left_bytes
        self._payload = np.zeros(0, np.uint8) if payload is None else payload

    def _part(self, data: PartData) -> AnyArray:
        dtype = _dtype(data)
        stop = data.offset + math.prod(data.shape) * dtype.itemsize
        if not 0 <= data.offset <= stop <= self._payload.size:
            raise ValueError(
                f"an array is in bytes {data.offset} to {stop} of a payload of "
                f"{self._payload.size} bytes"
            )
        array = self._payload[data.offset : stop].view(dtype).reshape(data.shape)
        # As of the store itself, and whatever the payload is in.
        array.flags.writeable = False
        return array

    def _array(self, data: ArrayData) -> Any:
        dtype = _dtype(data)
        length = math.prod(data.shape) * dtype.itemsize
        self.left_bytes -= length
        if self.left_bytes < 0:
            raise ValueError(f"its arrays have more than {MAX_ARRAYS_BYTES} bytes")
        # The bytes stay as they are, and read-only; NumPy turns the empty shape into a scalar.
        array = np.frombuffer(_bytes(data, length), dtype)
        return array.reshape(data.shape) if data.shape else array[0]

    def check(self) -> None:
        """Check all objects, now that they are complete."""
        for made, concrete in sorted(self._made, key=lambda pair: pair[0].rank):
            try:
                made.check(concrete=concrete)
            except (ValueError, TypeError) as err:
                raise ValueError(f"an object of class {made.classname}: {err}") from err

    def object(self, data: ObjectData, *, concrete: bool = True) -> Object:
        text = self.value(data.value) if isinstance(data.value, str | TextData) else None
        made = facade_of(data).shell(data.classname, data.version, text)
        if data.id is not None:
            if data.id in self._known:
                raise ValueError(f"two objects have the id {data.id}")
            self._known[data.id] = made
        bases = [
            self.unknown(base)
            if isinstance(base, UnknownData)
            else self.object(base, concrete=False)
            for base in data.bases
        ]
        value = self.value(data.value)
        made.fill(bases, value, {name: self.value(item) for name, item in data.members.items()})
        self._made.append((made, concrete))
        return made

    def unknown(self, data: UnknownData) -> UnknownObject:
        return UnknownObject.shell(data.classname, data.version, None)

    def value(self, data: Value) -> Any:
        match data:
            case ObjectData():
                return self.object(data)
            case UnknownData():
                return self.unknown(data)
            case ReferenceData(id):
                if id not in self._known:
                    raise ValueError(f"no object before the reference has the id {id}")
                return self._known[id]
            case ArrayData():
                return self._array(data)
            case PartData():
                return self._part(data)
            case ListData(items, array):
                values = [self.value(item) for item in items]
                return object_array(values) if array else values
            case TextData(text, encoded):
                return text if encoded is None else _text(encoded)
            case FloatData(bits):
                return _float(bits)
            case ContainerData(kind, values):
                content = _content(self.value(values))
                return STLSet(kind, content) if kind == "STLSet" else STLSequence(kind, content)
            case MapData(keys, values):
                pair = _content(self.value(keys)), _content(self.value(values))
                if len(pair[0]) != len(pair[1]):
                    raise ValueError(f"a map has {len(pair[0])} keys for {len(pair[1])} values")
                return STLMap("STLMap", *pair)
        return data


def _dtype(data: ArrayData | PartData) -> np.dtype[Any]:
    if not ARRAY_DTYPE.fullmatch(data.dtype):
        raise ValueError(f"no dtype of an array: {data.dtype!r}")
    if any(size < 0 for size in data.shape):
        raise ValueError(f"no shape of an array: {data.shape}")
    return np.dtype(data.dtype)


def _bytes(data: ArrayData, length: int) -> bytes:
    """Give the bytes of an array, which must be as many as this."""
    content = base64.b64decode(data.base64, validate=True)
    if data.stored == "zstd":
        with zstandard.ZstdDecompressor().stream_reader(content) as reader:
            content = reader.read(length + 1)
    if len(content) != length:
        raise ValueError(
            f"an array of {data.dtype} with shape {data.shape} has not {length} bytes but "
            f"{len(content)}{' or more' if len(content) > length else ''}"
        )
    return content


def object_array(values: list[Any]) -> AnyArray:
    """Make an array of objects, even if they are sequences themselves."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _content(value: Any) -> AnyArray:
    if isinstance(value, list):
        return object_array(value)
    if not isinstance(value, np.ndarray):
        raise TypeError(f"a container cannot have {type(value).__name__}")
    return value


def _text(encoded: str) -> str:
    return base64.b64decode(encoded, validate=True).decode(errors="surrogateescape")


def _float(bits: str) -> float:
    if not re.fullmatch("[0-9a-f]{16}", bits):
        raise ValueError(f"no number of 64 bits: {bits!r}")
    number: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return number


def _check_depth(data: Any) -> None:
    """Check that data are not nested deeper than Python can follow."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > 2 * MAX_VALUE_DEPTH:
            raise ValueError("objects are nested too deep")
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = [item for item in below if isinstance(item, dict | list)]


def decode_object(data: dict[str, Any], payload: AnyArray | None = None) -> Any:
    """Make an object of what a store says of it.

    Parameters
    ----------
    data : dict
        `vroot.metadata.specs.ObjectSpec.data`.
    payload : ndarray of uint8, optional
        The object's payload, uncompressed, which its large arrays are parts of.

    Returns
    -------
    Object, str, or a container
        The object; a ``string`` is a str.

    Raises
    ------
    ReferenceStoreError
        If the data are malformed or contradict themselves.
    """
    decoder = _Decoder(payload)
    try:
        _check_depth(data)
        made = decoder.value(msgspec.convert(data, Value))
        decoder.check()
    except (ValueError, TypeError, OverflowError, zstandard.ZstdError) as err:
        raise ReferenceStoreError(f"the data of an object are malformed: {err}") from err
    return made


def decode_objects(entries: Iterable[Any]) -> list[Any]:
    """Make several objects, which know nothing of each other.

    Parameters
    ----------
    entries : iterable
        As `decode_object` takes them, or values without objects.

    Returns
    -------
    list
        The objects.

    Raises
    ------
    ReferenceStoreError
        If the data are malformed, contradict themselves, or hold too much.
    """
    found = []
    left_bytes = MAX_ARRAYS_BYTES
    for data in entries:
        decoder = _Decoder(left_bytes=left_bytes)
        try:
            _check_depth(data)
            found.append(decoder.value(msgspec.convert(data, Value)))
            decoder.check()
        except (ValueError, TypeError, OverflowError, zstandard.ZstdError) as err:
            raise ReferenceStoreError(f"the data of an object are malformed: {err}") from err
        left_bytes = decoder.left_bytes
    return found
