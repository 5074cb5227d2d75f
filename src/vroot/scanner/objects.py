"""uproot's objects as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
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

from vroot.decode.compression import decompress
from vroot.exceptions import ReferenceStoreError, UnsupportedError
from vroot.format.interpretations import JSON
from vroot.format.nodes import encode_node
from vroot.format.zarr_arrays import group_document, page_items
from vroot.io.byte_store import ByteStore
from vroot.metadata.specs import BasketTable, Manifest, ObjectSpec
from vroot.objects.data import (
    ARRAY_DTYPE,
    MAX_VALUE_DEPTH,
    ArrayData,
    ContainerData,
    ListData,
    MapData,
    ObjectData,
    PartData,
    ReferenceData,
    TextData,
    UnknownData,
    Value,
    encode_array,
    encode_float,
    encode_text,
)
from vroot.objects.decoding import decode_object
from vroot.objects.payload import payload_path, payload_spec
from vroot.scanner.guard import UPROOT_ERRORS, describe

__all__ = ["MAX_OBJECT_BYTES", "ObjectScanner", "Payload", "entry_data", "object_data"]

#: How much a store takes in of one object, in bytes without compression.
MAX_OBJECT_BYTES = 4 << 20

#: Arrays of this size stay where they are in the ROOT file.
LARGE_ARRAY_BYTES = 64 << 10

#: Names and base64 make the JSON longer than the object; beyond this, it is refused.
MAX_GROWTH = 8


class ObjectScanner:
    """Scans objects that are neither directories nor trees or RNTuples.

    Parameters
    ----------
    store : ByteStore
        How to read the ROOT file.
    url : str
        The ROOT file.
    misread : set of str
        Classes that uproot misreads.
    max_bytes : int
        How much the store may hold of one object, in bytes, beside what is in its payload.
    """

    def __init__(
        self,
        store: ByteStore,
        url: str,
        misread: AbstractSet[str] = frozenset(),
        max_bytes: int = MAX_OBJECT_BYTES,
    ) -> None:
        self._store = store
        self._url = url
        self._misread = misread
        self._max_bytes = max_bytes

    def items(
        self, directory: uproot.ReadOnlyDirectory, key: tuple[str, int, str, str], path: str
    ) -> Iterator[tuple[str, JSON]]:
        """Yield the keys and values of an object.

        Parameters
        ----------
        directory : uproot.ReadOnlyDirectory
            Where it is.
        key : tuple
            Its name, cycle, class and title.
        path : str
            Its path in the store.

        Yields
        ------
        tuple of str and JSON
            Keys and values of the reference file: its data, and a reference to its payload if
            arrays are parts of that; or the reason why they are not there.
        """
        name, cycle, classname, title = key
        reason, data, payload = "", None, None
        try:
            found = directory.key(f"{name};{cycle}")
            payload = self._payload(found)
            data = object_data(found, self._max_bytes, payload, self._misread)
        except KeyError:
            reason = "uproot finds no key of this name"
        except (UnsupportedError, ValueError, OSError) as err:
            reason = str(err)
        used = data is not None and payload is not None and payload.used
        manifest = payload.manifest if payload is not None and used else None
        table = None if manifest is None else manifest.table
        spec = ObjectSpec(name, title, classname, cycle, data, reason, table)
        yield f"{path}/zarr.json", group_document(encode_node(spec))
        if manifest is not None:
            yield from page_items(payload_path(path), payload_spec(manifest.table), manifest)

    def _payload(self, key: uproot.ReadOnlyKey) -> Payload | None:
        """Read the payload of an object that is large enough to have large arrays."""
        size, length = int(key.fObjlen), int(key.fNbytes) - int(key.fKeylen)
        if size < LARGE_ARRAY_BYTES or length <= 0:
            return None
        sizes = np.array([size])
        table = BasketTable(sizes, sizes, sizes, "raw" if size == length else "blocks")
        offset = int(key.fSeekKey) + int(key.fKeylen)
        manifest = Manifest(table, np.zeros(1, np.int64), np.array([offset]), np.array([length]))
        (stored,) = self._store.get_ranges(self._url, starts=[offset], lengths=[length])
        return Payload(manifest, decompress(stored, table.stored, size).tobytes())


class Payload:
    """The uncompressed payload of an object, in which its large arrays are looked for.

    Parameters
    ----------
    manifest : Manifest
        Where it is.
    content : bytes
        Its bytes.
    """

    def __init__(self, manifest: Manifest, content: bytes) -> None:
        self.manifest = manifest
        self.content = content
        self.used = False
        self._position = 0

    def part(self, array: npt.NDArray[Any]) -> PartData | None:
        """Find where an array is in the payload, with exactly its bytes; None if it is not."""
        if array.nbytes < LARGE_ARRAY_BYTES or not ARRAY_DTYPE.fullmatch(array.dtype.str):
            return None
        wanted = array.tobytes()
        # Mostly one array follows the other.
        offset = self.content.find(wanted, self._position)
        offset = self.content.find(wanted) if offset < 0 else offset
        if offset < 0:
            return None
        self._position = offset + len(wanted)
        self.used = True
        return PartData(array.dtype.str, list(array.shape), offset)


def object_data(
    key: uproot.ReadOnlyKey,
    max_bytes: int = MAX_OBJECT_BYTES,
    payload: Payload | None = None,
    misread: AbstractSet[str] = frozenset(),
) -> dict[str, Any]:
    """Read an object and turn it into plain data.

    Parameters
    ----------
    key : uproot.reading.ReadOnlyKey
        Its key.
    max_bytes : int
        How much to take, in bytes: of the object without compression, or of what is not a part of
        its payload.
    payload : Payload, optional
        Where its large arrays may stay.
    misread : set of str
        Classes that uproot misreads.

    Returns
    -------
    dict
        What `vroot.objects.decoding.decode_object` takes.

    Raises
    ------
    UnsupportedError
        If uproot cannot read it, it is too large, or it holds what has no plain form.
    """
    value = _read(key, max_bytes, _Encoder(max_bytes, payload, misread))
    data: dict[str, Any] = msgspec.to_builtins(TextData(value) if isinstance(value, str) else value)
    length = len(msgspec.json.encode(data))
    if length > MAX_GROWTH * max_bytes:
        raise UnsupportedError(f"its {length} bytes of JSON are too many")
    try:
        decode_object(data, None if payload is None else np.frombuffer(payload.content, np.uint8))
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
        What `vroot.objects.decoding.decode_object` takes.

    Raises
    ------
    UnsupportedError
        If it holds what has no plain form.
    """
    try:
        data: Any = msgspec.to_builtins(_Encoder(MAX_OBJECT_BYTES, None, frozenset()).value(entry))
        decode_object(data)
    except (ReferenceStoreError, ValueError) as err:
        raise UnsupportedError(str(err)) from err
    return data


