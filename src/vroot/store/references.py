"""Reference stores: kerchunk v1 files, plain or compressed, loaded and saved."""

from __future__ import annotations

import base64
import binascii
import io
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
import numpy as np
import zstandard

from vroot.exceptions import ReferenceStoreError
from vroot.layout import column_arrays
from vroot.model import BranchSpec, IndexArray, Manifest, Source, Spec
from vroot.names import RESERVED, component_name
from vroot.schema import JSON, decode_sources, decode_spec
from vroot.store.local import local_path
from vroot.store.remote import read_file

__all__ = ["References", "is_reference_name", "load_references", "save_references"]

SUFFIXES = (".json", ".json.zst", ".json.zstd")
ZSTD_LEVEL = 10
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAX_DECOMPRESSED_BYTES = 4 << 30
DOCUMENT = "/zarr.json"

Reference = str | tuple[str, int, int]


def is_reference_name(name: str) -> bool:
    """Whether a file of this name is a reference store, by its ending."""
    return name.lower().endswith(SUFFIXES)


class _File(msgspec.Struct):
    """A kerchunk v1 reference file, its values still undecoded."""

    version: int
    refs: dict[str, msgspec.Raw]
    templates: dict[str, str] = {}
    gen: list[Any] = []


class References:
    """A loaded reference store: documents and chunk references, decoded when asked for.

    Parameters
    ----------
    content : bytes
        The kerchunk v1 JSON.
    location : str
        Where it is from: relative source URLs start there, and errors name it.
    source_url : str, optional
        Where the source is, if not where the store says.

    Raises
    ------
    ReferenceStoreError
        If it is not a store of vroot that this version reads.
    """

    def __init__(
        self, content: bytes | memoryview, location: str, *, source_url: str | None = None
    ) -> None:
        self.location = location
        try:
            file = msgspec.json.decode(content, type=_File)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise ReferenceStoreError(f"{location}: not a kerchunk reference file: {err}") from err
        if file.version != 1 or file.gen:
            raise ReferenceStoreError(
                f"{location}: kerchunk version {file.version}"
                f"{' with generated keys' if file.gen else ''}: expected version 1 without them"
            )
        self._refs = file.refs
        self._children = _index(file.refs)
        self.sources = self._read_sources(file.templates, source_url)
        self._template = {f"{{{{s{i}}}}}": i for i in range(len(self.sources))}

    def _read_sources(self, templates: dict[str, str], source_url: str | None) -> list[Source]:
        if "zarr.json" not in self._refs:
            raise ReferenceStoreError(
                f"{self.location}: no key 'zarr.json': this reference file is not a Zarr v3 "
                "hierarchy, as vroot.scan writes them"
            )
        document = self._document("zarr.json")
        try:
            sources = decode_sources(document)
        except ReferenceStoreError as err:
            raise ReferenceStoreError(f"{self.location}: not a store of vroot: {err}") from err
        resolved = []
        for i, source in enumerate(sources):
            url = templates.get(f"s{i}")
            if url is None:
                raise ReferenceStoreError(f"{self.location}: no template 's{i}' for source {i}")
            if source_url is not None and i == 0:
                url = source_url
            resolved.append(msgspec.structs.replace(source, url=self._resolve(url)))
        return resolved

    def _resolve(self, url: str) -> str:
        """Make a source URL absolute, and keep a remote store from reading local files."""
        here = local_path(self.location)
        there = local_path(url)
        if there is None:
            return url
        if here is not None:
            return str(here.absolute().parent / there)
        if there.is_absolute() or "://" in url:
            raise ReferenceStoreError(
                f"{self.location}: this remote store refers to the local file {url!r}, which is "
                "not read for safety: scan again with url= where the file is served from"
            )
        # urljoin knows no other schemes than the web's, so that it joins under one of those.
        scheme, _, rest = self.location.partition("://")
        return f"{scheme}://{urljoin('http://' + rest, url).removeprefix('http://')}"

    def children(self, path: str) -> list[str]:
        """Components of the nodes directly under a node, in the order of the ROOT file."""
        return self._children.get(path, [])

    def names(self, path: str) -> list[str]:
        """Names of the nodes directly under a node."""
        return [component_name(child) for child in self.children(path)]

    def spec(self, path: str) -> Spec:
        """Decode what a node is.

        Parameters
        ----------
        path : str
            The path of a node that `children` lists; "" is the file's own directory.

        Returns
        -------
        DirectorySpec, TreeSpec, BranchSpec or ObjectSpec
            What it is.

        Raises
        ------
        ReferenceStoreError
            If its document is malformed.
        """
        key = f"{path}{DOCUMENT}" if path else "zarr.json"
        name = component_name(path.rpartition("/")[2])
        document = self._document(key)
        try:
            return decode_spec(name, document)
        except ReferenceStoreError as err:
            raise ReferenceStoreError(f"{self.location}: {key!r}: {err}") from err

    def manifest(self, path: str, spec: BranchSpec) -> Manifest:
        """Collect where the baskets of a branch are.

        Parameters
        ----------
        path : str
            The path of the branch.
        spec : BranchSpec
            The branch.

        Returns
        -------
        Manifest
            One row a basket.

        Raises
        ------
        ReferenceStoreError
            If a reference is missing, malformed or impossible.
        """
        arrays = column_arrays(spec)
        n = len(spec.baskets)
        source = np.full(n, -1, np.int64)
        offset = np.zeros(n, np.int64)
        length = np.zeros(n, np.int64)
        inline: dict[int, bytes] = {}
        try:
            if arrays:
                keys = arrays[0].keys(path)
                self._collect(keys, arrays[0].baskets, (source, offset, length), inline)
            return Manifest(spec.baskets, source, offset, length, inline)
        except (ValueError, OverflowError, binascii.Error) as err:
            raise ReferenceStoreError(f"{self.location}: branch {path!r}: {err}") from err

    def _collect(
        self,
        keys: list[str],
        baskets: IndexArray,
        columns: tuple[IndexArray, IndexArray, IndexArray],
        inline: dict[int, bytes],
    ) -> None:
        missing = next((key for key in keys if key not in self._refs), None)
        if missing is not None:
            raise ValueError(f"the store has no reference {missing!r}")
        joined = b"[" + b",".join([bytes(self._refs[key]) for key in keys]) + b"]"
        references = msgspec.json.decode(joined, type=list[Reference])
        source, offset, length = columns
        for key, basket, reference in zip(keys, baskets.tolist(), references, strict=True):
            if isinstance(reference, str):
                if not reference.startswith("base64:"):
                    raise ValueError(f"the inline bytes of {key!r} are not base64")
                inline[basket] = base64.b64decode(reference[7:], validate=True)
                length[basket] = len(inline[basket])
                continue
            number = self._template.get(reference[0])
            if number is None:
                raise ValueError(
                    f"the reference {reference!r} of {key!r} is not a template of a source, an "
                    "offset and a length"
                )
            source[basket], offset[basket], length[basket] = number, reference[1], reference[2]

    def _document(self, key: str) -> JSON:
        try:
            document = msgspec.json.decode(self._refs[key])
            # Kerchunk also lets a document be the text of its JSON.
            return msgspec.json.decode(document) if isinstance(document, str) else document
        except (msgspec.DecodeError, RecursionError) as err:
            raise ReferenceStoreError(f"{self.location}: {key!r} is not JSON: {err}") from err


