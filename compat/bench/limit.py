"""The limit: two threads read a tree's baskets, decompress each, and copy it into fresh memory.

A reader cannot be much faster that reads the same bytes with the same libraries on as many threads.
Nothing is checked or interpreted, and the order of bytes is not changed; the pages of the output
are touched for the first time, as those of every reader's output are.
"""

from __future__ import annotations

import lzma
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
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

__all__ = ["Payload", "find_payloads", "read_all"]

Bytes: TypeAlias = npt.NDArray[np.uint8]

KEY_HEADER = struct.Struct(">ihiIh")  # of a TKey: fNbytes, version, fObjlen, fDatime, fKeylen
KEY_BYTES = 18
BLOCK_HEADER_BYTES = 9
LZ4_CHECKSUM_BYTES = 8
THREADS = 2
REQUEST_BYTES = 1 << 20
GAP_BYTES = 64 << 10


@dataclass(frozen=True)
class Payload:
    """What follows the TKey of a basket.

    Parameters
    ----------
    offset, length : int
        Its byte range in the file.
    start, size : int
        Where what comes out is to be put, and its length in bytes.
    """

    offset: int
    length: int
    start: int
    size: int


def find_payloads(path: Path, tree: str) -> list[Payload]:
    """Find the payloads of all baskets of a tree, in the order of the file."""
    payloads: list[Payload] = []
    start = 0
    with uproot.open({path: None}) as file, path.open("rb") as raw:
        for branch in file[tree].itervalues(recursive=True):
            for seek in branch.member("fBasketSeek")[: branch.num_baskets].tolist():
                raw.seek(seek)
                stored, _, size, _, key = KEY_HEADER.unpack(raw.read(KEY_BYTES)[: KEY_HEADER.size])
                payloads.append(Payload(seek + key, stored - key, start, size))
                start += size
    return sorted(payloads, key=lambda payload: payload.offset)


class _Machines(threading.local):
    """A decompressor of zstd for each thread."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor()


MACHINES = _Machines()


def _unlz4(data: memoryview, size: int) -> Bytes:
    output = np.empty(size, np.uint8)
    cramjam.lz4.decompress_block_into(data[LZ4_CHECKSUM_BYTES:], output)
    return output


def _unxz(data: memoryview, size: int) -> bytes:
    return lzma.decompress(data)


def _unzstd(data: memoryview, size: int) -> bytes:
    return MACHINES.zstd.decompress(data, max_output_size=size)


#: The fastest library for each of ROOT's algorithms, of those that Python packages offer.
LIBRARIES: dict[bytes, Callable[[memoryview, int], Any]] = {
    b"ZL": deflate.zlib_decompress,
    b"ZS": _unzstd,
    b"L4": _unlz4,
    b"XZ": _unxz,
}


def read_all(path: Path, payloads: Sequence[Payload]) -> Bytes:
    """Read, decompress and copy payloads.

    Parameters
    ----------
    path : pathlib.Path
        The ROOT file.
    payloads : sequence of Payload
        What to read, in the order of the file.

    Returns
    -------
    ndarray of uint8
        The uncompressed bytes of all.
    """
    output = np.empty(sum(payload.size for payload in payloads), np.uint8)
    target = memoryview(output)
    descriptor = os.open(path, os.O_RDONLY)

    def work(request: Sequence[Payload]) -> None:
        begin, end = request[0].offset, request[-1].offset + request[-1].length
        fetched = memoryview(os.pread(descriptor, end - begin, begin))
        for payload in request:
            data = fetched[payload.offset - begin : payload.offset - begin + payload.length]
            _decompress_into(target[payload.start : payload.start + payload.size], data)

    try:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, _requests(payloads)))
    finally:
        os.close(descriptor)
    return output


def _decompress_into(target: memoryview, data: memoryview) -> None:
    if len(data) == len(target):
        target[:] = data
        return
    start = 0
    while data:
        stop = BLOCK_HEADER_BYTES + int.from_bytes(data[3:6], "little")
        size = int.from_bytes(data[6:9], "little")
        plain = LIBRARIES[bytes(data[:2])](data[BLOCK_HEADER_BYTES:stop], size)
        target[start : start + size] = plain
        start += size
        data = data[stop:]


def _requests(payloads: Sequence[Payload]) -> Iterator[Sequence[Payload]]:
    """Share payloads out over requests, as a reader of local files does."""
    first = 0
    for i in range(1, len(payloads) + 1):
        if i < len(payloads):
            end = payloads[i - 1].offset + payloads[i - 1].length
            last = payloads[i].offset + payloads[i].length
            is_near = payloads[i].offset - end <= GAP_BYTES
            if is_near and last - payloads[first].offset <= REQUEST_BYTES:
                continue
        yield payloads[first:i]
        first = i
