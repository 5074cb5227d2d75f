"""The model as attributes of Zarr nodes, and back; FORMAT.md specifies them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from vroot.exceptions import ReferenceStoreError
from vroot.format.interpretations import (
    JSON,
    Programs,
    canonical_json,
    convert,
    decode_interpretation,
    encode_interpretation,
)
from vroot.metadata.interpretations import Interpretation, Program, Unsupported
from vroot.metadata.specs import (
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
    "SCHEMA_VERSION",
    "Heading",
    "Node",
    "Runs",
    "decode_heading",
    "decode_root",
    "decode_runs",
    "decode_spec",
    "encode_branch",
    "encode_node",
    "encode_root",
    "encode_runs",
]

SCHEMA_VERSION = 1
MAX_BASKETS = 1 << 26

Runs: TypeAlias = list[int | tuple[int, int]]
Node: TypeAlias = Literal["directory", "tree", "branch", "ntuple", "object"]


# --- the documents' attributes


class _Baskets(msgspec.Struct, omit_defaults=True):
    """`BasketTable` as attributes; a pair is a value and how often it is repeated."""

    entries: Runs
    uncompressed_bytes: Runs
    border_bytes: Runs | None = None
    stored: Stored = "raw"
    key_bytes: Runs | None = None


class _Program(msgspec.Struct):
    """A `Program`, its form as JSON and not as text."""

    source: str
    form: dict[str, Any]
    objects: dict[str, Any] | None = None


class _Own(msgspec.Struct, omit_defaults=True):
    """What vroot says of a node, under the key "vroot"."""

    node: Node
    interpretation: Any = None
    baskets: _Baskets | None = None
    split: bool = False
    data: dict[str, Any] | None = None
    reason: str = ""
    schema: int | None = None
    generator: str | None = None
    sources: list[Source] | None = None
    programs: list[_Program] | None = None


class _Root(msgspec.Struct, omit_defaults=True):
    """What ROOT says of a node, under the key "root"."""

    classname: str
    title: str = ""
    title_base64: bytes = b""
    cycle: int | None = None
    typename: str = ""
    num_entries: int = 0
    count_branch: str | None = None
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    aliases: dict[str, str] = {}


def _is_utf8(text: str) -> bool:
    return text.isascii() or text == _readable(text)


def _readable(text: str) -> str:
    """A text with a mark for each byte that is not UTF-8, which JSON has no way to keep."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Attributes(msgspec.Struct):
    root: _Root
    vroot: _Own


class _Document(msgspec.Struct):
    attributes: _Attributes


class _OwnHeading(msgspec.Struct):
    node: Node


class _HeadingAttributes(msgspec.Struct):
    root: _Root
    vroot: _OwnHeading


class _HeadingDocument(msgspec.Struct):
    attributes: _HeadingAttributes


class Heading(msgspec.Struct, frozen=True):
    """As much of a node as it takes to list it.

    Parameters
    ----------
    node : str
        Which kind of node.
    name, title, classname : str
        ROOT's words.
    cycle : int
        Cycle number of its key.
    """

    node: Node
    name: str
    title: str
    classname: str
    cycle: int


HEADING_DECODER = msgspec.json.Decoder(_HeadingDocument)


def _text(text: str, exact: bytes) -> str:
    """A text of ROOT, which need not be UTF-8: then its bytes are kept beside it."""
    return exact.decode("utf-8", "surrogateescape") if exact else text


def _plain(root: _Root, own: _Own) -> dict[str, JSON]:
    if not _is_utf8(root.title):
        root.title_base64 = root.title.encode("utf-8", "surrogateescape")
    for field in ("title", "classname", "typename"):
        setattr(root, field, _readable(getattr(root, field)))
    root.aliases = {_readable(name): _readable(text) for name, text in root.aliases.items()}
    attributes: dict[str, JSON] = msgspec.to_builtins(_Attributes(root, own))
    return attributes


