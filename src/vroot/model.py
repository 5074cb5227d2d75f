"""What a ROOT file holds, as frozen plain data; every format is an edge around these classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

__all__ = [
    "AsDouble32",
    "AsDtype",
    "AsFloat16",
    "AsJagged",
    "AsStrings",
    "BasketTable",
    "BranchSpec",
    "DirectorySpec",
    "IndexArray",
    "Interpretation",
    "Manifest",
    "Numerical",
    "ObjectSpec",
    "Source",
    "Spec",
    "Stored",
    "TreeSpec",
    "Unsupported",
    "no_manifest",
    "split_dtype",
]

IndexArray: TypeAlias = npt.NDArray[np.int64]

#: How the bytes of a column's chunks are stored. "blocks" are ROOT's compressed blocks with their
#: 9-byte headers (ROOT: core/zip/inc/RZip.h), "zlib", "zstd" and "xz" the bare stream of a single
#: block, and "mixed" is raw where the length is the uncompressed length, and blocks elsewhere.
Stored: TypeAlias = Literal["raw", "blocks", "mixed", "zlib", "zstd", "xz"]

MAX_ITEMSIZE_BYTES = 1 << 24
MAX_BLOCK_BYTES = (1 << 24) - 1
BLOCK_HEADER_BYTES = 9
SIMPLE_KINDS = "biuf"
UUID_PATTERN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def split_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Split a dtype into its innermost base and the fixed shape around it.

    Parameters
    ----------
    dtype : numpy.dtype
        Possibly with a subarray shape, such as ``(">f4", (2, 3))``.

    Returns
    -------
    tuple
        The base dtype, which may have fields, and the shape, ``()`` for a scalar.
    """
    shape: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    return dtype, shape


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if not 0 < dtype.itemsize <= MAX_ITEMSIZE_BYTES:
        raise ValueError(
            f"dtype {dtype!s} has {dtype.itemsize} bytes: expected 1 to {MAX_ITEMSIZE_BYTES}"
        )
    base, _ = split_dtype(dtype)
    if base.names is not None:
        for name in base.names:
            _check_dtype(base[name])
    elif base.kind not in SIMPLE_KINDS:
        raise ValueError(f"dtype {dtype!s} is not boolean, integer or floating point")


