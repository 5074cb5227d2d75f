"""What vroot says, in a process where uproot cannot be imported."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

import vroot
from compat.census.arrays import Buffer, compare_buffers, compare_forms, shorten, take_apart
from compat.census.ntuple_reader import NTupleComparison
from compat.census.objects import compare_objects
from compat.census.records import (
    BUFFERS,
    RECORD,
    ArrayRecord,
    BranchRecord,
    BranchResult,
    FailureRecord,
    FileRecord,
    RangeRecord,
    Status,
    TreeRecord,
)
from compat.census.verdict import FILE, TREE, Reading, judge, not_run, result, tree_not_run
from vroot.exceptions import UnsupportedError, VrootError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["compare_file"]

# What a defect of the reader could raise instead of an error of its own. It is reported as a
# failure of the one branch, so that the others are still compared.
CRASHES: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
    struct.error,
    zlib.error,
)
FAILURES: tuple[type[Exception], ...] = (VrootError, *CRASHES)

ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")


def compare(name: str, expected: object, look: Callable[[], object]) -> list[str]:
    """Compare one attribute; what uproot cannot say is not compared."""
    if isinstance(expected, FailureRecord):
        return []
    try:
        got = look()
    except FAILURES as error:
        return [f"{name}: expected {shorten(repr(expected))}, raised {FailureRecord.of(error)}"]
    if got == expected:
        return []
    return [f"{name}: expected {shorten(repr(expected))}, got {shorten(repr(got))}"]


def compare_lists(name: str, expected: object, look: Callable[[], object]) -> list[str]:
    """Compare one attribute that is a long list, and show only where it first differs."""
    if not isinstance(expected, list):
        return []
    try:
        got = look()
    except FAILURES as error:
        return [f"{name}: raised {FailureRecord.of(error)}"]
    if got == expected:
        return []
    if not isinstance(got, list) or len(got) != len(expected):
        length = len(got) if isinstance(got, list) else type(got).__name__
        return [f"{name}: expected {len(expected)} items, got {length}"]
    first = next(i for i, pair in enumerate(zip(expected, got, strict=True)) if pair[0] != pair[1])
    return [f"{name}[{first}]: expected {expected[first]!r}, got {got[first]!r}"]


def without_address(text: object) -> object:
    """Take the memory addresses out of a repr; uproot puts some into that of AsGrouped."""
    return ADDRESS.sub("", text) if isinstance(text, str) else text


class Comparison:
    """The comparison of one file.

    Parameters
    ----------
    record : FileRecord
        What uproot said.
    dump : bytes
        The buffers that the record refers to.
    """

    def __init__(self, record: FileRecord, dump: bytes) -> None:
        self.record = record
        self.dump = dump

    def compare(self, file: Any) -> Iterator[BranchResult]:
        """Compare the file with what vroot opened."""
        record = self.record
        differences = compare_lists(
            "keys", record.keys, lambda: list(file.keys(recursive=True, cycle=True))
        )
        differences += compare_lists(
            "classnames",
            record.classnames,
            lambda: list(file.iterclassnames(recursive=True, cycle=True)),
        )
        yield BranchResult(FILE, verdict_on(differences), details=tuple(differences))
        for tree in record.trees:
            yield from self.compare_tree(tree, file)
        ntuples = NTupleComparison(compare, compare_lists, self.read, FAILURES)
        for ntuple in record.ntuples:
            yield from ntuples.compare_ntuple(ntuple, file)

    def compare_tree(self, record: TreeRecord, file: Any) -> Iterator[BranchResult]:
        """Compare one tree and its branches."""
        try:
            tree = file[record.key]
            found = dict(walk(tree, ()))
        except FAILURES as error:
            yield from tree_not_run(record, [f"the tree raised {FailureRecord.of(error)}"])
            return
        differences = [
            *compare("num_entries", record.num_entries, lambda: tree.num_entries),
            *compare("number of branches", record.num_branches, lambda: len(tree.branches)),
            *compare_lists("keys", record.keys, lambda: list(tree.keys())),
            *compare_lists("typenames", record.typenames, lambda: list(tree.typenames().items())),
        ]
        extra = found.keys() - {branch.index_path for branch in record.branches}
        if extra:
            differences.append(f"branches that uproot does not have: {shorten(sorted(extra))}")
        yield BranchResult(TREE, verdict_on(differences), record.key, details=tuple(differences))
        for branch in record.branches:
            if branch.index_path in found:
                status, details = self.compare_branch(branch, found[branch.index_path])
            else:
                status, details = Status.DIFFERENT, ("the branch is missing",)
            yield result(record, branch, status, details)

    def compare_branch(self, record: BranchRecord, branch: Any) -> tuple[Status, tuple[str, ...]]:
        """Compare one branch."""
        differences = [
            *compare("name", record.name, lambda: branch.name),
            *compare("typename", record.typename, lambda: branch.typename),
            *compare("title", record.title, lambda: branch.title),
            *compare(
                "interpretation",
                without_address(record.interpretation),
                lambda: without_address(repr(branch.interpretation)),
            ),
            *compare("num_entries", record.num_entries, lambda: branch.num_entries),
            *compare("num_baskets", record.num_baskets, lambda: branch.num_baskets),
            *compare("number of branches", record.num_branches, lambda: len(branch.branches)),
            *compare_lists(
                "entry_offsets", record.entry_offsets, lambda: list(branch.entry_offsets)
            ),
        ]
        whole = self.read(record.ranges[0], branch)
        readings = [whole]
        if not (whole.refusal or whole.error or whole.crash):
            readings += [self.read(entries, branch) for entries in record.ranges[1:]]
        return judge(record, differences, readings)

    def read(self, entries: RangeRecord, branch: Any) -> Reading:
        """Read one range of entries and compare the array with the expected one."""
        try:
            array = branch.array(entry_start=entries.start, entry_stop=entries.stop, library="ak")
            parts = take_apart(array)
        except UnsupportedError as error:
            return Reading(refusal=FailureRecord.of(error))
        except VrootError as error:
            return Reading(error=FailureRecord.of(error))
        except CRASHES as error:
            return Reading(crash=FailureRecord.of(error))
        expected = entries.outcome
        if isinstance(expected, FailureRecord):
            return Reading()
        differences = [
            *compare("type", expected.type, lambda: parts.type),
            *compare_forms(expected.form, parts.form),
            *compare("length", expected.length, lambda: parts.length),
            *compare_buffers(self.load(expected), parts.buffers),
        ]
        return Reading(differences=tuple(differences))

    def load(self, array: ArrayRecord) -> dict[str, Buffer]:
        """Get the expected buffers of an array from the dump."""
        return {
            buffer.name: np.frombuffer(
                self.dump, buffer.dtype, buffer.num_items, buffer.offset_bytes
            )
            if buffer.num_items
            else np.empty(0, buffer.dtype)
            for buffer in array.buffers
        }


def verdict_on(differences: list[str]) -> Status:
    """Return the verdict on something that can only be the same or not."""
    return Status.DIFFERENT if differences else Status.IDENTICAL


def walk(parent: Any, index_path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Walk the branches below a tree or branch, depth first."""
    for index, branch in enumerate(parent.branches):
        here = (*index_path, index)
        yield here, branch
        yield from walk(branch, here)


def compare_file(folder: Path, references: Path) -> list[BranchResult]:
    """Compare a file's references with what uproot recorded of the file.

    Parameters
    ----------
    folder : Path
        Where the record is.
    references : Path
        What `vroot.scan` wrote.

    Returns
    -------
    list of BranchResult
        The verdicts on the file, its trees and their branches.

    Raises
    ------
    RuntimeError
        If uproot could be imported in this process.
    """
    if sys.modules.get("uproot", sys) is not None:
        raise RuntimeError("vroot must be compared where importing uproot fails")
    record = msgspec.msgpack.decode((folder / RECORD).read_bytes(), type=FileRecord)
    dump = (folder / BUFFERS).read_bytes()
    try:
        file = vroot.open(str(references))
    except FAILURES as error:
        return not_run(record, [f"vroot.open raised {FailureRecord.of(error)}"])
    with file:
        return [
            *Comparison(record, dump).compare(file),
            *compare_objects(folder, file, FAILURES),
        ]
