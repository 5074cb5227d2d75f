"""What a ROOT file holds, as frozen plain data; every format is an edge around these classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.metadata.interpretations import (
    AsBits,
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsGrouped,
    AsInline,
    AsJagged,
    AsObjects,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Unsupported,
)

__all__ = [
    "BasketTable",
    "BranchSpec",
    "DirectorySpec",
    "IndexArray",
    "Manifest",
    "NTupleSpec",
    "ObjectSpec",
    "Source",
    "Spec",
    "Stored",
    "TreeSpec",
    "no_manifest",
]

IndexArray: TypeAlias = npt.NDArray[np.int64]

#: How the bytes of a column's chunks are stored. "blocks" are ROOT's compressed blocks with their
#: 9-byte headers (ROOT: core/zip/inc/RZip.h), "zlib", "zstd" and "xz" the bare stream of a single
#: block, and "mixed" is raw where the length is the uncompressed length, and blocks elsewhere.
Stored: TypeAlias = Literal["raw", "blocks", "mixed", "zlib", "zstd", "xz"]

MAX_BLOCK_BYTES = (1 << 24) - 1
MAX_TOTAL = 1 << 60  # entries or bytes of a column; sums of both then fit 64 bits
BLOCK_HEADER_BYTES = 9
OFFSET_BYTES = 4
UUID_PATTERN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ROOT file that a store refers to.

    Parameters
    ----------
    url : str
        Where its bytes are; relative ones start from the folder of the store.
    size_bytes : int
        Its length at the time of the scan.
    uuid : str
        The UUID in its ROOT header.
    header_xxh64 : str
        xxh64 of its first 512 bytes, in hexadecimal: they hold the end-of-file pointer, the free
        list and the modification time, so every rewriting by ROOT changes them.
    """

    url: str
    size_bytes: int
    uuid: str
    header_xxh64: str

    def __post_init__(self) -> None:
        """Check the size and the identifier."""
        if self.size_bytes < 0:
            raise ValueError(f"the size of {self.url!r} is negative: {self.size_bytes}")
        if not UUID_PATTERN.fullmatch(self.uuid):
            raise ValueError(f"the UUID of {self.url!r} is malformed: {self.uuid!r}")


@dataclass(frozen=True, eq=False)
class BasketTable:
    """Sizes of the baskets of one column, as parallel arrays.

    Parameters
    ----------
    entries : ndarray of int64, shape (baskets,)
        Entries in each basket.
    uncompressed_bytes : ndarray of int64, shape (baskets,)
        Length of each payload, data and offsets, after decompression.
    border_bytes : ndarray of int64, shape (baskets,)
        Where the data end and the entry offsets begin (ROOT's ``fLast - fKeylen``); equal to
        `uncompressed_bytes` where no offsets are stored.
    stored : str
        How the payloads are stored, see `Stored`.
    key_bytes : ndarray of int64, shape (baskets,), optional
        Lengths of the TKeys before the payloads, which count in ROOT's and uproot's sizes.
    """

    entries: IndexArray
    uncompressed_bytes: IndexArray
    border_bytes: IndexArray
    stored: Stored = "raw"
    key_bytes: IndexArray | None = None

    def __post_init__(self) -> None:
        """Check that the numbers do not contradict each other."""
        sizes = {self.entries.size, self.uncompressed_bytes.size, self.border_bytes.size}
        if self.key_bytes is not None and self.key_bytes.size != self.entries.size:
            raise ValueError(f"{self.entries.size} baskets have {self.key_bytes.size} keys")
        if len(sizes) != 1:
            raise ValueError(
                f"{self.entries.size} baskets have entries, {self.uncompressed_bytes.size} have "
                f"uncompressed lengths and {self.border_bytes.size} have borders"
            )
        for what, values in (("entries", self.entries), ("bytes", self.uncompressed_bytes)):
            if (values < 0).any():
                raise ValueError(f"a basket has {values.min()} {what}")
            # In floating point, for the sum of integers might wrap around.
            if values.sum(dtype=np.float64) > MAX_TOTAL:
                raise ValueError(f"the baskets have {values.sum(dtype=np.float64):g} {what}")
        if self.border_bytes is self.uncompressed_bytes:
            return
        wrong = (self.border_bytes < 0) | (self.border_bytes > self.uncompressed_bytes)
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(
                f"basket {i} has its border at {self.border_bytes[i]} bytes, outside of its "
                f"{self.uncompressed_bytes[i]} uncompressed bytes"
            )

    def __len__(self) -> int:
        return int(self.entries.size)

    @cached_property
    def edges(self) -> IndexArray:
        """Entry numbers where the baskets begin and end, shape (baskets + 1,)."""
        edges = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.entries, out=edges[1:])
        return edges


