"""What users name: outputs, chains of URLs, folders that change or move, and odd names."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from serving import RangeHandler, serve

import vroot
from vroot.exceptions import OutputIsSourceError, ReferenceStoreError, StaleReferencesError
from vroot.format.references import References


@pytest.fixture
def expected(refs: Path) -> Any:
    return vroot.open(refs)["Events"].arrays()


def copy(source: Path, target: Path) -> Path:
    """Copy a file, and give the path of the copy."""
    return Path(shutil.copy(source, target))


def run_cli(*arguments: str | bytes, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    code = "from vroot.cli import main; raise SystemExit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, check=False
    )


# --- outputs that are sources


def hard_link(source: Path, folder: Path) -> str:
    os.link(source, folder / "linked.json")
    return str(folder / "linked.json")


def symlink(source: Path, folder: Path) -> str:
    (folder / "linked.json").symlink_to(source)
    return str(folder / "linked.json")


OTHER_NAMES: list[Callable[[Path, Path], str]] = [
    lambda source, _: str(source),
    lambda source, _: os.path.relpath(source),
    lambda source, _: f"file://{source}",
    lambda source, _: f"{source.parent}/../{source.parent.name}/{source.name}",
    hard_link,
    symlink,
]


@pytest.mark.parametrize("other_name", OTHER_NAMES)
def test_the_output_is_not_the_source(
    zlib_file: Path, tmp_path: Path, other_name: Callable[[Path, Path], str]
) -> None:
    source = copy(zlib_file, tmp_path / "data.json")
    before = source.read_bytes()
    out = other_name(source, tmp_path)
    with pytest.raises(OutputIsSourceError, match=r"data\.json.* would replace"):
        vroot.scan(source, out)
    ended = run_cli("scan", str(source), "-o", out)
    assert ended.returncode != 0
    assert b"would replace" in ended.stderr
    assert source.read_bytes() == before


def test_the_output_is_not_another_root_file(zlib_file: Path, tmp_path: Path) -> None:
    other = copy(zlib_file, tmp_path / "other.json")
    with pytest.raises(OutputIsSourceError, match="is a ROOT file"):
        vroot.scan(zlib_file, other)
    assert other.read_bytes() == zlib_file.read_bytes()


def test_the_home_in_source_and_output(
    zlib_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: Any
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    copy(zlib_file, tmp_path / "home.root")
    vroot.scan("~/home.root", "~/home.json")
    assert ak.array_equal(vroot.open("~/home.json:Events").arrays(), expected)
    copy(zlib_file, tmp_path / "home2.json")
    with pytest.raises(OutputIsSourceError, match="would replace"):
        vroot.scan("~/home2.json", "~/home2.json")


# --- chains of URLs, and what the first bytes say


@pytest.fixture
def zipped(zlib_file: Path, refs: Path, tmp_path: Path) -> Path:
    path = tmp_path / "x.zip"
    relative = tmp_path / "in.json"
    vroot.scan(zlib_file, relative, url="a.root")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(zlib_file, "a.root")
        archive.write(refs, "elsewhere.json")
        archive.write(relative, "in.json")
    return path


@pytest.mark.parametrize(
    "chain",
    [
        "zip://a.root::file://{}",
        "zip://a.root::{}",
        "zip://in.json::file://{}",
        "zip://elsewhere.json::file://{}",
        "simplecache::zip://a.root::file://{}",
    ],
)
def test_what_the_user_names_is_read_whatever_the_chain(
    zipped: Path, chain: str, expected: Any
) -> None:
    url = chain.format(zipped)
    in_archive = url.replace("::", ":Events::", 1) if url.startswith("zip") else None
    if in_archive is not None:  # as in uproot, the object follows the name of the file
        assert ak.array_equal(vroot.open(in_archive).arrays(), expected)
    assert ak.array_equal(vroot.open({url: "Events"}).arrays(), expected)
    assert ak.array_equal(vroot.concatenate({url: "Events"}), expected)


def with_source(refs: Path, url: str) -> bytes:
    document = json.loads(refs.read_bytes())
    document["templates"]["s0"] = url
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "url",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "zip://a.root::file:///data/x.zip",
        "zip://a.root::/data/x.zip",
        "simplecache::file:///etc/passwd",
        "reference://::file:///data/r.json",
        "tar://a.root::local:///data/x.tar",
        "x::file:///etc/passwd",
        "../::file:///etc/passwd",
        "dir://a::file:///etc",
    ],
)
def test_a_remote_store_names_no_local_files(refs: Path, url: str) -> None:
    with pytest.raises(ReferenceStoreError):
        References(with_source(refs, url), "https://example.org/refs.json")


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        (".json.gz", gzip.compress),
        (".json.bz2", bz2.compress),
        (".json.xz", lzma.compress),
        (".root", bytes),
        (".dat", bytes),
        ("", gzip.compress),
    ],
)
def test_references_are_known_by_their_first_bytes(
    refs: Path, tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], expected: Any
) -> None:
    path = tmp_path / f"odd{ending}"
    path.write_bytes(compress(refs.read_bytes()))
    assert ak.array_equal(vroot.open({str(path): "Events"}).arrays(), expected)


def test_a_root_file_is_known_by_its_first_bytes(
    zlib_file: Path, tmp_path: Path, expected: Any
) -> None:
    path = copy(zlib_file, tmp_path / "really.json")
    assert ak.array_equal(vroot.open({str(path): "Events"}).arrays(), expected)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_root_file_is_refused(
    zlib_file: Path, tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.json.z"
    path.write_bytes(compress(zlib_file.read_bytes()))
    with pytest.raises(ReferenceStoreError, match="decompress it first"):
        vroot.open(path)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_compression_is_an_error(
    refs: Path, tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(compress(refs.read_bytes())[:-9])
    with pytest.raises(ReferenceStoreError, match=r"a\.json"):
        vroot.open(path)


# --- folders that change


@pytest.fixture
def two_folders(
    zlib_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    copy(zlib_file, tmp_path / "here" / "z.root")
    vroot.scan(tmp_path / "here" / "z.root", tmp_path / "here" / "z.root.refs.json")
    monkeypatch.chdir(tmp_path / "here")
    return lambda: os.chdir(tmp_path / "there")


@pytest.mark.parametrize("name", ["z.root.refs.json", "z.root", "./z.root", "*.root"])
def test_functions_over_files_after_chdir(
    two_folders: Callable[[], None], name: str, expected: Any
) -> None:
    lazy = vroot.dask({name: "Events"})
    unopened = vroot.dask({name: "Events"}, open_files=False)
    iterator = vroot.iterate({name: "Events"})
    counted = vroot.num_entries({name: "Events"})
    two_folders()
    assert ak.array_equal(lazy.run.compute(scheduler="sync"), expected.run)
    assert ak.array_equal(unopened.run.compute(scheduler="sync"), expected.run)
    assert ak.array_equal(next(iterator), expected)
    assert [entries for _, _, entries in counted] == [len(expected)]


@pytest.mark.parametrize("name", ["z.root.refs.json", "z.root"])
def test_opened_files_after_chdir(
    two_folders: Callable[[], None], name: str, expected: Any
) -> None:
    tree = vroot.open(name)["Events"]
    virtual = vroot.open(name)["Events"].arrays(virtual=True)
    pickled = pickle.dumps(vroot.open(name))
    two_folders()
    assert ak.array_equal(tree.arrays(), expected)
    assert ak.array_equal(ak.materialize(virtual), expected)
    assert ak.array_equal(pickle.loads(pickled)["Events"].arrays(), expected)  # noqa: S301


def test_the_path_shown_is_what_was_given(two_folders: Callable[[], None]) -> None:
    assert vroot.open("z.root").file_path == "z.root"
    assert next(vroot.num_entries({"z.root": "Events"}))[0] == "z.root"


# --- folders that move


def test_a_store_beside_its_file_moves_with_it(
    zlib_file: Path, tmp_path: Path, expected: Any
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(zlib_file, folder / "f.root")
    assert run_cli("scan", "f.root", cwd=folder).returncode == 0
    vroot.scan(folder / "f.root", tmp_path / "apart.json")
    folder.rename(tmp_path / "moved")
    moved = vroot.open(f"{tmp_path}/moved/f.root.refs.json:Events")
    assert ak.array_equal(moved.arrays(), expected)
    # One that is elsewhere names the file by its absolute path.
    with pytest.raises(FileNotFoundError, match=r"folder/f\.root"):
        vroot.open(tmp_path / "apart.json")["Events"].arrays()


def test_url_is_kept_as_it_is_given(zlib_file: Path, tmp_path: Path) -> None:
    copy(zlib_file, tmp_path / "f.root")
    out = tmp_path / "f.root.refs.json"
    vroot.scan(tmp_path / "f.root", out, url="https://example.org/f.root")
    assert json.loads(out.read_bytes())["templates"] == {"s0": "https://example.org/f.root"}


def test_a_store_that_is_a_link_names_its_file_absolutely(
    zlib_file: Path, tmp_path: Path, expected: Any
) -> None:
    copy(zlib_file, tmp_path / "f.root")
    (tmp_path / "other").mkdir()
    (tmp_path / "f.json").symlink_to(tmp_path / "other" / "target.json")
    vroot.scan(tmp_path / "f.root", tmp_path / "f.json")
    for name in ("f.json", "other/target.json"):
        assert ak.array_equal(vroot.open(tmp_path / name)["Events"].arrays(), expected)


# --- odd names

ODD = [
    "a#b.root",
    "a%20b.root",
    "a?b.root",
    "a b.root",
    "new\nline.root",
    "co:lon.root",
    "[a].root",
    "ümläut.root",
    "%2e%2e.root",
    "n" * 240 + ".root",
    os.fsdecode(b"not\xffutf8.root"),
]


@pytest.mark.parametrize("name", ODD)
def test_odd_local_names(zlib_file: Path, tmp_path: Path, name: str, expected: Any) -> None:
    source = copy(zlib_file, tmp_path / name)
    out = tmp_path / "out.json"
    vroot.scan(source, out)
    assert ak.array_equal(vroot.open(out)["Events"].arrays(), expected)
    assert ak.array_equal(vroot.open(source)["Events"].arrays(), expected)
    ended = run_cli("scan", os.fsencode(name), "-o", "cli.json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ak.array_equal(vroot.open(tmp_path / "cli.json")["Events"].arrays(), expected)
    listed = run_cli("ls", os.fsencode(name), cwd=tmp_path)
    assert b"Traceback" not in listed.stderr
    assert b"Events" in listed.stdout, listed.stderr


@pytest.fixture
def served(zlib_file: Path, tmp_path: Path) -> Iterator[str]:
    for name in ODD:
        copy(zlib_file, tmp_path / name)
    yield from serve(tmp_path, RangeHandler)


@pytest.mark.parametrize(
    "name", [n for n in ODD if n.isprintable() and len(n) < 200 and "\udcff" not in n]
)
def test_relative_sources_by_http(
    refs: Path, tmp_path: Path, served: str, name: str, expected: Any
) -> None:
    (tmp_path / "store.json").write_bytes(with_source(refs, name))
    opened = vroot.open(f"{served}/store.json")
    assert ak.array_equal(opened["Events"].arrays(), expected)


@pytest.mark.parametrize("scheme", ["local://", "file://"])
def test_local_urls_in_functions_over_files(folder: Path, scheme: str) -> None:
    urls = [f"{scheme}{folder}/file{i}.json:Events" for i in (0, 2)]
    whole = vroot.concatenate(urls, "run")
    assert ak.array_equal(ak.concatenate(list(vroot.iterate(urls, "run"))), whole)
    assert sum(entries for _, _, entries in vroot.num_entries(urls)) == len(whole) > 0


def test_a_source_that_changed_is_still_noticed(zlib_file: Path, tmp_path: Path) -> None:
    source = copy(zlib_file, tmp_path / "f.root")
    vroot.scan(source, tmp_path / "f.json")
    content = bytearray(source.read_bytes())
    content[40] ^= 1
    source.write_bytes(content)
    with pytest.raises(StaleReferencesError, match=r"f\.root"):
        vroot.open(tmp_path / "f.json")["Events"].arrays()
