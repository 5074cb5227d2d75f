"""Objects whose large arrays stay in the ROOT file, files that are cut short, and listings."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot
from samples import COMPRESSIONS

import vroot
from vroot.cli import main
from vroot.exceptions import (
    CorruptBasketError,
    DeserializationError,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.format.references import References
from vroot.scanner import objects

BINS = 1000


@pytest.fixture(scope="module", params=COMPRESSIONS)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A histogram of more than 4 MiB, and a small one."""
    path = tmp_path_factory.mktemp("large") / f"{request.param}.root"
    rng = np.random.default_rng(1)
    edges = np.linspace(0, 1, BINS + 1)
    contents = np.zeros((BINS, BINS))
    contents.ravel()[rng.integers(0, BINS**2, 5000)] = rng.integers(1, 100, 5000)
    with uproot.recreate(path, compression=COMPRESSIONS[request.param]) as file:
        file["dir/large"] = contents, edges, edges
        file["small"] = np.histogram(np.arange(10))
    return path


@pytest.fixture
def references(path: Path) -> dict[str, Any]:
    """The references of it, which a test may change."""
    scanned: dict[str, Any] = json.loads(json.dumps(vroot.scan(path)))
    return scanned


def node(references: dict[str, Any]) -> dict[str, Any]:
    """What the store says of the large histogram."""
    said: dict[str, Any] = references["refs"]["dir/large/zarr.json"]["attributes"]["vroot"]
    return said


def parts(data: Any) -> list[dict[str, Any]]:
    """All arrays that are parts of the payload."""
    if isinstance(data, list):
        return [part for item in data for part in parts(item)]
    if not isinstance(data, dict):
        return []
    return [data] if data.get("kind") == "part" else parts(list(data.values()))


def test_a_large_histogram_is_what_uproot_reads(path: Path, references: dict[str, Any]) -> None:
    with vroot.open(references) as file:
        found = file["dir/large"]
        small = file["small"]
    with uproot.open(path) as file:
        expected = file["dir/large"]
        for flow in (False, True):
            assert np.array_equal(found.values(flow=flow), expected.values(flow=flow))
            assert np.array_equal(found.variances(flow=flow), expected.variances(flow=flow))
            assert np.array_equal(found.counts(flow=flow), expected.counts(flow=flow))
        assert found.member("fSumw2").__array__().dtype == expected.member("fSumw2")._data.dtype
        assert np.array_equal(small.values(), file["small"].values())
    assert found.values().sum() > 0


def test_the_payload_is_a_range_of_the_file(path: Path, references: dict[str, Any]) -> None:
    with uproot.open(path) as file:
        key = file["dir"].key("large")
        begin, size = key.fSeekKey + key.fKeylen, key.fObjlen
        stored = key.fNbytes - key.fKeylen
    assert references["refs"]["dir/large/raw/c/0"] == ["{{s0}}", begin, stored]
    assert node(references)["baskets"]["uncompressed_bytes"] == [size]
    assert len(parts(node(references)["data"])) == 1  # uproot writes no squares of weights
    assert len(json.dumps(references)) < 64 << 10
    assert "small/raw/c/0" not in references["refs"]


def test_nothing_is_read_before_the_object_is_looked_up(references: dict[str, Any]) -> None:
    with vroot.open(references) as file:
        assert file.keys() == ["dir;1", "dir/large;1", "small;1"]
        assert file.title_of("dir/large") == ""
        assert file["small"].values().sum() == 10
        assert file.performance_counters.num_requests == 0
        _ = file["dir/large"]
        assert file.performance_counters.num_requests > 0


