"""Byte stores that the user hands in: those of obstore as they are, and the simplest one."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import awkward as ak
import obstore
import pytest

import vroot
from vroot.exceptions import ShortReadError, StaleReferencesError


class Recorded:
    """A store that is nothing but `get_ranges`, as obspec has it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.paths: list[str] = []

    def get_ranges(
        self, path: str, *, starts: Sequence[int], lengths: Sequence[int]
    ) -> list[bytes]:
        self.paths.append(path)
        return [
            self.content[start : start + length]
            for start, length in zip(starts, lengths, strict=True)
        ]


@pytest.fixture
def expected(refs: Path) -> Any:
    return vroot.open(refs)["Events"].arrays()


def scanned(zlib_file: Path, url: str) -> dict[str, Any]:
    return vroot.scan(zlib_file, url=url)


def test_a_store_of_obstore_for_local_files(refs: Path, expected: Any) -> None:
    file = vroot.open(refs, store=obstore.store.LocalStore())
    assert ak.array_equal(file["Events"].arrays(), expected)
    assert file.source.num_requested_bytes > 0
    copy = pickle.loads(pickle.dumps(file))  # noqa: S301
    assert ak.array_equal(copy["Events"].arrays(), expected)


@pytest.mark.parametrize("prefix", ["s3://bucket/", "s3://bucket", "s3://bucket/data/"])
def test_stores_of_obstore_by_prefix(zlib_file: Path, expected: Any, prefix: str) -> None:
    memory = obstore.store.MemoryStore()
    url = "s3://bucket/data/events.root"
    memory.put(url.removeprefix(prefix).lstrip("/"), zlib_file.read_bytes())
    other = Recorded(b"")
    stores: dict[str, Any] = {prefix: memory, "s3://": other, "s3://other/": other}
    file = vroot.open(scanned(zlib_file, url), store=stores)
    assert ak.array_equal(file["Events"].arrays(), expected)
    assert other.paths == []


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://example.org/a/b%20c.root?token=x", "a/b c.root"),
        ("root://host:1094//store/a.root", "/store/a.root"),
        ("s3://bucket/a.root", "a.root"),
    ],
)
def test_the_path_in_a_single_store(zlib_file: Path, expected: Any, url: str, path: str) -> None:
    store = Recorded(zlib_file.read_bytes())
    file = vroot.open(scanned(zlib_file, url), store=store)
    assert ak.array_equal(file["Events"].arrays(), expected)
    assert set(store.paths) == {path}


def test_a_prefix_ends_where_a_name_does(zlib_file: Path, expected: Any) -> None:
    other, store = Recorded(b""), Recorded(zlib_file.read_bytes())
    stores = {"s3://buck": other, "s3://bucket": other, "s3://bucket2": store}
    file = vroot.open(scanned(zlib_file, "s3://bucket2/a.root"), store=stores)
    assert ak.array_equal(file["Events"].arrays(), expected)
    assert other.paths == []


def test_what_fits_no_prefix_is_read_without(refs: Path, expected: Any) -> None:
    store = Recorded(b"")
    file = vroot.open(refs, store={"s3://bucket/": store})
    assert ak.array_equal(file["Events"].arrays(), expected)
    assert store.paths == []


def test_other_and_missing_bytes(zlib_file: Path) -> None:
    references = scanned(zlib_file, "s3://bucket/a.root")
    content = zlib_file.read_bytes()
    with pytest.raises(StaleReferencesError, match=r"s3://bucket/a\.root"):
        vroot.open(references, store=Recorded(bytes(len(content))))["Events"].arrays()
    with pytest.raises(ShortReadError, match=r"s3://bucket/a\.root"):
        vroot.open(references, store=Recorded(content[:600]))["Events"].arrays()
    with pytest.raises(FileNotFoundError):
        vroot.open(references, store=obstore.store.MemoryStore())["Events"].arrays()


def test_what_is_not_a_store(refs: Path) -> None:
    stores: Any = 3
    with pytest.raises(TypeError, match="get_ranges"):
        vroot.open(refs, store=stores)["Events"].arrays()
