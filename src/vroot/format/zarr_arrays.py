"""Which Zarr arrays hold a column: their documents, and the keys of their chunks."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vroot.decode.compression import ALGORITHMS
from vroot.format.interpretations import JSON, Programs, encode_interpretation
from vroot.format.nodes import encode_branch, encode_runs
from vroot.metadata.dtypes import split_dtype
from vroot.metadata.interpretations import (
    AsBits,
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsJagged,
    AsObjects,
    AsStridedObjects,
    AsStrings,
    Interpretation,
)
from vroot.metadata.specs import BranchSpec, IndexArray, Manifest, Stored

__all__ = [
    "CODEC_NAME",
    "ChunkArray",
    "branch_items",
    "column_arrays",
    "group_document",
    "is_stock",
    "page_items",
]

CODEC_NAME = "vroot.basket"

#: Codecs that read the chunks of a column that are all stored alike.
STOCK_CODECS: dict[Stored, list[JSON]] = {
    "raw": [],
    **{
        each.stored: [dict(each.zarr_codec)]
        for each in ALGORITHMS
        if each.stored is not None and each.zarr_codec is not None
    },
}


@dataclass(frozen=True, eq=False)
class ChunkArray:
    """One Zarr array of a column.

    Parameters
    ----------
    name : str
        "values", "content", "counts" or "raw" inside the column's group; "" if the column is the
        array.
    dtype : numpy.dtype
        Of its elements, native.
    inner_shape : tuple of int
        Its dimensions after the first.
    edges : ndarray of int64
        Lengths of its chunks in the first dimension, all positive.
    baskets : ndarray of int64
        Which basket each chunk is: one without items has no chunk.
    """

    name: str
    dtype: np.dtype[Any]
    inner_shape: tuple[int, ...]
    edges: IndexArray
    baskets: IndexArray

    def keys(self, path: str) -> list[str]:
        """Keys of all chunks, for a column at `path`."""
        start = f"{path}/{self.name}/c/" if self.name else f"{path}/c/"
        end = "/0" * len(self.inner_shape)
        return [f"{start}{i}{end}" for i in range(self.edges.size)]


def column_arrays(spec: BranchSpec) -> list[ChunkArray]:
    """Say which Zarr arrays hold a column.

    Parameters
    ----------
    spec : BranchSpec
        The branch.

    Returns
    -------
    list of ChunkArray
        The first holds the payloads of the baskets; none if the branch has no column.
    """
    table, interpretation = spec.baskets, spec.interpretation
    match interpretation:
        case AsDtype() | AsDouble32() | AsFloat16() | AsStridedObjects() if is_zarr_dtype(
            interpretation.numpy_dtype
        ):
            base, shape = split_dtype(interpretation.numpy_dtype)
            # A Zarr array has no children: a split branch is a group that holds its values.
            return [_chunk_array("values" if spec.split else "", base, shape, table.entries)]
        case AsJagged(content, header):
            base, shape = split_dtype(content.numpy_dtype)
            items = (table.border_bytes - header * table.entries) // content.itemsize
            arrays = [_chunk_array("content", base, shape, items)]
            # With headers it is a vector of vectors or the like: the counter counts other things.
            if spec.count_branch is None or header:
                arrays.append(_chunk_array("counts", np.dtype(np.int64), (), table.entries))
            return arrays
        case AsDtype() | AsStridedObjects() | AsStrings() | AsBits() | AsObjects():
            return [_chunk_array("raw", np.dtype(np.uint8), (), table.uncompressed_bytes)]
    return []


def _chunk_array(
    name: str, dtype: np.dtype[Any], shape: tuple[int, ...], edges: IndexArray
) -> ChunkArray:
    filled = np.flatnonzero(edges > 0)
    return ChunkArray(name, dtype, shape, edges[filled], filled)


def branch_items(
    path: str, spec: BranchSpec, manifest: Manifest, programs: Programs
) -> Iterator[tuple[str, JSON]]:
    """Give the documents and the chunk references of a branch.

    Parameters
    ----------
    path : str
        Where the branch is in the hierarchy.
    spec : BranchSpec
        The branch.
    manifest : Manifest
        Where its baskets are.
    programs : Programs
        Where its program goes, if it has one.

    Yields
    ------
    tuple of str and JSON
        Keys and values of the reference file.
    """
    attributes = encode_branch(spec, programs)
    arrays = column_arrays(spec)
    if not arrays or arrays[0].name:
        yield f"{path}/zarr.json", group_document(attributes)
    for array in arrays:
        where = f"{path}/{array.name}" if array.name else path
        own = {} if array.name else attributes
        yield f"{where}/zarr.json", _array_document(array, spec, own)
        for key, basket in zip(array.keys(path), array.baskets.tolist(), strict=True):
            yield key, _reference(manifest, basket)


def page_items(path: str, spec: BranchSpec, manifest: Manifest) -> Iterator[tuple[str, JSON]]:
    """Give the document and the chunk references of a column of an RNTuple.

    Parameters
    ----------
    path : str
        Where the column is in the hierarchy.
    spec : BranchSpec
        Its pages as baskets of bytes, see `vroot.ntuple_schema.NTupleSchema.chunks`.
    manifest : Manifest
        Where they are.

    Yields
    ------
    tuple of str and JSON
        Keys and values of the reference file.
    """
    (array,) = column_arrays(spec)
    document = _array_document(array, spec, {})
    yield f"{path}/zarr.json", document | {"dimension_names": ["byte"]}
    for key, page in zip(array.keys(path), array.baskets.tolist(), strict=True):
        yield key, _reference(manifest, page)


def _reference(manifest: Manifest, basket: int) -> JSON:
    if manifest.source[basket] >= 0:
        source = f"{{{{s{manifest.source[basket]}}}}}"
        return [source, int(manifest.offset[basket]), int(manifest.length[basket])]
    return "base64:" + base64.b64encode(manifest.inline[basket]).decode("ascii")


# --- Zarr v3 documents (https://zarr-specs.readthedocs.io/en/latest/v3/core)


def group_document(attributes: dict[str, JSON]) -> dict[str, JSON]:
    """Give the Zarr v3 document of a group."""
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def is_zarr_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether Zarr has a data type for the elements: not for a struct with arrays in it."""
    base, _ = split_dtype(dtype)
    return base.names is None or all(
        base[name].names is None and base[name].shape == () for name in base.names
    )