def test_a_large_histogram_is_pickled_whole(references: dict[str, Any]) -> None:
    found = vroot.open(references)["dir/large"]
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert np.array_equal(again.values(), found.values())
    with pytest.raises(ValueError, match="read-only"):
        found.member("fSumw2").plain_value[0] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offset": 1 << 40}, "of a payload of"),
        ({"offset": -8}, "of a payload of"),
        ({"shape": [1 << 50]}, "of a payload of"),
        ({"shape": [-1]}, "no shape"),
        ({"dtype": "|O8"}, "no dtype"),
        ({"shape": [3]}, "bins"),
    ],
)
def test_parts_that_are_not_in_the_payload(
    references: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    for part in parts(node(references)["data"]):
        part.update(change)
    with pytest.raises(ReferenceStoreError, match=rf"/dir/large;1 \(TH2D\)[\s\S]*{message}"):
        _ = vroot.open(references)["dir/large"]


@pytest.mark.parametrize(
    "baskets",
    [
        {"entries": [5], "uncompressed_bytes": [5]},
        {"entries": [1 << 40], "uncompressed_bytes": [1 << 40]},
        {"entries": [1 << 31], "uncompressed_bytes": [1 << 31]},
        {"entries": [1 << 30], "uncompressed_bytes": [1 << 30]},
        {"entries": [0], "uncompressed_bytes": [0]},
        {"entries": [4, 4], "uncompressed_bytes": [4, 4]},
        {"entries": [4], "uncompressed_bytes": [-4]},
        {"entries": [], "uncompressed_bytes": []},
    ],
)
def test_payloads_of_another_length(references: dict[str, Any], baskets: dict[str, Any]) -> None:
    node(references)["baskets"].update(baskets)
    file = vroot.open(references)
    with pytest.raises((ReferenceStoreError, CorruptBasketError, UnsupportedError)):
        _ = file["dir/large"]
    assert file["small"].values().sum() == 10


def test_a_payload_without_reference(references: dict[str, Any]) -> None:
    del references["refs"]["dir/large/raw/c/0"]
    with pytest.raises(ReferenceStoreError, match="no reference"):
        _ = vroot.open(references)["dir/large"]
    del node(references)["baskets"]
    with pytest.raises(ReferenceStoreError, match="of a payload of 0 bytes"):
        _ = vroot.open(references)["dir/large"]


@pytest.mark.parametrize("path", ["zlib", "lzma", "lz4", "zstd"], indirect=True)
def test_a_damaged_payload_is_no_histogram(path: Path, tmp_path: Path) -> None:
    references = vroot.scan(path)
    _, begin, length = references["refs"]["dir/large/raw/c/0"]
    content = bytearray(path.read_bytes())
    content[begin + length // 2 : begin + length // 2 + 64] = bytes(64)
    (tmp_path / path.name).write_bytes(content)
    references["templates"]["s0"] = (tmp_path / path.name).as_uri()
    with pytest.raises(CorruptBasketError, match=r"object 'dir/large', offset"):
        _ = vroot.open(references)["dir/large"]


def test_what_is_left_out_is_counted(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise UnsupportedError("too large")

    output = str(tmp_path / "refs.json")
    assert main(["scan", str(path), "-o", output]) == 0
    assert "not in the store" not in capsys.readouterr().out
    monkeypatch.setattr(objects, "object_data", refuse)
    assert main(["scan", str(path), "-o", output]) == 0
    assert capsys.readouterr().out.endswith("; not in the store: objects 2\n")
    assert main(["scan", str(path), "-o", output, "--json"]) == 0
    (summary,) = json.loads(capsys.readouterr().out)
    assert (summary["objects"], summary["unsupported_objects"]) == (2, 2)


# --- files that are cut short


def test_a_truncated_file_is_an_error(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = path.read_bytes()
    cut = tmp_path / "cut.root"
    for length in (len(content) - 1, len(content) // 2, 400, 64):
        cut.write_bytes(content[:length])
        message = f"truncated: it has {length} bytes, its header says {len(content)}"
        with pytest.raises(DeserializationError, match=message):
            vroot.scan(cut)
    assert main(["scan", str(cut)]) == 1
    assert "--allow-truncated" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["cut.root"]


def test_what_can_be_read_of_a_truncated_file(path: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.root"
    cut.write_bytes(path.read_bytes()[:-1])
    with uproot.open(path) as file:
        keys = file.keys()
    for key in keys:
        try:
            found = vroot.open(vroot.scan(cut, allow_truncated=True)).get(key)
        except UnsupportedError:
            continue
        assert found is None or key == "dir;1" or found.values().sum() > 0
    assert main(["scan", str(cut), "--allow-truncated"]) == 0


# --- listings


def test_a_listing_decodes_no_data(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "refs.json"
    vroot.scan(path, output)

    def refuse(*_: object) -> None:
        raise AssertionError("a listing needs no more than headings")

    monkeypatch.setattr(References, "spec", refuse)
    file = vroot.open(output)
    assert file.classnames(recursive=False) == {"dir;1": "TDirectory", "small;1": "TH1D"}
    assert file.title_of("small;1") == file.title_of("small")
    assert main(["ls", str(output)]) == 0
    assert "TH1D" in capsys.readouterr().out


def test_a_malformed_node_is_named_where_it_is_listed(references: dict[str, Any]) -> None:
    del references["refs"]["small/zarr.json"]["attributes"]["root"]
    with pytest.raises(ReferenceStoreError, match=r"small/zarr\.json"):
        vroot.open(references).keys()