@dataclass(frozen=True, eq=False)
class Manifest:
    """Where the payloads of one column's baskets are, and how large.

    Parameters
    ----------
    table : BasketTable
        Sizes, one row a basket.
    source : ndarray of int64, shape (baskets,)
        Index into the store's sources; -1 for a payload in `inline` and for an empty one.
    offset, length : ndarray of int64, shape (baskets,)
        Byte range of each payload in its source, after the TKey.
    inline : dict of int to bytes
        Payloads that the store itself holds, by basket number.
    """

    table: BasketTable
    source: IndexArray
    offset: IndexArray
    length: IndexArray
    inline: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the ranges can hold what the table says."""
        n = len(self.table)
        if not self.source.size == self.offset.size == self.length.size == n:
            raise ValueError(
                f"{n} baskets have {self.source.size} sources, {self.offset.size} offsets and "
                f"{self.length.size} lengths"
            )
        for what, values in (("offset", self.offset), ("length", self.length)):
            if n and not 0 <= values.min() <= values.max() <= MAX_TOTAL:
                raise ValueError(
                    f"the baskets have {what}s from {values.min()} to {values.max()} bytes"
                )
        wrong = self._impossible() & (self.source >= 0)
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(
                f"basket {i} cannot become {self.table.uncompressed_bytes[i]} bytes from "
                f"{self.length[i]} that are stored as {self.table.stored!r}"
            )

    def _impossible(self) -> npt.NDArray[np.bool_]:
        """Mask of baskets whose uncompressed length does not fit their stored length."""
        wanted, stored = self.table.uncompressed_bytes, self.table.stored
        if stored == "raw":
            return np.not_equal(wanted, self.length)
        if stored in ("blocks", "mixed"):
            limit = (self.length // BLOCK_HEADER_BYTES + 1) * MAX_BLOCK_BYTES
        else:
            limit = np.full_like(wanted, MAX_BLOCK_BYTES)
        return np.greater(wanted, limit)


def no_manifest() -> Manifest:
    """Make the manifest of a column without baskets."""
    nothing = np.zeros(0, np.int64)
    return Manifest(BasketTable(nothing, nothing, nothing), nothing, nothing, nothing)


class BranchSpec(msgspec.Struct, frozen=True):
    """A branch: what ROOT says of it, and how its baskets become arrays.

    Parameters
    ----------
    name, title, typename, classname : str
        ROOT's words; `typename` is the C++ type of an entry, `classname` that of the branch.
    num_entries : int
        Entries in the branch.
    interpretation : Interpretation
        How the baskets become arrays.
    baskets : BasketTable
        The sizes of the baskets.
    count_branch : str, optional
        Path, from the tree, of the branch that holds the number of items of each entry.
    compressed_bytes, uncompressed_bytes : int
        ROOT's totals (``fZipBytes``, ``fTotBytes``), keys included.
    split : bool
        Whether the branch has branches of its own.
    """

    name: str
    title: str
    typename: str
    classname: str
    num_entries: int
    interpretation: Interpretation
    baskets: BasketTable
    count_branch: str | None = None
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    split: bool = False

    def __post_init__(self) -> None:
        """Check that the baskets add up to the branch and fit its interpretation."""
        if isinstance(self.interpretation, Unsupported | AsGrouped | AsInline):
            return
        table, total = self.baskets, int(self.baskets.entries.sum())
        if total != self.num_entries:
            raise ValueError(f"the baskets have {total} entries, the branch {self.num_entries}")
        match self.interpretation:
            case AsDtype() | AsDouble32() | AsFloat16() | AsStridedObjects():
                wrong = table.border_bytes != table.entries * self.interpretation.itemsize
            case AsJagged(content, header):
                items_bytes = table.border_bytes - table.entries * header
                wrong = (items_bytes < 0) | (items_bytes % content.itemsize != 0)
            case AsBits(jagged):
                wrong = (table.border_bytes < 4 * table.entries) & (not jagged)
            case AsStrings(header, length_bytes):
                prefix = header + (4 if length_bytes == "4" else 1)
                wrong = table.border_bytes < table.entries * prefix
            case AsObjects():
                wrong = (table.uncompressed_bytes == table.border_bytes) & (table.entries > 0)
        if table.border_bytes is not table.uncompressed_bytes:
            # Entry offsets are all there, with two words more, or none are.
            tail = table.uncompressed_bytes - table.border_bytes
            wrong |= (tail != 0) & (tail != OFFSET_BYTES * (table.entries + 2))
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(
                f"basket {i} has {table.border_bytes[i]} bytes of data for {table.entries[i]} "
                f"entries, which does not fit {self.interpretation!r}"
            )


class TreeSpec(msgspec.Struct, frozen=True):
    """A TTree or TNtuple.

    Parameters
    ----------
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    num_entries : int
        Entries in the tree.
    aliases : dict of str to str
        Named expressions that the tree carries (``fAliases``).
    compressed_bytes, uncompressed_bytes : int
        ROOT's totals (``fZipBytes``, ``fTotBytes``).
    """

    name: str
    title: str
    classname: str
    cycle: int
    num_entries: int
    aliases: dict[str, str] = {}
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0


class DirectorySpec(msgspec.Struct, frozen=True):
    """A TDirectory, or the file itself.

    Parameters
    ----------
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    """

    name: str
    title: str
    classname: str
    cycle: int


class NTupleSpec(msgspec.Struct, frozen=True):
    """An RNTuple.

    Parameters
    ----------
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    num_entries : int
        Number of entries.
    data : dict
        Its schema and page lists as plain data, see `vroot.format.ntuples`.
    """

    name: str
    title: str
    classname: str
    cycle: int
    num_entries: int
    data: dict[str, Any]


class ObjectSpec(msgspec.Struct, frozen=True):
    """Any other object, such as a histogram.

    Parameters
    ----------
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    data : dict, optional
        What it holds, as plain data, see `vroot.objects.data`.
    reason : str
        Why it cannot be read, without `data`.
    payload : BasketTable, optional
        Size of what follows the TKey, as one basket, if large arrays of `data` are parts of it.
    """

    name: str
    title: str
    classname: str
    cycle: int
    data: dict[str, Any] | None = None
    reason: str = ""
    payload: BasketTable | None = None


Spec: TypeAlias = DirectorySpec | TreeSpec | BranchSpec | NTupleSpec | ObjectSpec
