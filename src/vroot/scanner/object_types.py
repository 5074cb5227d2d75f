"""What the entries of objects are in Python, as uproot's models say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import uproot
from uproot.containers import (
    AsArray,
    AsBitSet,
    AsContainer,
    AsList,
    AsMap,
    AsRVec,
    AsSet,
    AsVector,
)
from uproot.interpretation.identify import parse_typename
from uproot.streamers import Model_TStreamerSTL

from vroot.objects.instances import ClassMembers, Kind, ObjectTypes
from vroot.scanner.guard import UPROOT_ERRORS

__all__ = ["object_types"]

SEQUENCES = {AsVector: "STLVector", AsList: "STLList", AsRVec: "ROOTRVec"}


def object_types(branch: uproot.TBranch, form_json: str) -> str:
    """Describe what the entries of a branch are in Python.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch; its interpretation is AsObjects.
    form_json : str
        The Awkward form of its entries.

    Returns
    -------
    str
        An `ObjectTypes`, as JSON.
    """
    classes: dict[str, ClassMembers] = {}
    for classname in _records(msgspec.json.decode(form_json)):
        _describe(branch.file, classname, classes)
    # In the order of their names, so that one program is the same wherever it was found.
    types = ObjectTypes(_kind(branch.interpretation.model), dict(sorted(classes.items())))
    return msgspec.json.encode(types).decode("utf-8")


def _records(form: Any) -> Iterator[str]:
    """C++ classes of the records in a form."""
    if isinstance(form, list):
        for each in form:
            yield from _records(each)
    elif isinstance(form, dict):
        classname = (form.get("parameters") or {}).get("__record__")
        if form.get("class") == "RecordArray" and isinstance(classname, str):
            yield classname
        for key in ("content", "contents"):
            yield from _records(form.get(key))


def _kind(model: Any) -> Kind | None:
    """Say what uproot makes of a type, where the form leaves it open."""
    for container, name in SEQUENCES.items():
        if isinstance(model, container):
            return Kind(name, _kind(model.values))  # type: ignore[arg-type]  # of the names
    if isinstance(model, AsSet):
        return Kind("STLSet", _kind(model.keys))
    if isinstance(model, AsBitSet):
        return Kind("STLBitSet")
    if isinstance(model, AsMap):
        return Kind("STLMap", keys=_kind(model.keys), values=_kind(model.values))
    if isinstance(model, AsArray) and not isinstance(model.values, np.dtype):
        items = _kind(model.values)
        return None if items is None else Kind(items=items)
    return None


def _describe(file: Any, classname: str, classes: dict[str, ClassMembers]) -> None:
    """Add a class and its bases; of a class that uproot does not know nothing is said."""
    if classname in classes:
        return
    try:
        model = file.class_named(classname, "max")
        version = model.class_version if isinstance(model.class_version, int) else None
        bases = [str(name) for name, _ in model.base_names_versions]
        containers = _containers(file, classname, version)
        names = [str(name) for name in model.member_names]
    except UPROOT_ERRORS:
        return
    members = {name: containers.get(name) for name in names}
    classes[classname] = ClassMembers(version, bases, members)
    for base in bases:
        _describe(file, base, classes)


def _containers(file: Any, classname: str, version: int | None) -> dict[str, Kind | None]:
    """Say what the standard containers among the members of a class are."""
    streamer = file.streamer_named(classname, "max" if version is None else version)
    found: dict[str, Kind | None] = {}
    for element in [] if streamer is None else streamer.elements:
        if isinstance(element, Model_TStreamerSTL):
            model = parse_typename(element.typename, file=file, string_header=True)
            if isinstance(model, AsContainer):
                found[str(element.name)] = _kind(model)
    return found
