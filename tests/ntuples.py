"""RNTuples made by hand: pages encoded from the format's description, and stores of them."""

from __future__ import annotations

import dataclasses
import math
import struct
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
import xxhash
from baskets import compressed_block

from vroot.decode.pages import COLUMN_TYPES

CODES = {
    "Byte": "B", "Char": "B", "Int8": "b", "UInt8": "B", "Int16": "h", "UInt16": "H",
    "Int32": "i", "UInt32": "I", "Int64": "q", "UInt64": "Q", "Real16": "e", "Real32": "f",
    "Real64": "d", "Index32": "I", "Index64": "Q",
}  # fmt: skip


def bit_string(integers: list[int], bits: int) -> bytes:
    """Pack integers without gaps, the first in the lowest bits."""
    joined = sum(integer << (bits * i) for i, integer in enumerate(integers))
    return joined.to_bytes((len(integers) * bits + 7) // 8, "little")


def encode_page(values: list[Any], type_name: str, bits: int = 0, limits: Any = None) -> bytes:
    """Encode a page as ROOT's specification of the format describes it."""
    plain = type_name.removeprefix("Split")
    if type_name == "Bit":
        return bit_string([int(value) for value in values], 1)
    if type_name == "Switch":
        return b"".join(struct.pack("<QI", *value) for value in values)
    if type_name == "Real32Trunc":
        words = [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
        return bit_string([word >> (32 - bits) for word in words], bits)
    if type_name == "Real32Quant":
        low, high = limits
        steps = (1 << bits) - 1
        return bit_string([round((value - low) * steps / (high - low)) for value in values], bits)
    if type_name.startswith("SplitIndex"):
        values = [b - a for a, b in zip([0, *values], values, strict=False)]
    code = CODES[plain]
    if type_name.startswith("SplitInt"):
        values = [2 * value if value >= 0 else -2 * value - 1 for value in values]
        code = code.upper()
    items = [struct.pack(f"<{code}", value) for value in values]
    if type_name.startswith("Split"):
        size = struct.calcsize(f"<{code}")
        return b"".join(bytes(item[i] for item in items) for i in range(size))
    return b"".join(items)


def checksum(page: bytes) -> bytes:
    """What follows a page."""
    return struct.pack("<Q", xxhash.xxh3_64_intdigest(page))


@dataclasses.dataclass
class Column:
    """A column: its pages in each cluster, and what the store says of it."""

    type: str
    field: int
    clusters: list[list[list[Any]]]
    bits: int = 0
    value_range: tuple[float, float] | None = None
    more: dict[str, Any] = dataclasses.field(default_factory=dict)
    checked: bool = True
    tag: bytes = b""

    def stored(self, values: list[Any]) -> bytes:
        """One page as it is stored, without its checksum."""
        plain = encode_page(values, self.type, self.bits, self.value_range)
        block = compressed_block(self.tag, plain) if self.tag else plain
        return block if len(block) < len(plain) else plain

    @property
    def element_bits(self) -> int:
        return self.bits or COLUMN_TYPES[self.type].bits


def write_store(
    path: Path, fields: list[dict[str, Any]], columns: list[Column], clusters: list[int]
) -> dict[str, Any]:
    """Write pages into a file, and give the references to them."""
    content = bytearray(b"root" + bytes(600))
    refs: dict[str, Any] = {}
    described = []
    for number, column in enumerate(columns):
        pages = [values for cluster in column.clusters for values in cluster]
        for i, values in enumerate(pages):
            stored = column.stored(values)
            refs[f"ntuple/column-{number}/c/{i}"] = ["{{s0}}", len(content), len(stored)]
            content += stored + (checksum(stored) if column.checked else b"")
        description = {
            "type": column.type,
            "field": column.field,
            "stored": "mixed" if column.tag else "raw",
            "elements": [len(values) for values in pages],
            "pages": [len(cluster) for cluster in column.clusters],
            **column.more,
        }
        if column.bits:
            description["bits"] = column.bits
        if column.value_range:
            description["value_range"] = list(column.value_range)
        if not column.checked:
            description["unchecked"] = [1] * len(pages)
        described.append(description)
    path.write_bytes(content)
    source = {
        "url": str(path),
        "size_bytes": len(content),
        "uuid": "00000000-0000-0000-0000-000000000000",
        "header_xxh64": xxhash.xxh64_hexdigest(bytes(content[:512])),
    }
    root = {"node": "directory", "schema": 1, "generator": "by hand", "sources": [source]}
    data = {"fields": fields, "columns": described, "clusters": clusters}
    documents = {
        "zarr.json": ({"classname": "TFile"}, root),
        "ntuple/zarr.json": (
            {"classname": "ROOT::RNTuple", "cycle": 1, "num_entries": sum(clusters)},
            {"node": "ntuple", "data": data},
        ),
    }
    nodes = {
        key: {
            "zarr_format": 3,
            "node_type": "group",
            "attributes": {"root": about, "vroot": own},
        }
        for key, (about, own) in documents.items()
    }
    return {"version": 1, "templates": {"s0": str(path)}, "refs": nodes | refs}


def is_same(got: float, expected: float) -> bool:
    """Equality that holds for NaN, and tells zeros apart."""
    if math.isnan(expected):
        return math.isnan(got)
    return got == expected and math.copysign(1, got) == math.copysign(1, expected)


# --- RNTuples that uproot writes

CLUSTERS = [(0, 10), (10, 17), (17, 30)]


def columns(start: int, stop: int) -> dict[str, Any]:
    """Columns of every kind that uproot writes, of which no two entries are alike."""
    numbers = range(start, stop)
    return {
        "i": np.array(numbers, "i4") * 3 - 5,
        "flag": np.array([i % 3 == 0 for i in numbers]),
        "small": np.array([i % 256 for i in numbers], "u1"),
        "x": np.array(numbers) / 7,
        "text": ak.Array([f"event {i}" * (i % 4) for i in numbers]),
        "list": ak.Array([[i + j for j in range(i % 4)] for i in numbers]),
        "lists": ak.Array([[[i, j] for j in range(i % 3)] for i in numbers]),
        "record": ak.Array([{"a": i, "inner": {"b": i / 2}} for i in numbers]),
        "hits": ak.Array([[{"pos": i, "t": float(j)} for j in range(i % 3)] for i in numbers]),
        "array": ak.to_regular(ak.Array([[i, i + 0.5, -i] for i in numbers])),
        "maybe": ak.Array([None if i % 3 == 0 else i for i in numbers]),
        "variant": ak.Array([i if n % 3 else f"text {i}" for n, i in enumerate(numbers)]),
        "pair": ak.Array([(i, float(i)) for i in numbers]),
    }


def write_events(path: Path, compression: Any) -> Path:
    """Write an RNTuple of three clusters, and one without entries in a directory."""
    with uproot.recreate(path, compression=compression) as file:
        ntuple = file.mkrntuple("events", columns(*CLUSTERS[0]), "what happened")
        for cluster in CLUSTERS[1:]:
            ntuple.extend(columns(*cluster))
        file.mkrntuple("dir/nothing", {"x": np.dtype("f8")})
    return path
