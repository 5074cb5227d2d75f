"""Reference stores: loading, saving, and refusing what is none."""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from baskets import SOURCE_UUID, store
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.exceptions import ReferenceStoreError, VrootError
from vroot.format.names import component_name
from vroot.format.references import (
    References,
    is_reference_name,
    load_references,
    save_references,
)
from vroot.metadata.interpretations import AsDtype, AsJagged, AsStrings, Unsupported
from vroot.metadata.specs import BranchSpec, DirectorySpec, Manifest, TreeSpec

ANY_TIME = settings(deadline=None)
HERE = "/data/refs.json"
THERE = "https://example.org/dir/refs.json"


def opened(content: Any, location: str = HERE, **options: Any) -> References:
    return References(json.dumps(content).encode(), location, **options)


def changed(*keys: Any, to: Any, content: Any = None) -> Any:
    """A store with another value at one place; "remove" takes it out."""
    content = store() if content is None else content
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    if to == "remove":
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = to
    return content


def manifest(references: References, path: str) -> Manifest:
    spec = references.spec(path)
    assert isinstance(spec, BranchSpec)
    return references.manifest(path, spec)


# --- what a store says


def test_nodes_are_listed_in_their_order_under_their_names() -> None:
    references = opened(store())
    assert references.children("") == ["T"]
    assert references.children("T") == ["met", "%63ontent", "a%2Fb", "a%2Fb;2"]
    assert [component_name(text) for text in references.children("T")] == [
        "met",
        "content",
        "a/b",
        "a/b",
    ]
    # The arrays of a column are no nodes of the ROOT file.
    assert references.children("T/%63ontent") == []
    assert references.children("nowhere") == []


def test_nodes_are_decoded() -> None:
    references = opened(store())
    assert references.spec("") == DirectorySpec("", "", "TFile", 1)
    assert references.spec("T") == TreeSpec("T", "a tree", "X", 1, 5)
    kinds = {}
    for child in references.children("T"):
        spec = references.spec(f"T/{child}")
        assert isinstance(spec, BranchSpec)
        kinds[child] = (spec.name, spec.interpretation)
    float32 = AsDtype(np.dtype(">f4"))
    assert kinds == {
        "met": ("met", float32),
        "%63ontent": ("content", AsJagged(float32)),
        "a%2Fb": ("a/b", AsStrings()),
        "a%2Fb;2": ("a/b", Unsupported("no")),
    }


def test_the_baskets_of_a_branch_are_collected() -> None:
    references = opened(store())
    met = manifest(references, "T/met")
    assert met.source.tolist() == [0, 0]
    assert met.offset.tolist() == [100, 200]
    assert met.length.tolist() == [12, 8]
    lists = manifest(references, "T/%63ontent")
    assert lists.source.tolist() == [0, -1, 0]
    assert lists.offset.tolist() == [300, 0, 400]
    assert lists.length.tolist() == [28, 0, 24]
    texts = manifest(references, "T/a%2Fb")
    assert texts.source.tolist() == [-1]
    assert texts.length.tolist() == [10]
    assert texts.inline == {0: b"\1a\1b\1c\1d\1e"}
    assert len(manifest(references, "T/a%2Fb;2").table) == 0


def test_a_document_may_be_the_text_of_its_json() -> None:
    content = store()
    content["refs"] = {
        key: json.dumps(value) if key.endswith("zarr.json") else value
        for key, value in content["refs"].items()
    }
    references = opened(content)
    assert references.sources[0].uuid == SOURCE_UUID
    assert manifest(references, "T/met").offset.tolist() == [100, 200]


# --- where the sources are


@pytest.mark.parametrize(
    ("location", "url", "expected"),
    [
        (HERE, "data.root", "/data/data.root"),
        (HERE, "sub/data.root", "/data/sub/data.root"),
        (HERE, "/other/data.root", "/other/data.root"),
        (HERE, "file:///other/data.root", "/other/data.root"),
        ("file:///data/refs.json", "data.root", "/data/data.root"),
        (HERE, "https://example.org/d.root", "https://example.org/d.root"),
        (HERE, "a b%20#?.root", "/data/a b%20#?.root"),
        (THERE, "data.root", "https://example.org/dir/data.root"),
        (THERE, "sub/data.root", "https://example.org/dir/sub/data.root"),
        (THERE, "../data.root", "https://example.org/data.root"),
        (THERE, "../../../data.root", "https://example.org/data.root"),
        (THERE, "root://eos//store/d.root", "root://eos//store/d.root"),
        ("s3://bucket/dir/refs.json", "../data.root", "s3://bucket/data.root"),
        ("memory://dir/refs.json", "data.root", "memory://dir/data.root"),
    ],
)
def test_a_source_is_relative_to_the_folder_of_the_store(
    location: str, url: str, expected: str
) -> None:
    references = opened(changed("templates", "s0", to=url), location)
    assert [source.url for source in references.sources] == [expected]


def test_a_relative_store_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    references = opened(store(), "sub/refs.json")
    assert references.sources[0].url == str(tmp_path / "sub" / "data.root")


