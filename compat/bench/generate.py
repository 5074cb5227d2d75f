"""The data of the benchmarks: seeded, written with uproot's writer, and scanned.

The tree is like a NanoAOD: 75 columns, of which 51 are jagged and share four counters, about
1,000 bytes an event. Floating-point values keep 8 to 12 bits of their mantissa, as there, so that
they compress as there: two to three times with zlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import awkward as ak
import numpy as np
import numpy.typing as npt
import uproot

import vroot
from compat.bench.operations import TREE, Files
from compat.data import data_files

__all__ = ["COMPRESSIONS", "Data", "make_collection", "write_tree", "write_wide"]

Columns: TypeAlias = dict[str, Any]

ENTRIES = 200_000
ENTRIES_PER_BASKET = 9_000  # 120 kB for a column of average size
SMALL_ENTRIES, SMALL_ENTRIES_PER_BASKET = 60_000, 500
WIDE_BRANCHES, WIDE_BASKETS, WIDE_ENTRIES_PER_BASKET = 1500, 20, 500

COMPRESSIONS = {
    "zlib": uproot.ZLIB(1),
    "zstd": uproot.ZSTD(5),
    "lz4": uproot.LZ4(1),
    "none": None,
    "lzma": uproot.LZMA(1),
}

#: Collections: mean number of items, and how many columns of floats, of integers and of flags.
COLLECTIONS = {
    "Jet": (5.0, 14, 3, 3),
    "GenPart": (12.0, 4, 2, 0),
    "Muon": (1.5, 8, 3, 2),
    "Electron": (1.2, 8, 3, 1),
}
KINEMATICS = ("pt", "eta", "phi", "mass")
MET = ("MET_pt", "MET_phi", "MET_significance", "MET_sumEt", "MET_covXX")
OTHERS = ("PV_x", "PV_y", "PV_z", "genWeight")


def truncate(values: npt.NDArray[Any], bits: int) -> npt.NDArray[np.float32]:
    """Round floats to so many bits of mantissa."""
    dropped = 23 - bits
    words = values.astype(np.float32).view(np.uint32)
    rounded = (words + np.uint32(1 << (dropped - 1))) & np.uint32(-1 << dropped & 0xFFFFFFFF)
    return rounded.view(np.float32)


def _float(rng: np.random.Generator, name: str, size: int) -> npt.NDArray[np.float32]:
    if name.endswith(("pt", "mass", "sumEt")):
        return truncate(10 + rng.exponential(25, size), 10)
    if name.endswith("phi"):
        return truncate(rng.uniform(-np.pi, np.pi, size), 12)
    return truncate(rng.normal(0, 1.5, size), 8)


def make_collection(rng: np.random.Generator, entries: int, name: str) -> Any:
    """Make a collection of `COLLECTIONS`, as a jagged array of records."""
    mean, floats, integers, flags = COLLECTIONS[name]
    counts = rng.poisson(mean, entries)
    items = int(counts.sum())
    columns: Columns = {}
    for field in [*KINEMATICS, *(f"float{i}" for i in range(floats))][:floats]:
        columns[field] = _float(rng, field, items)
    for i in range(integers):
        columns[f"int{i}"] = rng.geometric(0.2, items).astype(np.int32) - 1
    for i in range(flags):
        columns[f"flag{i}"] = rng.random(items) < 0.2
    return ak.zip({field: ak.unflatten(values, counts) for field, values in columns.items()})


def make_events(entries: int) -> Columns:
    """Make a tree like a NanoAOD.

    Parameters
    ----------
    entries : int
        Number of events.

    Returns
    -------
    dict of str to array
        Flat columns, and a jagged array of records for each collection.
    """
    rng = np.random.default_rng(20)
    columns: Columns = {
        "run": np.full(entries, 325_022, np.uint32),
        "luminosityBlock": (1 + np.arange(entries) // 1000).astype(np.uint32),
        "event": np.cumsum(rng.integers(1, 900, entries)).astype(np.uint64),
    }
    columns |= {name: _float(rng, name, entries) for name in (*MET, *OTHERS)}
    columns |= {f"HLT_path{i}": rng.random(entries) < 0.5 / (i + 1) for i in range(8)}
    columns |= {name: make_collection(rng, entries, name) for name in COLLECTIONS}
    return columns


def make_strings(entries: int) -> Columns:
    """Make four columns of strings, of a few to a few tens of characters."""
    rng = np.random.default_rng(21)
    columns: Columns = {}
    for i, longest in enumerate((8, 16, 32, 64)):
        counts = rng.integers(0, longest + 1, entries)
        letters = rng.integers(97, 97 + 8, int(counts.sum())).astype(np.uint8)
        content = ak.contents.NumpyArray(letters, parameters={"__array__": "char"})
        offsets = ak.index.Index64(np.concatenate([[0], np.cumsum(counts)]))
        columns[f"name{i}"] = ak.Array(
            ak.contents.ListOffsetArray(offsets, content, parameters={"__array__": "string"})
        )
    return columns


def make_fields(entries: int) -> Columns:
    """Make fields of the kinds of an RNTuple that uproot writes and reads.

    There is no std::variant among them: of several clusters, uproot 5.7.7 reads the first one again
    and again.
    """
    rng = np.random.default_rng(22)
    strings = make_strings(entries)
    number = np.arange(entries)
    columns: Columns = {"event": number, "string": strings["name1"]}
    columns |= {f"float{i}": _float(rng, "pt", entries) for i in range(8)}
    columns |= {f"double{i}": rng.normal(size=entries) for i in range(2)}
    columns |= {f"int{i}": rng.geometric(0.2, entries).astype(np.int32) for i in range(4)}
    columns |= {f"flag{i}": rng.random(entries) < 0.3 for i in range(4)}
    columns |= {name: make_collection(rng, entries, name) for name in COLLECTIONS}
    for i in range(4):
        counts = rng.poisson(2, entries)
        inner = rng.poisson(3, int(counts.sum()))
        values = _float(rng, "pt", int(inner.sum()))
        columns[f"vector{i}"] = ak.unflatten(_float(rng, "pt", int(counts.sum())), counts)
        columns[f"nested{i}"] = ak.unflatten(ak.unflatten(values, inner), counts)
    columns["array"] = ak.to_regular(ak.Array(rng.normal(size=(entries, 3))))
    # Of an option by mask, uproot 5.7.7 would write the values that are masked as well.
    optional = ak.to_layout(ak.mask(ak.Array(number), number % 3 == 0))
    columns["optional"] = ak.Array(optional.to_IndexedOptionArray64())
    columns["pair"] = ak.zip((number, rng.normal(size=entries)))
    return columns


def write_tree(
    path: Path, columns: Mapping[str, Any], entries_per_basket: int, compression: Any
) -> None:
    """Write columns into a tree, of which every branch gets a basket for so many entries."""
    entries = len(next(iter(columns.values())))
    starts = range(0, entries, entries_per_basket)
    types = {
        name: array.dtype if isinstance(array, np.ndarray) else array.type.content
        for name, array in columns.items()
    }
    with uproot.recreate(path, compression=compression) as file:
        tree = file.mktree(TREE, types, initial_basket_capacity=len(starts))
        for start in starts:
            stop = start + entries_per_basket
            tree.extend({name: array[start:stop] for name, array in columns.items()})


def write_wide(path: Path, branches: int, baskets: int) -> None:
    """Write a file like a NanoAOD with all its trigger flags: many branches, small baskets."""
    rng = np.random.default_rng(1)
    columns: Columns = {}
    for i in range(branches):
        values = rng.integers(0, 2, baskets * WIDE_ENTRIES_PER_BASKET)
        columns[f"HLT_path_number_{i:04d}"] = values.astype(("?", "f4", "i4")[i % 3])
    write_tree(path, columns, WIDE_ENTRIES_PER_BASKET, uproot.ZLIB(1))


def write_ntuple(path: Path, columns: Mapping[str, Any], entries_per_cluster: int) -> None:
    """Write columns into an RNTuple."""
    fields = ak.Array(
        ak.contents.RecordArray([ak.to_layout(each) for each in columns.values()], list(columns))
    )
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        ntuple = file.mkrntuple(TREE, fields.layout.form)
        for start in range(0, len(fields), entries_per_cluster):
            ntuple.extend(fields[start : start + entries_per_cluster])


class Data:
    """The files of one run, each made when a case first asks for it.

    Parameters
    ----------
    folder : pathlib.Path
        Where they are written.
    scale : float
        Size of the data, relative to that of the cases as they are described.
    """

    def __init__(self, folder: Path, scale: float = 1.0) -> None:
        self.folder = folder
        self.scale = scale
        self._made: dict[str, Files] = {}

    @cached_property
    def events(self) -> Columns:
        """The tree like a NanoAOD; the case of an entry range needs its first two baskets."""
        return make_events(max(self.scaled(ENTRIES), 2 * ENTRIES_PER_BASKET))

    def scaled(self, number: int) -> int:
        """Scale a number of entries or branches."""
        return max(1, round(number * self.scale))

    def tree(self, compression: str) -> Files:
        """Give the tree like a NanoAOD with a compression of `COMPRESSIONS`."""
        algorithm = COMPRESSIONS[compression]
        return self.make(
            f"tree-{compression}",
            lambda path: write_tree(path, self.events, ENTRIES_PER_BASKET, algorithm),
        )

    def small_baskets(self) -> Files:
        """Give the same tree with thousands of baskets of a few kB, in zstd."""
        entries = max(self.scaled(SMALL_ENTRIES), SMALL_ENTRIES_PER_BASKET)

        def write(path: Path) -> None:
            columns = make_events(entries)
            write_tree(path, columns, SMALL_ENTRIES_PER_BASKET, COMPRESSIONS["zstd"])

        return self.make("small", write)

    def wide(self) -> Files:
        """Give a tree of many branches."""
        branches = self.scaled(WIDE_BRANCHES)
        return self.make("wide", lambda path: write_wide(path, branches, WIDE_BASKETS))

    def strings(self) -> Files:
        """Give a tree of strings."""
        columns = make_strings(self.scaled(ENTRIES))
        return self.make(
            "strings", lambda path: write_tree(path, columns, 10_000, COMPRESSIONS["zlib"])
        )

    def ntuple(self) -> Files:
        """Give an RNTuple with fields of all kinds."""
        columns = make_fields(self.scaled(ENTRIES // 2))
        return self.make("ntuple", lambda path: write_ntuple(path, columns, 20_000))

    def real(self, name: str, tree: str) -> Files:
        """Give a file of the comparison's data folder, for uproot's writer has no such branches.

        Raises
        ------
        compat.data.DataError
            If there is no such folder, or no such file in it.
        """
        (path,) = data_files(name)
        refs = self.folder / f"{name}.json"
        if not refs.exists():
            vroot.scan(path, refs)
        return Files(path, refs, tree)

    def make(self, name: str, write: Callable[[Path], None]) -> Files:
        """Write a file and scan it, if that is not done yet.

        Parameters
        ----------
        name : str
            Its name, without the suffix.
        write : callable
            Writes it.

        Returns
        -------
        Files
            The file and its references.
        """
        if name not in self._made:
            files = Files(self.folder / f"{name}.root", self.folder / f"{name}.json")
            write(files.root)
            vroot.scan(files.root, files.refs)
            self._made[name] = files
        return self._made[name]
