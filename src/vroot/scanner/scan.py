"""A ROOT file scanned into a reference store."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uproot

from vroot._version import __version__
from vroot.exceptions import DeserializationError, KeyInFileError
from vroot.format.interpretations import Programs
from vroot.format.nodes import encode_root
from vroot.format.references import is_reference_name, save_references
from vroot.format.zarr_arrays import group_document
from vroot.io.byte_store import ByteStore
from vroot.io.local import local_path
from vroot.io.sources import byte_store, header_checksum
from vroot.io.urls import absolute_location, file_url
from vroot.locate.paths import regularize_path, split_object_path
from vroot.metadata.specs import DirectorySpec, Source
from vroot.scanner.baskets import BasketReader
from vroot.scanner.discovery import Discovery
from vroot.scanner.guard import UPROOT_ERRORS, describe
from vroot.scanner.objects import MAX_OBJECT_BYTES, ObjectScanner
from vroot.scanner.outputs import check_outputs, is_in_folder_of
from vroot.scanner.packing import PackedClasses
from vroot.scanner.trees import Progress, TreeScanner
from vroot.scanner.walk import Walker

__all__ = ["scan_file"]

#: "root", fVersion, fBEGIN, fEND; the last has 64 bits in versions from 1,000,000 on.
HEADER, LONG_HEADER = struct.Struct(">4sIII"), struct.Struct(">4sIIQ")
LONG_VERSION = 1_000_000


def scan_file(
    source: str | Path,
    out: str | Path | None = None,
    *,
    url: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    inline_limit_bytes: int,
    allow_truncated: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Scan a ROOT file into a reference store; see `vroot.scan`."""
    location, only = regularize_path(source), None
    if isinstance(source, str):
        location, only = split_object_path(location)
    output = None if out is None else _output(regularize_path(out), location)
    store = byte_store(location, storage_options)
    size_bytes = store.size(location)
    _check_header(store, location, size_bytes, allow_truncated=allow_truncated)
    opened = _open(location, storage_options)
    with opened:
        discovery = Discovery(location, storage_options, inline_limit_bytes=inline_limit_bytes)
        with discovery:
            references = _references(
                opened,
                store,
                (location, only),
                size_bytes,
                url,
                discovery,
                max(inline_limit_bytes, MAX_OBJECT_BYTES),
                progress,
            )
    if output is not None:
        path = local_path(location)
        if url is None and path is not None and is_in_folder_of(output, path):
            save_references(_with_url(references, _relative(path.name)), output)
        else:
            save_references(references, output)
    return references


def _output(out: str, location: str) -> Path:
    if not is_reference_name(out):
        raise ValueError(f"the output {out!r} must end in .json, .json.zst or .json.zstd")
    path = local_path(out)
    if path is None:
        raise ValueError(f"the output {out!r} must be a local file; copy it afterwards")
    check_outputs([path], [location])
    return path


def _relative(name: str) -> str:
    """Give a URL for a file in the folder of the store; a colon in its name is no scheme's."""
    return f"./{name}" if ":" in name else name


def _with_url(references: dict[str, Any], url: str) -> dict[str, Any]:
    """Give references whose only source is elsewhere."""
    root = references["refs"]["zarr.json"]
    attributes = root["attributes"]
    own = attributes["vroot"]
    moved = own | {"sources": [own["sources"][0] | {"url": url}]}
    document = root | {"attributes": attributes | {"vroot": moved}}
    return {
        "version": references["version"],
        "templates": {"s0": url},
        "refs": references["refs"] | {"zarr.json": document},
    }


def _check_header(
    store: ByteStore, location: str, size_bytes: int, *, allow_truncated: bool
) -> None:
    """Check that this is a whole ROOT file (ROOT: ``TFile::WriteHeader``)."""
    (header,) = store.get_ranges(location, starts=[0], lengths=[min(LONG_HEADER.size, size_bytes)])
    if bytes(header[:4]) != b"root":
        raise DeserializationError(
            f"{location} is not a ROOT file: it begins with {bytes(header[:4])!r}, expected b'root'"
        )
    if len(header) < LONG_HEADER.size:
        raise DeserializationError(f"{location} is truncated: it has only {size_bytes} bytes")
    _, version, _, end = HEADER.unpack_from(header)
    if version >= LONG_VERSION:
        _, _, _, end = LONG_HEADER.unpack(header)
    if size_bytes < end and not allow_truncated:
        raise DeserializationError(
            f"{location} is truncated: it has {size_bytes} bytes, its header says {end}. Transfer "
            "or write it again; or, to scan what can be read of it, use allow_truncated=True "
            "(--allow-truncated)"
        )


def _open(location: str, storage_options: Mapping[str, Any] | None) -> uproot.ReadOnlyDirectory:
    try:
        # A dict keeps uproot from looking for a colon in the name; classes of its own keep what
        # it makes of this file's streamers from what it makes of another file's.
        opened = uproot.open(
            {location: None}, custom_classes=dict(uproot.classes), **(storage_options or {})
        )
    except UPROOT_ERRORS as err:
        raise DeserializationError(f"{location} cannot be read: {describe(err)}") from err
    if not 0 < opened.file.fBEGIN < opened.file.fEND:
        raise DeserializationError(
            f"{location} is not a ROOT file: its header says that its records begin at byte "
            f"{opened.file.fBEGIN} and end at {opened.file.fEND}"
        )
    return opened


def _references(
    opened: uproot.ReadOnlyDirectory,
    store: ByteStore,
    target: tuple[str, str | None],
    size_bytes: int,
    url: str | None,
    discovery: Discovery,
    max_object_bytes: int,
    progress: Progress | None,
) -> dict[str, Any]:
    location, only = target
    path = local_path(location)
    here = absolute_location(location) if path is None else file_url(path.resolve())
    source = Source(
        url or here,
        size_bytes,
        str(opened.file.uuid),
        header_checksum(store, location, size_bytes),
    )
    programs = Programs()
    # The document of the root comes first, though only the end knows its programs.
    refs: dict[str, Any] = {"zarr.json": None}
    try:
        reader = BasketReader(store, location, size_bytes)
        packed = PackedClasses(opened.file)
        trees = TreeScanner(reader, discovery, programs, packed, progress)
        objects = ObjectScanner(store, location, packed.names, max_object_bytes)
        walker = Walker(trees, objects, only)
        refs.update(walker.directory(opened))
    except UPROOT_ERRORS as err:
        raise DeserializationError(f"{location} cannot be scanned: {describe(err)}") from err
    directory = DirectorySpec("", "", "TFile", 1)
    root = encode_root(directory, [source], f"vroot {__version__}", programs)
    refs["zarr.json"] = group_document(root)
    if only is not None and not walker.matched:
        raise KeyInFileError(only, keys=opened.keys(), file_path=location)
    return {"version": 1, "templates": {"s0": source.url}, "refs": refs}
