"""Python objects for ``library="np"``, made of Awkward layouts or of structs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
import numpy as np

from vroot.exceptions import ReferenceStoreError
from vroot.metadata.interpretations import AsStridedObjects
from vroot.objects.containers import STLMap, STLSequence, STLSet
from vroot.objects.data import ObjectData
from vroot.objects.decoding import facade_of, object_array
from vroot.objects.model import Object

if TYPE_CHECKING:
    from vroot.objects.basics import AnyArray

__all__ = ["ClassMembers", "Kind", "ObjectTypes", "instances", "structs"]


class Kind(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a value is in Python, as far as an Awkward form does not say it.

    Parameters
    ----------
    container : str, optional
        Which container lists are; without it they are arrays.
    items : Kind, optional
        What their items are.
    keys, values : Kind, optional
        What the keys and values of a map are.
    """

    container: (
        Literal["STLVector", "STLList", "STLSet", "STLBitSet", "ROOTRVec", "STLMap"] | None
    ) = None
    items: Kind | None = None
    keys: Kind | None = None
    values: Kind | None = None


class ClassMembers(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A C++ class, whose records in an Awkward form have the members of its bases too.

    Parameters
    ----------
    version : int, optional
        Version of the class.
    bases : list of str
        Its direct base classes.
    members : dict of str to Kind or None
        Its own members.
    """

    version: int | None = None
    bases: list[str] = []
    members: dict[str, Kind | None] = {}


class ObjectTypes(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the entries of a column are in Python.

    Parameters
    ----------
    entry : Kind, optional
        What an entry is.
    classes : dict of str to ClassMembers
        The classes of the records, and their bases.
    """

    entry: Kind | None = None
    classes: dict[str, ClassMembers] = {}


Values: TypeAlias = "AnyArray | list[Any]"

PLAIN = Kind()

#: How many objects may be made of no bytes at all: a false store could announce any number.
MAX_EMPTY = 1 << 20

#: Members that are what the object itself consists of.
OWN_VALUES = {"TRef": "ref", "TRefArray": "refs"}


def instances(layout: Any, objects_json: str) -> AnyArray:
    """Turn an Awkward layout into Python objects.

    Parameters
    ----------
    layout : ak.contents.Content
        One item an entry.
    objects_json : str
        `ObjectTypes` as JSON.

    Returns
    -------
    ndarray of object, shape (entries,)
        Containers, arrays, strings, and objects with members.

    Raises
    ------
    ReferenceStoreError
        If the description contradicts itself or the layout.
    """
    try:
        types = msgspec.json.decode(objects_json, type=ObjectTypes)
        return object_array(list(_Maker(types).values(layout, types.entry)))
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as err:
        raise ReferenceStoreError(
            f"the objects do not fit what the store says of their classes: {err}"
        ) from err


def structs(content: AsStridedObjects, array: AnyArray) -> AnyArray:
    """Turn structs into Python objects.

    Parameters
    ----------
    content : AsStridedObjects
        What they are.
    array : ndarray
        The structs.

    Returns
    -------
    ndarray of object
        Objects with members, of the same shape.
    """
    made = object_array(_members(content, "", array.reshape(-1)))
    return made.reshape(array.shape)


def _members(content: AsStridedObjects, path: str, flat: AnyArray) -> list[Object]:
    """Make the objects at a path of members; as in uproot, ROOT's own members are kept."""
    prefix = f"{path}/" if path else ""
    columns: dict[str, Sequence[Any]] = {}
    for full in flat.dtype.names or ():
        member = full.removeprefix(prefix).partition("/")[0]
        if not full.startswith(prefix) or member in columns:
            continue
        below = prefix + member
        columns[member] = (
            _members(content, below, flat) if below in content.records else list(flat[full])
        )
    classname = content.records[path]
    facade = facade_of(ObjectData(classname))
    made = []
    for i in range(len(flat)):
        members = {name: column[i] for name, column in columns.items()}
        value = members.get(OWN_VALUES.get(classname, ""))
        made.append(_filled(facade, ObjectData(classname), [], _number(value), members))
    return made


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _filled(
    facade: type[Object], data: ObjectData, bases: list[Object], value: Any, members: dict[str, Any]
) -> Object:
    made = facade.shell(data.classname, data.version, value)
    made.fill(bases, value, members)
    return made


class _Maker:
    """Makes the values of layouts, column by column."""

    def __init__(self, types: ObjectTypes) -> None:
        self._types = types

    def values(self, layout: Any, kind: Kind | None) -> Values:
        """Give one value an item of the layout: an array if they are numbers, else a list."""
        kind = kind or PLAIN
        if len(layout) > MAX_EMPTY and not layout.nbytes:
            raise ValueError(f"{len(layout)} objects without anything in them are too many")
        if layout.is_indexed and not layout.is_option:
            return self.values(layout.project(), kind)
        if layout.is_unknown:
            return np.zeros(len(layout))
        if layout.is_numpy:
            return np.asarray(layout.data)
        if layout.is_record:
            return self._records(layout)
        if layout.parameter("__array__") == "string":
            return [_text(each) for each in _raw_strings(layout)]
        if layout.is_regular:
            return self._regular(layout, kind)
        if layout.is_list:
            return self._lists(layout, kind)
        raise TypeError(f"there are no objects for a {type(layout).__name__}")

    def _regular(self, layout: Any, kind: Kind) -> Values:
        items = self.values(layout.content[: len(layout) * layout.size], kind.items)
        array = items if isinstance(items, np.ndarray) else object_array(items)
        return array.reshape(len(layout), layout.size, *array.shape[1:])

    def _lists(self, layout: Any, kind: Kind) -> list[Any]:
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets.data)
        bounds = list(pairwise(offsets.tolist()))
        content = layout.content[: offsets[-1]]
        if kind.container == "STLMap":
            if not content.is_record or len(content.contents) != 2:
                raise TypeError("a map has no keys and values")
            keys, values = (
                self._column(content.content(i), below)
                for i, below in enumerate((kind.keys, kind.values))
            )
            return [_map(keys[start:stop], values[start:stop]) for start, stop in bounds]
        column = self._column(content, kind.items)
        make = _container(kind)
        return [make(column[start:stop]) for start, stop in bounds]

    def _column(self, layout: Any, kind: Kind | None) -> AnyArray:
        values = self.values(layout, kind)
        return values if isinstance(values, np.ndarray) else object_array(values)

    def _records(self, layout: Any) -> list[Object]:
        classname = layout.parameter("__record__")
        if not isinstance(classname, str):
            raise TypeError("a record has no class")
        columns: dict[str, Sequence[Any]] = {}
        for name, content in zip(layout.fields, layout.contents, strict=True):
            values = self.values(content[: len(layout)], self._member(classname, name, ()))
            # As in uproot, single numbers are Python's.
            single = isinstance(values, np.ndarray) and values.ndim == 1
            columns[name] = np.asarray(values).tolist() if single else list(values)
        part = self._part(classname, columns, ())
        own = OWN_VALUES.get(classname, "")
        # What no class of the description claims is the object's own: no value is lost.
        rest = {name: columns[name] for name in columns if name not in part.claimed}
        return [part.make(i, rest, own) for i in range(len(layout))]

    def _class(self, classname: str, within: tuple[str, ...]) -> ClassMembers:
        if classname in within:
            raise ValueError(f"the class {classname!r} is a base of itself")
        return self._types.classes.get(classname, ClassMembers())

    def _member(self, classname: str, name: str, within: tuple[str, ...]) -> Kind | None:
        """Look up what a member of a class or of its bases is."""
        of = self._class(classname, within)
        if name in of.members:
            return of.members[name]
        found = (self._member(base, name, (*within, classname)) for base in reversed(of.bases))
        return next((kind for kind in found if kind is not None), None)

    def _part(
        self, classname: str, columns: Mapping[str, Sequence[Any]], within: tuple[str, ...]
    ) -> _Part:
        """Say what a class and its bases have of the columns, each of which belongs to one.

        Of members of one name a record has only that of the class that comes last; the others are
        not there, rather than wrong.
        """
        of = self._class(classname, within)
        own = {name: columns[name] for name in of.members if name in columns}
        left = {name: column for name, column in columns.items() if name not in own}
        bases: list[_Part] = []
        for base in reversed(of.bases):
            bases.insert(0, self._part(base, left, (*within, classname)))
            left = {name: column for name, column in left.items() if name not in bases[0].claimed}
        data = ObjectData(classname, of.version, [base.data for base in bases])
        return _Part(data, bases, own)


