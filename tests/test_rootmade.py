"""Files made with real ROOT 6.40: vroot gives ROOT's values, or it raises; never anything else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import vroot
from vroot.objects.basics import TArray

FOLDER = Path(__file__).parent / "data" / "rootmade"
FILES = sorted(path.name for path in FOLDER.glob("*.root"))

LARGEST = np.finfo(np.float64).max

#: What the dump of ROOT's values says where ROOT itself could not tell.
UNSAID = ("<unsupported type", "<streamer mode>")
#: Of TObject; its bits change when it is read.
IGNORED = ("_typename", "fUniqueID", "fBits")

#: An array that was filled before its counter: ROOT reads the numbers of the next entry.
SPILLED = "leaves_leaflists.root:late;1:a"

#: Fixed arrays of two dimensions within unsplit objects: as uproot, vroot gives one of them.
FLATTENED = re.compile(r"classes_FixedArr\.root:.*s0\[\d+\]\.m")

#: Fewest values of all files that were equal, and fewest branches, fields and keys.
LEAST_VALUES = 90_000
LEAST_READ = 350


def evo_values() -> dict[str, Any]:
    """Two versions of one class: a = i, b = i/2, and in the second c = i, i%3 times."""
    first = [{"J": {"a": i, "b": i / 2}} for i in range(10)]
    second = [{"J": {"a": i, "b": i / 2, "c": [i] * (i % 3)}} for i in range(10)]
    return {
        f"{tree};1": {"class": "TTree", "tree": {"branches": {
            name: {"values": values} for name in ("s0.", "s99.")
        }}}
        for tree, values in (("t1", first), ("t2", second))
    }  # fmt: skip


def root_values(file: str) -> dict[str, Any]:
    if file == "evo.root":
        return evo_values()
    content = (FOLDER / f"{file}.json.zst").read_bytes()
    values: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(content))
    if file == "leaves_offsetmap.root":
        # ROOT itself skipped entries wrongly there; of another file with the same it read all.
        branches, right = (
            each["t;1"]["tree"]["branches"] for each in (values, root_values("leaves_all_301.root"))
        )
        for name, told in branches.items():
            if name in right and any("[n]" in title for _, _, title in told.get("leaves", ())):
                told["values"] = right[name]["values"]
                told["at"] = list(range(len(told["values"])))
    return values


class Tally:
    """Values that were equal, columns and objects that were read, and errors of vroot."""

    def __init__(self) -> None:
        self.values = 0
        self.read: list[str] = []
        self.raised: list[str] = []
        self.wrong: list[str] = []

    def compare(self, where: str, read: Any, expected: Any, *, exact: bool = True) -> None:
        """Compare what `read` gives with what ROOT says, unless it raises an error of vroot."""
        try:
            got = read()
        except vroot.VrootError as err:
            self.raised.append(f"{where}: {err}")
            return
        try:
            self.equal(got, expected, where, exact=exact)
        except AssertionError as err:
            self.wrong.append(str(err))
        else:
            self.read.append(where)

    def equal(self, got: Any, expected: Any, where: str, *, exact: bool = True) -> None:
        """Assert that two values are the same."""
        if isinstance(expected, str) and expected.startswith(UNSAID):
            return
        if isinstance(got, np.ndarray):
            got = got.tolist()
        if isinstance(expected, dict):
            self._equal_object(got, expected, where, exact=exact)
        elif isinstance(expected, list):
            self._equal_list(got, expected, where, exact=exact)
        else:
            self.values += 1
            assert same(got, expected, exact=exact), f"{where}: {got!r}, expected {expected!r}"

    def _equal_object(self, got: Any, expected: dict[str, Any], where: str, *, exact: bool) -> None:
        if "__C__" in expected:  # a string of C, as numbers of its bytes
            got = got.encode("utf-8", "surrogateescape") if isinstance(got, str) else bytes(got)
            expected_bytes = bytes(byte & 255 for byte in expected["__C__"])
            self.values += 1
            assert got == expected_bytes, f"{where}: {got!r}, expected {expected_bytes!r}"
            return
        if is_collection(expected):
            # ROOT leaves out of it the places of an array that are empty.
            items = [item for item in got if item is not None]
            self.equal(items, expected["arr"], where, exact=exact)
            return
        if "$pair" in expected and isinstance(got, tuple | list):
            got = {"first": got[0], "second": got[1]}
        if expected.get("_typename") == "TObjString":
            got = {"fString": str(got)}
        for name, value in expected.items():
            if name not in (*IGNORED, "$pair"):
                self.equal(member(got, name, where), value, f"{where}.{name}", exact=exact)

    def _equal_list(self, got: Any, expected: list[Any], where: str, *, exact: bool) -> None:
        if hasattr(got, "items"):
            got = list(got.items())
        if FLATTENED.fullmatch(where):
            expected = flat(expected)
        if isinstance(got, str):  # characters, up to a zero
            got = list(got.encode())
            expected = expected[: expected.index(0)] if 0 in expected else expected
        got = list(got)
        assert len(got) == len(expected), f"{where}: {got!r:.200}, expected {expected!r:.200}"
        self.values += 1
        for i, (left, right) in enumerate(zip(got, expected, strict=True)):
            self.equal(left, right, f"{where}[{i}]", exact=exact)


def is_collection(value: Any) -> bool:
    """Whether it is how ROOT writes a TList, a TClonesArray or the like as JSON."""
    return isinstance(value, dict) and {"_typename", "name", "arr"} <= value.keys()


def same(got: Any, expected: Any, *, exact: bool) -> bool:
    """Whether two plain values are; ROOT writes only nine digits of a float as JSON."""
    if isinstance(got, float) and isinstance(expected, int | float) and not exact:
        return math.isclose(got, expected, rel_tol=1e-8)
    if expected in (math.inf, -math.inf) and isinstance(got, float):  # as ROOT writes the largest
        return bool(abs(got) >= LARGEST) and (got > 0) == (expected > 0)
    if isinstance(got, np.int8) and isinstance(expected, str):
        return chr(got) == expected
    if isinstance(got, list) and isinstance(expected, str) and set(expected) <= {"0", "1"}:
        return got == [bit == "1" for bit in reversed(expected)]  # a bitset
    if isinstance(got, bytes | bytearray) and isinstance(expected, str):
        got = got.decode()
    if isinstance(got, list) and isinstance(expected, str):  # characters, up to a zero
        return bytes(byte & 255 for byte in got).partition(b"\0")[0] == expected.encode()
    if isinstance(got, str) != isinstance(expected, str):
        return False
    return bool(got == expected)


def member(got: Any, name: str, where: str) -> Any:
    """A member of a record or of an object."""
    if isinstance(got, dict) and name.startswith(":_"):  # a base class, whose members are its own
        return got
    if isinstance(got, dict):
        found = {key.rpartition(".")[2].partition("[")[0]: key for key in got}
        assert name in found or name in got, f"{where} has no member {name}: {sorted(got)}"
        return got[name] if name in got else got[found[name]]
    if name == "fArray":  # what a TArray consists of
        return list(arrays_of(got)[0])
    assert hasattr(got, "member"), f"{where}: {got!r:.100} has no member {name}"
    assert got.has_member(name), f"{where} has no member {name}"
    return got.member(name)


def arrays_of(got: Any) -> list[Any]:
    """The TArrays among the bases of an object."""
    if isinstance(got, TArray):
        return [got]
    return [array for base in got.bases for array in arrays_of(base)]


def flat(values: Any) -> list[Any]:
    """The numbers of an entry, whatever its dimensions."""
    return (
        [each for value in values for each in flat(value)] if isinstance(values, list) else [values]
    )


def columns(branch: Any, values: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the branches with data below a branch, with what ROOT says of each.

    `values` are the objects, or the lists of objects, of which the branches have the members.
    """
    if not branch.branches:
        yield branch, values
        return
    for child in branch.branches:
        name = re.sub(r"\[.*", "", child.name).rstrip(".").rpartition(".")[2]
        split = bool(child.branches)
        yield from columns(child, [part(value, name, split=split) for value in values])


