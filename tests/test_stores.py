"""One suite that every way of reading byte ranges passes, and every place of a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from serving import RangeHandler, serve

import vroot
from vroot.exceptions import MissingExtraError, ShortReadError, UnsupportedError
from vroot.io import remote
from vroot.io.byte_store import ByteStore
from vroot.io.local import LocalStore, local_path
from vroot.io.remote import RemoteStore

CONTENT = bytes(range(256)) * 40


class DishonestHandler(RangeHandler):
    """A server that answers a range with everything."""

    honest = False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served")
    (path / "data.bin").write_bytes(CONTENT)
    return path


@pytest.fixture(scope="module")
def http_url(folder: Path) -> Iterator[str]:
    yield from serve(folder, RangeHandler)


@pytest.fixture(scope="module")
def dishonest_url(folder: Path) -> Iterator[str]:
    yield from serve(folder, DishonestHandler)


@pytest.fixture(params=["path", "file url", "memory", "http"])
def place(request: pytest.FixtureRequest, folder: Path, http_url: str) -> tuple[ByteStore, str]:
    if request.param == "path":
        return LocalStore(), str(folder / "data.bin")
    if request.param == "file url":
        return LocalStore(), (folder / "data.bin").as_uri()
    if request.param == "memory":
        fsspec.filesystem("memory").pipe("/data.bin", CONTENT)
        return RemoteStore(), "memory://data.bin"
    return RemoteStore(), f"{http_url}/data.bin"


def test_protocol(place: tuple[ByteStore, str]) -> None:
    store, _ = place
    assert isinstance(store, ByteStore)
    assert store.concurrency >= 1
    assert 0 < store.max_gap_bytes < store.max_request_bytes


def test_size(place: tuple[ByteStore, str]) -> None:
    store, url = place
    assert store.size(url) == len(CONTENT)


def test_ranges_come_in_order(place: tuple[ByteStore, str]) -> None:
    store, url = place
    offsets, lengths = [9000, 0, 17, 10239, 17], [50, 1, 4000, 1, 4]
    parts = store.get_ranges(url, starts=offsets, lengths=lengths)
    expected = [CONTENT[a : a + n] for a, n in zip(offsets, lengths, strict=True)]
    assert [bytes(part) for part in parts] == expected


def test_no_ranges(place: tuple[ByteStore, str]) -> None:
    store, url = place
    assert store.get_ranges(url, starts=[], lengths=[]) == []


@pytest.mark.parametrize(("offset", "length"), [(10230, 11), (10240, 1), (20000, 5)])
def test_short_read(place: tuple[ByteStore, str], offset: int, length: int) -> None:
    store, url = place
    # Some servers refuse a range that begins after the end: that is an error too.
    with pytest.raises(OSError, match=r"asked for|416|[Rr]ange"):
        store.get_ranges(url, starts=[0, offset], lengths=[3, length])


def test_missing(place: tuple[ByteStore, str]) -> None:
    store, url = place
    with pytest.raises(FileNotFoundError):
        store.get_ranges(url + ".none", starts=[0], lengths=[1])
    with pytest.raises(FileNotFoundError):
        store.size(url + ".none")


def test_a_server_that_ignores_ranges_is_found_out(dishonest_url: str) -> None:
    with pytest.raises(ShortReadError, match="asked for 10 bytes at offset 100, got 10240"):
        RemoteStore().get_ranges(f"{dishonest_url}/data.bin", starts=[100], lengths=[10])


def test_a_huge_length_is_no_allocation(folder: Path) -> None:
    with pytest.raises(ShortReadError, match="got 10240"):
        LocalStore().get_ranges(str(folder / "data.bin"), starts=[0], lengths=[1 << 60])


def test_schemes_without_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match="nonesuch://x"):
        RemoteStore().get_ranges("nonesuch://x", starts=[0], lengths=[1])

    def missing(url: str, **options: Any) -> Any:
        raise ImportError(f"no package for {url}")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(MissingExtraError, match=r"s3://.*'s3fs'.*pip install 'vroot\[s3\]'"):
        remote.read_file("s3://bucket/refs.json")


def test_local_path() -> None:
    assert local_path("/a/b") == Path("/a/b")
    assert local_path("a:b") == Path("a:b")
    assert local_path("https://example.org/x") is None
    assert local_path("file:///no/such%20file") == Path("/no/such file")


def test_store_and_source_on_a_server(zlib_file: Path, tmp_path: Path) -> None:
    (tmp_path / "events.root").write_bytes(zlib_file.read_bytes())
    vroot.scan(tmp_path / "events.root", tmp_path / "refs.json.zst", url="events.root")
    server = serve(tmp_path, RangeHandler)
    url = next(server)
    try:
        tree = vroot.open(f"{url}/refs.json.zst:Events")
        assert tree["run"].array().tolist() == list(range(1000))
        scanned = vroot.open(vroot.scan(f"{url}/events.root"))
        assert scanned["Events"].arrays(library="np")["run"].sum() == sum(range(1000))
        assert vroot.open(f"{url}/events.root:dir/sub/small")["x"].array()[-1] == 4
    finally:
        next(server, None)


def test_a_remote_store_reads_no_local_file(zlib_file: Path) -> None:
    references = vroot.scan(zlib_file)
    import msgspec

    fsspec.filesystem("memory").pipe("/refs.json", msgspec.json.encode(references))
    with pytest.raises(vroot.exceptions.ReferenceStoreError, match="not read for safety"):
        vroot.open("memory://refs.json")
