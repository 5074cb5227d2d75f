"""The model as attributes of Zarr nodes, and back; FORMAT.md specifies them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np

from vroot.exceptions import ReferenceStoreError
from vroot.interpretations import Interpretation, split_dtype
from vroot.model import (
    BasketTable,
    BranchSpec,
    DirectorySpec,
    IndexArray,
    NTupleSpec,
    ObjectSpec,
    Source,
    Spec,
    Stored,
    TreeSpec,
    no_manifest,
)

__all__ = [
    "JSON",
    "SCHEMA_VERSION",
    "decode_interpretation",
    "decode_sources",
    "decode_spec",
    "encode_branch",
    "encode_interpretation",
    "encode_node",
    "encode_root",
    "encode_runs",
]

SCHEMA_VERSION = 1
MAX_BASKETS = 1 << 26

JSON: TypeAlias = Any
Runs: TypeAlias = list[int | tuple[int, int]]
T = TypeVar("T")


# --- dtypes and interpretations


def _encode_dtype(dtype: np.dtype[Any]) -> JSON:
    base, shape = split_dtype(dtype)
    if base.names is None:
        encoded: JSON = base.str
    else:
        packed = np.dtype([(name, base[name]) for name in base.names])
        if packed != base:
            raise ValueError(f"{base} is not a packed struct")
        encoded = {"fields": [[name, _encode_dtype(base[name])] for name in base.names]}
    return [encoded, list(shape)] if shape else encoded


def _decode_dtype(encoded: JSON) -> np.dtype[Any]:
    match encoded:
        case str():
            return np.dtype(encoded)
        case [base, [*shape]]:
            return np.dtype((_decode_dtype(base), tuple(int(size) for size in shape)))
        case {"fields": [*fields]}:
            return np.dtype([(str(name), _decode_dtype(field)) for name, field in fields])
    raise ValueError(f"no dtype: {encoded!r}")


def _encode_hook(value: Any) -> JSON:
    if isinstance(value, np.dtype):
        return _encode_dtype(value)
    raise NotImplementedError(f"no plain form for {type(value)}")


def _decode_hook(kind: type, value: Any) -> Any:
    if kind is np.dtype:
        return _decode_dtype(value)
    raise NotImplementedError(f"no plain form for {kind}")


def encode_interpretation(interpretation: Interpretation) -> dict[str, JSON]:
    """Turn an interpretation into plain data, tagged by its ``kind``."""
    encoded: dict[str, JSON] = msgspec.to_builtins(interpretation, enc_hook=_encode_hook)
    return encoded


def decode_interpretation(encoded: JSON) -> Interpretation:
    """Turn plain data back into an interpretation.

    Raises
    ------
    ReferenceStoreError
        If the data are not an interpretation that this version knows.
    """
    return _convert(encoded, Interpretation)  # type: ignore[arg-type]


def _convert(value: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_hook)
    except (ValueError, TypeError, RecursionError, OverflowError) as err:
        raise ReferenceStoreError(str(err)) from err


# --- the documents' attributes


class _Baskets(msgspec.Struct, omit_defaults=True):
    """`BasketTable` as attributes; a pair is a value and how often it is repeated."""

    entries: Runs
    uncompressed_bytes: Runs
    border_bytes: Runs | None = None
    stored: Stored = "raw"


class _Own(msgspec.Struct, omit_defaults=True):
    """What vroot says of a node, under the key "vroot"."""

    node: Literal["directory", "tree", "branch", "ntuple", "object"]
    interpretation: Any = None
    baskets: _Baskets | None = None
    split: bool = False
    data: dict[str, Any] | None = None
    reason: str = ""
    schema: int | None = None
    generator: str | None = None
    sources: list[Source] | None = None


class _Root(msgspec.Struct, omit_defaults=True):
    """What ROOT says of a node, under the key "root"."""

    classname: str
    title: str = ""
    cycle: int | None = None
    typename: str = ""
    num_entries: int = 0
    count_branch: str | None = None
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    aliases: dict[str, str] = {}


class _Attributes(msgspec.Struct):
    root: _Root
    vroot: _Own


class _Document(msgspec.Struct):
    attributes: _Attributes


def _plain(root: _Root, own: _Own) -> dict[str, JSON]:
    attributes: dict[str, JSON] = msgspec.to_builtins(_Attributes(root, own))
    return attributes


def encode_runs(values: IndexArray) -> Runs:
    """Shorten a list of numbers: three or more equal ones become one pair.

    This is the run-length form of Zarr's rectilinear chunk grid: ``[5, 3]`` is 5, three times.
    """
    if values.size == 0:
        return []
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    runs: Runs = []
    for value, count in zip(
        values[starts].tolist(), np.diff(np.r_[starts, values.size]).tolist(), strict=True
    ):
        runs.extend([(value, count)] if count > 2 else [value] * count)
    return runs


def _decode_runs(runs: Runs) -> IndexArray:
    values = np.array([run if isinstance(run, int) else run[0] for run in runs], np.int64)
    counts = np.array([1 if isinstance(run, int) else run[1] for run in runs], np.int64)
    if counts.size and (counts.min() < 0 or counts.max() > MAX_BASKETS):
        raise ValueError(f"a value is repeated {counts.min()} to {counts.max()} times")
    if counts.sum() > MAX_BASKETS:
        raise ValueError(f"{counts.sum()} baskets in one branch: more than {MAX_BASKETS}")
    return np.repeat(values, counts)


def _encode_baskets(table: BasketTable) -> _Baskets | None:
    if len(table) == 0:
        return None
    bordered = not np.array_equal(table.border_bytes, table.uncompressed_bytes)
    return _Baskets(
        encode_runs(table.entries),
        encode_runs(table.uncompressed_bytes),
        encode_runs(table.border_bytes) if bordered else None,
        table.stored,
    )


def _decode_baskets(encoded: _Baskets | None) -> BasketTable:
    if encoded is None:
        return no_manifest().table
    uncompressed = _decode_runs(encoded.uncompressed_bytes)
    borders = encoded.border_bytes
    return BasketTable(
        _decode_runs(encoded.entries),
        uncompressed,
        uncompressed if borders is None else _decode_runs(borders),
        encoded.stored,
    )


# --- nodes


def encode_root(spec: DirectorySpec, sources: list[Source], generator: str) -> dict[str, JSON]:
    """Give the attributes of the whole store.

    Parameters
    ----------
    spec : DirectorySpec
        The file's own directory.
    sources : list of Source
        What the templates s0, s1, … stand for.
    generator : str
        Name and version of the program that writes the store.

    Returns
    -------
    dict
        The attributes of the root group.
    """
    own = _Own("directory", schema=SCHEMA_VERSION, generator=generator, sources=sources)
    return _plain(_Root(spec.classname, spec.title, spec.cycle), own)


def encode_node(spec: DirectorySpec | TreeSpec | NTupleSpec | ObjectSpec) -> dict[str, JSON]:
    """Give the attributes of a node without chunks."""
    root = _Root(spec.classname, spec.title, spec.cycle)
    if isinstance(spec, DirectorySpec):
        return _plain(root, _Own("directory"))
    if isinstance(spec, ObjectSpec):
        return _plain(root, _Own("object", data=spec.data, reason=spec.reason))
    root.num_entries = spec.num_entries
    if isinstance(spec, NTupleSpec):
        return _plain(root, _Own("ntuple", data=spec.data))
    root.aliases = spec.aliases
    root.compressed_bytes = spec.compressed_bytes
    root.uncompressed_bytes = spec.uncompressed_bytes
    return _plain(root, _Own("tree"))


def encode_branch(spec: BranchSpec) -> dict[str, JSON]:
    """Give the attributes of a branch's node; `vroot.layout` makes its documents."""
    root = _Root(
        spec.classname,
        spec.title,
        typename=spec.typename,
        num_entries=spec.num_entries,
        count_branch=spec.count_branch,
        compressed_bytes=spec.compressed_bytes,
        uncompressed_bytes=spec.uncompressed_bytes,
    )
    own = _Own(
        "branch",
        interpretation=encode_interpretation(spec.interpretation),
        baskets=_encode_baskets(spec.baskets),
        split=spec.split,
    )
    return _plain(root, own)


