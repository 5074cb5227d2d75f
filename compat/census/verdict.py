"""The verdict on one branch, from what uproot gave and what vroot gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compat.census.marks import MARKS, Mark, find_mark
from compat.census.records import (
    BranchRecord,
    BranchResult,
    FailureRecord,
    FileRecord,
    Status,
    TreeRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FILE", "NTUPLE", "TREE", "Reading", "judge", "not_run", "result", "tree_not_run"]

FILE = "(file)"
TREE = "(tree)"
NTUPLE = "(RNTuple)"


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one range of a branch with vroot came to.

    `refusal` is an UnsupportedError, `error` any other error of vroot's own, and `crash`
    whatever else was raised; without these the array was read, and `differences` says how it
    is not the expected one.
    """

    refusal: FailureRecord | None = None
    error: FailureRecord | None = None
    crash: FailureRecord | None = None
    differences: tuple[str, ...] = ()


def judge(
    branch: BranchRecord,
    differences: Sequence[str],
    readings: Sequence[Reading],
    marks: Sequence[Mark] = MARKS,
) -> tuple[Status, tuple[str, ...]]:
    """Judge one branch.

    Parameters
    ----------
    branch : BranchRecord
        What uproot gave, for all entries and for parts.
    differences : sequence of str
        How the branch differs in what it says of itself.
    readings : sequence of Reading
        What vroot gave for the same ranges, as far as they were read.
    marks : sequence of Mark
        What is expected to fail.

    Returns
    -------
    Status
        The verdict.
    tuple of str
        Why, one line each.
    """
    if differences:
        return Status.DIFFERENT, tuple(differences)
    crashes = tuple(f"crashed: {r.crash}" for r in readings if r.crash is not None)
    if crashes:
        return Status.DIFFERENT, crashes
    whole = readings[0]
    expected = branch.ranges[0].outcome
    if isinstance(expected, FailureRecord):
        if whole.refusal is None and whole.error is None:
            return Status.ONLY_VROOT, (f"expected an error, as in uproot: {expected}",)
        return (Status.UPROOT_WRONG if branch.correction else Status.UPROOT_CANNOT), ()
    if whole.error is not None:
        return Status.REFUSED, (str(whole.error),)
    if whole.refusal is not None:
        reason = whole.refusal.message
        if find_mark(branch, reason, marks) is not None:
            return Status.NOT_YET, (reason,)
        marked = find_mark(branch, None, marks)
        expectation = f"marked with {marked.reason!r}" if marked else "no mark covers it"
        return Status.REFUSED, (f"{whole.refusal} ({expectation})",)
    details = [
        f"entries {entries.start}:{entries.stop}: {line}"
        for entries, reading in zip(branch.ranges, readings, strict=True)
        for line in describe(entries.outcome, reading)
    ]
    if details:
        return Status.DIFFERENT, tuple(details)
    mark = find_mark(branch, None, marks)
    if mark is not None:
        return Status.UNEXPECTED, (f"read right: remove or narrow {mark}",)
    return (Status.UPROOT_WRONG if branch.correction else Status.IDENTICAL), ()


def describe(expected: object, reading: Reading) -> list[str]:
    """Say how one range was not read as expected."""
    failure = reading.refusal or reading.error
    if isinstance(expected, FailureRecord):
        return [] if failure else [f"uproot raised {expected}, vroot read it"]
    return [f"raised {failure}"] if failure else list(reading.differences)


def not_run(record: FileRecord, why: Sequence[str]) -> list[BranchResult]:
    """Return the verdicts on a file that could not be compared: all of them failures.

    Parameters
    ----------
    record : FileRecord
        What uproot gave.
    why : sequence of str
        The reason.
    """
    results = [BranchResult(FILE, Status.NOT_RUN, details=tuple(why))]
    for tree in (*record.trees, *record.ntuples):
        results += tree_not_run(tree, why[:1])
    return results


def tree_not_run(tree: TreeRecord, why: Sequence[str]) -> list[BranchResult]:
    """Return the verdicts on a tree that could not be compared, and on its branches."""
    results = [BranchResult(TREE, Status.NOT_RUN, tree.key, details=tuple(why))]
    results += [result(tree, branch, Status.NOT_RUN, why) for branch in tree.branches]
    return results


def result(
    tree: TreeRecord, branch: BranchRecord, status: Status, details: Sequence[str]
) -> BranchResult:
    """Return the verdict on a branch, with what identifies the branch."""
    return BranchResult(
        branch.kind,
        status,
        tree.key,
        branch.name_path,
        branch.index_path,
        tuple(details),
        branch.correction,
    )