def _data_type(dtype: np.dtype[Any]) -> tuple[JSON, JSON]:
    """Zarr's data type and fill value."""
    if dtype.names is None:
        return dtype.name, False if dtype.kind == "b" else 0
    fields = [{"name": name, "data_type": dtype[name].name} for name in dtype.names]
    zeros = base64.b64encode(bytes(dtype.itemsize)).decode("ascii")
    return {"name": "struct", "configuration": {"fields": fields}}, zeros


def _array_document(
    array: ChunkArray, spec: BranchSpec, attributes: dict[str, JSON]
) -> dict[str, JSON]:
    codecs, dtype = _codecs(array, spec)
    data_type, fill_value = _data_type(dtype)
    dimension = {"content": "item", "raw": "byte"}.get(array.name, "entry")
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [int(array.edges.sum()), *array.inner_shape],
        "data_type": data_type,
        "chunk_grid": _chunk_grid(array),
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill_value,
        "codecs": codecs,
        "dimension_names": [dimension, *[None] * len(array.inner_shape)],
    }
    return document | ({"attributes": attributes} if attributes else {})


def _chunk_grid(array: ChunkArray) -> dict[str, JSON]:
    """Regular where the baskets are equal, so that any reader takes it; else rectilinear."""
    lengths = np.unique(array.edges)
    if lengths.size <= 1:
        first = int(lengths[0]) if lengths.size else 1
        configuration: JSON = {"chunk_shape": [first, *array.inner_shape]}
        return {"name": "regular", "configuration": configuration}
    shapes = [encode_runs(array.edges), *[[size] for size in array.inner_shape]]
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}


def is_stock(spec: BranchSpec) -> bool:
    """Whether stock codecs read the column, given bare streams of one algorithm.

    They do where every chunk is just the elements, big-endian: a flat column of whole numbers
    without entry offsets, or uncompressed bytes as they are.
    """
    table, interpretation = spec.baskets, spec.interpretation
    arrays = column_arrays(spec)
    if not arrays or arrays[0].name == "raw":
        return bool(arrays)
    return (
        isinstance(interpretation, AsDtype | AsStridedObjects)
        and getattr(interpretation, "header_bytes", 0) == 0
        and _is_big_endian(interpretation.from_dtype)
        and np.array_equal(table.border_bytes, table.uncompressed_bytes)
    )


def _is_big_endian(dtype: np.dtype[Any]) -> bool:
    base, _ = split_dtype(dtype)
    if base.names is not None:
        return all(_is_big_endian(base[name]) for name in base.names)
    return base.itemsize == 1 or base == base.newbyteorder(">")


def _codecs(array: ChunkArray, spec: BranchSpec) -> tuple[list[JSON], np.dtype[Any]]:
    """The codecs of an array, and the dtype that they give."""
    stored, interpretation = spec.baskets.stored, spec.interpretation
    if stored in STOCK_CODECS and is_stock(spec):
        if not isinstance(interpretation, AsDtype | AsStridedObjects) or array.name == "raw":
            return [{"name": "bytes"}, *STOCK_CODECS[stored]], array.dtype
        base, _ = split_dtype(interpretation.from_dtype)
        wide = base.names is not None or base.itemsize > 1
        endian = {"configuration": {"endian": "big"}} if wide else {}
        return [{"name": "bytes"} | endian, *STOCK_CODECS[stored]], base.newbyteorder("=")
    configuration: JSON = {"part": array.name or "values", "stored": stored}
    if array.name != "raw":
        needed = _without_names(interpretation, array)
        configuration["interpretation"] = encode_interpretation(needed, Programs())
    return [{"name": CODEC_NAME, "configuration": configuration}], array.dtype


def _without_names(interpretation: Interpretation, array: ChunkArray) -> Interpretation:
    """As much of an interpretation as it takes to decode one array, for a short document."""
    if isinstance(interpretation, AsJagged):
        content = interpretation.content
        if array.name == "counts":
            content = AsDtype(np.dtype(("|u1", (content.itemsize,))))
        elif isinstance(content, AsStridedObjects):
            content = _without_records(content)
        return AsJagged(content, interpretation.header_bytes)
    if isinstance(interpretation, AsStridedObjects):
        return _without_records(interpretation)
    return interpretation


def _without_records(interpretation: AsStridedObjects) -> AsStridedObjects:
    return AsStridedObjects(
        interpretation.from_dtype,
        {"": ""},
        interpretation.header_bytes,
        headers=interpretation.headers,
    )
