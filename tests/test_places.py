"""Where files are, and what they are called: chains, relative paths, moved folders, odd names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import msgspec
import numpy as np
import pytest
import uproot
from serving import RangeHandler, serve

import vroot
from vroot.cli import main
from vroot.exceptions import OutputIsSourceError, ReferenceStoreError, StaleReferencesWarning
from vroot.io.local import is_chain, is_local, local_path
from vroot.io.urls import absolute_location, beside, join_url, name_of

VALUES = [0, 1, 2, 3, 4]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and the home of the user, with a ROOT file in it."""
    folder = tmp_path / "here"
    folder.mkdir()
    with uproot.recreate(folder / "a.root") as file:
        file.mktree("T", {"x": np.dtype("i8")}).extend({"x": np.array(VALUES)})
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def values(path: Any) -> list[int]:
    found: list[int] = vroot.open(path)["T/x"].array().to_list()
    return found


# --- outputs that are sources


def same_path(path: Path) -> str:
    return str(path)


def hard_link(path: Path) -> str:
    os.link(path, path.with_name("hard.json"))
    return "hard.json"


def soft_link(path: Path) -> str:
    path.with_name("soft.json").symlink_to(path)
    return "soft.json"


SPELLINGS: list[Callable[[Path], str]] = [
    same_path,
    hard_link,
    soft_link,
    lambda _: "data.json",
    lambda _: "../here/./data.json",
    lambda _: "~/data.json",
    lambda path: path.as_uri(),
    lambda path: f"local://{path}",
]


