"""How time grows with the number of baskets, branches, files and threads.

``python compat/bench/growth.py [--repeat N] [--scale F] [--plot FILE]``

Prints a table, with the slope of each curve in the logarithms of both axes over its upper half (1
is linear, less is better than linear), and draws it, for which it needs the extra ``bench``. As in
`compat.bench.run`, the times are medians of interleaved repetitions from a fresh open, of files in
the page cache.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

if not __package__:
    # Run as a file, this folder is searched for modules instead of the one above the package.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import numpy as np
import uproot

import vroot
from compat.bench import operations
from compat.bench.generate import COMPRESSIONS, Data, make_collection, write_tree, write_wide
from compat.bench.machine import describe_machine
from compat.bench.measure import median_seconds
from compat.bench.operations import TREE, Files, is_uproot, open_file

__all__ = ["Curve", "measure_curves"]

COLLECTION, COLUMNS = "Muon", 14  # a collection and its counter
ENTRIES_PER_BASKET = 500
BASKETS_PER_COLUMN = (20, 40, 80, 160, 320, 640)
BRANCHES = (100, 200, 400, 800, 1600, 3200)
FILES = (1, 2, 4, 8, 16, 32)
MOST_THREADS_PER_CORE = 2
COLOURS = {"uproot": "#c44e52", "vroot": "#2c5f9e"}


@dataclass(frozen=True)
class Curve:
    """Times against a number.

    Parameters
    ----------
    title, of : str
        What was timed, and what the number counts.
    numbers : tuple of int
        The numbers, ascending.
    uproot_s, vroot_s : tuple of float
        Median times in seconds.
    """

    title: str
    of: str
    numbers: tuple[int, ...]
    uproot_s: tuple[float, ...]
    vroot_s: tuple[float, ...]

    def slope(self, seconds: Sequence[float]) -> float:
        """Fit the exponent with which one of the times grows over the upper half."""
        half = min(len(self.numbers) // 2, len(self.numbers) - 2)
        x, y = np.log(self.numbers[half:]), np.log(seconds[half:])
        return float(np.polyfit(x, y, 1)[0])


def _curve(
    title: str,
    of: str,
    points: Sequence[tuple[int, Callable[[Any], object]]],
    repeat: int,
) -> Curve:
    """Time both readers at each number."""
    seconds = []
    for _, function in points:
        functions = [partial(function, uproot), partial(function, vroot)]
        median_seconds(functions, 1)  # what a process does only once, such as imports
        seconds.append(median_seconds(functions, repeat))
    theirs, ours = zip(*seconds, strict=True)
    return Curve(title, of, tuple(number for number, _ in points), theirs, ours)


def _on_files(operation: operations.Operation, files: Any) -> Callable[[Any], object]:
    return lambda reader: operation(reader, files)


def _collection(data: Data, name: str, baskets: int) -> Files:
    rng = np.random.default_rng(30)
    columns = {COLLECTION: make_collection(rng, baskets * ENTRIES_PER_BASKET, COLLECTION)}
    return data.make(
        name,
        lambda path: write_tree(path, columns, ENTRIES_PER_BASKET, COMPRESSIONS["zstd"]),
    )


def concatenate(reader: Any, files: Sequence[Files]) -> Any:
    """Read the trees of several files into one array."""
    if is_uproot(reader):
        # This opens them without caches on its own.
        return reader.concatenate([{each.root: TREE} for each in files])
    return reader.concatenate([{each.refs: TREE} for each in files])


def read_in_threads(reader: Any, files: Files, threads: int) -> Any:
    """Read a whole tree, decompressing on so many threads."""
    with ThreadPoolExecutor(threads) as pool, open_file(reader, files) as file:
        return file[files.tree].arrays(decompression_executor=pool)


def measure_curves(data: Data, repeat: int) -> list[Curve]:
    """Measure all curves.

    Parameters
    ----------
    data : Data
        Makes the files.
    repeat : int
        How often each point is timed.

    Returns
    -------
    list of Curve
        One each for baskets, branches, files and threads.
    """
    numbers = sorted({data.scaled(number) for number in BASKETS_PER_COLUMN})
    baskets = [
        (COLUMNS * n, _on_files(operations.whole, _collection(data, f"baskets-{n}", n)))
        for n in numbers
    ]
    branches = [
        (n, _on_files(operations.one_branch, data.make(f"wide-{n}", partial(_wide, n))))
        for n in sorted({data.scaled(number) for number in BRANCHES})
    ]
    many = [_collection(data, f"file-{i}", 10) for i in range(max(FILES))]
    files = [(n, partial(concatenate, files=many[:n])) for n in FILES]
    cores = os.cpu_count() or 1
    tree = data.tree("zlib")
    threads = [
        (1 << i, partial(read_in_threads, files=tree, threads=1 << i))
        for i in range((MOST_THREADS_PER_CORE * cores).bit_length())
    ]
    return [
        _curve(f"whole tree of {COLUMNS} columns", "baskets", baskets, repeat),
        _curve("open, read one branch", "branches", branches, repeat),
        _curve("concatenate", "files", files, repeat),
        _curve("whole tree, zlib", "threads", threads, repeat),
    ]


def _wide(branches: int, path: Path) -> None:
    write_wide(path, branches, baskets=5)


def print_table(curves: Sequence[Curve]) -> None:
    """Print the times and the slopes."""
    for curve in curves:
        print(f"\n{curve.title}\n{curve.of:>10} {'uproot s':>10} {'vroot s':>10} {'ratio':>7}")
        rows = zip(curve.numbers, curve.uproot_s, curve.vroot_s, strict=True)
        for number, theirs, ours in rows:
            print(f"{number:10} {theirs:10.4f} {ours:10.4f} {theirs / ours:7.2f}")
        slopes = [curve.slope(seconds) for seconds in (curve.uproot_s, curve.vroot_s)]
        print(f"{'slope':>10} {slopes[0]:10.2f} {slopes[1]:10.2f}")


def plot(curves: Sequence[Curve], path: Path) -> None:
    """Draw the curves side by side."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    # Text as text keeps the file small, and fixed names keep it the same from run to run.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 8}):
        figure = Figure(figsize=(3 * len(curves), 2.9), layout="constrained")
        panels = figure.subplots(1, len(curves), squeeze=False)[0]
        for panel, curve in zip(panels, curves, strict=True):
            for name, seconds in (("uproot", curve.uproot_s), ("vroot", curve.vroot_s)):
                panel.loglog(
                    curve.numbers, seconds, "o-", color=COLOURS[name], markersize=3, label=name
                )
            panel.set_title(curve.title, fontsize=9)
            panel.set_xlabel(curve.of)
            panel.set_xticks(curve.numbers, [str(number) for number in curve.numbers], rotation=45)
            panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.minorticks_off()
            panel.grid(visible=True, linewidth=0.4, alpha=0.5)
        panels[0].set_ylabel("seconds")
        panels[0].legend()
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default: 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the data (default: 1)")
    parser.add_argument(
        "--plot",
        type=Path,
        default=Path(__file__).with_name("growth.svg"),
        help="the picture, .svg or .png (default: growth.svg beside this program)",
    )
    options = parser.parse_args(argv)
    if options.repeat < 1 or options.scale <= 0:
        parser.error("not a positive number")
    print(", ".join(f"{name} {value}" for name, value in describe_machine().items()))
    with tempfile.TemporaryDirectory() as folder:
        curves = measure_curves(Data(Path(folder), options.scale), options.repeat)
    print_table(curves)
    plot(curves, options.plot)


if __name__ == "__main__":
    main()
