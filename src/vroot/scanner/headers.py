"""Headers of objects and collections, compared with the streamer info before data are believed.

uproot takes the members of an object to follow one another. ROOT writes a header before an object,
before each base and each member that is an object: a byte count, a version and, where the class has
no version of its own, a checksum. What uproot has no place for is looked for in the data.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec
import numpy as np
import uproot

from vroot.decode.basket import Basket
from vroot.decode.headers import BYTE_COUNT_BIT, COLLECTION_HEADER, COUNT_BYTES, MEMBERWISE_BIT
from vroot.metadata.dtypes import split_dtype
from vroot.metadata.interpretations import (
    AsBits,
    AsDtype,
    AsGrouped,
    AsJagged,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Unsupported,
)

__all__ = ["HeaderError", "check_class", "is_strided", "with_headers"]

Streamers: TypeAlias = Mapping[str, Mapping[int, Any]]

HEADER = struct.Struct(">IH")  # byte count, version
CHECKSUM = struct.Struct(">I")
TOBJECT_BYTES = 10  # version, fUniqueID, fBits
REFERENCED_BIT = 0x10  # TObject::kIsReferenced: two more bytes follow

# ROOT: TVirtualStreamerInfo::EReadWrite, without packed reals.
NUMBER_BYTES = {
    1: 1, 2: 2, 3: 4, 4: 8, 5: 4, 6: 4, 8: 8, 11: 1, 12: 2, 13: 4, 14: 8, 15: 4, 16: 8, 17: 8, 18: 1
}  # fmt: skip
ARRAY_OF = 20
BASE = 0
OBJECTS = (61, 62)
TOBJECT = 66
COLLECTION_PROXY = "This"  # the only element of a collection, which says nothing of its items
SPLIT_MEMBERS = (31, 41)  # fType of branches with the members of a split collection

#: Classes with a streamer of their own, for which uproot has the layout by hand.
BY_HAND = ("TDatime", "TRef")


class HeaderError(ValueError):
    """The data are not as the streamer info has them, or not as uproot does."""


def is_strided(interpretation: Interpretation) -> bool:
    """Whether entries are objects, or any number of them, with members at fixed places."""
    if isinstance(interpretation, AsJagged):
        return isinstance(interpretation.content, AsStridedObjects)
    return isinstance(interpretation, AsStridedObjects)


def check_class(branch: uproot.TBranch, interpretation: Interpretation) -> None:
    """Check that uproot uses the description of a class by which a branch was written.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.
    interpretation : Interpretation
        What was made of it.

    Raises
    ------
    HeaderError
        If the file has another one, or if it is a string for each item of a collection, of which
        uproot makes one.
    """
    if not branch.has_member("fClassName") or not _depends_on_class(interpretation):
        return
    if isinstance(interpretation, AsStrings) and branch.member("fType") in SPLIT_MEMBERS:
        raise HeaderError(
            "an entry has a string for each item of a collection, which uproot takes for one string"
        )
    streamers: Streamers = branch.file.streamers
    for name in ("fClassName", "fParentName"):
        classname = str(branch.member(name, none_if_missing=True) or "").replace(" ", "")
        versions = streamers.get(classname)
        if not versions:
            continue
        used = versions[max(versions)]
        if [element.name for element in used.elements] == [COLLECTION_PROXY]:
            continue
        if name == "fClassName" and used.member("fCheckSum") != branch.member("fCheckSum"):
            raise HeaderError(
                f"it has class {classname} with checksum {branch.member('fCheckSum'):#010x}, where "
                f"uproot uses version {used.class_version} with {used.member('fCheckSum'):#010x}"
            )
        for each in _classes_within(used, streamers):
            if len(streamers[each]) > 1 and (each != classname or name == "fParentName"):
                raise HeaderError(
                    f"the file has versions {sorted(streamers[each])} of class {each}, of which "
                    "uproot does not look for the right one"
                )


def _depends_on_class(interpretation: Interpretation) -> bool:
    """Whether uproot has it from the description of a class; other numbers are those of a leaf."""
    match interpretation:
        case AsDtype() | AsBits() | AsGrouped() | Unsupported() | AsJagged(AsDtype(), 0):
            return False
    return True


def _classes_within(info: Any, streamers: Streamers) -> set[str]:
    """The classes that the file describes of an object, its bases and members."""
    found: set[str] = set()
    waiting = [info]
    while waiting:
        info = waiting.pop()
        found.add(info.name)
        types = " ".join(f"{element.name} {element.typename}" for element in info.elements)
        # Rather too many than too few: a name may be a part of another one, or of a template.
        new = {name for name in streamers if name in types} - found
        waiting += [versions[max(versions)] for versions in map(streamers.__getitem__, new)]
        found |= new
    return found


def with_headers(
    branch: uproot.TBranch,
    interpretation: AsStridedObjects | AsJagged,
    basket: Basket,
) -> Interpretation:
    """Find the headers of objects in the first basket that has some.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.
    interpretation : AsStridedObjects or AsJagged of it
        What uproot makes of it: the members without what it has no place for.
    basket : Basket
        The data of a basket that has objects.

    Returns
    -------
    AsStridedObjects or AsJagged of it
        With the headers, all of which must come before the first member.

    Raises
    ------
    HeaderError
        If objects are written in another way.
    """
    streamers: Streamers = branch.file.streamers
    data = basket.data.tobytes()
    if isinstance(interpretation, AsStridedObjects):
        if len(data) % basket.entries:
            raise HeaderError(f"{len(data)} bytes of data are not {basket.entries} equal objects")
        return _of_object(interpretation, data[: len(data) // basket.entries], streamers)
    start, stop = _first_filled(basket, interpretation.header_bytes)
    entry = data[start:stop]
    if interpretation.header_bytes:
        entry = _items_of(entry, interpretation.header_bytes)
    content = interpretation.content
    if not isinstance(content, AsStridedObjects):
        raise HeaderError(f"{content!r} are not objects")
    return msgspec.structs.replace(interpretation, content=_of_object(content, entry, streamers))


def _first_filled(basket: Basket, header_bytes: int) -> tuple[int, int]:
    """Where the first entry that has items is in the data."""
    if basket.offsets is None:
        return 0, basket.data.size
    offsets = basket.offsets.tolist()
    for start, stop in pairwise(offsets):
        if stop - start > header_bytes:
            return start, stop
    raise HeaderError("no entry of the basket has items, though it has data")


def _items_of(entry: bytes, header_bytes: int) -> bytes:
    """The items of a collection, after its header."""
    if header_bytes != COLLECTION_HEADER.itemsize:
        raise HeaderError(f"its entries have headers of {header_bytes} bytes, expected 10")
    byte_count, version = HEADER.unpack_from(entry)
    if byte_count != BYTE_COUNT_BIT + len(entry) - COUNT_BYTES:
        raise HeaderError(f"an entry of {len(entry)} bytes begins with {byte_count:#010x}")
    if version & MEMBERWISE_BIT:
        raise HeaderError(
            "its items are written member by member (ROOT's default for vectors of classes), "
            "where uproot expects them item by item"
        )
    return entry[header_bytes:]


def _of_object(content: AsStridedObjects, data: bytes, streamers: Streamers) -> AsStridedObjects:
    """Compare the first object of the data with the streamer info, and with uproot's layout."""
    classname = content.records[""].replace(" ", "")
    if classname in BY_HAND or classname not in streamers:
        return content
    base, shape = split_dtype(content.from_dtype)
    reasons: list[tuple[int, str]] = []
    # An object as an item or a member has a header itself; the whole of an entry has none.
    for has_header in (True, False):
        walk = _Walk(data, streamers)
        try:
            walk.read_object(classname, has_header=has_header)
        except HeaderError as err:
            reasons.append((walk.position, str(err)))
            continue
        header_bytes = walk.position - base.itemsize
        if not walk.position or len(data) % walk.position:
            reason = f"{len(data)} bytes are not objects of {walk.position} bytes"
        elif header_bytes < 0:
            reason = (
                f"objects of class {classname} have {walk.position} bytes, where uproot takes "
                f"{base.itemsize}"
            )
        elif walk.numbers != _numbers(base, header_bytes) or (shape and header_bytes):
            reason = (
                f"objects of class {classname} have headers at bytes "
                f"{[offset for offset, _ in walk.headers]}, of which uproot does not know"
            )
        else:
            return msgspec.structs.replace(
                content, header_bytes=header_bytes, headers=tuple(walk.headers)
            )
        reasons.append((walk.position, reason))
    # What came further is more likely to be how they are written.
    raise HeaderError(max(reasons)[1])


