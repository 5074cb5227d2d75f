"""The limit: bare decompression of a tree's blocks, and one copy of what comes out.

No reader can be faster that decompresses with the same libraries on the same cores: the compressed
bytes are in memory already, nothing is checked or interpreted, and the order of bytes is not
changed.
"""

from __future__ import annotations

import lzma
import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import cramjam
import deflate
import numpy as np
import numpy.typing as npt
import uproot
import zstandard

__all__ = ["Block", "decompress_all", "read_blocks"]

Bytes: TypeAlias = npt.NDArray[np.uint8]

KEY_HEADER = struct.Struct(">ihiIh")  # of a TKey: fNbytes, version, fObjlen, fDatime, fKeylen
BLOCK_HEADER_BYTES = 9
LZ4_CHECKSUM_BYTES = 8
RAW = b""
TASKS = 64


@dataclass(frozen=True)
class Block:
    """Compressed bytes.

    Parameters
    ----------
    tag : bytes
        ROOT's two letters for the algorithm; empty if they are not compressed.
    data : memoryview
        The stream.
    start, size : int
        Where what comes out is to be put, and its length in bytes.
    """

    tag: bytes
    data: memoryview
    start: int
    size: int


def read_blocks(path: Path, tree: str) -> list[Block]:
    """Read the compressed blocks of all baskets of a tree, in the order of their branches."""
    file_bytes = memoryview(path.read_bytes())
    blocks: list[Block] = []
    start = 0
    with uproot.open({path: None}) as file:
        for branch in file[tree].itervalues(recursive=True):
            for seek in branch.member("fBasketSeek")[: branch.num_baskets].tolist():
                stored, _, size, _, key = KEY_HEADER.unpack_from(file_bytes, seek)
                blocks += _blocks(file_bytes[seek + key : seek + stored], start, size)
                start += size
    return blocks


def _blocks(payload: memoryview, start: int, size: int) -> list[Block]:
    if len(payload) == size:
        return [Block(RAW, payload, start, size)]
    blocks: list[Block] = []
    while payload:
        stop = BLOCK_HEADER_BYTES + int.from_bytes(payload[3:6], "little")
        length = int.from_bytes(payload[6:9], "little")
        tag = bytes(payload[:2])
        begin = BLOCK_HEADER_BYTES + (LZ4_CHECKSUM_BYTES if tag == b"L4" else 0)
        blocks.append(Block(tag, payload[begin:stop], start, length))
        start += length
        payload = payload[stop:]
    return blocks


def _unlz4(data: memoryview, size: int) -> Bytes:
    output = np.empty(size, np.uint8)
    cramjam.lz4.decompress_block_into(data, output)
    return output


def _unxz(data: memoryview, size: int) -> bytes:
    return lzma.decompress(data)


def _unzstd(data: memoryview, size: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


def _raw(data: memoryview, size: int) -> memoryview:
    return data


#: The fastest library for each of ROOT's algorithms, of those that Python packages offer.
LIBRARIES: dict[bytes, Callable[[memoryview, int], Any]] = {
    b"ZL": deflate.zlib_decompress,
    b"ZS": _unzstd,
    b"L4": _unlz4,
    b"XZ": _unxz,
    RAW: _raw,
}


def decompress_all(blocks: Sequence[Block]) -> Bytes:
    """Decompress blocks on as many threads as there are cores, and copy them into one array."""
    output = np.empty(sum(block.size for block in blocks), np.uint8)

    def work(part: Sequence[Block]) -> None:
        for block in part:
            plain = LIBRARIES[block.tag](block.data, block.size)
            output[block.start : block.start + block.size] = np.frombuffer(plain, np.uint8)

    length = -(-len(blocks) // TASKS)
    parts = [blocks[i : i + length] for i in range(0, len(blocks), length)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, parts))
    return output