def _read(key: uproot.ReadOnlyKey, max_bytes: int, encoder: _Encoder) -> Value:
    size = int(key.data_uncompressed_bytes)
    if encoder.payload is None and size > max_bytes:
        raise UnsupportedError(f"its {size} bytes are more than the limit of {max_bytes}")
    try:
        found = key.get()
    except UPROOT_ERRORS as err:
        raise UnsupportedError(f"uproot cannot read it: {_why(err)}") from err
    if isinstance(found, UnknownClass | UnknownClassVersion):
        raise UnsupportedError("the file does not describe its class")
    try:
        return encoder.value(found)
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

    def __init__(self, max_bytes: int, payload: Payload | None, misread: AbstractSet[str]) -> None:
        self._known: dict[int, ObjectData] = {}
        self._ids = 0
        self._depth = 0
        self._max_bytes = self._left_bytes = max_bytes
        self.payload = payload
        self._misread = misread

    def _take(self, size_bytes: int) -> None:
        """Count what the store itself is to hold; each value is some bytes of JSON at least."""
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise UnsupportedError(
                f"more of it than the limit of {self._max_bytes} bytes is not in large arrays"
            )

    def _array(self, array: npt.NDArray[Any]) -> ArrayData | PartData:
        part = None if self.payload is None else self.payload.part(array)
        if part is not None:
            return part
        self._take(array.nbytes)
        return encode_array(array)

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
                self._take(len(value))
                return encode_text(str(value))
            case np.ndarray() if value.dtype == object and value.ndim == 1:
                return ListData([self._nested(item) for item in value], array=True)
            case np.ndarray() | np.generic():
                return self._array(np.asarray(value))
            case list():
                return ListData([self._nested(item) for item in value])
            case Container():
                return self._container(value)
        raise UnsupportedError(f"it holds a {type(value).__name__}, which has no plain form")

    def _nested(self, value: Any) -> Value:
        """Turn what something else holds into data."""
        self._depth += 1
        if self._depth > MAX_VALUE_DEPTH:
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
                return ContainerData("STLSet", self._nested(value._keys))  # noqa: SLF001  # uproot's
            case STLBitSet():
                return ContainerData("STLBitSet", self._nested(value._numbytes))  # noqa: SLF001  # uproot's
            case STLVector():
                return ContainerData("STLVector", self._nested(np.asarray(value._values)))  # noqa: SLF001  # uproot's
            case STLList():
                return ContainerData("STLList", self._nested(np.asarray(value._values)))  # noqa: SLF001  # uproot's
            case ROOTRVec():
                return ContainerData("ROOTRVec", self._nested(np.asarray(value._values)))  # noqa: SLF001  # uproot's
        raise UnsupportedError(f"it holds a {type(value).__name__}, which has no plain form")

    def _model(self, model: Model) -> Value:
        if isinstance(model, UnknownClass | UnknownClassVersion):
            return UnknownData(model.classname, model.class_version)
        if model.classname in self._misread:
            raise UnsupportedError(f"uproot misreads the packed reals of class {model.classname}")
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
                return model._data  # noqa: SLF001  # uproot's
            case Model_TList() | Model_TObjArray():
                return list(model)
            case Model_TRef():
                return model.ref
        if hasattr(model, "_data"):
            raise UnsupportedError(f"the content of a {model.classname} has no plain form")
        return None