def _numbers(dtype: np.dtype[Any], header_bytes: int) -> list[tuple[int, int]]:
    """Offsets and lengths of the members that are not ROOT's own."""
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names or () if dtype.fields]
    return [
        (header_bytes + offset, field.itemsize)
        for name, field, offset in fields
        if not name.rpartition("/")[2].startswith("@")
    ]


class _Walk:
    """Goes through the bytes of an object as its streamer info says.

    Parameters
    ----------
    data : bytes
        The object and perhaps more.
    streamers : mapping
        Streamer infos by class and version.
    """

    def __init__(self, data: bytes, streamers: Streamers) -> None:
        self._data = data
        self._streamers = streamers
        self.position = 0
        self.headers: list[tuple[int, bytes]] = []
        self.numbers: list[tuple[int, int]] = []

    def read_object(self, classname: str, *, has_header: bool) -> None:
        """Go through an object, noting where its headers and its numbers are."""
        versions = self._streamers.get(classname)
        if not versions:
            raise HeaderError(f"the file does not describe class {classname}")
        used = versions[max(versions)]
        end = self._read_header(used) if has_header else None
        for element in used.elements:
            self._read_element(element)
        if end is not None and self.position != end:
            raise HeaderError(
                f"class {classname} has a byte count up to byte {end}, where its members end at "
                f"{self.position}"
            )

    def _read_header(self, info: Any) -> int:
        """Compare a header with the streamer info, and say where the object ends."""
        start = self.position
        byte_count, version = HEADER.unpack(self._take(HEADER.size))
        if not byte_count & BYTE_COUNT_BIT:
            raise HeaderError(f"class {info.name} has no byte count at byte {start}")
        right = version == info.class_version
        if version == 0:
            (checksum,) = CHECKSUM.unpack(self._take(CHECKSUM.size))
            right = checksum == info.member("fCheckSum")
        if not right:
            raise HeaderError(
                f"class {info.name} is not written as version {info.class_version} at byte {start}"
            )
        self.headers.append((start, self._data[start : self.position]))
        return start + COUNT_BYTES + int(byte_count) - BYTE_COUNT_BIT

    def _read_element(self, element: Any) -> None:
        kind, length = element.member("fType"), element.member("fArrayLength")
        if kind > ARRAY_OF and kind - ARRAY_OF in (*NUMBER_BYTES, *OBJECTS):
            kind -= ARRAY_OF
        if kind == TOBJECT:
            bits = int.from_bytes(self._take(TOBJECT_BYTES)[-4:], "big")
            if bits & REFERENCED_BIT:
                raise HeaderError("its objects are referenced, and have two bytes more for that")
        elif kind in NUMBER_BYTES:
            start = self.position
            self._take(NUMBER_BYTES[kind] * max(1, length))
            self.numbers.append((start, self.position - start))
        elif kind == BASE:
            self.read_object(element.name, has_header=True)
        elif kind in OBJECTS:
            for _ in range(max(1, length)):
                self.read_object(element.typename, has_header=True)
        else:
            raise HeaderError(f"member {element.name} of type {element.typename} has no fixed size")

    def _take(self, size: int) -> bytes:
        start = self.position
        self.position += size
        if self.position > len(self._data):
            raise HeaderError(f"an object ends after {len(self._data)} bytes")
        return self._data[start : self.position]
