"""Objects that are not trees: everything that uproot and vroot say of one, and its comparison.

An object is described by what its public attributes and methods give, as plain data, in the same
way whichever of the two made it.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from compat.census.arrays import shorten
from compat.census.records import BranchResult, FailureRecord, Status
from vroot.exceptions import UnsupportedError, VrootError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["OBJECTS", "ObjectRecord", "compare_objects", "describe", "looks"]

# The file of a record: a list of ObjectRecord as msgpack.
OBJECTS = "objects.msgpack"

# Descriptions are as long as this, and end in a checksum of the rest.
MAX_SHOWN_BYTES = 64
MAX_SHOWN_CHARACTERS = 20_000

SEQUENCES = ("TList", "TObjArray", "THashList", "TClonesArray", "TRefArray")


class ObjectRecord(msgspec.Struct, frozen=True):
    """One object as uproot sees it.

    `outcome` is its description as JSON; `looks` has what its methods gave, by their names.
    """

    key: str
    classname: str
    title: str
    outcome: str | FailureRecord
    looks: dict[str, str | FailureRecord] = {}


def kind_of(classname: str) -> str:
    """Name the kind of an object, as the census lists it."""
    plain = classname.partition("<")[0]
    dimensions = re.fullmatch("(TH[123])[CSILFD]", plain)
    return dimensions[1] if dimensions else plain


# --- descriptions


def fingerprint(array: Any) -> str:
    """Identify the bytes of an array: all of them, if they are few."""
    content = np.ascontiguousarray(array).tobytes()
    if len(content) <= MAX_SHOWN_BYTES:
        return content.hex()
    return f"{content[:MAX_SHOWN_BYTES].hex()}... sha256 {hashlib.sha256(content).hexdigest()}"


def identify(description: Any) -> str:
    """Give a description as text: all of it, if it is short."""
    text = json.dumps(description)
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[:MAX_SHOWN_CHARACTERS]}... sha256 {hashlib.sha256(text.encode()).hexdigest()}"


class Describer:
    """Describes objects as nested lists of strings and numbers, exactly.

    An object that was met before is described by its number.
    """

    def __init__(self) -> None:
        self.met: dict[int, int] = {}

    def describe(self, value: Any) -> Any:
        """Describe anything that a member can be."""
        if hasattr(value, "all_members"):
            return self.describe_object(value)
        if value is None or isinstance(value, bool | int):
            return [type(value).__name__, str(value)]
        if isinstance(value, float) and not isinstance(value, np.generic):
            return ["float", struct.pack(">d", value).hex()]
        if isinstance(value, str):
            return ["str", value.encode(errors="surrogateescape").hex(), shorten(value)]
        if isinstance(value, np.ndarray | np.generic):
            return self.describe_array(np.asarray(value))
        name = getattr(value, "typename", type(value).__name__)
        if isinstance(value, Mapping):
            pairs = zip(value.keys(), value.values(), strict=True)
            return [name, [[self.describe(key), self.describe(item)] for key, item in pairs]]
        if isinstance(value, Sequence | AbstractSet):
            return [name, [self.describe(item) for item in value]]
        raise TypeError(f"no description of a {type(value)}")

    def describe_array(self, array: Any) -> Any:
        """Describe an array, which may be one of objects."""
        if array.dtype == object:
            return ["objects", list(array.shape), [self.describe(x) for x in array.reshape(-1)]]
        return ["array", array.dtype.str, list(array.shape), fingerprint(array)]

    def describe_object(self, value: Any) -> Any:
        """Describe an object with its members and bases."""
        if id(value) in self.met:
            return ["met before", self.met[id(value)]]
        self.met[id(value)] = len(self.met)
        described: dict[str, Any] = {
            "class": [value.classname, value.class_version],
            "own": list(value.members),
            "all": [[k, self.describe(v)] for k, v in value.all_members.items()],
            "found": [k for k in value.all_members if value.has_member(k)],
            "bases": [self.describe(base) for base in value.bases],
        }
        for base in value.bases:
            if not value.is_instance(base.classname) or value.is_instance("TNone"):
                described["is_instance"] = base.classname
        if isinstance(value, str):
            described["text"] = self.describe(str(value))
        if value.classname in SEQUENCES:
            described["items"] = [self.describe(value[i]) for i in range(len(value))]
        elif value.classname.startswith("TArray"):
            described["array"] = self.describe(np.asarray(value))
        return described


def describe(value: Any) -> str:
    """Describe an object as JSON."""
    return identify(Describer().describe(value))


def describe_boost(histogram: Any) -> str:
    """Describe a histogram of boost-histogram or hist: everything that its equality looks at."""
    view = histogram.view(flow=True)
    axes = [
        [
            type(axis).__name__,
            repr(axis),
            [str(edge) for edge in axis],
            fingerprint(axis.edges),
            repr(axis.traits),
            sorted((key, repr(item)) for key, item in vars(axis).items() if key != "_ax"),
            [repr(getattr(axis, key, None)) for key in ("name", "label", "metadata")],
        ]
        for axis in histogram.axes
    ]
    told = [repr(vars(histogram).get(key)) for key in ("name", "label", "title", "metadata")]
    storage = type(histogram.storage_type()).__name__
    kind = type(histogram).__name__
    content = [str(view.dtype), list(view.shape), fingerprint(view)]
    return identify([kind, storage, told, axes, content])


def looks(value: Any) -> dict[str, Callable[[], str]]:
    """List what can be asked of an object, by the names that the report shows.

    Parameters
    ----------
    value : Any
        What uproot gave: what it does not have is not asked.

    Returns
    -------
    dict of str to callable
        Each describes an answer.
    """
    asked: dict[str, Callable[[], str]] = {}
    for name in ("name", "kind", "weighted", "value", "curve_type", "ref"):
        asked[name] = partial(answer, value, name)
    for name in ("values", "variances", "errors", "counts"):
        for flow in (False, True):
            asked[f"{name}(flow={flow})"] = partial(answer, value, name, flow=flow)
    for name in ("variances", "errors"):
        for mode in ("s", "i", "g"):
            label = f"{name}(flow=True, error_mode={mode!r})"
            asked[label] = partial(answer, value, name, flow=True, error_mode=mode)
    for which in ("low", "high", "mean", "diff"):
        asked[f"errors({which!r})"] = partial(answer, value, "errors", which=which)
    return asked | {
        "to_numpy()": partial(answer, value, "to_numpy"),
        "to_numpy(flow=True, dd=True)": partial(answer, value, "to_numpy", flow=True, dd=True),
        "values(axis='both')": partial(answer, value, "values", axis="both"),
        "axes": lambda: identify([describe_axis(axis) for axis in value.axes]),
        "axis(-1)": lambda: describe(value.axis(-1).edges()),
        "to_boost()": lambda: describe_boost(value.to_boost()),
        "to_hist()": lambda: describe_boost(value.to_hist()),
        "tojson()": lambda: identify(value.tojson()),
        "numbers": lambda: describe([value.value, bool(value), int(value), float(value)]),
    }


def answer(value: Any, name: str, **arguments: Any) -> str:
    """Describe an attribute, or what a method returns."""
    attribute = getattr(value, name)
    return describe(attribute(**arguments) if callable(attribute) else attribute)


def describe_axis(axis: Any) -> Any:
    """Describe what the methods of an axis give."""
    calls = ("edges", "intervals", "centers", "widths", "labels")
    methods = [getattr(axis, name)(flow=flow) for name in calls for flow in (False, True)]
    values = [axis.low, axis.high, float(axis.width), len(axis), list(axis), axis[0]]
    return [describe([*methods, *values]), axis.traits.circular, axis.traits.discrete]


# --- the comparison


def compare_objects(
    folder: Path, file: Any, failures: tuple[type[Exception], ...]
) -> Iterator[BranchResult]:
    """Compare the objects of a file with what uproot recorded of them.

    Parameters
    ----------
    folder : Path
        Where the record is.
    file : vroot.File
        What vroot opened.
    failures : tuple of exceptions
        What reading an object may raise, rightly or wrongly.

    Yields
    ------
    BranchResult
        A verdict on each.
    """
    records = msgspec.msgpack.decode((folder / OBJECTS).read_bytes(), type=list[ObjectRecord])
    for record in records:
        try:
            status, details = compare_object(record, file)
        except failures as error:
            status, details = Status.DIFFERENT, [f"crashed: {FailureRecord.of(error)}"]
        kind = kind_of(record.classname)
        yield BranchResult(kind, status, record.key, details=tuple(details))


def compare_object(record: ObjectRecord, file: Any) -> tuple[Status, list[str]]:
    """Compare one object."""
    said = [file.classname_of(record.key), file.title_of(record.key)]
    if said != [record.classname, record.title]:
        return Status.DIFFERENT, [f"expected {record.classname, record.title}, got {said}"]
    try:
        value = file[record.key]
    except UnsupportedError as error:
        if isinstance(record.outcome, FailureRecord):
            return Status.UPROOT_CANNOT, []
        return Status.REFUSED, [str(error)]
    if isinstance(record.outcome, FailureRecord):
        return Status.ONLY_VROOT, [f"uproot: {record.outcome}"]
    differences = compare_descriptions("members", record.outcome, describe(value))
    for label, look in looks(value).items():
        expected = record.looks.get(label)
        if expected is None:
            continue
        try:
            got: str | FailureRecord = look()
        except VrootError as error:
            got = FailureRecord.of(error)
        differences += compare_descriptions(label, expected, got)
    return (Status.DIFFERENT if differences else Status.IDENTICAL), differences


def compare_descriptions(
    label: str, expected: str | FailureRecord, got: str | FailureRecord
) -> list[str]:
    """Compare two descriptions; where uproot raises an error, vroot may raise any of its own."""
    if expected == got or (isinstance(expected, FailureRecord) and isinstance(got, FailureRecord)):
        return []
    if isinstance(expected, FailureRecord) or isinstance(got, FailureRecord):
        return [f"{label}: expected {shorten(expected)}, got {shorten(got)}"]
    same = next((i for i in range(min(len(expected), len(got))) if expected[i] != got[i]), 0)
    begin = max(same - 60, 0)
    return [f"{label}: expected ...{expected[begin:][:200]}, got ...{got[begin:][:200]}"]