def decode_sources(document: JSON) -> list[Source]:
    """Give the sources of a store from its root document.

    Raises
    ------
    ReferenceStoreError
        If the document is not the root of a store that this version reads.
    """
    own = _convert(document, _Document).attributes.vroot
    if own.schema != SCHEMA_VERSION:
        raise ReferenceStoreError(
            f"the store has schema {own.schema!r} (written by {own.generator or 'unknown'}), this "
            f"version of vroot reads schema {SCHEMA_VERSION}: install a version that reads it, or "
            "scan the ROOT file again"
        )
    return own.sources or []


def decode_spec(name: str, document: JSON) -> Spec:
    """Turn the document of a node back into the model.

    Parameters
    ----------
    name : str
        The name of the object or branch.
    document : dict
        Its Zarr document.

    Returns
    -------
    DirectorySpec, TreeSpec, BranchSpec or ObjectSpec
        What the node is.

    Raises
    ------
    ReferenceStoreError
        If the document is malformed or contradicts itself.
    """
    attributes = _convert(document, _Document).attributes
    root, own = attributes.root, attributes.vroot
    cycle = 1 if root.cycle is None else root.cycle
    if own.node == "directory":
        return DirectorySpec(name, root.title, root.classname, cycle)
    if own.node == "object":
        return ObjectSpec(name, root.title, root.classname, cycle, own.data, own.reason)
    if own.node == "ntuple":
        entries, data = root.num_entries, own.data or {}
        return NTupleSpec(name, root.title, root.classname, cycle, entries, data)
    if own.node == "tree":
        return TreeSpec(
            name,
            root.title,
            root.classname,
            cycle,
            root.num_entries,
            root.aliases,
            root.compressed_bytes,
            root.uncompressed_bytes,
        )
    try:
        baskets = _decode_baskets(own.baskets)
    except (ValueError, OverflowError) as err:
        raise ReferenceStoreError(f"the baskets of branch {name!r}: {err}") from err
    return BranchSpec(
        name,
        root.title,
        root.typename,
        root.classname,
        root.num_entries,
        decode_interpretation(own.interpretation),
        baskets,
        root.count_branch,
        root.compressed_bytes,
        root.uncompressed_bytes,
        own.split,
    )