def encode_runs(values: IndexArray) -> Runs:
    """Shorten a list of numbers: three or more equal ones become one pair.

    This is the run-length form of Zarr's rectilinear chunk grid: ``[5, 3]`` is 5, three times.
    """
    runs: Runs = []
    for value, group in itertools.groupby(values.tolist()):
        count = sum(1 for _ in group)
        runs.extend([(value, count)] if count > 2 else [value] * count)
    return runs


def decode_runs(runs: Runs) -> IndexArray:
    """Give the numbers that `encode_runs` shortened.

    Raises
    ------
    ValueError
        If there are too many of them.
    """
    # There are few of them, mostly: lists are quicker than arrays.
    pairs = [(run, 1) if isinstance(run, int) else run for run in runs]
    counts = [count for _, count in pairs]
    if counts and (min(counts) < 0 or max(counts) > MAX_BASKETS):
        raise ValueError(f"a value is repeated {min(counts)} to {max(counts)} times")
    if sum(counts) > MAX_BASKETS:
        raise ValueError(f"{sum(counts)} baskets in one branch: more than {MAX_BASKETS}")
    return np.repeat(np.array([value for value, _ in pairs], np.int64), counts)


def _encode_baskets(table: BasketTable) -> _Baskets | None:
    if len(table) == 0:
        return None
    bordered = not np.array_equal(table.border_bytes, table.uncompressed_bytes)
    return _Baskets(
        encode_runs(table.entries),
        encode_runs(table.uncompressed_bytes),
        encode_runs(table.border_bytes) if bordered else None,
        table.stored,
        None if table.key_bytes is None else encode_runs(table.key_bytes),
    )


def _decode_baskets(encoded: _Baskets | None) -> BasketTable:
    if encoded is None:
        return no_manifest().table
    uncompressed = decode_runs(encoded.uncompressed_bytes)
    borders = encoded.border_bytes
    return BasketTable(
        decode_runs(encoded.entries),
        uncompressed,
        uncompressed if borders is None else decode_runs(borders),
        encoded.stored,
        None if encoded.key_bytes is None else decode_runs(encoded.key_bytes),
    )


# --- nodes


def encode_root(
    spec: DirectorySpec, sources: list[Source], generator: str, programs: Programs
) -> dict[str, JSON]:
    """Give the attributes of the whole store.

    Parameters
    ----------
    spec : DirectorySpec
        The file's own directory.
    sources : list of Source
        What the templates s0, s1, … stand for.
    generator : str
        Name and version of what writes the store.
    programs : Programs
        The programs of its columns.

    Returns
    -------
    dict
        The attributes of the root group.
    """
    own = _Own("directory", schema=SCHEMA_VERSION, generator=generator, sources=sources)
    attributes = _plain(_Root(spec.classname, spec.title, cycle=spec.cycle), own)
    if encoded := programs.encode():
        attributes["vroot"]["programs"] = encoded
    return attributes


def encode_node(spec: DirectorySpec | TreeSpec | NTupleSpec | ObjectSpec) -> dict[str, JSON]:
    """Give the attributes of a node without chunks."""
    root = _Root(spec.classname, spec.title, cycle=spec.cycle)
    if isinstance(spec, DirectorySpec):
        return _plain(root, _Own("directory"))
    if isinstance(spec, ObjectSpec):
        baskets = None if spec.payload is None else _encode_baskets(spec.payload)
        return _plain(root, _Own("object", data=spec.data, reason=spec.reason, baskets=baskets))
    root.num_entries = spec.num_entries
    if isinstance(spec, NTupleSpec):
        return _plain(root, _Own("ntuple", data=spec.data))
    root.aliases = spec.aliases
    root.compressed_bytes = spec.compressed_bytes
    root.uncompressed_bytes = spec.uncompressed_bytes
    return _plain(root, _Own("tree"))


def encode_branch(spec: BranchSpec, programs: Programs) -> dict[str, JSON]:
    """Give the attributes of a branch's node; `vroot.format.zarr_arrays` makes its documents."""
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
        interpretation=encode_interpretation(spec.interpretation, programs),
        baskets=_encode_baskets(spec.baskets),
        split=spec.split,
    )
    return _plain(root, own)