class AsDtype(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="flat"):
    """Numbers, fixed-size arrays of numbers, or packed structs of them, one item an entry.

    Parameters
    ----------
    from_dtype : numpy.dtype
        Layout of one entry in a basket: big-endian, with its fixed shape and its fields.
    to_dtype : numpy.dtype, optional
        Layout of one entry in memory; the native equivalent of `from_dtype` if not given.
    """

    from_dtype: np.dtype
    to_dtype: np.dtype | None = None

    def __post_init__(self) -> None:
        """Refuse what is not plain numbers, or has no or an absurd size."""
        _check_dtype(self.from_dtype)
        if self.to_dtype is not None:
            _check_dtype(self.to_dtype)
            if split_dtype(self.to_dtype)[1] != self.inner_shape:
                raise ValueError(f"the shapes of {self.from_dtype} and {self.to_dtype} differ")

    def __repr__(self) -> str:
        if self.to_dtype is None:
            return f"AsDtype({str(self.from_dtype)!r})"
        return f"AsDtype({str(self.from_dtype)!r}, {str(self.to_dtype)!r})"

    @property
    def itemsize(self) -> int:
        """Bytes of one entry in a basket, all dimensions and fields included."""
        return self.from_dtype.itemsize

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry, ``()`` for a scalar."""
        return split_dtype(self.from_dtype)[1]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return self.from_dtype.newbyteorder("=") if self.to_dtype is None else self.to_dtype


class AsDouble32(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="double32"):
    """ROOT's ``Double32_t`` with a range, packed in a 4-byte unsigned integer an item.

    Parameters
    ----------
    low, high : float
        Limits of the range.
    num_bits : int
        Bits that are used of the integer.
    to_dims : tuple of int
        Fixed shape of one entry.

    Notes
    -----
    ROOT: ``TBufferFile::ReadWithFactor`` and ``ReadWithNbits``. With both limits 0 an item is
    three bytes, exponent and mantissa.
    """

    low: float
    high: float
    num_bits: int
    to_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a number of bits or a range that ROOT could not have written."""
        _check_packed(self)

    def __repr__(self) -> str:
        return _packed_repr(self)

    @property
    def itemsize(self) -> int:
        """Bytes of one entry in a basket."""
        return _packed_itemsize(self)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry."""
        return self.to_dims

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return np.dtype((np.float64, self.to_dims))


class AsFloat16(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="float16"):
    """ROOT's ``Float16_t``: the same packings as `AsDouble32`, as 4-byte floats in memory.

    Parameters
    ----------
    low, high : float
        Limits of the range, both 0 for a truncated mantissa.
    num_bits : int
        Bits of the integer or of the mantissa.
    to_dims : tuple of int
        Fixed shape of one entry.
    """

    low: float
    high: float
    num_bits: int
    to_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a number of bits or a range that ROOT could not have written."""
        _check_packed(self)

    def __repr__(self) -> str:
        return _packed_repr(self)

    @property
    def itemsize(self) -> int:
        """Bytes of one entry in a basket."""
        return _packed_itemsize(self)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry."""
        return self.to_dims

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return np.dtype((np.float32, self.to_dims))


def _check_packed(packed: AsDouble32 | AsFloat16) -> None:
    if not 2 <= packed.num_bits <= 32:
        raise ValueError(f"num_bits must be between 2 and 32, not {packed.num_bits}")
    truncated = packed.low == packed.high == 0
    if not truncated and not packed.low < packed.high:
        raise ValueError(f"the range is empty: low {packed.low}, high {packed.high}")
    if any(size < 1 for size in packed.to_dims) or packed.itemsize > MAX_ITEMSIZE_BYTES:
        raise ValueError(f"the shape {packed.to_dims} is not one of 1 to 2**24 bytes")


def _packed_itemsize(packed: AsDouble32 | AsFloat16) -> int:
    size = 3 if packed.low == packed.high == 0 else 4
    for dim in packed.to_dims:
        size *= dim
    return size


def _packed_repr(packed: AsDouble32 | AsFloat16) -> str:
    dims = f", to_dims={packed.to_dims!r}" if packed.to_dims else ""
    name = type(packed).__name__
    return f"{name}({packed.low!r}, {packed.high!r}, {packed.num_bits!r}{dims})"


Numerical: TypeAlias = AsDtype | AsDouble32 | AsFloat16


class AsJagged(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="jagged"):
    """A variable number of numerical items an entry.

    Parameters
    ----------
    content : AsDtype, AsDouble32 or AsFloat16
        One item.
    header_bytes : int
        Bytes to skip at the beginning of each entry (10 for a ``std::vector``).
    """

    content: Numerical
    header_bytes: int = 0

    def __post_init__(self) -> None:
        """Refuse an absurd header."""
        if not 0 <= self.header_bytes <= 255:
            raise ValueError(f"header_bytes must be between 0 and 255, not {self.header_bytes}")

    def __repr__(self) -> str:
        header = f", header_bytes={self.header_bytes}" if self.header_bytes else ""
        return f"AsJagged({self.content!r}{header})"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects, as the NumPy form of a jagged column has them."""
        return np.dtype(object)


