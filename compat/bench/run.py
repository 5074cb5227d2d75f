"""Time vroot against uproot, both in one run, as medians of interleaved repetitions.

``python compat/bench/run.py [case …] [--repeat N] [--json FILE]``; the files are generated, seeded,
in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import uproot

import vroot

BRANCHES = 1500
BASKETS = 20
ENTRIES_PER_BASKET = 500


@dataclass(frozen=True)
class Result:
    """Medians of one case.

    Parameters
    ----------
    case : str
        What was timed.
    baseline_s, vroot_s : float
        Seconds that uproot (or what the case names) and vroot took.
    """

    case: str
    baseline_s: float
    vroot_s: float

    @property
    def ratio(self) -> float:
        """How many times longer the baseline took."""
        return self.baseline_s / self.vroot_s


def write_wide(path: Path) -> None:
    """Write a file like a NanoAOD with all its trigger flags: many branches, small baskets."""
    rng = np.random.default_rng(1)
    dtypes = [np.dtype(("?", "f4", "i4")[i % 3]) for i in range(BRANCHES)]
    names = [f"HLT_path_number_{i:04d}" for i in range(BRANCHES)]
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("Events", dict(zip(names, dtypes, strict=True)))
        for _ in range(BASKETS):
            values = rng.integers(0, 2, (BRANCHES, ENTRIES_PER_BASKET))
            tree.extend(
                {
                    name: row.astype(dtype)
                    for name, row, dtype in zip(names, values, dtypes, strict=True)
                }
            )


def interleave(case: str, baseline: Callable[[], object], ours: Callable[[], object],
               repeat: int) -> Result:  # fmt: skip
    """Time two functions in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for function, into in zip((baseline, ours), times, strict=True):
            start = time.perf_counter()
            function()
            into.append(time.perf_counter() - start)
    return Result(case, *(statistics.median(each) for each in times))


def scan(folder: Path, repeat: int) -> list[Result]:
    """Scanning, and opening what was scanned, against uproot's opening and listing."""
    path, refs = folder / "wide.root", folder / "refs.json"
    write_wide(path)
    size = f"{BRANCHES} branches, {BRANCHES * BASKETS} baskets"

    def uproot_listing() -> None:
        with uproot.open(path) as file:
            file["Events"].keys()

    def vroot_listing() -> None:
        vroot.open(refs)["Events"].keys()

    def vroot_scan() -> None:
        vroot.scan(path, refs)

    return [
        interleave(f"scan ({size}) / open + keys", uproot_listing, vroot_scan, repeat),
        interleave(f"open + keys ({size})", uproot_listing, vroot_listing, repeat),
    ]


CASES: dict[str, Callable[[Path, int], list[Result]]] = {"scan": scan}


def main() -> None:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="*", choices=[[], *CASES], help="cases (default: all)")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions (default: 5)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    results: list[Result] = []
    for name in options.case or CASES:
        with tempfile.TemporaryDirectory() as folder:
            results += CASES[name](Path(folder), options.repeat)
    print(f"{'case':70} {'uproot s':>9} {'vroot s':>9} {'ratio':>7}")
    for result in results:
        print(
            f"{result.case:70} {result.baseline_s:9.4f} {result.vroot_s:9.4f} {result.ratio:7.2f}"
        )
    if options.json is not None:
        rows = [asdict(result) | {"ratio": result.ratio} for result in results]
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
