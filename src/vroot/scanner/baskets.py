"""The baskets of branches: their keys are read directly, near ones in one read."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import uproot

from vroot.decode.basket import Basket, join_basket, split_basket
from vroot.decode.compression import ALGORITHMS, decompress
from vroot.exceptions import DeserializationError
from vroot.io.byte_store import ByteStore
from vroot.io.merging import coalesce
from vroot.metadata.specs import BLOCK_HEADER_BYTES, BasketTable, IndexArray, Manifest, Stored

__all__ = ["BasketList", "BasketReader", "Located"]

# ROOT: TKey::Streamer and TBasket::Streamer. Big-endian.
KEY = struct.Struct(">ihiIhh")  # fNbytes, version, fObjlen, fDatime, fKeylen, fCycle
TAIL = struct.Struct(">Hiiii")  # fVersion, fBufferSize, fNevBufSize, fNevBuf, fLast
TAIL_FROM_END = TAIL.size + 1  # a flag byte follows

#: Enough for the key of nearly every basket and the first block header after it.
FIRST_READ_BYTES = 256
MAX_GAP_BYTES = 2048
MAX_REQUEST_BYTES = 4 << 20

STREAMS = {each.tag: each.stored for each in ALGORITHMS if each.stored is not None}


@dataclass(frozen=True, eq=False)
class BasketList:
    """What uproot's metadata say of the baskets of one branch.

    Parameters
    ----------
    seek, nbytes : ndarray of int64, shape (baskets,)
        Position and length of each basket on disk, its key included.
    entries : ndarray of int64, shape (baskets,)
        Entries in each.
    embedded : list of (bytes, ndarray or None)
        Data and offsets of the baskets inside of the tree's own metadata, which come last.
    embedded_entries, embedded_bytes : list of int
        Entries and, with their keys, bytes in each of those.
    """

    seek: IndexArray
    nbytes: IndexArray
    entries: IndexArray
    embedded: list[tuple[bytes, npt.NDArray[Any] | None]] = field(default_factory=list)
    embedded_entries: list[int] = field(default_factory=list)
    embedded_bytes: list[int] = field(default_factory=list)

    @classmethod
    def empty(cls) -> BasketList:
        """No baskets."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing)

    @classmethod
    def of_branch(cls, branch: uproot.TBranch) -> BasketList:
        """Collect the baskets of a branch; no basket is read but the embedded ones."""
        offsets = np.asarray(branch.entry_offsets, np.int64)
        embedded = branch.embedded_baskets
        normal = branch.num_baskets - len(embedded)
        return cls(
            np.asarray(branch.member("fBasketSeek")[:normal], np.int64),
            np.asarray(branch.member("fBasketBytes")[:normal], np.int64),
            np.diff(offsets)[:normal],
            [(basket.data.tobytes(), basket.byte_offsets) for basket in embedded],
            [int(basket.num_entries) for basket in embedded],
            [int(basket.uncompressed_bytes) for basket in embedded],
        )


@dataclass(frozen=True, eq=False)
class Located:
    """Where the baskets of a branch are.

    Parameters
    ----------
    manifest : Manifest
        Their payloads, block headers included.
    stream : str, optional
        How the bare streams are stored, if every payload is a single block of one algorithm.
    """

    manifest: Manifest
    stream: Stored | None = None

    def bare(self) -> Manifest:
        """Give the manifest of the bare streams, past the block headers."""
        if self.stream is None:
            return self.manifest
        table = dataclasses.replace(self.manifest.table, stored=self.stream)
        return dataclasses.replace(
            self.manifest,
            table=table,
            offset=self.manifest.offset + BLOCK_HEADER_BYTES,
            length=self.manifest.length - BLOCK_HEADER_BYTES,
        )


@dataclass(frozen=True, eq=False)
class _Keys:
    """Parsed keys, one row a basket."""

    keylen: IndexArray
    objlen: IndexArray
    border: IndexArray
    head: list[bytes]