def part(value: Any, name: str, *, split: bool) -> Any:
    """A member of an object or of each item; for a base, whose members are its own, the object."""
    if is_collection(value):
        value = value["arr"]
    if isinstance(value, list):
        return [part(item, name, split=split) for item in value]
    if name in value or not split:
        return value.get(name, f"{UNSAID[0]}: no {name}>")
    return value


def compare_tree(tally: Tally, tree: Any, branches: dict[str, Any], where: str) -> None:
    for name, told in branches.items():
        values = told["values"]
        # Of several with one name, ROOT's values are those of the last.
        top = [branch for branch in tree.branches if branch.name == name][-1]
        if not values or f"{where}:{name}" == SPILLED:
            continue
        if "J" not in values[0]:
            expected = [list(value.values()) for value in values[: top.num_entries]]
            tally.compare(f"{where}:{name}", partial(leaves, top, told), expected)
            continue
        objects = [value["J"] for value in values]
        if None in objects:  # ROOT could not say
            continue
        if top.branches and is_collection(objects[0]):
            counts = [len(value["arr"]) for value in objects]
            tally.compare(f"{where}:{name}", top.array, counts)
        for branch, expected in columns(top, objects):
            read = partial(entries_of, branch)
            tally.compare(f"{where}:{branch.object_path}", read, expected, exact=False)


