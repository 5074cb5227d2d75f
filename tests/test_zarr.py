"""Plain fsspec and zarr read the stores: without vroot, and with its codec."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from baskets import collection_header

import vroot
from vroot.decode.basket import join_basket

ZARR = tuple(int(part) for part in version("zarr").split(".")[:2])
OLD_ZARR = "rectilinear chunk grids need zarr >= 3.2, which needs Python >= 3.12"

PRELUDE = """
import json, sys, warnings
if {rectilinear!r}:
    warnings.simplefilter("error")  # older versions of zarr warn of every codec of numcodecs
sys.modules.update(dict.fromkeys({blocked!r}))
import zarr
if {rectilinear!r}:
    zarr.config.set({{"array.rectilinear_chunks": True}})
group = zarr.open_group("reference://", mode="r", storage_options={{"fo": {refs!r}}})
"""


def run_zarr(refs: Path, code: str, *, blocked: tuple[str, ...]) -> Any:
    """Run code in a process that has a Zarr group and lacks some packages."""
    prelude = PRELUDE.format(blocked=blocked, rectilinear=ZARR >= (3, 2), refs=str(refs))
    result = subprocess.run(
        [sys.executable, "-c", prelude + code], check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.skipif(ZARR < (3, 2), reason=OLD_ZARR)
def test_flat_columns_without_vroot(root_file: Path, tmp_path: Path) -> None:
    refs = tmp_path / "refs.json"
    references = vroot.scan(root_file, refs)
    # LZ4 keeps its checksum, and a codec of its own.
    expected_stock = {"lz4": 0}.get(root_file.stem, 2)
    columns = {
        name: references["refs"][f"Steady/{name}/zarr.json"]["codecs"] for name in ("x", "v")
    }
    stock = [name for name, codecs in columns.items() if codecs[0]["name"] == "bytes"]
    assert len(stock) == expected_stock
    code = f"""
arrays = {{name: group["Steady"][name] for name in {stock!r}}}
print(json.dumps({{name: [array[:].tolist(), array[350:510].tolist(), str(array.dtype)]
                  for name, array in arrays.items()}}))
"""
    arrays = run_zarr(refs, code, blocked=("vroot", "uproot", "awkward"))
    tree = vroot.open(refs)["Steady"]
    for name in stock:
        whole = tree[name].array(library="np")
        assert arrays[name] == [whole.tolist(), whole[350:510].tolist(), str(whole.dtype)]


def test_one_basket_needs_no_rectilinear_grid(refs: Path) -> None:
    code = "print(json.dumps(group['dir/sub/small/x'][1:].tolist()))"
    assert run_zarr(refs, code, blocked=("vroot", "uproot", "awkward")) == [1, 2, 3, 4]


def test_groups_and_what_root_said(refs: Path) -> None:
    code = """
print(json.dumps([sorted(group), group["Events"].attrs.asdict()["root"],
                  group["dir/sub/small/x"].attrs.asdict()["root"]["typename"],
                  group["dir/sub/small/x"].metadata.dimension_names]))
"""
    names, tree, typename, dimensions = run_zarr(refs, code, blocked=("vroot", "uproot"))
    assert names == ["Events", "Steady", "dir", "hist", "nothing"]
    assert tree["classname"] == "TTree"
    assert tree["title"] == "all the events"
    assert tree["num_entries"] == 1000
    assert (typename, dimensions) == ("int64_t", ["entry"])


@pytest.mark.skipif(ZARR < (3, 2), reason=OLD_ZARR)
def test_all_columns_with_the_codec(root_file: Path, tmp_path: Path) -> None:
    refs = tmp_path / "refs.json"
    vroot.scan(root_file, refs)
    code = """
tree = group["Events"]
flat = {name: tree[name][290:800].tolist() for name in ("run", "met", "good", "matrix", "nMuon")}
jagged = {name: tree[name]["content"][:].tolist() for name in ("Muon_pt", "Muon_charge")}
print(json.dumps([flat, jagged, tree["label"]["raw"][:].size]))
"""
    flat, jagged, raw_size = run_zarr(refs, code, blocked=("uproot", "awkward"))
    tree = vroot.open(refs)["Events"]
    for name, values in flat.items():
        assert values == tree[name].array(library="np")[290:800].tolist()
    for name, values in jagged.items():
        assert values == np.concatenate(list(tree[name].array(library="np"))).tolist()
    assert raw_size == int(tree["label"].spec.baskets.uncompressed_bytes.sum())


def test_the_codec_is_found_by_its_entry_point() -> None:
    (found,) = entry_points(group="zarr.codecs", name="vroot.basket")
    from vroot.format.zarr_codec import BasketCodec

    assert found.load() is BasketCodec
    encoded = {
        "name": "vroot.basket",
        "configuration": {
            "part": "content",
            "stored": "mixed",
            "interpretation": {"kind": "jagged", "content": {"kind": "flat", "from_dtype": ">f4"}},
        },
    }
    assert BasketCodec.from_dict(encoded).to_dict() == encoded


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"part": "all", "stored": "raw", "interpretation": {"kind": "flat", "from_dtype": ">f4"}},
        {"part": "values", "stored": "?", "interpretation": {"kind": "flat", "from_dtype": ">f4"}},
        {"part": "values", "stored": "raw", "interpretation": {"kind": "flat", "from_dtype": "O"}},
        {"part": "values", "stored": "raw", "interpretation": 3},
    ],
)
def test_a_wrong_configuration_is_refused(configuration: dict[str, Any]) -> None:
    from vroot.format.zarr_codec import BasketCodec

    with pytest.raises(vroot.exceptions.ReferenceStoreError):
        BasketCodec.from_dict({"name": "vroot.basket", "configuration": configuration})


@pytest.mark.parametrize("stored", ["raw", "blocks", "mixed"])
def test_the_parts_of_a_jagged_basket(stored: str) -> None:
    from vroot.format.zarr_codec import BasketCodec

    lists = [[1.5, 2.5], [], [3.5]]
    data = b"".join(
        collection_header(10, 4 * len(each), len(each)) + np.array(each, ">f4").tobytes()
        for each in lists
    )
    offsets = np.cumsum([0, *(10 + 4 * len(each) for each in lists)])
    payload = join_basket(data, offsets)
    if stored == "blocks":
        stream = zlib.compress(payload)
        sizes = (len(stream).to_bytes(3, "little"), len(payload).to_bytes(3, "little"))
        payload = b"ZL\x08" + b"".join(sizes) + stream

    def part(name: str, length: int, content: Any) -> list[Any]:
        interpretation = {"kind": "jagged", "header_bytes": 10, "content": content}
        configuration = {"part": name, "stored": stored, "interpretation": interpretation}
        codec = BasketCodec.from_dict({"configuration": configuration})
        values: list[Any] = codec.part_of(memoryview(payload), length).tolist()
        return values

    assert part("content", 3, {"kind": "flat", "from_dtype": ">f4"}) == [1.5, 2.5, 3.5]
    assert part("counts", 3, {"kind": "flat", "from_dtype": ["|u1", [4]]}) == [2, 0, 1]
    for wrong in (2, 4, 100):
        with pytest.raises(vroot.exceptions.CorruptBasketError):
            part("content", wrong, {"kind": "flat", "from_dtype": ">f4"})
        with pytest.raises(vroot.exceptions.CorruptBasketError):
            part("counts", wrong, {"kind": "flat", "from_dtype": ["|u1", [4]]})
