"""Baskets made by hand, from the descriptions of the format alone, and random columns of them."""

from __future__ import annotations

import base64
import lzma
import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import cramjam
import numpy as np
import xxhash
import zstandard
from hypothesis import strategies as st

from vroot.metadata.interpretations import (
    AsBits,
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsJagged,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Numerical,
)
from vroot.metadata.specs import BasketTable, BranchSpec, Stored

# --- compression


def deflate_raw(data: bytes) -> bytes:
    """A deflate stream without zlib's header and checksum."""
    machine = zlib.compressobj(wbits=-15)
    return machine.compress(data) + machine.flush()


def lz4_checked(data: bytes) -> bytes:
    """An LZ4 block after its big-endian xxh64."""
    block = bytes(cramjam.lz4.compress_block(data, store_size=False))
    return struct.pack(">Q", xxhash.xxh64_intdigest(block)) + block


def xz(data: bytes) -> bytes:
    # The lowest preset has the smallest dictionary, which is what takes time for short data.
    return lzma.compress(data, preset=0)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


#: By the tag of a ROOT block.
COMPRESSORS: dict[bytes, Callable[[bytes], bytes]] = {
    b"ZL": zlib.compress,
    b"XZ": xz,
    b"L4": lz4_checked,
    b"ZS": zstd,
    b"CS": deflate_raw,
}
#: By how a store calls a bare stream.
STREAMS: dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.compress, "xz": xz, "zstd": zstd}


def block(
    tag: bytes, stream: bytes, size: int, *, compressed: int | None = None, method: bytes = b"\x08"
) -> bytes:
    """A ROOT block: a header of nine bytes, and a stream."""
    length = len(stream) if compressed is None else compressed
    return (
        tag
        + method
        + struct.pack("<I", length)[:3]  # three bytes, little-endian
        + struct.pack("<I", size)[:3]
        + stream
    )


def compressed_block(tag: bytes, data: bytes) -> bytes:
    return block(tag, COMPRESSORS[tag](data), len(data))


# --- columns


@dataclass
class Chunk:
    """One basket as it is stored, and what the counter branch says of its entries."""

    payload: bytes
    plain: bytes
    border: int
    entries: int
    counts: list[int] | None = None


@dataclass
class Column:
    """A branch, its baskets, and the entries that must come out."""

    spec: BranchSpec
    chunks: list[Chunk]
    expected: list[Any]


@dataclass
class Kind:
    """How entries are written: the bytes of each, and what each must become."""

    interpretation: Interpretation
    encoded: list[bytes]
    expected: list[Any]
    counts: list[int] | None = None
    needs_offsets: bool = False


FORMATS = {
    ">f4": ("f", st.floats(width=32, allow_nan=False)),
    ">f8": ("d", st.floats(allow_nan=False)),
    ">i8": ("q", st.integers(-(2**63), 2**63 - 1)),
    ">i4": ("i", st.integers(-(2**31), 2**31 - 1)),
    ">u2": ("H", st.integers(0, 2**16 - 1)),
    "|i1": ("b", st.integers(-128, 127)),
    "|b1": ("?", st.booleans()),
}
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 2)]
PACKED: st.SearchStrategy[type[AsDouble32 | AsFloat16]] = st.sampled_from([AsDouble32, AsFloat16])
HEADERS = st.sampled_from([0, 1, 6, 10])