LOCAL = ["/etc/x", "//host/x", *(f"{scheme}:///etc/x" for scheme in ("file", "local", "FILE"))]
CHAINED = [
    *(f"{cache}::file:///etc/x" for cache in ("simplecache", "filecache", "blockcache")),
    "zip://x::file:///etc/x.zip",
    "https://example.org/x::file:///etc/x",
    "reference://",
    "asynclocal:///etc/x",
]


@pytest.mark.parametrize("url", [*LOCAL, "file://etc/x", "file://x", "file://[x", *CHAINED])
def test_a_remote_store_cannot_make_a_reader_read_local_files(url: str) -> None:
    with pytest.raises(ReferenceStoreError, match="which is not read for safety") as caught:
        opened(changed("templates", "s0", to=url), THERE)
    assert str(caught.value).startswith(f"{THERE}: ")
    assert repr(url) in str(caught.value)


def test_a_source_may_be_elsewhere_than_the_store_says() -> None:
    references = opened(store(), source_url="https://mirror.org/data.root")
    assert references.sources[0].url == "https://mirror.org/data.root"
    assert references.sources[0].uuid == SOURCE_UUID


# --- what is no store


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"\0" * 50, b"[]", b"null", b"{}", b'{"version": 1}', b"\xff\xfe{}", b"{"],
    ids=repr,
)
def test_what_is_no_reference_file_is_refused(content: bytes) -> None:
    with pytest.raises(ReferenceStoreError, match=f"^{HERE}: not a kerchunk reference file"):
        References(content, HERE)


def test_every_truncation_of_a_store_is_refused() -> None:
    content = json.dumps(store()).encode()
    for length in range(len(content)):
        with pytest.raises(ReferenceStoreError):
            References(content[:length], HERE)


BAD_UUID = changed("refs", "zarr.json", "attributes", "vroot", "sources", 0, "uuid", to="no uuid")
ROOT_ATTRIBUTES = ("refs", "zarr.json", "attributes")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("version", to=0), "kerchunk version 0: expected version 1"),
        (changed("version", to=2), "kerchunk version 2: expected version 1"),
        (store() | {"gen": [{}]}, "version 1 with generated keys"),
        (changed("version", to="1"), "not a kerchunk reference file"),
        (changed("refs", to=[]), "not a kerchunk reference file"),
        (changed("templates", to={"s0": 1}), "not a kerchunk reference file"),
        (changed("refs", "zarr.json", to="remove"), r"no key 'zarr\.json'"),
        (changed("refs", "zarr.json", to="no JSON"), "'zarr.json' is not JSON"),
        (changed("refs", "zarr.json", to=["{{s0}}", 0, 10]), "not a store of vroot"),
        (changed(*ROOT_ATTRIBUTES, to={}), "not a store of vroot"),
        (changed(*ROOT_ATTRIBUTES, "vroot", "schema", to=2), "has schema 2"),
        (changed(*ROOT_ATTRIBUTES, "vroot", "schema", to="remove"), "has schema None"),
        (BAD_UUID, "malformed: 'no uuid'"),
        (changed("templates", to={}), "no template 's0' for source 0"),
        (changed("templates", to={"s1": "data.root"}), "no template 's0' for source 0"),
    ],
)
def test_another_store_is_refused_with_the_reason(content: Any, message: str) -> None:
    with pytest.raises(ReferenceStoreError, match=message) as caught:
        opened(content)
    assert str(caught.value).startswith(f"{HERE}: ")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("remove", "the store has no reference 'T/met/c/1'"),
        (["{{s1}}", 200, 8], r"\('{{s1}}', 200, 8\)"),
        (["data.root", 200, 8], "not a template of a source"),
        (["file:///etc/passwd", 0, 8], "not a template of a source"),
        (["{{s0}}"], "200|length 3|3 elements"),
        (["{{s0}}", -1, 8], "s from -[0-9]+ to"),
        (["{{s0}}", 200, -8], "s from -[0-9]+ to"),
        (["{{s0}}", 2**63, 8], "too large"),
        (["{{s0}}", 200, 2**63], "too large"),
        (["{{s0}}", 200, 9], "basket 1 cannot become 8 bytes from 9"),
        (["{{s0}}", "200", 8], "str"),
        ([200, 8, "{{s0}}"], "int"),
        ("plain text", "the inline bytes of 'T/met/c/1' are not base64"),
        ("base64:!!!!", "base64|Base64|alphabet"),
        ("base64:abc", "[Pp]adding"),
        ("base64:é", "ASCII"),
        ({}, "object"),
        (None, "null"),
    ],
)
def test_impossible_references_are_refused_with_their_branch(reference: Any, message: str) -> None:
    references = opened(changed("refs", "T/met/c/1", to=reference))
    with pytest.raises(ReferenceStoreError, match=message) as caught:
        manifest(references, "T/met")
    assert str(caught.value).startswith(f"{HERE}: branch 'T/met': ")
    # The other branches are not affected.
    assert manifest(references, "T/a%2Fb").length.tolist() == [10]


