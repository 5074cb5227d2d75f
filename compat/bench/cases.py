"""The cases of the benchmark, and their goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import uproot

import vroot
from compat.bench import operations
from compat.bench.generate import COMPRESSIONS, Data
from compat.bench.limit import find_payloads, read_all
from compat.bench.measure import Goal, Result, median_seconds, same_arrays
from compat.bench.memory import peak_bytes
from compat.bench.operations import TREE, Files, Operation

__all__ = ["CASES", "Case", "WrongAnswerError", "run_case"]


class WrongAnswerError(Exception):
    """The two readers do not agree, so that their times say nothing."""


@dataclass(frozen=True)
class Case:
    """What is timed on which data.

    Parameters
    ----------
    name, title : str
        For the command line, and for the table.
    data : callable
        Gives the files.
    operation : callable
        What both readers do.
    goal : Goal
        What vroot is to reach.
    ours : callable, optional
        What vroot does, if that is not the operation.
    checked : callable, optional
        Gives what is compared, if the operation's result does not hold all of it.
    same : callable
        Compares what uproot's and vroot's operation gave.
    limit, memory : bool
        Whether the limit of reading the whole tree is timed, and whether the peak memories
        are measured.
    """

    name: str
    title: str
    data: Callable[[Data], Files]
    operation: Operation
    goal: Goal
    ours: Operation | None = None
    checked: Operation | None = None
    same: Callable[[Any, Any], bool] = same_arrays
    limit: bool = False
    memory: bool = True


def same_lists(expected: list[str], got: list[str]) -> bool:
    """Compare two lists of names."""
    return expected == got


def same_steps(expected: Iterable[Any], got: Iterable[Any]) -> bool:
    """Compare two sequences of arrays."""
    return all(same_arrays(*pair) for pair in zip(expected, got, strict=True))


def same_listing(expected: list[str], references: dict[str, Any]) -> bool:
    """Compare names with those in references."""
    return expected == list(vroot.open(references)[TREE].keys())


def run_case(case: Case, data: Data, repeat: int) -> Result:
    """Compare the two answers, untimed, and then measure.

    Parameters
    ----------
    case : Case
        What to measure.
    data : Data
        Makes the files.
    repeat : int
        How often each function is timed.

    Returns
    -------
    Result
        The figures.

    Raises
    ------
    WrongAnswerError
        If the two readers do not agree.
    compat.data.DataError
        If the case needs real files that are not there.
    """
    files = case.data(data)
    ours = case.ours or case.operation
    answers = (
        (case.checked or case.operation)(uproot, files),
        (case.checked or ours)(vroot, files),
    )
    if not case.same(*answers):
        raise WrongAnswerError(f"{case.name}: the answers differ")
    del answers
    functions = [partial(case.operation, uproot, files), partial(ours, vroot, files)]
    if case.limit:
        payloads = find_payloads(files.root, files.tree)
        functions.append(partial(read_all, files.root, payloads))
    seconds = median_seconds(functions, repeat)
    memories: tuple[int | None, int | None] = (None, None)
    if case.memory:
        memories = (
            peak_bytes("uproot", case.operation, files),
            peak_bytes("vroot", ours, files),
        )
    return Result(
        case.name,
        case.title,
        seconds[0],
        seconds[1],
        case.goal,
        seconds[2] if case.limit else None,
        *memories,
    )


def _tree(name: str, data: Data) -> Files:
    return data.tree(name)


def _whole(name: str, goal: Goal) -> Case:
    words = "uncompressed" if name == "none" else name
    title = f"whole tree, 75 columns, {words}"
    return Case(name, title, partial(_tree, name), operations.whole, goal, limit=True)


def _zlib(data: Data) -> Files:
    return data.tree("zlib")


def _mini(data: Data) -> Files:
    return data.real("uproot-issue-816.root", "AnalysisMiniTree")


def _physlite(data: Data) -> Files:
    return data.real("uproot-issue-951.root", "CollectionTree")


WHOLE_GOALS = {
    "zlib": Goal(of_limit=1.25),
    "zstd": Goal(of_limit=1.3),
    "lz4": Goal(of_limit=1.8),
    "none": Goal(of_limit=2.0),
    "lzma": Goal(of_limit=1.1),
}

CASES = {
    case.name: case
    for case in [
        *(_whole(name, WHOLE_GOALS[name]) for name in COMPRESSIONS),
        Case(
            "small",
            "9,000 zstd baskets of 500 entries",
            Data.small_baskets,
            operations.whole,
            Goal(of_limit=1.8),
            limit=True,
        ),
        Case(
            "branch",
            "open, one of 1,500 branches",
            Data.wide,
            operations.one_branch,
            Goal(ratio=10),
        ),
        Case(
            "keys",
            "open, keys of 1,500 branches",
            Data.wide,
            operations.keys,
            Goal(ratio=10),
            same=same_lists,
        ),
        Case(
            "ls",
            "the same as a process: vroot ls",
            Data.wide,
            operations.list_process,
            Goal(seconds=0.25),
            same=same_lists,
            memory=False,
        ),
        Case(
            "vectors",
            "std::vector<float>, 23 branches",
            _mini,
            operations.vectors,
            Goal(ratio=3),
        ),
        Case(
            "nested",
            "vectors of vectors, 8 branches",
            _mini,
            operations.nested,
            Goal(ratio=3),
        ),
        Case(
            "physlite",
            "322 branches of both, 50 entries",
            _physlite,
            operations.many_vectors,
            Goal(ratio=3),
        ),
        Case("strings", "strings, 4 columns", Data.strings, operations.whole, Goal(ratio=3)),
        Case(
            "range",
            "one basket of each of 50 columns",
            _zlib,
            operations.entry_range,
            Goal(ratio=5),
        ),
        Case(
            "iterate",
            'iterate("50 MB"), zlib',
            _zlib,
            operations.iterate,
            Goal(ratio=4, of_memory=0.6),
            checked=operations.steps,
            same=same_steps,
        ),
        Case("ntuple", "whole RNTuple, zstd", Data.ntuple, operations.whole, Goal(ratio=3)),
        Case(
            "cut",
            "3 expressions with a cut, zlib",
            _zlib,
            operations.expressions,
            Goal(ratio=2),
        ),
        Case(
            "scan",
            "scan of 30,000 baskets / keys",
            Data.wide,
            operations.keys,
            Goal(ratio=1 / 3),
            ours=operations.scan,
            same=same_listing,
        ),
    ]
}
