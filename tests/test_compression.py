"""ROOT's compressed blocks and bare streams, made with the compression libraries themselves."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
import xxhash
from baskets import COMPRESSORS, STREAMS, block, compressed_block
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.decode.compression import ALGORITHMS, decompress, iterate_blocks
from vroot.exceptions import CorruptBasketError, DeserializationError
from vroot.metadata.specs import Stored

ANY_TIME = settings(deadline=None)
TAGS = list(COMPRESSORS)
SENTENCE = b"baskets of bytes, baskets of bytes; and more baskets of bytes" * 3
TEXT = st.binary(min_size=1, max_size=40).map(lambda part: part * 7) | st.binary(max_size=300)

tagged = pytest.mark.parametrize("tag", TAGS, ids=bytes.decode)
streamed = pytest.mark.parametrize("stored", STREAMS)


def unblocked(payload: bytes, size: int, stored: Stored = "blocks") -> bytes:
    output = decompress(memoryview(payload), stored, size)
    assert output.dtype.name == "uint8"
    return output.tobytes()


# --- what comes out


@tagged
@given(TEXT)
@ANY_TIME
def test_one_block_gives_its_bytes(tag: bytes, data: bytes) -> None:
    assert unblocked(compressed_block(tag, data), len(data)) == data


@streamed
@given(TEXT)
@ANY_TIME
def test_a_bare_stream_gives_its_bytes(stored: Stored, data: bytes) -> None:
    assert unblocked(STREAMS[stored](data), len(data), stored) == data


@given(st.lists(st.tuples(st.sampled_from(TAGS), TEXT), max_size=4))
@ANY_TIME
def test_several_blocks_follow_each_other_whatever_their_algorithms(
    parts: list[tuple[bytes, bytes]],
) -> None:
    payload = b"".join(compressed_block(tag, data) for tag, data in parts)
    expected = b"".join(data for _, data in parts)
    assert unblocked(payload, len(expected)) == expected


@given(st.binary(max_size=50))
@ANY_TIME
def test_raw_bytes_are_given_as_they_are(data: bytes) -> None:
    assert unblocked(data, len(data), "raw") == data
    assert unblocked(data, len(data), "mixed") == data


def test_raw_bytes_are_a_view_and_not_a_copy() -> None:
    payload = bytearray(b"abc")
    output = decompress(memoryview(payload), "raw", 3)
    payload[0] = ord("x")
    assert output.tobytes() == b"xbc"


@tagged
def test_a_mixed_payload_of_another_length_is_blocks(tag: bytes) -> None:
    assert unblocked(compressed_block(tag, SENTENCE), len(SENTENCE), "mixed") == SENTENCE


def test_raw_bytes_that_look_like_a_block_stay_raw_in_a_mixed_column() -> None:
    payload = compressed_block(b"ZL", SENTENCE)
    assert unblocked(payload, len(payload), "mixed") == payload


def test_the_method_byte_is_not_looked_at() -> None:
    # ROOT writes the level or the version of the library there.
    stream = COMPRESSORS[b"ZS"](SENTENCE)
    for method in (b"\x00", b"\x01", b"\xff"):
        payload = block(b"ZS", stream, len(SENTENCE), method=method)
        assert unblocked(payload, len(SENTENCE)) == SENTENCE


def test_lengths_take_three_little_endian_bytes() -> None:
    data = bytes(range(256)) * 300  # 0x012C00 bytes, each of the three lengths another
    stream = COMPRESSORS[b"L4"](data)
    payload = b"L4\x01" + len(stream).to_bytes(3, "little") + b"\x00\x2c\x01" + stream
    assert unblocked(payload, len(data)) == data


def test_a_zstd_frame_that_does_not_state_its_size_is_read() -> None:
    import zstandard

    stream = zstandard.ZstdCompressor(write_content_size=False).compress(SENTENCE)
    assert zstandard.frame_content_size(stream) == -1
    assert unblocked(stream, len(SENTENCE), "zstd") == SENTENCE
    for wrong in (len(SENTENCE) - 1, len(SENTENCE) + 1):
        with pytest.raises(CorruptBasketError, match=f"{wrong} bytes|expected {wrong}"):
            unblocked(stream, wrong, "zstd")


def test_blocks_are_walked_without_decompressing_them() -> None:
    payload = block(b"ZL", b"not zlib", 100) + block(b"XZ", b"", 5)
    walked = [(tag, bytes(data), size) for tag, data, size in iterate_blocks(memoryview(payload))]
    assert walked == [(b"ZL", b"not zlib", 100), (b"XZ", b"", 5)]


# --- what is refused


@tagged
def test_every_truncation_of_a_block_raises(tag: bytes) -> None:
    payload = compressed_block(tag, SENTENCE)
    for length in range(len(payload)):
        with pytest.raises(CorruptBasketError):
            unblocked(payload[:length], len(SENTENCE))


@tagged
def test_every_truncation_of_a_stream_in_a_block_that_agrees_raises(tag: bytes) -> None:
    stream = COMPRESSORS[tag](SENTENCE)
    for length in range(len(stream)):
        with pytest.raises(CorruptBasketError):
            unblocked(block(tag, stream[:length], len(SENTENCE)), len(SENTENCE))


@streamed
def test_every_truncation_of_a_bare_stream_raises(stored: Stored) -> None:
    stream = STREAMS[stored](SENTENCE)
    for length in range(len(stream)):
        with pytest.raises(CorruptBasketError, match=stored):
            unblocked(stream[:length], len(SENTENCE), stored)


@tagged
@given(st.binary(min_size=1, max_size=30))
@ANY_TIME
def test_bytes_after_the_last_block_raise(tag: bytes, more: bytes) -> None:
    with pytest.raises(CorruptBasketError):
        unblocked(compressed_block(tag, SENTENCE) + more, len(SENTENCE))


@given(st.binary(max_size=20), st.integers(0, 40))
@ANY_TIME
def test_raw_bytes_of_another_length_raise(data: bytes, size: int) -> None:
    if len(data) == size:
        size += 1
    with pytest.raises(CorruptBasketError, match=f"{size} bytes has {len(data)}"):
        unblocked(data, size, "raw")


@tagged
@pytest.mark.parametrize("off_by", [-len(SENTENCE) + 1, -1, 1, 1000])
def test_a_stream_of_another_length_than_its_header_says_raises(tag: bytes, off_by: int) -> None:
    size = len(SENTENCE) + off_by
    payload = block(tag, COMPRESSORS[tag](SENTENCE), size)
    with pytest.raises(CorruptBasketError, match=str(size)):
        unblocked(payload, size)


@streamed
@pytest.mark.parametrize("off_by", [-len(SENTENCE) + 1, -1, 1, 1000])
def test_a_bare_stream_of_another_length_than_expected_raises(stored: Stored, off_by: int) -> None:
    size = len(SENTENCE) + off_by
    with pytest.raises(CorruptBasketError, match=str(size)):
        unblocked(STREAMS[stored](SENTENCE), size, stored)


@pytest.mark.parametrize("off_by", [-1, 1, -len(SENTENCE), 10**18])
def test_blocks_that_do_not_add_up_to_the_expected_length_raise(off_by: int) -> None:
    payload = compressed_block(b"ZL", SENTENCE) + compressed_block(b"L4", SENTENCE)
    total = 2 * len(SENTENCE)
    with pytest.raises(CorruptBasketError, match=rf"{total} uncompressed.*{total + off_by}"):
        unblocked(payload, total + off_by)


@tagged
def test_a_header_that_states_another_compressed_length_raises(tag: bytes) -> None:
    stream = COMPRESSORS[tag](SENTENCE)
    for compressed in (0, len(stream) - 1, len(stream) + 1, 2**24 - 1):
        with pytest.raises(CorruptBasketError):
            unblocked(block(tag, stream, len(SENTENCE), compressed=compressed), len(SENTENCE))


@pytest.mark.parametrize("tag", [b"zl", b"\x00\x00", b"Z\xff", b"LZ"])
def test_an_unknown_tag_is_named_with_its_place(tag: bytes) -> None:
    first = compressed_block(b"ZL", SENTENCE)
    payload = first + block(tag, zlib_stream := COMPRESSORS[b"ZL"](b"a"), 1)
    assert payload.endswith(zlib_stream)
    with pytest.raises(CorruptBasketError, match="unknown compression tag") as caught:
        unblocked(payload, len(SENTENCE) + 1)
    assert repr(tag) in str(caught.value)
    assert f"byte {len(first)}" in str(caught.value)


# Neither old deflate nor ROOT's zstd frames carry a checksum of what comes out.
@pytest.mark.parametrize("tag", [b"ZL", b"XZ", b"L4"], ids=bytes.decode)
@given(st.integers(0, 10**6), st.integers(0, 7))
@ANY_TIME
def test_a_flipped_bit_never_gives_other_bytes(tag: bytes, where: int, bit: int) -> None:
    payload = bytearray(compressed_block(tag, SENTENCE))
    start = 3  # the tag has tests of its own, and the method byte is not looked at
    payload[start + where % (len(payload) - start)] ^= 1 << bit
    try:
        output = unblocked(bytes(payload), len(SENTENCE))
    except CorruptBasketError:
        return
    assert output == SENTENCE


def test_every_flipped_bit_of_an_lz4_block_fails_its_checksum() -> None:
    payload = compressed_block(b"L4", SENTENCE)
    for byte in range(9, len(payload)):
        for bit in range(8):
            damaged = bytearray(payload)
            damaged[byte] ^= 1 << bit
            with pytest.raises(CorruptBasketError, match="LZ4 checksum"):
                unblocked(bytes(damaged), len(SENTENCE))


@given(st.binary(max_size=40), st.integers(0, 100))
@ANY_TIME
def test_garbage_with_the_right_lz4_checksum_raises_or_has_the_right_length(
    garbage: bytes, size: int
) -> None:
    stream = struct.pack(">Q", xxhash.xxh64_intdigest(garbage)) + garbage
    try:
        output = unblocked(block(b"L4", stream, size), size)
    except CorruptBasketError:
        return
    assert len(output) == size


@given(st.binary(max_size=60), st.integers(0, 100), st.sampled_from(["blocks", "mixed", *STREAMS]))
@ANY_TIME
def test_garbage_raises_or_has_the_right_length(garbage: bytes, size: int, stored: Stored) -> None:
    try:
        output = unblocked(garbage, size, stored)
    except CorruptBasketError:
        return
    assert len(output) == size


@tagged
@given(st.binary(max_size=60), st.integers(0, 100))
@ANY_TIME
def test_garbage_in_a_block_raises_or_has_the_right_length(
    tag: bytes, garbage: bytes, size: int
) -> None:
    try:
        output = unblocked(block(tag, garbage, size), size)
    except CorruptBasketError:
        return
    assert len(output) == size


def test_a_zstd_frame_that_states_a_huge_size_is_not_allocated() -> None:
    # Magic number, a descriptor that announces 8 bytes of content size, a window byte, 2**50.
    frame = b"\x28\xb5\x2f\xfd\xc0\x00" + struct.pack("<Q", 2**50) + b"\x01\x00\x00"
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBasketError, match=f"states {2**50} bytes, expected 100"):
            unblocked(frame, 100, "zstd")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_headers_that_lie_about_the_total_cost_nothing() -> None:
    # Tens of gigabytes in the headers, which are summed before anything is allocated.
    payload = block(b"ZL", b"", 2**24 - 1) * 4000
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBasketError, match=f"{4000 * (2**24 - 1)} uncompressed"):
            unblocked(payload, 10)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@tagged
def test_more_bytes_than_a_stream_should_give_are_not_made(tag: bytes) -> None:
    bomb = block(tag, COMPRESSORS[tag](bytes(8 << 20)), 100)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBasketError, match="100"):
            unblocked(bomb, 100)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_error_is_one_of_deserialization_and_a_value_error() -> None:
    with pytest.raises(DeserializationError) as caught:
        unblocked(b"??", 5)
    assert isinstance(caught.value, ValueError)


def test_one_row_an_algorithm() -> None:
    assert len({each.tag for each in ALGORITHMS}) == len(ALGORITHMS) == 5
    assert len({each.number for each in ALGORITHMS}) == len(ALGORITHMS)
    assert {each.stored for each in ALGORITHMS} == {None, "zlib", "zstd", "xz"}
    assert all((each.stored is None) == (each.zarr_codec is None) for each in ALGORITHMS)
