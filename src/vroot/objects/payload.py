"""What follows the TKey of an object, of which its large arrays are parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from vroot.decode.compression import decompress
from vroot.exceptions import CorruptBasketError, ReferenceStoreError
from vroot.io.fetching import Ranges
from vroot.metadata.interpretations import AsDtype
from vroot.metadata.specs import BasketTable, BranchSpec
from vroot.objects.basics import AnyArray
from vroot.read.opened import OpenedFile

__all__ = ["payload_path", "payload_spec", "read_payload"]

#: ROOT's keys have the length in 31 bits.
MAX_PAYLOAD_BYTES = (1 << 31) - 1


def payload_path(path: str) -> str:
    """Path in the store of the payload of the object that is at a path."""
    return f"{path}/raw"


def payload_spec(table: BasketTable) -> BranchSpec:
    """Describe a payload as what it is in the store: the only basket of a branch of bytes.

    Parameters
    ----------
    table : BasketTable
        Its size.

    Returns
    -------
    BranchSpec
        The branch.

    Raises
    ------
    ValueError
        If it is not one basket of as many bytes as entries, or longer than a key can say.
    """
    sizes = table.uncompressed_bytes
    if len(table) != 1 or not 0 < sizes[0] <= MAX_PAYLOAD_BYTES:
        raise ValueError(f"{len(table)} baskets of {sizes.tolist()[:2]} bytes are not a payload")
    return BranchSpec("raw", "", "", "", int(sizes[0]), AsDtype(np.dtype(np.uint8)), table)


def read_payload(file: OpenedFile, path: str, table: BasketTable) -> AnyArray:
    """Fetch and decompress the payload of an object.

    Parameters
    ----------
    file : OpenedFile
        The opened store.
    path : str
        Path of the object in it.
    table : BasketTable
        The size of the payload.

    Returns
    -------
    ndarray of uint8
        Its bytes, as many as the table says.

    Raises
    ------
    ReferenceStoreError
        If the store has no such reference, or an impossible one.
    CorruptBasketError
        If the bytes in the source do not become the payload.
    """
    try:
        spec = payload_spec(table)
    except ValueError as err:
        raise ReferenceStoreError(f"the payload of {path!r} is malformed: {err}") from err
    manifest = file.references.manifest(payload_path(path), spec)
    found: list[Any] = []

    def use(_: object, payloads: list[memoryview], url: str) -> None:
        try:
            found.append(decompress(payloads[0], table.stored, spec.num_entries))
        except CorruptBasketError as err:
            where = f"offset {manifest.offset[0]} of {url}" if url else "inline bytes"
            raise CorruptBasketError(f"object {path!r}, {where}: {err}") from err

    ranges = Ranges(manifest.source, manifest.offset, manifest.length, manifest.inline)
    file.fetcher.fetch(ranges, use)
    payload: AnyArray = found[0]
    return payload
