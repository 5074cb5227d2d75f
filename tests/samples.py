"""ROOT files that uproot writes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

ENTRIES = 1000
BASKETS = (0, 300, 301, 777, ENTRIES)


def events(seed: int = 1) -> dict[str, Any]:
    """Columns of every kind that uproot writes."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, ENTRIES)
    total = int(counts.sum())
    pt = ak.unflatten(rng.exponential(30.0, total).astype("f4"), counts)
    charge = ak.unflatten(rng.integers(-1, 2, total).astype("i4"), counts)
    return {
        "run": np.arange(ENTRIES, dtype="u4"),
        "met": rng.normal(size=ENTRIES).astype("f4"),
        "weight": rng.normal(size=ENTRIES),
        "good": rng.integers(0, 2, ENTRIES).astype(bool),
        "matrix": rng.normal(size=(ENTRIES, 2, 3)).astype("f4"),
        "Muon": ak.zip({"pt": pt, "charge": charge}),
        "label": ak.Array([f"event {i} " + "x" * (i % 300) for i in range(ENTRIES)]),
    }


def write_tree(path: Path, compression: Any, columns: dict[str, Any] | None = None) -> Path:
    """Write a tree "Events" with uneven baskets in a directory, and one without entries."""
    columns = events() if columns is None else columns
    with uproot.recreate(path, compression=compression) as file:
        types = {name: ak.type(array[:1]).content for name, array in columns.items()}
        types = {
            name: array.dtype if isinstance(array, np.ndarray) and array.ndim == 1 else types[name]
            for name, array in columns.items()
        }
        tree = file.mktree("Events", types, title="all the events")
        for start, stop in pairwise(BASKETS):
            tree.extend({name: array[start:stop] for name, array in columns.items()})
        below = file.mktree("dir/sub/small", {"x": np.dtype("i8")})
        below.extend({"x": np.arange(5)})
        # Baskets that all shrink, so that each is a single compressed block.
        steady = file.mktree("Steady", {"x": np.dtype("i4"), "v": np.dtype(("f8", (2,)))})
        for start, stop in ((0, 400), (400, 500), (500, ENTRIES)):
            x = np.arange(start, stop, dtype="i4") // 7
            steady.extend({"x": x, "v": np.stack([x, -x], axis=1).astype("f8")})
        file.mktree("nothing", {"x": np.dtype("f8"), "y": "var * int32"})
        file["hist"] = np.histogram(np.arange(10))
    return path


COMPRESSIONS = {
    "zlib": uproot.ZLIB(1),
    "lzma": uproot.LZMA(1),
    "lz4": uproot.LZ4(1),
    "zstd": uproot.ZSTD(1),
    "none": None,
}
