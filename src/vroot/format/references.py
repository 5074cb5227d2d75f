"""Reference stores: kerchunk v1 files, plain or compressed, loaded and saved."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import zstandard

from vroot.exceptions import ReferenceStoreError
from vroot.format.compressed import unpacked
from vroot.format.interpretations import JSON
from vroot.format.names import RESERVED, component_name
from vroot.format.nodes import Heading, Node, decode_heading, decode_root, decode_spec
from vroot.format.zarr_arrays import column_arrays
from vroot.io.local import is_local, local_path
from vroot.io.remote import is_remote, read_file
from vroot.io.urls import absolute_location, join_url
from vroot.metadata.interpretations import Program
from vroot.metadata.specs import (
    BranchSpec,
    DirectorySpec,
    IndexArray,
    Manifest,
    NTupleSpec,
    ObjectSpec,
    Source,
    Spec,
    TreeSpec,
)

__all__ = ["References", "is_reference_name", "load_references", "save_references"]

SUFFIXES = (".json", ".json.zst", ".json.zstd")
ZSTD_LEVEL = 10
ZSTD_LEVEL_SMALL = 19  # takes a second for some megabytes
SMALL_BYTES = 256 << 10
MAX_NODE_DEPTH = 256
CONTROL = re.compile(r"[\x00-\x1f]")
DOCUMENT = "/zarr.json"

Reference = str | tuple[str, int, int]

NODES: dict[type[Spec], Node] = {
    DirectorySpec: "directory",
    TreeSpec: "tree",
    BranchSpec: "branch",
    NTupleSpec: "ntuple",
    ObjectSpec: "object",
}


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
        self._children = _index(file.refs, location)
        self.sources, self._programs = self._read_root(file.templates, source_url)
        self._template = {f"{{{{s{i}}}}}": i for i in range(len(self.sources))}

    def _read_root(
        self, templates: dict[str, str], source_url: str | None
    ) -> tuple[list[Source], list[Program]]:
        if "zarr.json" not in self._refs:
            raise ReferenceStoreError(
                f"{self.location}: no key 'zarr.json': this reference file is not a Zarr v3 "
                "hierarchy, as vroot.scan writes them"
            )
        document = self._document("zarr.json")
        try:
            sources, programs = decode_root(document)
        except ReferenceStoreError as err:
            raise ReferenceStoreError(f"{self.location}: not a store of vroot: {err}") from err
        resolved = []
        for i, source in enumerate(sources):
            url = templates.get(f"s{i}")
            if url is None:
                raise ReferenceStoreError(f"{self.location}: no template 's{i}' for source {i}")
            # What the caller named is read wherever it is; what the store says is not.
            given = source_url if i == 0 else None
            url = self._resolve(url) if given is None else given
            resolved.append(msgspec.structs.replace(source, url=url))
        return resolved, programs

    def _resolve(self, url: str) -> str:
        """Make a source URL absolute, and keep a remote store from reading local files."""
        here, there = local_path(self.location), local_path(url)
        is_relative = there is not None and not there.is_absolute() and "://" not in url
        if here is not None:
            resolved = absolute_location(url, here.absolute().parent)
        elif is_relative:
            try:
                resolved = join_url(self.location, url)
            except ValueError as err:
                raise ReferenceStoreError(f"{self.location}: {err}") from err
        elif is_local(self.location):
            resolved = absolute_location(url)
        else:
            self._check_remote(url)
            resolved = url
        # A local name may have any character in it but this.
        is_odd = "\0" in resolved or (local_path(resolved) is None and CONTROL.search(resolved))
        if not url or is_odd:
            raise ReferenceStoreError(f"{self.location}: {url!r} is not a URL of a source")
        return resolved

    def _check_remote(self, url: str) -> None:
        """Check that what a store from elsewhere names is remote."""
        if not is_remote(url):
            raise ReferenceStoreError(
                f"{self.location}: this remote store refers to {url!r}, which is not read for "
                "safety, since it is not remote: scan again with url= where the file is served "
                "from, or open a local copy of the store"
            )

    def children(self, path: str) -> list[str]:
        """Components of the nodes directly under a node, in the order of the ROOT file."""
        return self._children.get(path, [])

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
            return decode_spec(name, document, self._programs)
        except ReferenceStoreError as err:
            raise ReferenceStoreError(f"{self.location}: {key!r}: {err}") from err

    def heading(self, path: str) -> Heading:
        """Decode what a listing shows of a node; as `spec`, which says the rest.

        Parameters
        ----------
        path : str
            The path of a node that `children` lists.

        Returns
        -------
        vroot.format.nodes.Heading
            Its kind, name, title, class and cycle.

        Raises
        ------
        ReferenceStoreError
            If its document is malformed.
        """
        name = component_name(path.rpartition("/")[2])
        found = decode_heading(name, self._refs[f"{path}{DOCUMENT}"])
        if found is not None:
            return found
        spec = self.spec(path)
        node = NODES[type(spec)]
        cycle = 1 if isinstance(spec, BranchSpec) else spec.cycle
        return Heading(node, name, spec.title, spec.classname, cycle)

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
        found: list[tuple[int, int, int, int]] = []
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
            found.append((basket, number, reference[1], reference[2]))
        if found:
            where, *values = np.array(found, np.int64).T
            source[where], offset[where], length[where] = values

    def _document(self, key: str) -> JSON:
        try:
            document = msgspec.json.decode(self._refs[key])
            # Kerchunk also lets a document be the text of its JSON.
            return msgspec.json.decode(document) if isinstance(document, str) else document
        except (msgspec.DecodeError, RecursionError) as err:
            raise ReferenceStoreError(f"{self.location}: {key!r} is not JSON: {err}") from err


def _index(refs: Mapping[str, Any], location: str) -> dict[str, list[str]]:
    """List the children of every node, from the keys of the documents alone."""
    children: dict[str, list[str]] = {}
    for key in refs:
        if key.endswith(DOCUMENT):
            if key.count("/") > MAX_NODE_DEPTH:
                raise ReferenceStoreError(
                    f"{location}: a node is nested more than {MAX_NODE_DEPTH} deep: {key[:100]}..."
                )
            parent, _, last = key[: -len(DOCUMENT)].rpartition("/")
            if not last or key.startswith("/"):
                raise ReferenceStoreError(f"{location}: the key {key[:100]!r} names no node")
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
        Path or URL of a JSON file, plain or compressed with zstd, gzip, bz2 or xz.
    storage_options : mapping, optional
        Options for fsspec, if it is a URL.
    source_url : str, optional
        Where the source is, if not where the store says.

    Returns
    -------
    vroot.format.references.References
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
    return References(unpacked(content, location), location, source_url=source_url)


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
        level = ZSTD_LEVEL if len(content) > SMALL_BYTES else ZSTD_LEVEL_SMALL
        content = zstandard.ZstdCompressor(level=level).compress(content)
    # A link stays one; its target is what is replaced.
    target = path.resolve()
    temporary = target.with_name(f".vroot-{os.urandom(8).hex()}.tmp")
    try:
        _write(content, temporary)
        temporary.replace(target)
    except OSError as err:
        raise type(err)(err.errno, err.strerror, str(path)) from err
    finally:
        temporary.unlink(missing_ok=True)


def _write(content: bytes, path: Path) -> None:
    """Write a new file, which has no name before it is whole where the system can do that."""
    flags = getattr(os, "O_TMPFILE", 0)
    descriptor = None
    if flags:
        try:
            descriptor = os.open(path.parent, flags | os.O_WRONLY, 0o666)
        except OSError:
            descriptor = None  # not every file system can; what is wrong otherwise shows below
    if descriptor is None:
        with path.open("xb") as file:
            _write_through(file, content)
        return
    with os.fdopen(descriptor, "wb") as file:
        _write_through(file, content)
        # The folder descriptor is not needed, but without one Python does not follow the link.
        os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor)


def _write_through(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())
