"""Compare vroot with uproot: every branch of every tree of every file.

Run it from the top of the repository:

    VROOT_ROOTFILES=<folder of ROOT files> python -m compat.census

Without that variable the files of the package scikit-hep-testdata are used, if it is installed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import queue
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from compat.census.records import RECORD, BranchResult, FileRecord, FileResult, Status
from compat.census.verdict import FILE, not_run
from compat.census.workers import Worker, WorkerError
from compat.data import DataError, data_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["main"]

STEP_SECONDS = 300.0
MAX_FAILURE_LINES = 150
MAX_DETAILS = 3
MAX_DETAIL_LINES = 40
MAX_CHARACTERS = 400

# Failures that differ in numbers alone are taken for the same.
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


class Lane:
    """The processes through which files go one after another."""

    def __init__(self) -> None:
        self.oracle = Worker("oracle", STEP_SECONDS)
        self.scan = Worker("scan", STEP_SECONDS)
        self.reader = Worker("reader", STEP_SECONDS)

    def compare(self, path: Path) -> FileResult:
        """Compare one file."""
        seconds: dict[str, float] = {}
        with tempfile.TemporaryDirectory(prefix="vroot-census-") as name:
            folder, references = Path(name), Path(name, "refs.json")
            steps = (
                (self.oracle, (path, folder)),
                (self.scan, (path, references)),
                (self.reader, (folder, references)),
            )
            results: list[BranchResult] = []
            for worker, arguments in steps:
                begin = time.perf_counter()
                try:
                    results = worker(*arguments)
                except WorkerError as error:
                    why = [f"{worker.role}: {error}", *([error.trace] if error.trace else [])]
                    results = give_up(folder / RECORD, why)
                    break
                finally:
                    seconds[worker.role] = round(time.perf_counter() - begin, 3)
        return FileResult(path.name, results, seconds)

    def close(self) -> None:
        """End the processes."""
        for worker in (self.oracle, self.scan, self.reader):
            worker.close()


def give_up(record: Path, why: Sequence[str]) -> list[BranchResult]:
    """Return the failures of a file that could not be compared, as far as its record goes."""
    if not record.exists():
        return [BranchResult(FILE, Status.NOT_RUN, details=tuple(why))]
    return not_run(msgspec.msgpack.decode(record.read_bytes(), type=FileRecord), why)


def compare_files(paths: Sequence[Path], jobs: int) -> list[FileResult]:
    """Compare files, some at the same time.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    jobs : int
        How many at a time.

    Returns
    -------
    list of FileResult
        In the order of the names.
    """
    lanes = [Lane() for _ in range(jobs)]
    free: queue.SimpleQueue[Lane] = queue.SimpleQueue()
    for lane in lanes:
        free.put(lane)

    def compare(path: Path) -> FileResult:
        lane = free.get()
        try:
            return lane.compare(path)
        finally:
            free.put(lane)

    results = []
    pool = ThreadPoolExecutor(jobs)
    try:
        # The largest first: none of them should be the last one, with the other lanes idle.
        by_size = sorted(paths, key=lambda path: path.stat().st_size, reverse=True)
        for future in as_completed([pool.submit(compare, path) for path in by_size]):
            results.append(future.result())
            if len(results) % 20 == 0 or len(results) == len(paths):
                print(f"{len(results)} of {len(paths)} files", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for lane in lanes:
            lane.close()
    return sorted(results, key=lambda result: result.name)


Census = dict[str, Counter[Status]]


def count(files: Iterable[FileResult]) -> Census:
    """Count the verdicts for each kind."""
    census: defaultdict[str, Counter[Status]] = defaultdict(Counter)
    for file in files:
        for result in file.results:
            census[result.kind][result.status] += 1
    return dict(sorted(census.items()))


def table(census: Census) -> list[str]:
    """Lay the census out as lines of text; only verdicts that occur have a column."""
    total = sum(census.values(), Counter[Status]())
    columns = [status for status in Status if total[status]]
    rows = [["kind", *columns, "all"]]
    for kind, counts in (*census.items(), ("all", total)):
        numbers = [counts[status] for status in columns]
        rows.append([kind, *(str(n or "-") for n in numbers), str(sum(numbers))])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        row[0].ljust(widths[0])
        + "".join("  " + text.rjust(w) for text, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    rule = "-" * len(lines[0])
    return [lines[0], rule, *lines[1:-1], rule, lines[-1]]


def failures(files: Iterable[FileResult]) -> list[str]:
    """Describe what failed: failures of one kind that say the same are shown once, by the first."""
    groups: defaultdict[tuple[str, Status, str], list[tuple[str, BranchResult]]] = defaultdict(list)
    for file in files:
        for result in file.results:
            if result.status.passed:
                continue
            # What was not run is described by the first line about it, of the file or tree.
            kind = "" if result.status is Status.NOT_RUN else result.kind
            gist = NUMBER.sub("#", result.details[0]) if result.details else ""
            groups[kind, result.status, gist].append((file.name, result))
    lines = []
    for group in sorted(groups.values(), key=len, reverse=True):
        name, first = group[0]
        index = str(list(first.index_path)) if first.index_path else ""
        place = " ".join(filter(None, (name, first.tree, first.branch, index)))
        if len(group) > 1:
            place += f" (and {len(group) - 1} more, in {len({n for n, _ in group})} files)"
        lines.append(f"{first.status.upper()} {first.kind}: {place}")
        lines += [
            f"    {line[:MAX_CHARACTERS]}"
            for detail in first.details[:MAX_DETAILS]
            for line in detail.splitlines()[-MAX_DETAIL_LINES:]
        ]
    if len(lines) > MAX_FAILURE_LINES:
        left_out = len(lines) - MAX_FAILURE_LINES
        lines = [*lines[:MAX_FAILURE_LINES], f"... {left_out} more lines (--json has them all)"]
    return lines


def corrections(files: Iterable[FileResult]) -> list[str]:
    """Sum up the branches of which uproot gives wrong arrays or none."""
    groups: defaultdict[tuple[str, str, Status], list[str]] = defaultdict(list)
    for file in files:
        for result in file.results:
            if result.correction:
                groups[file.name, result.correction, result.status].append(result.branch)
    return [
        f"{name}: {reason}: {len(branches)} {status} ({', '.join(sorted(set(branches)))})"
        for (name, reason, status), branches in groups.items()
    ]


def versions() -> dict[str, str]:
    """Return the versions of what the result depends on."""
    packages = {name: importlib.metadata.version(name) for name in ("uproot", "awkward", "numpy")}
    return {"python": platform.python_version(), **packages}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; return 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m compat.census", description=__doc__)
    parser.add_argument("--files", metavar="GLOB", default="*.root", help="which files")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the whole result")
    options = parser.parse_args(arguments)
    try:
        paths = data_files(options.files)
    except DataError as error:
        print(f"census: {error}", file=sys.stderr)
        return 2
    begin = time.perf_counter()
    files = compare_files(paths, max(options.jobs, 1))
    seconds = time.perf_counter() - begin
    census = count(files)
    passed = sum(n for counts in census.values() for status, n in counts.items() if status.passed)
    failed = sum(sum(counts.values()) for counts in census.values()) - passed
    compared = sum(any(r.status is not Status.NOT_RUN for r in file.results) for file in files)
    used = versions()
    if options.json is not None:
        content = {
            "versions": used,
            "seconds": round(seconds, 1),
            "passed": passed,
            "failed": failed,
            "census": census,
            "files": files,
        }
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1))
    for title, lines in (("uproot wrong", corrections(files)), ("failures", failures(files))):
        if lines:
            print(f"{title}:", *lines, "", sep="\n")
    print(*table(census), "", sep="\n")
    print(f"{compared} of {len(paths)} files in {seconds:.0f} s;", *map(" ".join, used.items()))
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and compared > 0 else 1
