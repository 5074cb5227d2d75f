"""uproot's objects as plain data."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import uproot
from uproot.containers import Container, ROOTRVec, STLBitSet, STLList, STLMap, STLSet, STLVector
from uproot.deserialization import DeserializationError
from uproot.model import Model, UnknownClass, UnknownClassVersion
from uproot.models.TArray import Model_TArray
from uproot.models.TList import Model_TList
from uproot.models.TObjArray import Model_TObjArray
from uproot.models.TObjString import Model_TObjString
from uproot.models.TRef import Model_TRef, Model_TRefArray
from uproot.models.TString import Model_TString

from vroot.exceptions import ReferenceStoreError, UnsupportedError
from vroot.model import ObjectSpec
from vroot.objects.data import (
    MAX_DEPTH,
    ContainerData,
    ListData,
    MapData,
    ObjectData,
    ReferenceData,
    TextData,
    UnknownData,
    Value,
    decode_object,
    encode_array,
    encode_float,
    encode_text,
)
from vroot.scanner.guard import UPROOT_ERRORS, describe

__all__ = ["MAX_OBJECT_BYTES", "entry_data", "object_data", "object_spec"]

#: The largest object that a store takes in, in bytes without compression.
MAX_OBJECT_BYTES = 4 << 20

#: Names and base64 make the JSON longer than the object; beyond this, it is refused.
MAX_GROWTH = 8


def object_spec(directory: uproot.ReadOnlyDirectory, key: tuple[str, int, str, str]) -> ObjectSpec:
    """Say what an object is that is neither a directory nor a tree or RNTuple.

    Parameters
    ----------
    directory : uproot.ReadOnlyDirectory
        Where it is.
    key : tuple
        Its name, cycle, class and title.

    Returns
    -------
    ObjectSpec
        With its data, or with the reason why they are not there.
    """
    name, cycle, classname, title = key
    try:
        data = object_data(directory.key(f"{name};{cycle}"))
    except KeyError:
        reason = "uproot finds no key of this name"
    except UnsupportedError as err:
        reason = str(err)
    else:
        return ObjectSpec(name, title, classname, cycle, data)
    return ObjectSpec(name, title, classname, cycle, reason=reason)


def object_data(key: uproot.ReadOnlyKey, max_bytes: int = MAX_OBJECT_BYTES) -> dict[str, Any]:
    """Read an object and turn it into plain data.

    Parameters
    ----------
    key : uproot.reading.ReadOnlyKey
        Its key.
    max_bytes : int
        The largest object to take, in bytes without compression.

    Returns
    -------
    dict
        What `vroot.objects.data.decode_object` takes.

    Raises
    ------
    UnsupportedError
        If uproot cannot read it, it is too large, or it holds what has no plain form.
    """
    value = _read(key, max_bytes)
    data: dict[str, Any] = msgspec.to_builtins(TextData(value) if isinstance(value, str) else value)
    length = len(msgspec.json.encode(data))
    if length > MAX_GROWTH * max_bytes:
        raise UnsupportedError(f"its {length} bytes of JSON are too many")
    try:
        decode_object(data)
    except ReferenceStoreError as err:
        raise UnsupportedError(str(err)) from err
    return data


def entry_data(entry: Any) -> Any:
    """Turn an entry of a branch, as an object, into plain data.

    Parameters
    ----------
    entry : object
        What uproot makes of it.

    Returns
    -------
    object
        What `vroot.objects.data.decode_object` takes.

    Raises
    ------
    UnsupportedError
        If it holds what has no plain form.
    """
    try:
        data: Any = msgspec.to_builtins(_Encoder().value(entry))
        decode_object(data)
    except (ReferenceStoreError, ValueError) as err:
        raise UnsupportedError(str(err)) from err
    return data


def _read(key: uproot.ReadOnlyKey, max_bytes: int) -> Value:
    size = int(key.data_uncompressed_bytes)
    if size > max_bytes:
        raise UnsupportedError(f"its {size} bytes are more than the limit of {max_bytes}")
    try:
        found = key.get()
    except UPROOT_ERRORS as err:
        raise UnsupportedError(f"uproot cannot read it: {_why(err)}") from err
    if isinstance(found, UnknownClass | UnknownClassVersion):
        raise UnsupportedError("the file does not describe its class")
    try:
        return _Encoder().value(found)
    except ValueError as err:
        raise UnsupportedError(str(err)) from err


def _why(error: BaseException) -> str:
    """Describe an error of uproot, without the path of the file."""
    text = describe(error)
    if isinstance(error, DeserializationError):
        # Its text also has all that was read before, addresses included.
        text = f"DeserializationError: {' '.join(error.message.split())}"
    return text.partition(" in file ")[0]


class _Encoder:
    """Turns one object, with all that it holds, into data."""

    def __init__(self) -> None:
        self._known: dict[int, ObjectData] = {}
        self._ids = 0
        self._depth = 0

    def value(self, value: Any) -> Value:
        """Turn anything that uproot gives into data."""
        match value:
            case Model():
                return self._model(value)
            case None | bool() | int():
                return self._number(value)
            case float() if type(value) is float:
                return encode_float(value)
            case str():
                return encode_text(str(value))
            case np.ndarray() if value.dtype == object and value.ndim == 1:
                return ListData([self._nested(item) for item in value], array=True)
            case np.ndarray() | np.generic():
                return encode_array(np.asarray(value))
            case list():
                return ListData([self._nested(item) for item in value])
            case Container():
                return self._container(value)
        raise UnsupportedError(f"it holds a {type(value).__name__}, which has no plain form")

    def _nested(self, value: Any) -> Value:
        """Turn what something else holds into data."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnsupportedError("its objects are nested too deep")
        try:
            return self.value(value)
        finally:
            self._depth -= 1

    def _number(self, value: int | None) -> Value:
        if value is not None and not -(1 << 63) <= value < 1 << 64:
            raise UnsupportedError(f"it holds a number of more than 64 bits: {value}")
        return value

    def _container(self, value: Container) -> Value:
        match value:
            case STLMap():
                return MapData(self._nested(value.keys()), self._nested(value.values()))
            case STLSet():
                return ContainerData("STLSet", self._nested(value._keys))
            case STLBitSet():
                return ContainerData("STLBitSet", self._nested(value._numbytes))
            case STLVector():
                return ContainerData("STLVector", self._nested(np.asarray(value._values)))
            case STLList():
                return ContainerData("STLList", self._nested(np.asarray(value._values)))
            case ROOTRVec():
                return ContainerData("ROOTRVec", self._nested(np.asarray(value._values)))
        raise UnsupportedError(f"it holds a {type(value).__name__}, which has no plain form")

    def _model(self, model: Model) -> Value:
        if isinstance(model, UnknownClass | UnknownClassVersion):
            return UnknownData(model.classname, model.class_version)
        known = self._known.get(id(model))
        if known is not None:
            if known.id is None:
                self._ids += 1
                known.id = self._ids
            return ReferenceData(known.id)
        data = ObjectData(model.classname, model.class_version)
        # The model is alive as long as what holds it, so that no other gets its number.
        self._known[id(model)] = data
        data.bases = [self._base(base) for base in model.bases]
        data.value = self._nested(self._own_value(model))
        data.members = {name: self._nested(item) for name, item in model.members.items()}
        return data

    def _base(self, base: Any) -> ObjectData | UnknownData:
        value = self._nested(base)
        if not isinstance(value, ObjectData | UnknownData):
            raise UnsupportedError(f"one of its bases is a {type(base).__name__}")
        return value

    @staticmethod
    def _own_value(model: Model) -> Any:
        """What an object consists of beside its members."""
        match model:
            case Model_TObjString() | Model_TString():
                return str(model)
            case Model_TArray() | Model_TRefArray():
                return model._data
            case Model_TList() | Model_TObjArray():
                return list(model)
            case Model_TRef():
                return model.ref
        if hasattr(model, "_data"):
            raise UnsupportedError(f"the content of a {model.classname} has no plain form")
        return None
