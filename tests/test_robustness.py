"""Odd names and texts, contradictory stores, and interruptions."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from samples import write_tree

import vroot
import vroot.metadata.interpretations
from vroot.exceptions import (
    CorruptBasketError,
    DeserializationError,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.scanner.discovery import Discovery


@pytest.fixture(scope="module")
def store(zlib_file: Path) -> dict[str, Any]:
    """References in memory; a test changes a copy."""
    return vroot.scan(zlib_file)


def changed(store: dict[str, Any], key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A copy of the references, and the attributes of one of its documents."""
    result = copy.deepcopy(store)
    attributes: dict[str, Any] = result["refs"][key]["attributes"]
    return result, attributes


# --- odd texts


def test_title_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.root"
    write_tree(path, None, {"x": np.arange(1000)})
    path.write_bytes(path.read_bytes().replace(b"all the events", b"all th\xe9 events"))
    vroot.scan(path, tmp_path / "refs.json")
    with uproot.open(path) as file:
        assert vroot.open(tmp_path / "refs.json")["Events"].title == file["Events"].title
        assert file["Events"].title == "all th\udce9 events"


def test_odd_folder(tmp_path: Path, zlib_file: Path) -> None:
    folder = tmp_path / "a b%20é#?"
    folder.mkdir()
    path = folder / "my file.root"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, tmp_path / "refs.json")
    assert vroot.open(tmp_path / "refs.json")["dir/sub/small/x"].array()[3] == 3
    code = (
        "import zarr\n"
        f"options = {{'fo': {str(tmp_path / 'refs.json')!r}}}\n"
        "group = zarr.open_group('reference://', mode='r', storage_options=options)\n"
        "print(group['dir/sub/small/x'][:].tolist())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout == "[0, 1, 2, 3, 4]\n"


# --- damaged files


def test_a_damaged_first_offset_shifts_no_entries(tmp_path: Path) -> None:
    path = tmp_path / "damaged.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("Events", {"x": "var * float32"})
        file["Events"].extend({"x": ak.Array([[1.0, 2.0], [], [3.0], [4.0, 5.0]])})
    references = vroot.scan(path)
    _, offset, length = references["refs"]["Events/x/content/c/0"]
    content = bytearray(path.read_bytes())
    position = offset + length - 4 * 5  # four entries, and a word of no meaning
    first = int.from_bytes(content[position : position + 4], "big")
    content[position : position + 4] = (first + 4).to_bytes(4, "big")
    path.write_bytes(content)
    with pytest.raises(CorruptBasketError, match=rf"Events;1:x.*begins at byte {first + 4}"):
        vroot.open(references, verify_sources=False)["Events/x"].array()


# --- contradictory stores


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (("root", "num_entries"), 5),
        (("vroot", "baskets", "entries"), [1000]),
        (("vroot", "baskets", "entries"), [[1 << 62, 4]]),
        (("vroot", "baskets", "uncompressed_bytes"), [-4]),
        (("vroot", "interpretation", "from_dtype"), ">f8"),
        (("vroot", "interpretation", "from_dtype"), "O"),
        (("vroot", "interpretation", "from_dtype"), "(2,2)f4"),
        (("vroot", "interpretation", "from_dtype"), [">f4", [1.5]]),
        (("vroot", "interpretation", "to_dtype"), {"fields": [["a", ">f4"]]}),
        (("vroot", "interpretation"), {"kind": "double32", "low": 0, "high": 0, "num_bits": 99}),
        (("vroot", "interpretation"), {"kind": "program", "program": 3}),
        (("vroot", "interpretation"), {"kind": "nonesuch"}),
        (("vroot", "interpretation"), None),
    ],
)
def test_a_contradictory_branch_spoils_no_other(
    store: dict[str, Any], part: tuple[str, ...], value: Any
) -> None:
    references, attributes = changed(store, "Events/met/zarr.json")
    for name in part[:-1]:
        attributes = attributes[name]
    attributes[part[-1]] = value
    tree = vroot.open(references)["Events"]
    assert tree.typenames()["met"] == "float"
    with pytest.raises(UnsupportedError, match=r"Events;1:met.*contradicts itself"):
        tree["met"].array()
    assert tree["run"].array()[5] == 5


@pytest.mark.parametrize("counter", ["Muon_pt", "Muon_charge", "met", "label"])
def test_a_counter_that_does_not_count(store: dict[str, Any], counter: str) -> None:
    references, attributes = changed(store, "Events/Muon_pt/zarr.json")
    attributes["root"]["count_branch"] = counter
    # As if no basket stored offsets, so that the counter is asked.
    attributes["vroot"]["baskets"]["uncompressed_bytes"] = attributes["vroot"]["baskets"].pop(
        "border_bytes"
    )
    with pytest.raises(ReferenceStoreError, match="not counts"):
        vroot.open(references)["Events/Muon_pt"].array()


