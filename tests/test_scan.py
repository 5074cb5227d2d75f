"""Scanning: what ends up in a store, and what never does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import uproot
from samples import write_tree

import vroot
from vroot.exceptions import DeserializationError, KeyInFileError, MissingExtraError
from vroot.scanner import interpretations
from vroot.scanner.worker import _renumber


def test_scan_returns_what_it_writes(zlib_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "refs.json"
    returned = vroot.scan(zlib_file, out)
    assert json.loads(out.read_text()) == json.loads(json.dumps(returned))
    assert vroot.open(returned).keys() == vroot.open(out).keys()


@pytest.mark.parametrize("suffix", [".json", ".json.zst"])
def test_scan_twice_gives_the_same_bytes_under_any_hash_seed(
    zlib_file: Path, tmp_path: Path, suffix: str
) -> None:
    contents = []
    for seed in ("0", "1", "random"):
        out = tmp_path / f"{seed}{suffix}"
        code = f"import vroot; vroot.scan({str(zlib_file)!r}, {str(out)!r})"
        env = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], check=True, env=env)
        contents.append(out.read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_compressed_store_is_smaller_and_the_same(zlib_file: Path, tmp_path: Path) -> None:
    plain, small = tmp_path / "refs.json", tmp_path / "refs.json.zst"
    vroot.scan(zlib_file, plain)
    vroot.scan(zlib_file, small)
    assert small.stat().st_size < plain.stat().st_size / 3
    array = vroot.open(small)["Events/run"].array(library="np")
    assert array.tolist() == vroot.open(plain)["Events/run"].array(library="np").tolist()


def test_published_url(zlib_file: Path) -> None:
    url = "https://example.org/data/events.root"
    references = vroot.scan(zlib_file, url=url)
    assert references["templates"] == {"s0": url}
    assert references["refs"]["zarr.json"]["attributes"]["vroot"]["sources"][0]["url"] == url


def test_local_url_is_an_absolute_file_url(zlib_file: Path) -> None:
    assert vroot.scan(zlib_file)["templates"] == {"s0": zlib_file.resolve().as_uri()}


def test_relative_url_starts_from_the_folder_of_the_store(zlib_file: Path, tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "events.root").write_bytes(zlib_file.read_bytes())
    vroot.scan(tmp_path / "here/events.root", tmp_path / "here/refs.json", url="events.root")
    (tmp_path / "here/refs.json").rename(tmp_path / "there/refs.json")
    (tmp_path / "here/events.root").unlink()
    assert vroot.open(tmp_path / "there/refs.json")["Events/run"].array()[7] == 7


def test_one_object(zlib_file: Path) -> None:
    assert vroot.open(vroot.scan(f"{zlib_file}:dir/sub")).keys() == [
        "dir;1",
        "dir/sub;1",
        "dir/sub/small;1",
    ]
    assert vroot.open(vroot.scan(f"{zlib_file}:Events;1")).keys() == ["Events;1"]
    with pytest.raises(KeyInFileError, match=r"Evnets[\s\S]*Did you mean.*Events"):
        vroot.scan(f"{zlib_file}:Evnets")


def test_progress_ends_with_all_branches(zlib_file: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    vroot.scan(zlib_file, progress=lambda *call: calls.append(call))
    assert calls[-1] == ("/nothing;1", 3, 3)
    assert ("/Events;1", 9, 9) in calls


def test_cycles_and_order(tmp_path: Path) -> None:
    path = tmp_path / "cycles.root"
    with uproot.recreate(path) as file:
        for values in ([1, 2], [3, 4, 5], [6]):
            file.mktree("tree", {"x": np.dtype("i8")}).extend({"x": np.array(values)})
        file.mktree("other", {"x": np.dtype("i8")}).extend({"x": np.array([0])})
    opened = vroot.open(vroot.scan(path))
    with uproot.open(path) as expected:
        assert opened.keys() == expected.keys()
        for key in expected.keys():  # noqa: SIM118  # uproot's keys have cycles, its iteration too
            assert opened[key]["x"].array().tolist() == expected[key]["x"].array().tolist()
    assert opened["tree"]["x"].array().tolist() == [6]
    assert opened["tree;2"]["x"].array().tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    "content", [b"", b"ro", b"not a ROOT file, but long enough" * 40, b"root" + bytes(600)]
)
def test_not_a_root_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.root"
    path.write_bytes(content)
    with pytest.raises(DeserializationError, match=r"bad\.root"):
        vroot.scan(path, tmp_path / "refs.json")
    assert [each.name for each in tmp_path.iterdir()] == ["bad.root"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.root"):
        vroot.scan(tmp_path / "none.root")


@pytest.mark.parametrize("out", ["refs.txt", "refs.parquet", "s3://bucket/refs.json"])
def test_impossible_output(zlib_file: Path, out: str) -> None:
    with pytest.raises(ValueError, match="must"):
        vroot.scan(zlib_file, out)


def test_truncated_file_never_gives_a_wrong_array(zlib_file: Path, tmp_path: Path) -> None:
    content = zlib_file.read_bytes()
    whole = vroot.open(vroot.scan(zlib_file))
    path = tmp_path / "cut.root"
    errors = 0
    for length in range(64, len(content), len(content) // 25):
        path.write_bytes(content[:length])
        try:
            file = vroot.open(vroot.scan(path, allow_truncated=True))
            for key in file.keys(filter_classname="TTree"):
                arrays = file[key].arrays(how=dict)
                for name, array in arrays.items():
                    assert array.tolist() == whole[key][name].array().tolist()
        except vroot.VrootError:
            errors += 1
    assert errors >= 15


def test_basket_outside_of_the_file_spoils_only_its_branch(
    zlib_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = vroot.scanner.baskets.BasketList.of_branch.__func__  # type: ignore[attr-defined]

    def moved(cls: Any, branch: Any) -> Any:
        baskets = original(cls, branch)
        if branch.name == "met":
            baskets.seek[1] = 1 << 50
        return baskets

    monkeypatch.setattr(vroot.scanner.baskets.BasketList, "of_branch", classmethod(moved))
    tree = vroot.open(vroot.scan(zlib_file))["Events"]
    with pytest.raises(vroot.exceptions.UnsupportedError, match=r"met.*basket 1.*not within"):
        tree["met"].array()
    assert len(tree["weight"].array()) == tree.num_entries


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), ValueError("odd")])
def test_trouble_of_uproot_spoils_only_its_branch(
    zlib_file: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    original = interpretations._translate

    def fails(given: Any) -> Any:
        if "f8" in repr(given):
            raise error
        return original(given)

    monkeypatch.setattr(interpretations, "_translate", fails)
    tree = vroot.open(vroot.scan(zlib_file))["Events"]
    with pytest.raises(vroot.exceptions.UnsupportedError, match=type(error).__name__):
        tree["weight"].array()
    assert len(tree["met"].array()) == tree.num_entries


def test_scanning_without_uproot_names_the_extra(zlib_file: Path) -> None:
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot\n"
        f"try: vroot.scan({str(zlib_file)!r})\n"
        "except vroot.MissingExtraError as err: print(err)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "pip install 'vroot[scan]'" in result.stdout
    assert issubclass(MissingExtraError, ImportError)


def test_odd_branch_names(tmp_path: Path) -> None:
    names = [
        "a/b",
        "a.b",
        "..",
        "content",
        "counts",
        "%41",
        "a;2",
        "[x]",
        "ä ö",
        "__x",
        "zarr.json",
    ]
    columns = {name: np.arange(3) + i for i, name in enumerate(names)}
    path = tmp_path / "odd.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("t", {name: np.dtype("i8") for name in names})
        tree.extend(columns)
    opened = vroot.open(vroot.scan(path))["t"]
    with uproot.open(path) as expected:
        assert opened.keys() == expected["t"].keys()
    for name in names:
        assert opened[name].array().tolist() == columns[name].tolist()


def test_large_basket_of_several_blocks(tmp_path: Path) -> None:
    # Blocks end at 16 MB - 1; numbers that repeat keep the file small.
    values = np.arange(5_000_000, dtype="f4") // 1000
    path = tmp_path / "large.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": np.dtype("f4")}).extend({"x": values})
    with uproot.open(path) as expected:
        assert len(expected["t/x"].basket(0).block_compression_info) == 2
    tree = vroot.open(vroot.scan(path))["t"]
    assert np.array_equal(tree["x"].array(library="np"), values)
    part = tree["x"].array(entry_start=4_100_000, entry_stop=4_300_000, library="np")
    assert np.array_equal(part, values[4_100_000:4_300_000])


def test_rescan_after_change(tmp_path: Path) -> None:
    path, out = tmp_path / "events.root", tmp_path / "refs.json"
    write_tree(path, uproot.ZLIB(1), {"x": np.arange(1000)})
    vroot.scan(path, out)
    write_tree(path, uproot.ZLIB(1), {"x": np.arange(1000) + 5})
    with pytest.raises(vroot.exceptions.StaleReferencesError, match="changed since it was scanned"):
        vroot.open(out)["Events/x"].array()
    vroot.scan(path, out)
    assert vroot.open(out)["Events/x"].array()[0] == 5


def test_the_nodes_of_a_program_are_renumbered_but_not_the_members_of_classes() -> None:
    form = {
        "class": "RecordArray",
        "fields": ["node5"],
        "contents": [{"class": "NumpyArray", "primitive": "int32", "form_key": "node98765"}],
        "parameters": {"__record__": "node7"},
    }
    program = _renumber("output node98765-data int32 variable var_N", form)
    assert program.source == "output n0-data int32 variable var_N"
    assert msgspec.json.decode(program.form_json) == {
        "class": "RecordArray",
        "fields": ["node5"],
        "contents": [{"class": "NumpyArray", "primitive": "int32", "form_key": "n0"}],
        "parameters": {"__record__": "node7"},
    }