def decode_root(document: JSON) -> tuple[list[Source], list[Program]]:
    """Give what the root document of a store says of all of it.

    Parameters
    ----------
    document : dict
        The document.

    Returns
    -------
    tuple
        The sources and the programs.

    Raises
    ------
    ReferenceStoreError
        If the document is not the root of a store that this version reads.
    """
    own = convert(document, _Document).attributes.vroot
    if own.schema != SCHEMA_VERSION:
        raise ReferenceStoreError(
            f"the store has schema {own.schema!r} (written by {own.generator or 'unknown'}), this "
            f"version of vroot reads schema {SCHEMA_VERSION}: install a version that reads it, or "
            "scan the ROOT file again"
        )
    programs = [
        Program(
            each.source,
            canonical_json(each.form),
            "" if each.objects is None else canonical_json(each.objects),
        )
        for each in own.programs or []
    ]
    if not own.sources:
        raise ReferenceStoreError("the store names no source")
    return own.sources, programs


def decode_heading(name: str, encoded: msgspec.Raw) -> Heading | None:
    """Decode what a listing shows of a node, and skip the rest of its document.

    Parameters
    ----------
    name : str
        The name of the object or branch.
    encoded : msgspec.Raw
        The JSON of its Zarr document.

    Returns
    -------
    Heading or None
        None if it takes the whole document to say, or to say what is wrong with it.
    """
    try:
        attributes = HEADING_DECODER.decode(encoded).attributes
        root = attributes.root
        title = _text(root.title, root.title_base64)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    cycle = 1 if root.cycle is None else root.cycle
    return Heading(attributes.vroot.node, name, title, root.classname, cycle)


def decode_spec(name: str, document: JSON, programs: Sequence[Program] = ()) -> Spec:
    """Turn the document of a node back into the model.

    Parameters
    ----------
    name : str
        The name of the object or branch.
    document : dict
        Its Zarr document.
    programs : sequence of Program
        The programs of the store.

    Returns
    -------
    DirectorySpec, TreeSpec, BranchSpec or ObjectSpec
        What the node is.

    Raises
    ------
    ReferenceStoreError
        If the document is malformed or contradicts itself.
    """
    attributes = convert(document, _Document).attributes
    root, own = attributes.root, attributes.vroot
    title = _text(root.title, root.title_base64)
    cycle = 1 if root.cycle is None else root.cycle
    if own.node == "directory":
        return DirectorySpec(name, title, root.classname, cycle)
    if own.node == "object":
        try:
            payload = None if own.baskets is None else _decode_baskets(own.baskets)
        except (ValueError, OverflowError) as err:
            reason = f"what the store says of it contradicts itself: {err}"
            return ObjectSpec(name, title, root.classname, cycle, reason=reason)
        return ObjectSpec(name, title, root.classname, cycle, own.data, own.reason, payload)
    if own.node == "ntuple":
        entries, data = root.num_entries, own.data or {}
        return NTupleSpec(name, title, root.classname, cycle, entries, data)
    if own.node == "tree":
        return TreeSpec(
            name,
            title,
            root.classname,
            cycle,
            root.num_entries,
            root.aliases,
            root.compressed_bytes,
            root.uncompressed_bytes,
        )
    return _decode_branch(name, root, own, programs)


def _decode_branch(name: str, root: _Root, own: _Own, programs: Sequence[Program]) -> BranchSpec:
    """Decode a branch; one whose numbers contradict each other is unsupported, no more."""

    def branch(interpretation: Interpretation, baskets: BasketTable) -> BranchSpec:
        return BranchSpec(
            name,
            _text(root.title, root.title_base64),
            root.typename,
            root.classname,
            root.num_entries,
            interpretation,
            baskets,
            root.count_branch,
            root.compressed_bytes,
            root.uncompressed_bytes,
            own.split,
        )

    try:
        interpretation = decode_interpretation(own.interpretation, programs)
        return branch(interpretation, _decode_baskets(own.baskets))
    except (ValueError, OverflowError) as err:
        reason = f"what the store says of it contradicts itself: {err}"
        return branch(Unsupported(reason), no_manifest().table)
