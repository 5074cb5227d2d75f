"""Decompression of reference files, which are known by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator

import zstandard

from vroot.exceptions import ReferenceStoreError

__all__ = ["BEGIN_BYTES", "ROOT_MAGIC", "looks_like_references", "unpacked"]

#: How much of a file tells what it is.
BEGIN_BYTES = 16

ROOT_MAGIC = b"root"

#: References compress to a tenth or a twentieth; what grows more than this is not a store. What is
#: short may be as regular as it likes.
MAX_EXPANSION = 1000
MAX_REGULAR_BYTES = 64 << 20
MAX_DECOMPRESSED_BYTES = 4 << 30
XZ_MEMORY_BYTES = 256 << 20
READ_BYTES = 1 << 20


def _pieces(reader: io.BufferedIOBase | zstandard.ZstdDecompressionReader) -> Iterator[bytes]:
    with reader:
        while piece := reader.read(READ_BYTES):
            yield piece


def _zstd(content: bytes) -> Iterator[bytes]:
    return _pieces(zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)))


def _gzip(content: bytes) -> Iterator[bytes]:
    return _pieces(gzip.GzipFile(fileobj=io.BytesIO(content)))


def _bz2(content: bytes) -> Iterator[bytes]:
    return _pieces(bz2.BZ2File(io.BytesIO(content)))


def _xz(content: bytes) -> Iterator[bytes]:
    # The reader of the standard library takes no limit of memory, which a header may ask for.
    while content:
        machine = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)
        yield machine.decompress(content, READ_BYTES)
        while not machine.eof:
            if machine.needs_input:
                raise EOFError("it ends too early")
            yield machine.decompress(b"", READ_BYTES)
        content = machine.unused_data.lstrip(b"\0")


#: By the bytes that such files begin with.
FORMATS: dict[bytes, tuple[str, Callable[[bytes], Iterator[bytes]]]] = {
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
    b"\x1f\x8b": ("gzip", _gzip),
    b"BZh": ("bz2", _bz2),
    b"\xfd7zXZ\0": ("xz", _xz),
}


def looks_like_references(begin: bytes) -> bool:
    """Whether a file that begins so is JSON, or compressed.

    Parameters
    ----------
    begin : bytes
        The first bytes.
    """
    return begin.lstrip()[:1] == b"{" or begin.startswith(tuple(FORMATS))


def unpacked(content: bytes, location: str) -> bytes:
    """Decompress a reference file, if it is compressed.

    Parameters
    ----------
    content : bytes
        The file.
    location : str
        Where it is from, for errors.

    Returns
    -------
    bytes
        The JSON, presumably.

    Raises
    ------
    ReferenceStoreError
        If it is damaged, becomes far too much, or is a compressed ROOT file.
    """
    for magic, (name, decompress) in FORMATS.items():
        if content.startswith(magic):
            try:
                return b"".join(_limited(decompress(content), len(content), name, location))
            except (zstandard.ZstdError, zlib.error, lzma.LZMAError, EOFError, OSError) as err:
                raise ReferenceStoreError(f"{location}: not a {name} file: {err}") from err
    return content


def _limited(
    pieces: Iterator[bytes], packed_bytes: int, name: str, location: str
) -> Iterator[bytes]:
    limit = min(MAX_DECOMPRESSED_BYTES, max(MAX_REGULAR_BYTES, MAX_EXPANSION * packed_bytes))
    size = 0
    for piece in pieces:
        if size == 0 and piece.startswith(ROOT_MAGIC):
            raise ReferenceStoreError(
                f"{location} is a ROOT file that was compressed as a whole, with {name}, so that "
                "no byte ranges of it can be read: decompress it first"
            )
        size += len(piece)
        if size > limit:
            raise ReferenceStoreError(
                f"{location}: {packed_bytes} bytes become more than {limit}, which references "
                "do not"
            )
        yield piece
