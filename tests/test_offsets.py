"""Offsets that columns of one counter have in common."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from baskets import joined

from vroot.decode.basket import Basket, split_basket
from vroot.decode.interpretation import Lists, decode_basket
from vroot.decode.offsets import KnownOffsets, SharedOffsets
from vroot.decode.output import allocate_output
from vroot.exceptions import CorruptBasketError
from vroot.metadata.entry_ranges import baskets_of_range, window_of_range
from vroot.metadata.interpretations import AsDtype, AsJagged
from vroot.metadata.specs import BasketTable, BranchSpec

KEY = ("nMuon", 0, 3)
FLOATS = AsJagged(AsDtype(np.dtype(">f4")))


def cut(lengths: Iterable[int], known: KnownOffsets | None = None) -> Basket:
    entries = [bytes(length) for length in lengths]
    payload = np.frombuffer(joined(entries, with_offsets=True), np.uint8)
    return split_basket(payload, sum(map(len, entries)), len(entries), known)


def known_of(lengths: list[int], itemsize: int) -> KnownOffsets:
    in_bytes = np.cumsum([0, *lengths], dtype=np.int32)
    return KnownOffsets(in_bytes, in_bytes // itemsize)


def test_equal_offsets_are_those_that_are_known() -> None:
    known = known_of([8, 0, 4], 4)
    basket = cut([8, 0, 4], known)
    assert basket.offsets is known.in_bytes
    decoded = decode_basket(FLOATS, basket)
    assert isinstance(decoded, Lists)
    assert decoded.offsets is known.in_items


@pytest.mark.parametrize("lengths", [[4, 4, 4], [8, 4, 0], [8, 0, 8]])
def test_other_offsets_are_checked_and_used_as_ever(lengths: list[int]) -> None:
    basket = cut(lengths, known_of([8, 0, 4], 4))
    assert basket.item_offsets is None
    decoded = decode_basket(FLOATS, basket)
    assert isinstance(decoded, Lists)
    assert decoded.offsets.tolist() == np.cumsum([0, *lengths]).tolist()[:1] + [
        stop // 4 for stop in np.cumsum(lengths).tolist()
    ]


def test_damaged_offsets_raise_whatever_is_known() -> None:
    with pytest.raises(CorruptBasketError, match=r"entry 1 .* 3 bytes, which are not"):
        decode_basket(FLOATS, cut([8, 3, 1], known_of([8, 0, 4], 4)))


def test_items_of_other_sizes_share_the_offsets_in_items() -> None:
    shared = SharedOffsets()
    floats, shorts, others = (known_of(lengths, size) for lengths, size in [
        ([8, 0, 4], 4), ([4, 0, 2], 2), ([2, 0, 4], 2),
    ])  # fmt: skip
    assert shared.find(KEY, 4) is None
    assert shared.add(KEY, 4, *floats) is floats.in_items
    assert shared.add(KEY, 2, *shorts) is floats.in_items
    assert shared.find(KEY, 2) == KnownOffsets(shorts.in_bytes, floats.in_items)
    # What differs stays as it is, and is not offered to others.
    assert shared.add(KEY, 2, *others) is others.in_items
    assert shared.find(KEY, 2) == KnownOffsets(shorts.in_bytes, floats.in_items)
    assert shared.find(("nJet", 0, 3), 4) is None


def test_columns_of_the_same_offsets_have_one_array_of_them() -> None:
    entries, border = np.array([2, 3]), np.array([12, 8])
    table = BasketTable(entries, border + 4 * (entries + 2), border)
    spec = BranchSpec("b", "", "", "TBranch", 5, FLOATS, table, "nMuon")
    parts = baskets_of_range(table.edges, 1, 4)
    shared = SharedOffsets()
    offsets = [np.array([0, 1, 3], np.int32), np.array([0, 0, 2, 2], np.int32)]
    window = window_of_range(table.edges, 1, 4)
    outputs = [allocate_output(spec, window, shared) for _ in range(2)]
    for i, output in enumerate(outputs):
        for part in reversed(parts):
            content = np.arange(offsets[part.basket][-1]) + 10 * i
            output.put(part, Lists(offsets[part.basket], content.astype(">f4")))
    first, second = (output.finish() for output in outputs)
    assert isinstance(first, Lists)
    assert isinstance(second, Lists)
    assert first.offsets is second.offsets
    assert first.offsets.tolist() == [0, 2, 2, 4]
    assert first.content.tolist() == [1, 2, 0, 1]
    assert second.content.tolist() == [11, 12, 10, 11]