def _index(refs: Mapping[str, Any]) -> dict[str, list[str]]:
    """List the children of every node, from the keys of the documents alone."""
    children: dict[str, list[str]] = {}
    for key in refs:
        if key.endswith(DOCUMENT):
            parent, _, last = key[: -len(DOCUMENT)].rpartition("/")
            if last not in RESERVED:
                children.setdefault(parent, []).append(last)
    return children


def load_references(
    location: str,
    *,
    storage_options: Mapping[str, Any] | None = None,
    source_url: str | None = None,
) -> References:
    """Load a reference store.

    Parameters
    ----------
    location : str
        Path or URL of a ``.json``, or zstd-compressed ``.json.zst``, file.
    storage_options : mapping, optional
        Options for fsspec, if it is a URL.
    source_url : str, optional
        Where the source is, if not where the store says.

    Returns
    -------
    vroot.store.references.References
        The store.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ReferenceStoreError
        If it is not a reference store that this version reads.
    """
    path = local_path(location)
    content = path.read_bytes() if path is not None else read_file(location, storage_options)
    if content[:4] == ZSTD_MAGIC:
        content = _decompress(content, location)
    return References(content, location, source_url=source_url)


def _decompress(content: bytes, location: str) -> bytes:
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)) as reader:
            plain = reader.read(MAX_DECOMPRESSED_BYTES)
    except zstandard.ZstdError as err:
        raise ReferenceStoreError(f"{location}: not a zstd file: {err}") from err
    if len(plain) == MAX_DECOMPRESSED_BYTES:
        raise ReferenceStoreError(f"{location}: more than {MAX_DECOMPRESSED_BYTES} bytes")
    return bytes(plain)


def save_references(references: Mapping[str, Any], path: Path) -> None:
    """Write a reference store, whole or not at all.

    Parameters
    ----------
    references : mapping
        A kerchunk v1 reference file as plain data.
    path : pathlib.Path
        The file; it is compressed if its name ends in ``.zst`` or ``.zstd``.

    Raises
    ------
    OSError
        If it cannot be written; what was there before stays.
    """
    content = msgspec.json.encode(references)
    if path.name.lower().endswith((".zst", ".zstd")):
        content = zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)
    # Written under another name in the same folder, then renamed: renaming is atomic there.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
