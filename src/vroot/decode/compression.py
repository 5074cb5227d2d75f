"""ROOT's compressed blocks, and bare streams, to bytes."""

from __future__ import annotations

import lzma
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import cramjam
import deflate
import numpy as np
import numpy.typing as npt
import xxhash
import zstandard

from vroot.exceptions import CorruptBasketError
from vroot.metadata.specs import BLOCK_HEADER_BYTES, Stored

__all__ = [
    "ALGORITHMS",
    "STREAMS",
    "Algorithm",
    "Plain",
    "decompress",
    "decompress_each",
    "iterate_blocks",
]

Bytes = npt.NDArray[np.uint8]
#: Uncompressed bytes, in whatever a library gives.
Plain: TypeAlias = Bytes | bytes | bytearray | memoryview
#: From a stream and the length that must come out to the bytes.
Decompressor: TypeAlias = Callable[[memoryview, int], Plain]

XZ_MEMORY_BYTES = 256 << 20  # the highest preset needs 65 MB; a false header may ask for any
LZ4_CHECKSUM = struct.Struct(">Q")
#: The tag, a byte of method, and twice 3 bytes of compressed and of uncompressed length.
BLOCK_HEADER = struct.Struct("<2sxHBHB")


class _Machines(threading.local):
    """What a thread decompresses with: to make it takes as long as a small basket does."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor()


MACHINES = _Machines()


def decompress(payload: memoryview, stored: Stored, uncompressed_bytes: int) -> Bytes:
    """Turn a basket's payload into its uncompressed bytes.

    Parameters
    ----------
    payload : memoryview of bytes
        The bytes of the basket after its TKey (of a bare stream: after the block header too).
    stored : str
        How they are stored, see `vroot.metadata.specs.Stored`.
    uncompressed_bytes : int
        The length that must come out.

    Returns
    -------
    ndarray of uint8, shape (uncompressed_bytes,)
        A view of `payload` if that is stored raw.

    Raises
    ------
    CorruptBasketError
        If a header, a checksum, a stream or a length is not as it should be.
    """
    return np.frombuffer(_decompress(payload, stored, uncompressed_bytes), np.uint8)


def _decompress(payload: memoryview, stored: Stored, uncompressed_bytes: int) -> Plain:
    if stored == "raw" or (stored == "mixed" and len(payload) == uncompressed_bytes):
        if len(payload) != uncompressed_bytes:
            raise CorruptBasketError(
                f"a raw payload of {uncompressed_bytes} bytes has {len(payload)}"
            )
        return payload
    if stored in ("blocks", "mixed"):
        return _decompress_blocks(payload, uncompressed_bytes)
    return DECOMPRESSORS[stored](payload, uncompressed_bytes)


def decompress_each(
    payloads: Sequence[memoryview], stored: Stored, uncompressed_bytes: Sequence[int]
) -> Iterator[Plain]:
    """Decompress the payloads of several baskets of one column.

    Parameters
    ----------
    payloads : sequence of memoryview
        See `decompress`.
    stored : str
        How all of them are stored.
    uncompressed_bytes : sequence of int
        The length that must come out of each.

    Yields
    ------
    ndarray, bytes, bytearray or memoryview
        The uncompressed bytes of one basket, when they are asked for.

    Raises
    ------
    CorruptBasketError
        As `decompress` does.
    """
    for payload, size in zip(payloads, uncompressed_bytes, strict=True):
        yield _decompress(payload, stored, size)


def iterate_blocks(payload: memoryview) -> Iterator[tuple[bytes, memoryview, int]]:
    """Walk the compressed blocks of a payload.

    Parameters
    ----------
    payload : memoryview of bytes
        One or more blocks: a 2-byte tag, a method byte, 3 bytes little-endian of compressed and
        3 of uncompressed length, and the data (ROOT: core/zip/src/RZip.cxx, ``R__zipMultiple``).

    Yields
    ------
    tuple
        Tag, compressed data, uncompressed length in bytes.

    Raises
    ------
    CorruptBasketError
        If a tag is unknown, or a block reaches beyond the payload.
    """
    start = 0
    while start < len(payload):
        header = bytes(payload[start : start + BLOCK_HEADER_BYTES])
        if len(header) < BLOCK_HEADER_BYTES:
            raise CorruptBasketError(
                f"truncated block header at byte {start} of {len(payload)}: {len(header)} of "
                f"{BLOCK_HEADER_BYTES} bytes"
            )
        tag = header[:2]
        if tag not in DECOMPRESSORS:
            raise CorruptBasketError(f"unknown compression tag {tag!r} at byte {start}")
        compressed = int.from_bytes(header[3:6], "little")
        stop = start + BLOCK_HEADER_BYTES + compressed
        if stop > len(payload):
            raise CorruptBasketError(
                f"the block at byte {start} ends at {stop}, beyond the payload's {len(payload)}"
            )
        yield (
            tag,
            payload[start + BLOCK_HEADER_BYTES : stop],
            int.from_bytes(header[6:9], "little"),
        )
        start = stop


def _decompress_blocks(payload: memoryview, uncompressed_bytes: int) -> Plain:
    if len(payload) >= BLOCK_HEADER_BYTES:
        # Most baskets are a single block, and many are small: this is the short way.
        tag, low, high, size_low, size_high = BLOCK_HEADER.unpack_from(payload)
        if (
            tag in DECOMPRESSORS
            and low + (high << 16) == len(payload) - BLOCK_HEADER_BYTES
            and size_low + (size_high << 16) == uncompressed_bytes
        ):
            return DECOMPRESSORS[tag](payload[BLOCK_HEADER_BYTES:], uncompressed_bytes)
    # All headers are checked before anything is allocated, so that a false length costs nothing.
    blocks = list(iterate_blocks(payload))
    total = sum(size for _, _, size in blocks)
    if total != uncompressed_bytes:
        raise CorruptBasketError(
            f"the blocks hold {total} uncompressed bytes, expected {uncompressed_bytes}"
        )
    output = np.empty(uncompressed_bytes, np.uint8)
    target = memoryview(output)
    start = 0
    for tag, data, size in blocks:
        target[start : start + size] = memoryview(DECOMPRESSORS[tag](data, size))
        start += size
    return output


def _decompress_zlib(data: memoryview, size: int) -> Plain:
    try:
        # libdeflate does not look at a stream that is to give nothing.
        output = deflate.zlib_decompress(data, size) if size else zlib.decompress(data)
    except (deflate.DeflateError, zlib.error, ValueError) as err:
        raise CorruptBasketError(f"not a zlib stream of {size} bytes: {err}") from err
    return _checked(output, size)


def _decompress_zstd(data: memoryview, size: int) -> Plain:
    # A frame that states its size is allocated by that, whatever the limit: check it first.
    try:
        stated = zstandard.frame_content_size(data)
        if stated not in (-1, size):
            raise CorruptBasketError(f"the zstd frame states {stated} bytes, expected {size}")
        output = MACHINES.zstd.decompress(data, max_output_size=size, allow_extra_data=False)
    except (zstandard.ZstdError, ValueError) as err:
        raise CorruptBasketError(f"not a zstd stream of {size} bytes: {err}") from err
    return _checked(output, size)


def _decompress_xz(data: memoryview, size: int) -> Plain:
    try:
        output = _unxz(data, size)
    except (lzma.LZMAError, ValueError) as err:
        raise CorruptBasketError(f"not an xz stream of {size} bytes: {err}") from err
    return _checked(output, size)


def _unxz(data: memoryview, size: int) -> bytes:
    machine = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)
    output = machine.decompress(data, max_length=size)
    if not machine.eof:
        # The end marker may not be read yet; one byte more would be one too many.
        output += machine.decompress(b"", max_length=1)
    if not machine.eof:
        raise CorruptBasketError(f"the xz stream does not end after {size} bytes")
    if machine.unused_data:
        raise CorruptBasketError(f"{len(machine.unused_data)} bytes follow the xz stream")
    return output


def _decompress_lz4(data: memoryview, size: int) -> Bytes:
    """An xxh64 of the rest, big-endian, then an LZ4 block (ROOT: core/lz4/src/ZipLZ4.cxx)."""
    if len(data) < LZ4_CHECKSUM.size:
        raise CorruptBasketError(f"an LZ4 block of {len(data)} bytes has no room for its checksum")
    (expected,) = LZ4_CHECKSUM.unpack_from(data)
    block = data[LZ4_CHECKSUM.size :]
    checksum = xxhash.xxh64_intdigest(block)
    if checksum != expected:
        raise CorruptBasketError(f"LZ4 checksum {checksum:#018x}, expected {expected:#018x}")
    output = np.empty(size, np.uint8)
    try:
        written = cramjam.lz4.decompress_block_into(block, output)
    except cramjam.DecompressionError as err:
        raise CorruptBasketError(f"not an LZ4 block of {size} bytes: {err}") from err
    if written != size:
        raise CorruptBasketError(f"an LZ4 block gave {written} bytes, expected {size}")
    return output


def _decompress_old(data: memoryview, size: int) -> Plain:
    """A raw deflate stream, as ROOT wrote before it used zlib (tag "CS")."""
    machine = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        output = machine.decompress(data, size + 1)
    except zlib.error as err:
        raise CorruptBasketError(f"not a deflate stream of {size} bytes: {err}") from err
    if not machine.eof:
        raise CorruptBasketError(f"the deflate stream does not end after {size} bytes")
    if machine.unused_data:
        raise CorruptBasketError(f"{len(machine.unused_data)} bytes follow the deflate stream")
    return _checked(output, size)


def _checked(output: bytes | bytearray, size: int) -> bytes | bytearray:
    if len(output) != size:
        raise CorruptBasketError(f"a block gave {len(output)} bytes, expected {size}")
    return output


class Algorithm(NamedTuple):
    """One of ROOT's compression algorithms.

    Parameters
    ----------
    tag : bytes
        The first two bytes of its blocks (ROOT: core/zip/src/RZip.cxx).
    number : int
        ROOT's number of it, a hundredth of the compression settings (core/zip/inc/Compression.h).
    decompress : callable
        From the data of a block and their uncompressed length to the bytes.
    stored : str, optional
        How a store calls the bare stream of its only block; none if that is not a stream that
        other software knows.
    zarr_codec : dict, optional
        The codec of zarr-python or numcodecs that reads that stream.
    """

    tag: bytes
    number: int
    decompress: Decompressor
    stored: Stored | None = None
    zarr_codec: Mapping[str, Any] | None = None


def _zarr_codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


#: All of them. Of LZ4 there is no bare stream: ROOT puts a checksum before the data.
ALGORITHMS = (
    Algorithm(b"ZL", 1, _decompress_zlib, "zlib", _zarr_codec("numcodecs.zlib", level=1)),
    Algorithm(b"XZ", 2, _decompress_xz, "xz", _zarr_codec("numcodecs.lzma", preset=1)),
    Algorithm(b"CS", 3, _decompress_old),
    Algorithm(b"L4", 4, _decompress_lz4),
    Algorithm(b"ZS", 5, _decompress_zstd, "zstd", _zarr_codec("zstd", level=1, checksum=False)),
)

#: By the tag of a block, and by how a bare stream is stored.
DECOMPRESSORS: dict[bytes | str, Decompressor] = {
    **{each.tag: each.decompress for each in ALGORITHMS},
    **{each.stored: each.decompress for each in ALGORITHMS if each.stored is not None},
}

#: How the bare streams are stored.
STREAMS = frozenset(each.stored for each in ALGORITHMS if each.stored is not None)