@pytest.mark.parametrize("spell", SPELLINGS)
@pytest.mark.parametrize("source", ["data.json", "~/data.json", "file://data.json"])
def test_no_output_replaces_its_source(
    here: Path, spell: Callable[[Path], str], source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = (here / "a.root").rename(here / "data.json")
    content = path.read_bytes()
    out = spell(path)
    with pytest.raises(OutputIsSourceError, match="would replace"):
        vroot.scan(source, out)
    with pytest.raises(SystemExit) as ended:
        main(["scan", source, "-o", out])
    assert ended.value.code == 2
    assert "would replace" in capsys.readouterr().err
    assert path.read_bytes() == content


def test_no_output_replaces_another_source(here: Path) -> None:
    shutil.copy("a.root", "a.root.refs.json")
    shutil.copy("a.root", "other.json")
    content = Path("a.root").read_bytes()
    with pytest.raises(SystemExit):
        main(["scan", "a.root", "a.root.refs.json"])
    with pytest.raises(OutputIsSourceError, match="is a ROOT file"):
        vroot.scan("a.root", "other.json")
    shutil.make_archive("x", "zip", here, "a.root")
    Path("x.zip").rename("x.json")
    with pytest.raises(OutputIsSourceError, match="is the source"):
        vroot.scan("zip://a.root::x.json", "x.json")
    assert Path("a.root.refs.json").read_bytes() == content
    assert Path("other.json").read_bytes() == content


# --- chains


@pytest.fixture
def archives(here: Path) -> Path:
    vroot.scan("a.root", "sub.json", url="a.root")
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.write("a.root")
        archive.write("a.root", "d/a.root")
        archive.write("sub.json", "d/any.name")
        archive.write("sub.json", "d/refs.json")
    with tarfile.open("x.tar", "w") as tar:
        tar.add("a.root")
    refs = {"version": 1, "refs": {"a.root": [str(here / "a.root")]}}
    Path("reference.json").write_bytes(msgspec.json.encode(refs))
    return here


CHAINS = [
    "zip://a.root::x.zip",
    "zip://a.root::file://x.zip",
    "zip://a.root::{here}/x.zip",
    "zip://d/refs.json::x.zip",
    "zip://d/any.name::file://x.zip",
    "zip://d/refs.json::simplecache::file://{here}/x.zip",
    "tar://a.root::x.tar",
    "simplecache::a.root",
    "simplecache::file://a.root",
]


@pytest.mark.parametrize("chain", CHAINS)
def test_what_the_user_names_is_read(
    archives: Path, chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = chain.format(here=archives)
    assert values(named) == VALUES
    assert list(vroot.num_entries({named: "T"})) == [(named, "T", 5)]
    if "refs" not in chain and "any" not in chain:
        vroot.scan(named, "out.json")
        monkeypatch.chdir(archives.parent)
        assert values("here/out.json") == VALUES


@pytest.mark.parametrize("origin", ["memory://p/refs.json", "reference://refs.json"])
@pytest.mark.parametrize(
    "url",
    [
        "{here}/a.root",
        "file://{here}/a.root",
        "local://{here}/a.root",
        "zip://a.root::{here}/x.zip",
        "zip://a.root::file://{here}/x.zip",
        "tar://a.root::x.tar",
        "simplecache::{here}/a.root",
        "simplecache::file://{here}/a.root",
        "reference://a.root::{here}/reference.json",
        "dir://a.root::file://{here}",
        "x::{here}/a.root",
        "a.root::file://{here}/x.zip",
    ],
)
def test_a_store_from_elsewhere_names_nothing_local(archives: Path, url: str, origin: str) -> None:
    store = vroot.scan("a.root")
    store["templates"]["s0"] = url.format(here=archives)
    content = msgspec.json.encode(store)
    fsspec.filesystem("memory").pipe("/p/refs.json", content)
    Path("outer.json").write_bytes(
        msgspec.json.encode({"version": 1, "refs": {"refs.json": content.decode()}})
    )
    options = {"fo": "outer.json"} if origin.startswith("reference") else None
    with pytest.raises(ReferenceStoreError):
        vroot.open(origin, storage_options=options)


def test_a_file_by_other_references(archives: Path) -> None:
    file = vroot.open("reference://a.root", storage_options={"fo": "reference.json"})
    assert file["T/x"].array().to_list() == VALUES


@pytest.mark.parametrize("base", ["zip://refs.json::https://h/x.zip", "memory://p/c.json"])
def test_a_relative_path_makes_no_chain(base: str) -> None:
    for relative in ("x::/etc/passwd.zip", "a::b", "../x::y.root"):
        with pytest.raises(ValueError, match="::"):
            join_url(base, relative)


def test_parts_of_chains() -> None:
    assert is_chain("zip://a.root::x.zip")
    assert not is_chain("https://h/a::b")
    assert is_local("zip://a.root::/x.zip")
    assert not is_local("zip://a.root::https://h/x.zip")
    assert not is_local("reference://a.root::/x.json")
    assert local_path("./simplecache::a.root") == Path("simplecache::a.root")
    assert name_of("simplecache::zip://d/a.root::https://h/x.zip?y") == "a.root"
    assert beside("simplecache::zip://f.root::s3://b/a.zip", ".j") == (
        "simplecache::zip://f.root.j::s3://b/a.zip"
    )
    assert join_url("zip://d/r.json::https://h/x.zip", "a.root") == (
        "zip://d/a.root::https://h/x.zip"
    )
    assert join_url("simplecache::/d/r.json", "a.root") == "simplecache::/d/a.root"
    assert absolute_location("https://h/f?a::b") == "https://h/f?a::b"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", ["refs.json.{}", "refs.{}", "odd.root"])
def test_packed_references(here: Path, ending: str, name: str) -> None:
    store = msgspec.json.encode(vroot.scan("a.root"))
    path = Path(name.format(ending))
    path.write_bytes(PACKERS[ending](store))
    assert values(str(path)) == VALUES
    root = PACKERS[ending](Path("a.root").read_bytes())
    fsspec.filesystem("memory").pipe(f"/packed/{path}", root)
    with pytest.raises(ReferenceStoreError, match="compressed as a whole"):
        vroot.open(f"memory://packed/{path}")
    path.write_bytes(PACKERS[ending](store)[:-20])
    with pytest.raises(ReferenceStoreError, match="not a"):
        vroot.open(str(path))


def test_first_bytes_tell_what_a_file_is(here: Path) -> None:
    memory = fsspec.filesystem("memory")
    root, store = Path("a.root").read_bytes(), msgspec.json.encode(vroot.scan("a.root", url="a"))
    memory.pipe("/kinds/a", root)
    for name in ("r.json", "r.json.zst", "r"):
        memory.pipe(f"/kinds/{name}", root)
        assert values(f"memory://kinds/{name}") == VALUES
    for name in ("s.root", "s.zst", "s"):
        memory.pipe(f"/kinds/{name}", store)
        assert values(f"memory://kinds/{name}") == VALUES


# --- relative paths, moved folders


def test_another_current_folder(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vroot.scan("a.root", "a.root.refs.json")
    dasks = [vroot.dask(f"{path}:T", open_files=now) for path in ("a.root.refs.json", "a.root")
             for now in (True, False)]  # fmt: skip
    steps = vroot.iterate("a.root:T", step_size=2, report=True)
    counts = vroot.num_entries("a.*.json:T")
    opened = [vroot.open(path) for path in ("a.root", "a.root.refs.json", vroot.scan("a.root"))]
    virtual = [file["T"].arrays(virtual=True) for file in opened]
    pickled = [pickle.dumps(each) for each in opened]
    monkeypatch.chdir(tmp_path)
    assert [each.x.compute(scheduler="sync").to_list() for each in dasks] == [VALUES] * 4
    found = list(steps)
    assert [value for array, _ in found for value in array.x.to_list()] == VALUES
    assert found[0][1].file_path == "a.root"
    assert list(counts) == [("a.root.refs.json", "T", 5)]
    assert [each.x.to_list() for each in virtual] == [VALUES] * 3
    again = [pickle.loads(each) for each in pickled]  # noqa: S301
    assert [file["T/x"].array().to_list() for file in again] == [VALUES] * 3


@pytest.mark.parametrize("name", ["a.root.refs.json", "other.json.zst"])
def test_a_folder_that_is_moved(here: Path, tmp_path: Path, name: str) -> None:
    references = vroot.scan("a.root", name)
    # What is returned is in no folder.
    assert references["templates"]["s0"] == f"file://{here}/a.root"
    shutil.move(here, tmp_path / "there")
    assert values(tmp_path / "there" / name) == VALUES


def test_references_elsewhere_are_absolute(here: Path, tmp_path: Path) -> None:
    vroot.scan("a.root", "../refs.json")
    (here / "link.json").symlink_to(tmp_path / "refs.json")
    for out in (tmp_path / "refs.json", here / "link.json"):
        vroot.scan("a.root", out)
        stored = msgspec.json.decode(out.read_bytes())
        assert stored["templates"]["s0"] == f"file://{here}/a.root"
    vroot.scan("a.root", "refs.json", url="https://example.org/a.root")
    stored = msgspec.json.decode(Path("refs.json").read_bytes())
    assert stored["templates"]["s0"] == "https://example.org/a.root"


# --- names


ODD = ["l" * 240 + ".root", "n\nl.root", "a#b.root", "a%20b.root", "a?b.root", "é.root",
       "n\udcff.root"]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not have all such names")
@pytest.mark.parametrize("name", ODD)
def test_odd_names(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.root").rename(name)
    assert values(Path(name)) == values(f"./{name}") == values(f"{here}/{name}") == VALUES
    assert vroot.concatenate({f"./{name}": "T"}).x.to_list() == VALUES
    assert vroot.open(f"./{name}:T").num_entries == 5
    assert main(["ls", f"./{name}"]) == 0
    assert "T;1" in capsys.readouterr().out
    vroot.scan(Path(name), "refs.json")
    assert values("refs.json") == VALUES
    assert main(["scan", "-q", f"./{name}"]) == 0
    assert capsys.readouterr().err == ""
    assert values(Path(name)) == VALUES


def test_the_command_line_and_a_name_that_is_not_utf8(here: Path) -> None:
    commands: list[list[str | bytes]] = [["ls", b"n\xff.root"], ["scan", b"n\xff.root"]]
    for command in commands:
        code = "import sys; from vroot.cli import main; sys.exit(main())"
        ended = subprocess.run(
            [sys.executable, "-c", code, *command], check=False, capture_output=True, text=True
        )
        assert ended.returncode == 1
        assert ended.stderr.startswith("vroot: error: ")
        assert "Traceback" not in ended.stderr


@pytest.fixture
def served(here: Path) -> Iterator[str]:
    yield from serve(here, RangeHandler)


@pytest.mark.parametrize("name", ["a#b.root", "a%20b.root", "a?b.root", "a b.root"])
def test_odd_names_over_http(here: Path, served: str, name: str) -> None:
    Path("a.root").rename(name)
    vroot.scan(Path(name), "refs.json")
    assert values(f"{served}/refs.json") == VALUES


@pytest.mark.parametrize(
    "path", ["local://{}/a.root", "file://{}/a.root", "file:{}/a.root", "~/a.root", "file:a.root",
             "local://a.root", "file://{}/*.root", "local://{}/?.root", "~/[a].root"]
)  # fmt: skip
def test_forms_of_paths_of_several_files(here: Path, path: str) -> None:
    path = path.format(here)
    assert vroot.concatenate(f"{path}:T").x.to_list() == VALUES
    assert [step.x.to_list() for step in vroot.iterate({path: "T"}, step_size=9)] == [VALUES]
    ((shown, _, entries),) = vroot.num_entries(f"{path}:T")
    assert entries == 5
    if "*" not in path and "?" not in path and "[" not in path:
        assert shown == path


def test_the_home_of_the_user(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vroot.scan("~/a.root", "~/one.json")
    vroot.scan(Path("~/a.root"), Path("~/two.json"))
    assert main(["scan", "~/a.root", "-o", "~/three.json"]) == 0
    assert main(["scan", "~/a.root"]) == 0
    assert capsys.readouterr().err == ""
    for name in ("one.json", "two.json", "three.json", "a.root.refs.json"):
        assert values(here / name) == VALUES


def test_a_relative_name_that_is_gone(here: Path) -> None:
    vroot.scan("a.root", "refs.json")
    Path("a.root").unlink()
    with pytest.raises(FileNotFoundError, match="is not there"):
        values("refs.json")
    Path("a.root.refs.json").write_text("{")
    with uproot.recreate("a.root") as file:
        file.mktree("T", {"x": np.dtype("i8")}).extend({"x": np.array(VALUES)})
    with pytest.warns(StaleReferencesWarning, match="not used"):
        assert values("a.root") == VALUES
