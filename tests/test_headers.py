"""Headers of collections, strings and objects say what they are of: all that is wrong raises."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from baskets import joined

import vroot
from vroot.decode.basket import Basket, split_basket
from vroot.decode.interpretation import Lists, decode_basket
from vroot.exceptions import CorruptBasketError, UnsupportedError
from vroot.metadata.interpretations import AsDtype, AsJagged, AsStridedObjects, AsStrings

FOLDER = Path(__file__).parent / "data" / "rootmade"
SHORTS = AsJagged(AsDtype(np.dtype(">i2")), header_bytes=10)
GOOD = struct.pack(">IHIhh", 0x4000000A, 9, 2, 1, -1)

HEADER = bytes.fromhex("4000000a 0003")
POINTS = AsStridedObjects(
    np.dtype([("x", ">i4"), ("y", ">i4")]), {"": "P"}, 6, headers=((0, HEADER),)
)


def basket_of(*entries: bytes) -> Basket:
    payload = joined(list(entries), with_offsets=True)
    return split_basket(np.frombuffer(payload, np.uint8), len(b"".join(entries)), len(entries))


def test_a_vector_with_its_own_header_is_read() -> None:
    decoded = decode_basket(SHORTS, basket_of(GOOD, GOOD))
    assert isinstance(decoded, Lists)
    assert decoded.content.tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (struct.pack(">IHIhh", 0x4000000C, 9, 2, 1, -1), "entry 1 .* expected the byte count"),
        (struct.pack(">IHIhh", 0x0000000A, 9, 2, 1, -1), "entry 1 .* begins with 0x0000000a"),
        (struct.pack(">IHIhh", 0x4000000A, 0x4009, 2, 1, -1), "entry 1 .* member by member"),
        (struct.pack(">IHIhh", 0x4000000A, 9, 3, 1, -1), "entry 1 .* says that it has 3 items"),
        # Memberwise and empty: 16 bytes, which are three shorts after ten bytes.
        (struct.pack(">IHHII", 0x4000000C, 0x4009, 0, 0x3E492, 0), "entry 1 .* member by member"),
    ],
)
def test_a_header_of_another_vector_raises(entry: bytes, message: str) -> None:
    with pytest.raises(CorruptBasketError, match=message):
        decode_basket(SHORTS, basket_of(GOOD, entry, GOOD))


def test_a_byte_count_of_another_string_raises() -> None:
    good, bad = (struct.pack(">IH", 0x40000000 | n, 9) + b"\x01a" for n in (4, 5))
    decode_basket(AsStrings(6), basket_of(good, good))
    with pytest.raises(CorruptBasketError, match=r"entry 1 .* expected the byte count 0x40000004"):
        decode_basket(AsStrings(6), basket_of(good, bad))


@pytest.mark.parametrize("wrong", ["4000000a 0002", "4000000b 0003", "0000000a 0003"])
def test_objects_of_another_version_raise(wrong: str) -> None:
    good = HEADER + struct.pack(">ii", 1, 2)
    bad = bytes.fromhex(wrong) + struct.pack(">ii", 1, 2)
    assert np.asarray(decode_basket(POINTS, Basket(np.frombuffer(good * 2, np.uint8), 2))).size == 2
    with pytest.raises(CorruptBasketError, match="object 1 of the basket has the header"):
        decode_basket(POINTS, Basket(np.frombuffer(good + bad, np.uint8), 2))


@pytest.mark.parametrize("offset", [-1, 9, 100])
def test_headers_are_within_the_object(offset: int) -> None:
    with pytest.raises(ValueError, match="is not within 14 bytes"):
        AsStridedObjects(POINTS.from_dtype, {"": "P"}, 6, headers=((offset, HEADER),))


@pytest.mark.parametrize(
    ("file", "branch", "reason"),
    [
        ("mini_M1_s0", "t/b", r"objects of class M1 have headers at bytes \[4\]"),
        ("mini_M3_s0", "t/b", r"objects of class M3 have headers at bytes \[0, 18\]"),
        ("mini_M4_s0", "t/b", r"objects of class M4 have headers at bytes \[1\]"),
        ("classes_Nested", "t/s0", r"objects of class Nested have headers at bytes \[0, 26, "),
        ("classes_HitObj", "t/s0", "objects of class HitObj have 18 bytes, where uproot takes 24"),
        ("mini_vS2_s0", "t/b", "written member by member"),
        ("mini_vM3_s0", "t/b", "written member by member"),
        ("mini_VS_s1", "t/b/v", "written member by member"),
        ("classes_tclonesarray", "t/c/c.s", "a string for each item of a collection"),
        ("classes_tclonesarray", "t/d/d.fName", "a string for each item of a collection"),
        ("evo", "t1/s0.", "uproot"),
        ("evo", "t2/s0.", "uproot reads 20 of the 32 bytes of entry 0"),
    ],
)
def test_what_uproot_misreads_is_refused(file: str, branch: str, reason: str) -> None:
    tree, _, path = branch.partition("/")
    opened = vroot.open(vroot.scan(FOLDER / f"{file}.root"))[tree]
    with pytest.raises(UnsupportedError, match=reason):
        opened[path].array()


@pytest.mark.parametrize(("file", "branch"), [("mini_vS10_ow", "b"), ("ow_v_Hit", "s0")])
def test_vectors_of_objects_with_headers_are_read(file: str, branch: str) -> None:
    read = vroot.open(vroot.scan(FOLDER / f"{file}.root"))["t"][branch]
    kind = read.interpretation
    assert isinstance(kind, AsJagged)
    assert isinstance(kind.content, AsStridedObjects)
    assert kind.content.header_bytes == 10
    assert [offset for offset, _ in kind.content.headers] == [0]
    assert read.array().e[2].tolist() in ([2.0, 2.0], [1.0, 1.5])
