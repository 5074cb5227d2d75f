"""Time vroot against uproot and against the limit, all in one run.

``python compat/bench/run.py [case …] [--repeat N] [--scale F] [--json FILE]``

The times are medians of interleaved repetitions, each from a fresh open: the file is opened, read
and closed, with no caches of uproot's. Both readers run in one process that has imported them, the
ROOT files are in the system's page cache for both, and both have their default settings. Before
anything is timed, their answers are compared.

The limit is what `compat.bench.limit` describes, the peak memory what `compat.bench.memory` does.
The files are generated, seeded, in a temporary folder, except for those of the cases vectors,
nested and physlite: these are from the data folder of the comparison, and are left out without it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if not __package__:
    # Run as a file, this folder is searched for modules instead of the one above the package.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from compat.bench.cases import CASES, run_case
from compat.bench.generate import Data
from compat.bench.machine import describe_machine
from compat.bench.measure import Result
from compat.data import DataError

__all__ = ["main"]

HEADINGS = (
    "case", "uproot s", "vroot s", "ratio", "limit s", "x limit", "uproot MB", "vroot MB", "goal",
    "met",
)  # fmt: skip
LEFT_ALIGNED = ("case", "goal", "met")


def cells(result: Result, *, judged: bool) -> tuple[str, ...]:
    """Put a result into the cells of the table."""
    words = {True: "yes", False: "NO", None: "?"}

    def show(value: float | None, digits: int) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    def show_megabytes(value: int | None) -> str:
        return "" if value is None else f"{value / 1e6:.1f}"

    return (
        f"{result.case}: {result.title}",
        show(result.uproot_s, 4),
        show(result.vroot_s, 4),
        show(result.ratio, 2),
        show(result.limit_s, 4),
        show(result.of_limit, 2),
        show_megabytes(result.uproot_bytes),
        show_megabytes(result.vroot_bytes),
        str(result.goal),
        words[result.met] if judged else "-",
    )


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows under the headings."""
    lines = [HEADINGS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        aligned = [
            cell.ljust(width) if heading in LEFT_ALIGNED else cell.rjust(width)
            for heading, cell, width in zip(HEADINGS, line, widths, strict=True)
        ]
        print("  ".join(aligned).rstrip())


def main(argv: Sequence[str] | None = None) -> None:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions (default: 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the data (default: 1)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.case) - CASES.keys())
    if unknown or options.repeat < 1 or options.scale <= 0:
        parser.error(f"unknown cases: {unknown}" if unknown else "not a positive number")
    machine = describe_machine()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        data = Data(Path(folder), options.scale)
        for name in options.case or CASES:
            try:
                results.append(run_case(CASES[name], data, options.repeat))
            except DataError as error:
                print(f"{name}: left out: {error}")
    judged = options.scale == 1
    if not judged:
        print(f"The goals are for --scale 1, and not judged at {options.scale:g}.")
    print_table([cells(result, judged=judged) for result in results])
    if options.json is not None:
        options.json.write_text(
            json.dumps(
                {
                    "machine": machine,
                    "repeat": options.repeat,
                    "scale": options.scale,
                    "results": [result.row() for result in results],
                },
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