def entries_of(column: Any) -> list[Any]:
    """All entries of a branch or a field, as plain data."""
    entries: list[Any] = column.array().tolist()
    return entries


def leaves(branch: Any, told: dict[str, Any]) -> list[Any]:
    """The entries of a branch with leaves, one list of numbers a leaf."""
    values = told["values"][: branch.num_entries]
    entries = branch.array().tolist()
    if told["at"] is not None:
        entries = [entries[i] for i in told["at"]]
    assert len(entries) == len(values)
    pairs = zip(entries, values, strict=True)
    return [
        [
            text_or_numbers(entry if len(value) == 1 else entry[leaf], numbers)
            for leaf, numbers in value.items()
        ]
        for entry, value in pairs
    ]


def text_or_numbers(got: Any, told: Any) -> Any:
    return got if isinstance(told, dict) else flat(got)


@cache  # for both tests
def compare_file(file: str) -> Tally:
    tally = Tally()
    opened = vroot.open(vroot.scan(FOLDER / file))
    for key, told in root_values(file).items():
        where = f"{file}:{key}"
        try:
            found = opened[key]
        except vroot.VrootError as err:
            tally.raised.append(f"{where}: {err}")
            continue
        if "tree" in told:
            compare_tree(tally, found, told["tree"]["branches"], where)
        elif "ntuple" in told:
            compare_ntuple(tally, found, told["ntuple"]["values"], where)
        elif told.get("object") is not None:
            tally.compare(where, lambda found=found: found, told["object"], exact=False)
    return tally


def compare_ntuple(tally: Tally, ntuple: Any, values: list[Any], where: str) -> None:
    for name in ntuple.keys(recursive=False):
        expected = [value.get(name, UNSAID[0]) for value in values]
        read = partial(entries_of, ntuple[name])
        tally.compare(f"{where}:{name}", read, expected, exact=False)


@pytest.mark.parametrize("file", FILES)
def test_equal_or_raises(file: str) -> None:
    tally = compare_file(file)
    assert tally.wrong == []
    # Of one file ROOT itself could say nothing.
    assert tally.read or tally.raised or file == "ntuple_projected.root"


def test_enough_is_compared() -> None:
    tallies = [compare_file(file) for file in FILES]
    assert len(FILES) == 52
    assert sum(tally.values for tally in tallies) >= LEAST_VALUES
    assert sum(len(tally.read) for tally in tallies) >= LEAST_READ
