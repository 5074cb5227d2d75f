"""The codec by which plain zarr readers take baskets apart; zarr finds it by its entry point."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from zarr.abc.codec import ArrayBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer

from vroot.decode.basket import Basket, split_basket
from vroot.decode.compression import decompress, iterate_blocks
from vroot.decode.interpretation import Array, Buffers, Decoded, Lists, decode_basket
from vroot.exceptions import CorruptBasketError, ReferenceStoreError, UnsupportedError
from vroot.format.interpretations import Programs, decode_interpretation, encode_interpretation
from vroot.format.zarr_arrays import CODEC_NAME
from vroot.metadata.interpretations import AsJagged, Interpretation
from vroot.metadata.specs import Stored

__all__ = ["BasketCodec"]

Part: TypeAlias = Literal["values", "content", "counts", "raw"]

PARTS: tuple[Part, ...] = ("values", "content", "counts", "raw")
STORED: tuple[Stored, ...] = ("raw", "blocks", "mixed")
OFFSET_BYTES = 4


@dataclass(frozen=True)
class BasketCodec(ArrayBytesCodec):
    """From the payload of a basket to one part of what it holds.

    Parameters
    ----------
    part : "values", "content", "counts" or "raw"
        The entries of a flat column, the items or the number of items of a jagged one, or the
        uncompressed bytes.
    stored : "raw", "blocks" or "mixed"
        How payloads are stored.
    interpretation : Interpretation, optional
        What the bytes mean; not needed for "raw".

    Raises
    ------
    ReferenceStoreError
        If the configuration is not one that this version knows.
    """

    part: Part
    stored: Stored
    interpretation: Interpretation | None = None

    is_fixed_size = False

    def __post_init__(self) -> None:
        """Check the configuration."""
        if self.part not in PARTS or self.stored not in STORED:
            raise ReferenceStoreError(
                f"codec {CODEC_NAME!r}: part must be one of {PARTS} and stored one of {STORED}, "
                f"not {self.part!r} and {self.stored!r}"
            )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make the codec from its Zarr metadata."""
        configuration = data.get("configuration", {})
        return cls(
            configuration.get("part"),
            configuration.get("stored"),
            None
            if configuration.get("part") == "raw"
            else decode_interpretation(configuration.get("interpretation")),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the Zarr metadata of the codec."""
        configuration: dict[str, Any] = {"part": self.part, "stored": self.stored}
        if self.interpretation is not None:
            configuration["interpretation"] = encode_interpretation(self.interpretation, Programs())
        return {"name": CODEC_NAME, "configuration": configuration}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Not known: baskets are compressed."""
        raise NotImplementedError(f"codec {CODEC_NAME!r} cannot tell encoded sizes")

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        payload = memoryview(chunk_data.to_bytes())
        array = self.part_of(payload, int(chunk_spec.shape[0]))
        if array.shape != tuple(chunk_spec.shape):
            raise CorruptBasketError(
                f"a chunk has shape {array.shape}, the store says {tuple(chunk_spec.shape)}"
            )
        native = np.ascontiguousarray(array, chunk_spec.dtype.to_native_dtype())
        return chunk_spec.prototype.nd_buffer.from_numpy_array(native)

    async def _encode_single(
        self,
        chunk_data: NDBuffer,  # noqa: ARG002  # zarr's signature
        chunk_spec: ArraySpec,  # noqa: ARG002
    ) -> Buffer | None:
        raise UnsupportedError(f"codec {CODEC_NAME!r} only reads")

    def part_of(self, payload: memoryview, length: int) -> Array:
        """Decode one chunk.

        Parameters
        ----------
        payload : memoryview of bytes
            What the reference points to.
        length : int
            The chunk's length in the first dimension.

        Returns
        -------
        ndarray, shape (length, …)
            The part, not necessarily in native byte order.

        Raises
        ------
        CorruptBasketError
            If the payload does not hold it.
        """
        plain = _plain(payload, self.stored)
        if self.part == "raw":
            return plain
        if self.part == "values":
            border = length * self._itemsize()
            return _as_array(self._interpret(plain, border, length))
        if self.part == "counts":
            border = plain.size - OFFSET_BYTES * (length + 2)
            lists = self._interpret(plain, border, length)
            return np.diff(_as_lists(lists).offsets)
        return _as_lists(self._items(plain, length)).content

    def _itemsize(self) -> int:
        itemsize = getattr(self.interpretation, "itemsize", None)
        if not isinstance(itemsize, int):
            raise UnsupportedError(f"{self.interpretation!r} has no part {self.part!r}")
        return itemsize

    def _interpret(self, plain: npt.NDArray[np.uint8], border: int, entries: int) -> Decoded:
        if not 0 <= border <= plain.size:
            raise CorruptBasketError(
                f"{entries} entries do not fit a basket of {plain.size} bytes as "
                f"{self.interpretation!r}"
            )
        if self.interpretation is None:
            raise UnsupportedError(f"part {self.part!r} needs an interpretation")
        return decode_basket(self.interpretation, split_basket(plain, border, entries))

    def _items(self, plain: npt.NDArray[np.uint8], items: int) -> Decoded:
        """Decode a jagged basket of which only the number of items is known."""
        if not isinstance(self.interpretation, AsJagged):
            raise UnsupportedError(f"{self.interpretation!r} has no part {self.part!r}")
        header = self.interpretation.header_bytes
        content_bytes = items * self.interpretation.content.itemsize
        if content_bytes == plain.size:
            # Neither headers nor offsets: for the items alone, one list of all of them will do.
            return decode_basket(
                self.interpretation, Basket(plain, 1, counts=np.array([items], np.int64))
            )
        # What is left is a header an entry, n + 2 words of offsets.
        rest = plain.size - content_bytes - 2 * OFFSET_BYTES
        entries, remainder = divmod(rest, header + OFFSET_BYTES)
        if remainder:
            raise CorruptBasketError(
                f"{plain.size} bytes are not a basket with {items} items of {self.interpretation!r}"
            )
        return self._interpret(plain, content_bytes + header * entries, entries)


def _plain(payload: memoryview, stored: Stored) -> npt.NDArray[np.uint8]:
    """Uncompress a payload whose uncompressed length only its own block headers tell."""
    if stored != "raw":
        try:
            total = sum(size for _, _, size in iterate_blocks(payload))
        except CorruptBasketError:
            # Raw bytes that happen to be a chain of blocks up to the last byte do not occur.
            if stored == "blocks":
                raise
        else:
            return decompress(payload, "blocks", total)
    return decompress(payload, "raw", len(payload))


def _as_array(decoded: Decoded) -> Array:
    if isinstance(decoded, Lists | Buffers):
        raise UnsupportedError("only a flat column has a part 'values'")
    return decoded


def _as_lists(decoded: Decoded) -> Lists:
    if not isinstance(decoded, Lists):
        raise UnsupportedError("a flat column has parts neither 'content' nor 'counts'")
    return decoded
