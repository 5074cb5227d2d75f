"""How large the stores of real files are, against what each may take.

``python -m compat.bench.sizes`` scans every file of the data folder and prints the ten worst. A
store may take 1.5 kB a branch, field, tree, directory or object, 80 bytes a reference, and its
inline data: base64, and what objects such as histograms hold. Compressed, it may take a sixth of
the former, and the inline data as bytes, which need not be compressible.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import vroot
from compat.data import data_files
from vroot.format.references import save_references

BYTES_PER_NODE = 1500
BYTES_PER_REFERENCE = 80
COMPRESSED_PART = 6
WORST = 10


@dataclass(frozen=True)
class Size:
    """The size of one store.

    Parameters
    ----------
    name : str
        The ROOT file.
    nodes, references : int
        Branches and other things that it names, and chunks, inline ones included.
    inline_bytes, json_bytes, zstd_bytes : int
        Bytes of inline data in base64, and of the store, plain and compressed.
    """

    name: str
    nodes: int
    references: int
    inline_bytes: int
    json_bytes: int
    zstd_bytes: int

    @property
    def allowed_bytes(self) -> int:
        """What the plain store may take."""
        own = BYTES_PER_NODE * self.nodes + BYTES_PER_REFERENCE * self.references
        return own + self.inline_bytes

    @property
    def allowed_zstd_bytes(self) -> float:
        """What the compressed store may take."""
        return (self.allowed_bytes - self.inline_bytes) / COMPRESSED_PART + self.inline_bytes * 0.75

    @property
    def part(self) -> float:
        """The larger of the parts that it takes of what it may take, plain and compressed."""
        plain = self.json_bytes / self.allowed_bytes
        return max(plain, self.zstd_bytes / self.allowed_zstd_bytes)


def measure(path: Path, folder: Path) -> Size:
    """Scan a file and measure its store, which is written to a folder."""
    store = vroot.scan(path)
    refs: dict[str, Any] = store["refs"]
    nodes = references = inline = 0
    for value in refs.values():
        references += not isinstance(value, dict)
        if isinstance(value, str):
            inline += len(value)
        elif isinstance(value, dict):
            own = value.get("attributes", {}).get("vroot")
            # The fields of an RNTuple are not nodes, but count like branches.
            fields = ((own or {}).get("data") or {}).get("fields", ())
            nodes += (own is not None) + len(fields)
            inline += inline_bytes(own)
    sizes = []
    for name in ("refs.json", "refs.json.zst"):
        save_references(store, folder / name)
        sizes.append((folder / name).stat().st_size)
    return Size(path.name, nodes, references, inline, *sizes)


def inline_bytes(value: Any) -> int:
    """Bytes that the store itself holds of a node: buffers of a branch, members of an object."""
    if isinstance(value, list):
        return sum(map(inline_bytes, value))
    if not isinstance(value, dict):
        return 0
    if value.get("node") == "object":
        return len(msgspec.json.encode(value.get("data")))
    own = value.get("buffers", {}).values()
    return sum(map(len, own)) + sum(map(inline_bytes, value.values()))


def main() -> int:
    """Print the table; the exit code says whether every store keeps within its limits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = [measure(path, folder) for path in data_files("*.root")]
    sizes.sort(key=lambda size: -size.part)
    print(f"{'file':64} {'nodes':>6} {'refs':>7} {'inline':>9} {'json':>9} {'zst':>8} {'part':>5}")
    for size in sizes[:WORST]:
        print(
            f"{size.name:64} {size.nodes:6} {size.references:7} {size.inline_bytes:9} "
            f"{size.json_bytes:9} {size.zstd_bytes:8} {size.part:5.2f}"
        )
    over = [size for size in sizes if size.part > 1]
    print(f"{len(sizes) - len(over)} passed, {len(over)} failed")
    return 1 if over or not sizes else 0


if __name__ == "__main__":
    sys.exit(main())