def nested(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Arrange values as nested lists, a scalar for no dimension."""
    if not shape:
        return values[0]
    step = math.prod(shape[1:])
    return [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


@st.composite
def items(draw: st.DrawFn, number: int) -> tuple[Numerical, list[bytes], list[Any]]:
    """A numerical interpretation, and bytes and values of a number of its items."""
    shape = draw(st.sampled_from(SHAPES))
    size = math.prod(shape)
    kind = draw(st.sampled_from([*FORMATS, "wide", "ranged", "truncated"]))
    if kind in ("ranged", "truncated"):
        packed = ranged if kind == "ranged" else truncated
        interpretation, pairs = draw(packed(shape, number * size))
    elif kind == "wide":  # a Double32_t without a range: a float that becomes a double
        to_dtype = np.dtype((np.float64, shape))
        interpretation = AsDtype(np.dtype((">f4", shape)), to_dtype)
        values = draw(st.lists(FORMATS[">f4"][1], min_size=number * size, max_size=number * size))
        pairs = [(struct.pack(">f", value), value) for value in values]
    else:
        interpretation = AsDtype(np.dtype((kind, shape)))
        letter, element = FORMATS[kind]
        values = draw(st.lists(element, min_size=number * size, max_size=number * size))
        pairs = [(struct.pack(f">{letter}", value), value) for value in values]
    grouped = [pairs[i * size : (i + 1) * size] for i in range(number)]
    return (
        interpretation,
        [b"".join(data for data, _ in group) for group in grouped],
        [nested([value for _, value in group], shape) for group in grouped],
    )


@st.composite
def ranged(
    draw: st.DrawFn, shape: tuple[int, ...], number: int
) -> tuple[Numerical, list[tuple[bytes, float]]]:
    # So few bits and such limits that each value is exact, also in a 4-byte float.
    bits = draw(st.integers(2, 16))
    low, high = draw(st.sampled_from([(-8, 8), (0, 1), (-1, 3), (-64, -32)]))
    numbers = draw(st.lists(st.integers(0, 2**bits - 1), min_size=number, max_size=number))
    cls = draw(PACKED)
    return cls(float(low), float(high), bits, shape), [
        (struct.pack(">I", n), float(low + Fraction(n * (high - low), 2**bits))) for n in numbers
    ]


@st.composite
def truncated(
    draw: st.DrawFn, shape: tuple[int, ...], number: int
) -> tuple[Numerical, list[tuple[bytes, float]]]:
    # A byte of exponent; two bytes with the mantissa, a bit that is not used, and the sign.
    bits = draw(st.integers(2, 14))
    one = st.tuples(st.booleans(), st.integers(1, 254), st.integers(0, 2**bits - 1))
    parts = draw(st.lists(one, min_size=number, max_size=number))
    cls = draw(PACKED)
    return cls(0.0, 0.0, bits, shape), [
        (
            struct.pack(">BH", exponent, mantissa | negative << (bits + 1)),
            math.ldexp((-1) ** negative * (1 + mantissa / 2**bits), exponent - 127),
        )
        for negative, exponent, mantissa in parts
    ]


@st.composite
def flat(draw: st.DrawFn, entries: int) -> Kind:
    return Kind(*draw(items(entries)))


@st.composite
def structs(draw: st.DrawFn, entries: int) -> Kind:
    dtype = np.dtype([("x", ">i4"), ("y", ">f8"), ("z/w", ">u2", (2,)), ("ok", "?")])
    one = st.tuples(*[FORMATS[name][1] for name in (">i4", ">f8", ">u2", ">u2", "|b1")])
    rows = draw(st.lists(one, min_size=entries, max_size=entries))
    header = draw(st.none() | HEADERS)  # none: the struct of a leaf list
    interpretation: Interpretation = AsDtype(dtype)
    if header is not None:
        interpretation = AsStridedObjects(dtype, {"": "C"}, header)
    return Kind(
        interpretation,
        [b"\xef" * (header or 0) + struct.pack(">idHH?", *row) for row in rows],
        [{"x": x, "y": y, "z/w": [z, w], "ok": ok} for x, y, z, w, ok in rows],
    )


def collection_header(header_bytes: int, data_bytes: int, items: int) -> bytes:
    """What precedes the items: of ten bytes, a byte count, a version and their number."""
    if header_bytes != 10:
        return b"\xab" * header_bytes
    return struct.pack(">IHI", 0x40000000 | 6 + data_bytes, 9, items)


def string_header(header_bytes: int, data_bytes: int) -> bytes:
    """What precedes the length: of six bytes, a byte count and a version."""
    if header_bytes != 6:
        return b"\xcd" * header_bytes
    return struct.pack(">IH", 0x40000000 | 2 + data_bytes, 9)


@st.composite
def jagged(draw: st.DrawFn, entries: int) -> Kind:
    counts = draw(st.lists(st.integers(0, 4), min_size=entries, max_size=entries))
    content, encoded, expected = draw(items(sum(counts)))
    header = draw(HEADERS)
    kind = Kind(AsJagged(content, header), [], [], counts, needs_offsets=header > 0)
    for count in counts:
        data = b"".join(encoded[:count])
        kind.encoded.append(collection_header(header, len(data), count) + data)
        kind.expected.append(expected[:count])
        encoded, expected = encoded[count:], expected[count:]
    return kind


@st.composite
def strings(draw: st.DrawFn, entries: int) -> Kind:
    # Around where the length outgrows its one byte, 255 itself being the mark of that.
    lengths = st.integers(0, 5) | st.sampled_from([253, 254, 255, 256, 300])
    text = lengths.flatmap(
        lambda n: st.binary(min_size=min(n, 3), max_size=min(n, 3)).map(lambda seed: (seed * n)[:n])
    )
    texts = draw(st.lists(text, min_size=entries, max_size=entries))
    header = draw(HEADERS)
    four = draw(st.booleans())
    encoded = []
    for characters in texts:
        n = len(characters)
        length = bytes([n]) if n < 255 else b"\xff" + struct.pack(">I", n)
        data = (struct.pack(">I", n) if four else length) + characters
        encoded.append(string_header(header, len(data)) + data)
    interpretation = AsStrings(header, "4" if four else "1-5")
    return Kind(interpretation, encoded, texts, needs_offsets=header > 0)


@st.composite
def bits(draw: st.DrawFn, entries: int) -> Kind:
    one = st.integers(0, 2**32 - 1).map(lambda x: x & ~16) | st.just(0x0300_0010)
    is_jagged = draw(st.booleans())
    counts = st.integers(0, 4) if is_jagged else st.just(1)
    rows = [draw(st.lists(one, min_size=(n := draw(counts)), max_size=n)) for _ in range(entries)]
    encoded = [
        b"".join(struct.pack(">I", x) + (b"\xff\xff" if x & 16 else b"") for x in row)
        for row in rows
    ]
    expected = rows if is_jagged else [row[0] for row in rows]
    return Kind(AsBits(is_jagged), encoded, expected, needs_offsets=is_jagged)


KINDS = {"flat": flat, "structs": structs, "jagged": jagged, "strings": strings, "bits": bits}


# --- baskets


def tail_of_offsets(starts: list[int], key_length: int = 77) -> bytes:
    """The entry offsets at a basket's end: n + 1, n offsets from the key on, and an unused word."""
    words = [len(starts) + 1, *[key_length + start for start in starts], 0x0BADF00D]
    return struct.pack(f">{len(words)}i", *words)


def joined(encoded: list[bytes], *, with_offsets: bool) -> bytes:
    """The uncompressed bytes of a basket."""
    data = b"".join(encoded)
    if not with_offsets:
        return data
    starts = [sum(map(len, encoded[:i])) for i in range(len(encoded))]
    return data + tail_of_offsets(starts)


@st.composite
def stored_payload(draw: st.DrawFn, plain: bytes, stored: Stored) -> bytes:
    """A basket's bytes as a store calls them."""
    if stored == "raw":
        return plain
    if stored in STREAMS:
        return STREAMS[stored](plain)
    if not plain:
        return b""
    cuts = draw(st.sets(st.integers(0, len(plain)), max_size=2))
    edges = sorted({0, *cuts, len(plain)})
    blocks = b"".join(
        compressed_block(draw(st.sampled_from(list(COMPRESSORS))), plain[start:stop])
        for start, stop in pairwise(edges)
    )
    # ROOT stores a basket as it is if compression does not shrink it: so its length tells.
    raw = stored == "mixed" and (len(blocks) >= len(plain) or draw(st.booleans()))
    return plain if raw else blocks


@st.composite
def columns(draw: st.DrawFn, kind: str | None = None, max_entries: int = 12) -> Column:
    """A branch of any kind, cut into baskets anywhere, stored anyhow."""
    entries = draw(st.integers(0, max_entries))
    written: Kind = draw(KINDS[kind or draw(st.sampled_from(list(KINDS)))](entries))
    few = draw(st.sampled_from([3, 2, 0]))  # so that most columns have several baskets
    cuts = draw(st.lists(st.integers(0, entries), min_size=few, max_size=4).map(sorted))
    edges = [0, *cuts, entries]
    all_stored: list[Stored] = ["raw", "blocks", "mixed", "zlib", "zstd", "xz"]
    stored = draw(st.sampled_from(all_stored))
    chunks = []
    for start, stop in pairwise(edges):
        # Whether offsets are stored may differ from basket to basket.
        with_offsets = written.needs_offsets or draw(st.booleans())
        plain = joined(written.encoded[start:stop], with_offsets=with_offsets)
        counts = None
        if isinstance(written.interpretation, AsJagged) and not with_offsets:
            counts = (written.counts or [])[start:stop]
        chunks.append(
            Chunk(
                draw(stored_payload(plain, stored)),
                plain,
                sum(map(len, written.encoded[start:stop])),
                stop - start,
                counts,
            )
        )
    table = BasketTable(
        np.array([chunk.entries for chunk in chunks], np.int64),
        np.array([len(chunk.plain) for chunk in chunks], np.int64),
        np.array([chunk.border for chunk in chunks], np.int64),
        stored,
    )
    spec = BranchSpec("b", "", "", "TBranch", entries, written.interpretation, table)
    return Column(spec, chunks, written.expected)


# --- a store

SOURCE_UUID = "d5a1f1f2-1234-11ee-9999-0123456789ab"
FLOAT = {"kind": "flat", "from_dtype": ">f4"}


def node(root: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    attributes = {"root": {"classname": "X"} | root, "vroot": own}
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def branch(num_entries: int, kind: dict[str, Any], rows: dict[str, Any] | None) -> dict[str, Any]:
    own = {"node": "branch", "interpretation": kind}
    return node({"num_entries": num_entries}, own | ({"baskets": rows} if rows else {}))


def store() -> dict[str, Any]:
    """A store, written by hand as FORMAT.md says."""
    source = {"url": "ignored", "size_bytes": 5000, "uuid": SOURCE_UUID, "header_xxh64": "00"}
    root = {"node": "directory", "schema": 1, "generator": "hand", "sources": [source]}
    flat = {"entries": [3, 2], "uncompressed_bytes": [12, 8]}
    lists = {"entries": [2, 1, 2], "uncompressed_bytes": [28, 12, 24], "border_bytes": [12, 0, 8]}
    texts = {"entries": [5], "uncompressed_bytes": [10]}
    return {
        "version": 1,
        "templates": {"s0": "data.root"},
        "refs": {
            "zarr.json": node({"classname": "TFile", "cycle": 1}, root),
            "T/zarr.json": node({"num_entries": 5, "title": "a tree"}, {"node": "tree"}),
            "T/met/zarr.json": branch(5, FLOAT, flat),
            "T/met/c/0": ["{{s0}}", 100, 12],
            "T/met/c/1": ["{{s0}}", 200, 8],
            "T/%63ontent/zarr.json": branch(5, {"kind": "jagged", "content": FLOAT}, lists),
            "T/%63ontent/content/zarr.json": {"zarr_format": 3, "node_type": "array"},
            # Baskets 0 and 2: the basket in between has no items.
            "T/%63ontent/content/c/0": ["{{s0}}", 300, 28],
            "T/%63ontent/content/c/1": ["{{s0}}", 400, 24],
            "T/%63ontent/counts/zarr.json": {"zarr_format": 3, "node_type": "array"},
            "T/a%2Fb/zarr.json": branch(5, {"kind": "strings"}, texts),
            "T/a%2Fb/raw/zarr.json": {"zarr_format": 3, "node_type": "array"},
            "T/a%2Fb/raw/c/0": "base64:" + base64.b64encode(b"\1a\1b\1c\1d\1e").decode(),
            "T/a%2Fb;2/zarr.json": branch(5, {"kind": "unsupported", "reason": "no"}, None),
        },
    }