class _Part:
    """A class, or what it contributes to those that inherit from it.

    Parameters
    ----------
    data : ObjectData
        Names of the class and of its bases.
    bases : list of _Part
        The bases.
    columns : mapping of str to sequence
        Its own members, one value an object.
    """

    def __init__(
        self, data: ObjectData, bases: list[_Part], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        self.data = data
        self._bases = bases
        self._columns = columns
        self._facade = facade_of(data)

    @property
    def claimed(self) -> set[str]:
        """Names of the members of this and of the bases."""
        return set(self._columns).union(*(base.claimed for base in self._bases))

    def make(
        self, i: int, rest: Mapping[str, Sequence[Any]] | None = None, own: str = ""
    ) -> Object:
        """Make object `i`, with the members `rest` too; the one called `own` is its value."""
        bases = [base.make(i) for base in self._bases]
        columns = {**self._columns, **(rest or {})}
        members = {name: column[i] for name, column in columns.items()}
        value = members.pop(own, None)
        return _filled(self._facade, self.data, bases, value, members)


def _raw_strings(layout: Any) -> list[bytes]:
    layout = layout.to_ListOffsetArray64(True)
    offsets = np.asarray(layout.offsets.data).tolist()
    characters = np.asarray(layout.content.data).tobytes()
    return [characters[start:stop] for start, stop in pairwise(offsets)]


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def _container(kind: Kind) -> Callable[[AnyArray], Any]:
    """Choose what makes a container of its items."""
    name = kind.container
    if name is None:
        return lambda items: items
    if name == "STLSet":
        return lambda items: STLSet(name, np.sort(items))
    return lambda items: STLSequence(name, items)


def _map(keys: AnyArray, values: AnyArray) -> STLMap:
    order = np.argsort(keys)
    return STLMap("STLMap", keys[order], values[order])