class BasketReader:
    """Reads the keys of baskets.

    Parameters
    ----------
    store : ByteStore
        How to read the ROOT file.
    url : str
        The ROOT file.
    size_bytes : int
        Its length.
    """

    def __init__(self, store: ByteStore, url: str, size_bytes: int) -> None:
        self._store = store
        self._url = url
        self._size = size_bytes

    def manifests(self, lists: list[BasketList]) -> Iterator[Located | DeserializationError]:
        """Find out where the payloads of many branches are.

        Parameters
        ----------
        lists : list of BasketList
            The branches; their keys are fetched together.

        Yields
        ------
        Located or DeserializationError
            For each branch, where its baskets are or what is wrong with one of them.
        """
        heads = self._fetch_heads(lists)
        for baskets in lists:
            mine = [next(heads) for _ in range(baskets.seek.size)]
            try:
                yield self._manifest(baskets, mine)
            except (ValueError, struct.error) as err:
                yield DeserializationError(str(err))

    def first_basket(self, located: Located, header_bytes: int) -> Basket | None:
        """Read the first basket in which entries have more than headers.

        Parameters
        ----------
        located : Located
            Where the baskets of a branch are.
        header_bytes : int
            Bytes of each entry that are not data.

        Returns
        -------
        Basket or None
            None if there is no such basket.

        Raises
        ------
        CorruptBasketError
            If it is damaged.
        """
        manifest, table = located.manifest, located.manifest.table
        filled = np.flatnonzero(table.border_bytes > header_bytes * table.entries)
        if not filled.size:
            return None
        i = int(filled[0])
        if i in manifest.inline:
            payload = memoryview(manifest.inline[i])
        else:
            start, length = int(manifest.offset[i]), int(manifest.length[i])
            (payload,) = self._store.get_ranges(self._url, starts=[start], lengths=[length])
        plain = decompress(payload, table.stored, int(table.uncompressed_bytes[i]))
        return split_basket(plain, int(table.border_bytes[i]), int(table.entries[i]))

    def _fetch_heads(self, lists: list[BasketList]) -> Iterator[bytes]:
        """Yield the first bytes of every basket, empty ones for impossible places."""
        empty = np.zeros(0, np.int64)
        seek = np.concatenate([empty, *(baskets.seek for baskets in lists)])
        nbytes = np.concatenate([empty, *(baskets.nbytes for baskets in lists)])
        length = np.minimum(nbytes, FIRST_READ_BYTES)
        possible = np.flatnonzero((seek >= 0) & (length > 0) & (seek <= self._size - length))
        heads: list[bytes] = [b""] * seek.size
        requests = coalesce(
            np.zeros(possible.size, np.int64),
            seek[possible],
            length[possible],
            max_gap_bytes=MAX_GAP_BYTES,
            max_request_bytes=MAX_REQUEST_BYTES,
        )
        # Request by request, so that no more than one merged read is held at once.
        for request in requests:
            (fetched,) = self._store.get_ranges(
                self._url, starts=[request.offset], lengths=[request.length]
            )
            for i in possible[request.members].tolist():
                start = int(seek[i]) - request.offset
                heads[i] = bytes(fetched[start : start + int(length[i])])
        return iter(heads)

    def _manifest(self, baskets: BasketList, heads: list[bytes]) -> Located:
        keys = self._parse(baskets, heads)
        length = baskets.nbytes - keys.keylen
        stored, stream = _how_stored(keys, length, has_raw=bool(baskets.embedded))
        payloads = [join_basket(data, offsets) for data, offsets in baskets.embedded]
        inline_lengths = np.array([len(payload) for payload in payloads], np.int64)
        embedded_bytes = np.array(baskets.embedded_bytes, np.int64)
        nothing = np.zeros(len(payloads), np.int64)
        borders = np.array([len(data) for data, _ in baskets.embedded], np.int64)
        table = BasketTable(
            np.concatenate([baskets.entries, np.array(baskets.embedded_entries, np.int64)]),
            np.concatenate([keys.objlen, inline_lengths]),
            np.concatenate([keys.border, borders]),
            stored,
            np.concatenate([keys.keylen, embedded_bytes - inline_lengths]),
        )
        normal = baskets.seek.size
        manifest = Manifest(
            table,
            np.concatenate([np.zeros(normal, np.int64), nothing - 1]),
            np.concatenate([baskets.seek + keys.keylen, nothing]),
            np.concatenate([length, inline_lengths]),
            {normal + i: payload for i, payload in enumerate(payloads)},
        )
        return Located(manifest, stream)

    def _parse(self, baskets: BasketList, heads: list[bytes]) -> _Keys:
        n = len(heads)
        keylen, objlen, border = (np.zeros(n, np.int64) for _ in range(3))
        payload_heads = []
        for i, head in enumerate(heads):
            seek, nbytes = int(baskets.seek[i]), int(baskets.nbytes[i])
            if len(head) < KEY.size:
                raise DeserializationError(
                    f"basket {i} at offset {seek} with {nbytes} bytes is not within the file's "
                    f"{self._size} bytes"
                )
            key_nbytes, _, key_objlen, _, key_keylen, _ = KEY.unpack_from(head)
            smallest = KEY.size + TAIL_FROM_END
            if key_nbytes != nbytes or key_objlen < 0 or not smallest <= key_keylen <= nbytes:
                raise DeserializationError(
                    f"basket {i} at offset {seek} has no key of a basket of {nbytes} bytes: it "
                    f"says {key_nbytes} bytes, a key of {key_keylen} and {key_objlen} uncompressed"
                )
            wanted = min(key_keylen + BLOCK_HEADER_BYTES, nbytes)
            if len(head) < wanted:
                (fetched,) = self._store.get_ranges(self._url, starts=[seek], lengths=[wanted])
                head = bytes(fetched)  # noqa: PLW2901  # the same head, longer
            last = TAIL.unpack_from(head, key_keylen - TAIL_FROM_END)[4]
            keylen[i], objlen[i], border[i] = key_keylen, key_objlen, last - key_keylen
            payload_heads.append(head[key_keylen : key_keylen + BLOCK_HEADER_BYTES])
        return _Keys(keylen, objlen, border, payload_heads)


def _how_stored(keys: _Keys, length: IndexArray, *, has_raw: bool) -> tuple[Stored, Stored | None]:
    """How the payloads are stored, and which bare stream each is if it is a single block."""
    raw = length == keys.objlen
    if raw.all():
        return "raw", None
    if has_raw or raw.any():
        return "mixed", None
    streams = {
        STREAMS.get(head[:2])
        if int.from_bytes(head[3:6], "little") == size - BLOCK_HEADER_BYTES
        else None
        for head, size in zip(keys.head, length.tolist(), strict=True)
    }
    return "blocks", streams.pop() if len(streams) == 1 else None