def test_a_counter_that_does_not_exist(store: dict[str, Any]) -> None:
    references, attributes = changed(store, "Events/Muon_pt/zarr.json")
    attributes["root"]["count_branch"] = "nonesuch"
    with pytest.raises(ReferenceStoreError, match="nonesuch"):
        vroot.open(references)["Events/Muon_pt"].array()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/hostname",
        "/etc/hostname",
        "simplecache::file:///etc/hostname",
        "zip://x::/etc/hostname",
        "reference://x",
        "local://etc/hostname",
        "",
        "https://example.org/\x00",
    ],
)
def test_what_a_remote_store_may_not_read(store: dict[str, Any], url: str) -> None:
    import fsspec
    import msgspec

    references = copy.deepcopy(store)
    references["templates"]["s0"] = url
    fsspec.filesystem("memory").pipe("/evil.json", msgspec.json.encode(references))
    with pytest.raises(ReferenceStoreError, match=r"not read for safety|not a URL"):
        vroot.open("memory://evil.json")


def test_no_source(store: dict[str, Any]) -> None:
    references, attributes = changed(store, "zarr.json")
    attributes["vroot"]["sources"] = []
    with pytest.raises(ReferenceStoreError, match="names no source"):
        vroot.open(references)


def test_deep_nesting(store: dict[str, Any]) -> None:
    references = copy.deepcopy(store)
    references["refs"]["/".join(["d"] * 300) + "/zarr.json"] = {}
    with pytest.raises(ReferenceStoreError, match="nested more than"):
        vroot.open(references)


def test_references_that_are_no_plain_data(store: dict[str, Any]) -> None:
    references = copy.deepcopy(store)
    references["refs"]["\ud800"] = {}
    with pytest.raises(ReferenceStoreError, match="not plain data"):
        vroot.open(references)


def test_compressed_references_need_little_memory(zlib_file: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of memory are POSIX's")
    refs = tmp_path / "refs.json.zst"
    vroot.scan(zlib_file, refs)
    assert resource.RLIMIT_AS is not None
    code = (
        "import resource, vroot\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        f"print(vroot.open({str(refs)!r}).keys()[0])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout == "Events;1\n"


# --- interruptions


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless file", "named file"])
def test_an_interrupted_write_leaves_the_old_file(
    zlib_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    out = tmp_path / "refs.json"
    vroot.scan(zlib_file, out)
    before = out.read_bytes()
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        vroot.scan(zlib_file, out)
    assert [path.name for path in tmp_path.iterdir()] == ["refs.json"]
    assert out.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_killed_write_leaves_the_old_file(zlib_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "refs.json"
    out.write_text("old")
    code = (
        "import os, signal, vroot\n"
        "from vroot.format import references\n"
        "references.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"vroot.scan({str(zlib_file)!r}, {str(out)!r})\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == ["refs.json"]
    assert out.read_text() == "old"


def test_output_through_a_link(zlib_file: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    vroot.scan(zlib_file, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert vroot.open(tmp_path / "real.json")["Events"].num_entries == 1000


def test_output_into_no_folder(zlib_file: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none/refs\.json"):
        vroot.scan(zlib_file, tmp_path / "none" / "refs.json")


# --- the guard around uproot


def test_a_branch_that_takes_too_long(zlib_file: Path) -> None:
    with Discovery(str(zlib_file), time_limit_s=1.0) as discovery:
        discovery.find("/Events;1", (99,), "AsObjects(x)")
        assert discovery._process is not None
        discovery._process.send_signal(signal.SIGSTOP)
        found = discovery.find("/Events;1", (0,), "AsObjects(x)")
    assert isinstance(found, vroot.metadata.interpretations.Unsupported)
    assert "could not deserialize it in 1 s" in found.reason
    assert repr(found) == "AsObjects(x)"


def test_a_branch_that_takes_too_much_memory(zlib_file: Path) -> None:
    with Discovery(str(zlib_file), memory_limit_bytes=1 << 20) as discovery:
        found = discovery.find("/Events;1", (0,), "AsObjects(x)")
    assert isinstance(found, vroot.metadata.interpretations.Unsupported)
    assert found.reason


def test_a_process_that_cannot_start_is_no_reason_of_a_branch(tmp_path: Path) -> None:
    with (
        Discovery(str(tmp_path / "none.root")) as discovery,
        pytest.raises(DeserializationError, match="did not start"),
    ):
        discovery.find("/Events;1", (0,), "AsObjects(x)")


@pytest.mark.parametrize("name", ["uproot.py", "token.py", "vroot.py"])
def test_the_current_folder_hides_no_module(
    zlib_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("raise RuntimeError('this must not be imported')")
    monkeypatch.chdir(tmp_path)
    with Discovery(str(zlib_file)) as discovery:
        found = discovery.find("/Events;1", (0,), "AsObjects(x)")
    # It is no branch of objects: that is what the process says, having started.
    assert isinstance(found, vroot.metadata.interpretations.Unsupported)
    assert "AttributeError" in found.reason


def test_a_branch_that_is_not_there(zlib_file: Path) -> None:
    with Discovery(str(zlib_file)) as discovery:
        found = discovery.find("/Events;1", (99,), "AsObjects(x)")
        assert isinstance(found, vroot.metadata.interpretations.Unsupported)
        assert "IndexError" in found.reason
        # The process lives on.
        again = discovery.find("/nonesuch;1", (0,), "AsObjects(x)")
    assert isinstance(again, vroot.metadata.interpretations.Unsupported)
    assert "KeyInFileError" in again.reason