@pytest.mark.parametrize("document", ["no JSON", [], None, 5, {"attributes": {}}, "{", '"{}"'])
def test_a_malformed_document_spoils_its_own_node_only(document: Any) -> None:
    references = opened(changed("refs", "T/met/zarr.json", to=document))
    with pytest.raises(ReferenceStoreError, match=r"'T/met/zarr\.json'") as caught:
        references.spec("T/met")
    assert str(caught.value).startswith(f"{HERE}: ")
    assert isinstance(references.spec("T/a%2Fb"), BranchSpec)


# --- files


def test_a_store_is_known_by_its_ending() -> None:
    stores = ["refs.json", "b.root.refs.JSON", "https://x.org/refs.json.zst", "refs.json.zstd"]
    others = ["data.root", "refs.zst", "json", "refs.json.gz", ""]
    assert [name for name in stores + others if is_reference_name(name)] == stores


@pytest.mark.parametrize("name", ["refs.json", "refs.json.zst", "refs.json.ZSTD"])
def test_what_is_saved_is_loaded(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_references(store(), path)
    raw = path.read_bytes()
    plain = raw if name == "refs.json" else zstandard.decompress(raw)
    assert json.loads(plain) == store()
    references = load_references(str(path))
    assert references.children("T") == ["met", "%63ontent", "a%2Fb", "a%2Fb;2"]
    assert references.sources[0].url == str(tmp_path / "data.root")


def test_equal_stores_are_saved_as_equal_bytes(tmp_path: Path) -> None:
    for name in ("refs.json", "refs.json.zst"):
        save_references(store(), tmp_path / name)
        first = (tmp_path / name).read_bytes()
        save_references(copy.deepcopy(store()), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first


def test_a_store_is_loaded_over_fsspec() -> None:
    import fsspec

    fs = fsspec.filesystem("memory")
    fs.pipe("/vroot-test/refs.json.zst", zstandard.compress(json.dumps(store()).encode()))
    try:
        references = load_references("memory://vroot-test/refs.json.zst")
    finally:
        fs.rm("/vroot-test", recursive=True)
    assert references.sources[0].url == "memory://vroot-test/data.root"


def test_a_store_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_references(str(tmp_path / "refs.json"))


def test_what_becomes_far_too_much_is_refused(tmp_path: Path) -> None:
    # Two hundred million spaces, in some thousands of bytes.
    (tmp_path / "refs.json.zst").write_bytes(zstandard.compress(b" " * (200 << 20)))
    with pytest.raises(ReferenceStoreError, match="which references do not"):
        load_references(str(tmp_path / "refs.json.zst"))


def test_a_damaged_zstd_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "refs.json.zst"
    save_references(store(), path)
    content = path.read_bytes()
    for damaged in (content[:5], content[:-9], content[:20] + b"\xff" * 20 + content[40:]):
        path.write_bytes(damaged)
        with pytest.raises(ReferenceStoreError, match=r"refs\.json\.zst"):
            load_references(str(path))


@pytest.mark.parametrize(("owner", "step"), [(os, "fsync"), (Path, "replace")])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    path = tmp_path / "refs.json"
    path.write_bytes(b"the old one")

    def fail(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "the disk is full", "some temporary name")

    monkeypatch.setattr(owner, step, fail)
    with pytest.raises(OSError, match=f"the disk is full: '{path}'"):
        save_references(store(), path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_as_json_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_bytes(b"the old one")
    with pytest.raises(TypeError):
        save_references({"refs": object()}, path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


# --- anything


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values of a JSON document are, inner and outer ones."""
    pairs = enumerate(value) if isinstance(value, list) else ()
    inner = list(value.items()) if isinstance(value, dict) else list(pairs)
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


SCALARS = (
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-3, 40)
    | st.sampled_from([2**31, 2**62, 2**63, 10**18, -(10**18), 10**30])
    | st.text("f4>i8()[]{}:/.b%", max_size=6)
    | st.sampled_from(["blocks", "zstd", "flat", "strings", "unsupported", "branch", "object"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=5,
)
CHANGES = st.tuples(st.sampled_from(places(store())[1:]), st.just("remove") | VALUES)


@given(st.lists(CHANGES, min_size=1, max_size=3), st.sampled_from([HERE, THERE]))
@settings(ANY_TIME, max_examples=300)
def test_a_changed_store_is_read_or_refused(changes: list[Any], location: str) -> None:
    content: Any = store()
    for place, value in changes:
        with contextlib.suppress(LookupError, TypeError):  # gone with an earlier change
            content = changed(*place, to=copy.deepcopy(value), content=content)
    # Nothing but errors of vroot may be raised, and the walk must end.
    with contextlib.suppress(VrootError):
        references = opened(content, location)
        paths = [""]
        for path in paths:
            assert paths.count(path) == 1
            with contextlib.suppress(VrootError):
                paths += [f"{path}/{child}".lstrip("/") for child in references.children(path)]
                spec = references.spec(path)
                if isinstance(spec, BranchSpec):
                    references.manifest(path, spec)
