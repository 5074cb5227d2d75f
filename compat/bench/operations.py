"""What is timed: each operation is one function that runs with either reader.

vroot imitates uproot's names, so the module itself is the parameter. Every operation opens the file
afresh. Nothing here imports uproot or vroot: the processes in which memory is measured have one of
them only.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Files", "Operation", "is_uproot", "open_file"]

TREE = "Events"
ONE_BRANCH = "HLT_path_number_0000"
STEP_SIZE = "50 MB"
RANGE_COLUMNS = ["Jet_*", "Muon_*", "Electron_*", "MET_*"]
RANGE = (9_100, 9_900)
LOOPS = 20

LIST_BY_UPROOT = """
import sys, uproot
with uproot.open({sys.argv[1]: None}) as file:
    print(*file[sys.argv[2]].keys(), sep="\\n")
"""


@dataclass(frozen=True)
class Files:
    """A ROOT file and its references.

    Parameters
    ----------
    root, refs : pathlib.Path
        The two files.
    tree : str
        The tree or RNTuple in them that is read.
    """

    root: Path
    refs: Path
    tree: str = TREE


Operation: TypeAlias = Callable[[Any, Files], Any]


def is_uproot(reader: Any) -> bool:
    """Say which of the two modules this is."""
    return bool(reader.__name__ == "uproot")


def open_file(reader: Any, files: Files) -> Any:
    """Open a file as a process that has not read it before would."""
    if is_uproot(reader):
        # With its caches, uproot would answer from what an earlier repetition has read.
        return reader.open(files.root, object_cache=None, array_cache=None)
    return reader.open(files.refs)


def whole(reader: Any, files: Files) -> Any:
    """Read everything."""
    with open_file(reader, files) as file:
        return file[files.tree].arrays()


def one_branch(reader: Any, files: Files) -> Any:
    """Read one of many branches."""
    with open_file(reader, files) as file:
        return file[files.tree][ONE_BRANCH].array()


def keys(reader: Any, files: Files) -> list[str]:
    """List the branches."""
    with open_file(reader, files) as file:
        return list(file[files.tree].keys())


def list_process(reader: Any, files: Files) -> list[str]:
    """List the branches in a process of its own, which starts Python and imports the reader."""
    if is_uproot(reader):
        command = [sys.executable, "-c", LIST_BY_UPROOT, str(files.root), files.tree]
        return _lines(command)
    program = Path(sys.executable).with_name("vroot")
    lines = _lines([str(program), "ls", f"{files.refs}:{files.tree}"])
    # The heading and the line below it come first; none of these names has a space.
    return [line.split()[0] for line in lines[2:]]


def _lines(command: list[str]) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def entry_range(reader: Any, files: Files) -> Any:
    """Read a few entries, which are in one basket of each of 50 columns."""
    start, stop = RANGE
    with open_file(reader, files) as file:
        return file[files.tree].arrays(
            filter_name=RANGE_COLUMNS, entry_start=start, entry_stop=stop
        )


def steps(reader: Any, files: Files) -> Iterator[Any]:
    """Give the whole, step by step."""
    with open_file(reader, files) as file:
        yield from file[files.tree].iterate(step_size=STEP_SIZE)


def iterate(reader: Any, files: Files) -> int:
    """Read everything step by step and keep nothing of it."""
    return sum(len(part) for part in steps(reader, files))


def expressions(reader: Any, files: Files) -> Any:
    """Compute three columns of the entries that pass a cut."""
    with open_file(reader, files) as file:
        return file[files.tree].arrays(
            ["momentum", "Jet_pt", "MET_px"],
            cut="(nMuon >= 2) & (MET_pt > 20)",
            aliases={
                "momentum": "Muon_pt * cosh(Muon_eta)",
                "MET_px": "MET_pt * cos(MET_phi)",
            },
        )


def _loop(reader: Any, files: Files, typename: str, times: int) -> Any:
    """Read all branches of a type again and again, as if the file were so many times longer."""
    with open_file(reader, files) as file:
        tree = file[files.tree]
        for _ in range(times):
            result = tree.arrays(filter_typename=typename)
        return result


def vectors(reader: Any, files: Files) -> Any:
    """Read branches of vectors, each of which begins with a header, many times."""
    return _loop(reader, files, "std::vector<float>", LOOPS)


def nested(reader: Any, files: Files) -> Any:
    """Read branches of vectors of vectors, which AwkwardForth deserializes, many times."""
    return _loop(reader, files, "/std::vector<std::vector<.*>>/", LOOPS)


def many_vectors(reader: Any, files: Files) -> Any:
    """Read hundreds of small branches of vectors and of vectors of vectors, once."""
    return _loop(reader, files, "/std::vector<(float|std::vector<float>)>/", 1)


def scan(reader: Any, files: Files) -> Any:
    """Scan the file, and write the references again."""
    return reader.scan(files.root, files.refs)