class AsStrings(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="strings"):
    """One string an entry.

    Parameters
    ----------
    header_bytes : int
        Bytes to skip at the beginning of each entry.
    length_bytes : "1-5" or "4"
        Whether the length takes one byte (255 announces four more) or always four.
    """

    header_bytes: int = 0
    length_bytes: Literal["1-5", "4"] = "1-5"

    def __post_init__(self) -> None:
        """Refuse an absurd header."""
        if not 0 <= self.header_bytes <= 255:
            raise ValueError(f"header_bytes must be between 0 and 255, not {self.header_bytes}")

    def __repr__(self) -> str:
        args = [f"header_bytes={self.header_bytes}"] if self.header_bytes else []
        if self.length_bytes != "1-5":
            args.append(f"length_bytes={self.length_bytes!r}")
        return f"AsStrings({', '.join(args)})"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects, as the NumPy form of a string column has them."""
        return np.dtype(object)


class Unsupported(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="unsupported"
):
    """A column that the store names but does not represent.

    Parameters
    ----------
    reason : str
        Why it cannot be read, in words for the user.
    text : str
        What uproot shows as the interpretation.
    in_arrays : bool
        Whether a request for all branches includes it: uproot leaves out what it has no
        interpretation for, and what only groups other branches.
    """

    reason: str
    text: str = ""
    in_arrays: bool = True

    def __repr__(self) -> str:
        return self.text

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects: nothing else is known."""
        return np.dtype(object)


Interpretation: TypeAlias = AsDtype | AsDouble32 | AsFloat16 | AsJagged | AsStrings | Unsupported


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
    etag : str, optional
        What the server called this version of it.
    """

    url: str
    size_bytes: int
    uuid: str
    header_xxh64: str
    etag: str | None = None

    def __post_init__(self) -> None:
        """Refuse an impossible size or identifier."""
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
    """

    entries: IndexArray
    uncompressed_bytes: IndexArray
    border_bytes: IndexArray
    stored: Stored = "raw"

    def __post_init__(self) -> None:
        """Refuse tables whose numbers contradict each other."""
        sizes = {self.entries.size, self.uncompressed_bytes.size, self.border_bytes.size}
        if len(sizes) != 1:
            raise ValueError(
                f"{self.entries.size} baskets have entries, {self.uncompressed_bytes.size} have "
                f"uncompressed lengths and {self.border_bytes.size} have borders"
            )
        if (self.entries < 0).any():
            raise ValueError(f"a basket has {self.entries.min()} entries")
        wrong = (self.border_bytes < 0) | (self.border_bytes > self.uncompressed_bytes)
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(
                f"basket {i} has its border at {self.border_bytes[i]} bytes, outside of its "
                f"{self.uncompressed_bytes[i]} uncompressed bytes"
            )

    def __len__(self) -> int:
        return int(self.entries.size)

    @property
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
        """Refuse ranges that cannot hold what the table says."""
        n = len(self.table)
        if not self.source.size == self.offset.size == self.length.size == n:
            raise ValueError(
                f"{n} baskets have {self.source.size} sources, {self.offset.size} offsets and "
                f"{self.length.size} lengths"
            )
        if n and (self.offset.min() < 0 or self.length.min() < 0):
            raise ValueError("a basket has a negative offset or length")
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
        """Refuse baskets that do not add up to the branch or do not fit its interpretation."""
        if isinstance(self.interpretation, Unsupported):
            return
        table, total = self.baskets, int(self.baskets.entries.sum())
        if total != self.num_entries:
            raise ValueError(f"the baskets have {total} entries, the branch {self.num_entries}")
        match self.interpretation:
            case AsDtype() | AsDouble32() | AsFloat16():
                wrong = table.border_bytes != table.entries * self.interpretation.itemsize
            case AsJagged(content, header):
                items_bytes = table.border_bytes - table.entries * header
                wrong = (items_bytes < 0) | (items_bytes % content.itemsize != 0)
            case AsStrings():
                wrong = (table.uncompressed_bytes == 0) & (table.entries > 0)
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


class ObjectSpec(msgspec.Struct, frozen=True):
    """Any other object: the store names it and says why it cannot be read.

    Parameters
    ----------
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    reason : str
        Why it cannot be read.
    """

    name: str
    title: str
    classname: str
    cycle: int
    reason: str


Spec: TypeAlias = DirectorySpec | TreeSpec | BranchSpec | ObjectSpec
