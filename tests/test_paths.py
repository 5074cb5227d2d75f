"""Paths and URLs as users write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from uproot._util import file_object_path_split

import vroot
from vroot.io.local import local_path
from vroot.io.urls import beside, join_url
from vroot.locate.paths import regularize_path, split_object_path

#: What is split, and what comes out: as in uproot.
FORMS = [
    ("f.root", "f.root", None),
    ("f.root:Events", "f.root", "Events"),
    ("f.root:/dir//tree/", "f.root", "dir/tree"),
    ("f.root:dir/tree;1", "f.root", "dir/tree;1"),
    ("f.root:tree:branch", "f.root", "tree:branch"),
    ("f.root:", "f.root", ""),
    (" f.root: Events ", "f.root", "Events"),
    ("f.root.1:Events", "f.root.1", "Events"),
    ("f.ROOT:Events", "f.ROOT", "Events"),
    ("f.rootx:T", "f.rootx:T", None),
    ("run:1/f.root", "run:1/f.root", None),
    ("run:1/f.root:x.root:T", "run:1/f.root:x.root", "T"),
    ("data{1,2}/*.root:T", "data{1,2}/*.root", "T"),
    ("~/f.root:T", "~/f.root", "T"),
    (r"C:\data\f.root", r"C:\data\f.root", None),
    (r"C:\data\f.root:tree", r"C:\data\f.root", "tree"),
    ("C:/data/f.root:tree", "C:/data/f.root", "tree"),
    ("C:/data/file", "C:/data/file", None),
    ("file:/path/f.root:tree", "file:/path/f.root", "tree"),
    ("file:///C:/path/f.root:tree", "file:///C:/path/f.root", "tree"),
    ("https://host:8080/f.root", "https://host:8080/f.root", None),
    ("https://host:8080/f.root:Events", "https://host:8080/f.root", "Events"),
    ("https://user:pw@host/f.root:Events", "https://user:pw@host/f.root", "Events"),
    ("root://user:pw@h:1094//store/f.root", "root://user:pw@h:1094//store/f.root", None),
    ("root://user:pw@h:1094//store/f.root:T", "root://user:pw@h:1094//store/f.root", "T"),
    ("s3://bucket/a:b/f.root:dir/tree", "s3://bucket/a:b/f.root", "dir/tree"),
    ("https://host/dl?file=/a/f.root:Events", "https://host/dl?file=/a/f.root", "Events"),
    ("zip://f.root::https://host/a.zip", "zip://f.root::https://host/a.zip", None),
    ("zip://f.root:T::https://host/a.zip", "zip://f.root::https://host/a.zip", "T"),
    ("zip://d/*.root:T::a.zip", "zip://d/*.root::a.zip", "T"),
    ("simplecache::https://host:80/f.root", "simplecache::https://host:80/f.root", None),
    ("simplecache::root://h//f.root:d/T", "simplecache::root://h//f.root", "d/T"),
]

#: Colons in queries: in a token, in a signature, perhaps before an object; nobody can tell.
QUERIES = [
    "https://host/f.root?X-Amz-Credential=a:b&sig=c:d",
    "https://host/f.root?token=a:b:Events",
    "https://host/dl?file=f.root&token=x:y",
    "root://host//store/f.root?authz=Bearer%20x:y",
    "https://refs/f.root.refs.json?token=a:b",
]

#: What uproot does not know: references, and the names of C++ classes.
FURTHER = [
    ("refs.json:T", "refs.json", "T"),
    ("https://refs/f.root.refs.json.zst:d/T", "https://refs/f.root.refs.json.zst", "d/T"),
    ("zip://f.refs.json:T::a.zip", "zip://f.refs.json::a.zip", "T"),
    ("f.root:dir/A::B", "f.root", "dir/A::B"),
    ("https://host/f.root:A::B", "https://host/f.root", "A::B"),
]


@pytest.mark.parametrize(("path", "file", "object_path"), FORMS)
def test_split(path: str, file: str, object_path: str | None) -> None:
    assert split_object_path(path) == (file, object_path) == file_object_path_split(path)


@pytest.mark.parametrize("url", QUERIES)
def test_a_query_is_not_split(url: str) -> None:
    assert split_object_path(url) == (url, None) == file_object_path_split(url)


@pytest.mark.parametrize(("path", "file", "object_path"), FURTHER)
def test_split_what_uproot_does_not_know(path: str, file: str, object_path: str) -> None:
    assert split_object_path(path) == (file, object_path)


def test_local_files_that_are_there(tmp_path: Path) -> None:
    for name in ("plain", "a.root:b"):
        (tmp_path / name).touch()
        assert split_object_path(f"{tmp_path / name}") == (f"{tmp_path / name}", None)
    assert split_object_path(f"{tmp_path}/plain:T") == (f"{tmp_path}/plain", "T")
    assert split_object_path(f"{tmp_path}/absent:T") == (f"{tmp_path}/absent:T", None)


def test_forms_of_local_paths(
    zlib_file: Path, refs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colons = tmp_path / "a:b.refs.json"
    colons.write_bytes(refs.read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for path in (colons, "~/a:b.refs.json", f"file:{colons}", f"file://{colons}"):
        assert "Events" in vroot.open(path)
        assert vroot.open({path: "Events"}).num_entries == 1000
    assert vroot.open("~/a:b.refs.json:Events").num_entries == 1000


def test_regularize_path() -> None:
    assert regularize_path("https://host/f.root") == "https://host/f.root"
    assert regularize_path(Path("https://host/f.root")) == "https://host/f.root"
    assert regularize_path("~nobody-here/f.root") == "~nobody-here/f.root"
    assert local_path("file:/a/b") == Path("/a/b")
    for wrong in (3, None, b"f.root"):
        with pytest.raises(ValueError, match="path must be"):
            regularize_path(wrong)


def test_names_beside() -> None:
    for url, expected in (
        ("https://host/f.root", "https://host/f.root.refs.json"),
        ("https://host/f.root?token=a:b", "https://host/f.root.refs.json?token=a:b"),
        ("simplecache::s3://b/f.root", "simplecache::s3://b/f.root.refs.json"),
        ("zip://f.root::s3://b/a.zip", "zip://f.root.refs.json::s3://b/a.zip"),
    ):
        assert beside(url, ".refs.json") == expected


def test_join_url() -> None:
    assert join_url("https://host/a/b.json", "c:d/e.root") == "https://host/a/c:d/e.root"
    assert join_url("s3://bucket/a/b.json", "../c.root") == "s3://bucket/c.root"
