"""Files, trees and branches behave as uproot's."""

from __future__ import annotations

import gc
import io
import pickle
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.exceptions import CorruptBasketError, KeyInFileError, UnsupportedError

RANGES = [(None, None), (0, 0), (5, 3), (299, 302), (-10, None), (None, -990), (250, 900),
          (0, 10**9), (-(10**9), 4), (1000, 1001), (300, 301)]  # fmt: skip


def same(array: ak.Array, expected: ak.Array) -> bool:
    """Same type, parameters, form and values."""
    forms = (array.layout.form.to_dict(), expected.layout.form.to_dict())
    equal = ak.array_equal(array, expected, equal_nan=True)
    return str(array.type) == str(expected.type) and forms[0] == forms[1] and bool(equal)


@pytest.mark.parametrize(("start", "stop"), RANGES)
def test_every_branch_and_range(root_file: Path, start: int | None, stop: int | None) -> None:
    tree = vroot.open(vroot.scan(root_file))["Events"]
    with uproot.open(root_file) as file:
        expected = file["Events"]
        assert tree.keys() == expected.keys()
        for name in tree.keys():  # noqa: SIM118  # as in uproot, iteration gives branches
            array = tree[name].array(entry_start=start, entry_stop=stop)
            assert same(array, expected[name].array(entry_start=start, entry_stop=stop)), name
        arrays = tree.arrays(entry_start=start, entry_stop=stop)
        assert same(arrays, expected.arrays(entry_start=start, entry_stop=stop))


def test_numpy(refs: Path, zlib_file: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        for name, array in tree.arrays(library="np").items():
            expected = file["Events"][name].array(library="np")
            assert array.dtype == expected.dtype
            assert all(np.array_equal(*pair) for pair in zip(array, expected, strict=True))


# awkward-pandas has no keyword that NumPy 2 would pass.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize(("start", "stop"), [(None, None), (290, 310), (5, 5)])
def test_pandas(refs: Path, zlib_file: Path, start: int | None, stop: int | None) -> None:
    tree = vroot.open(refs)["Events"]
    options: dict[str, Any] = {"entry_start": start, "entry_stop": stop, "library": "pd"}
    with uproot.open(zlib_file) as file:
        expected = file["Events"]
        for name in tree.keys():  # noqa: SIM118
            ours, theirs = tree[name].array(**options), expected[name].array(**options)
            assert ours.index.equals(theirs.index)
            assert ours.dtype == theirs.dtype
            assert ours.tolist() == theirs.tolist()
        names = ["run", "Muon_pt", "label"]
        ours, theirs = tree.arrays(names, **options), expected.arrays(names, **options)
        assert ours.columns.tolist() == theirs.columns.tolist()
        assert ours.index.equals(theirs.index)
        assert ours.to_numpy().tolist() == theirs.to_numpy().tolist()


@pytest.mark.parametrize("how", [None, dict, tuple, list, "zip"])
def test_how(refs: Path, zlib_file: Path, how: Any) -> None:
    names = ["run", "Muon_pt", "Muon_charge"]
    ours = vroot.open(refs)["Events"].arrays(names, how=how)
    with uproot.open(zlib_file) as file:
        theirs = file["Events"].arrays(names, how=how)
    assert type(ours) is type(theirs)
    if isinstance(ours, ak.Array):
        assert same(ours, theirs)
    elif isinstance(ours, dict):
        assert list(ours) == list(theirs)
        assert all(same(ours[name], theirs[name]) for name in names)
    else:
        assert all(same(*pair) for pair in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("library", ["np", "ak", "pd"])
def test_unknown_how(refs: Path, library: str) -> None:
    with pytest.raises(TypeError, match="how must be"):
        vroot.open(refs)["Events"].arrays(["run"], how=3, library=library)


@pytest.mark.parametrize(
    "filters",
    [
        {"filter_name": "Muon_*"},
        {"filter_name": ["run", "m*"]},
        {"filter_name": "/muon_.*/i"},
        {"filter_name": lambda name: name.endswith("t")},
        {"filter_name": "none"},
        {"filter_typename": "float*"},
        {"filter_typename": "/(float|double)/"},
        {"filter_branch": lambda branch: branch.num_baskets == 4 and branch.name > "m"},
        {"filter_name": "*e*", "filter_typename": "double"},
    ],
)
def test_filters(refs: Path, zlib_file: Path, filters: dict[str, Any]) -> None:
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        expected = file["Events"]
        assert tree.keys(**filters) == expected.keys(**filters)
        assert tree.typenames(**filters) == expected.typenames(**filters)
        assert [branch.name for branch in tree.values(**filters)] == tree.keys(**filters)
        assert ak.fields(tree.arrays(**filters)) == ak.fields(expected.arrays(**filters))


def test_show(refs: Path, zlib_file: Path) -> None:
    ours, theirs = io.StringIO(), io.StringIO()
    vroot.open(refs)["Events"].show(stream=ours, interpretation_width=12)
    with uproot.open(zlib_file) as file:
        file["Events"].show(stream=theirs, interpretation_width=12)
    assert ours.getvalue() == theirs.getvalue()
    with pytest.raises(ValueError, match="name_width"):
        vroot.open(refs)["Events"].show(name_width=2)


def test_properties_of_branches(refs: Path, zlib_file: Path) -> None:
    names = ("name", "title", "typename", "num_entries", "num_baskets", "entry_offsets",
             "compressed_bytes", "uncompressed_bytes", "compression_ratio", "object_path",
             "index", "top_level", "classname")  # fmt: skip
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        for branch in tree.branches:
            expected = file["Events"][branch.name]
            for name in names:
                assert getattr(branch, name) == getattr(expected, name), name
            assert repr(branch.interpretation) == repr(expected.interpretation)
            counter = expected.count_branch
            ours = branch.count_branch
            assert getattr(ours, "name", None) == getattr(counter, "name", None)
        for name in ("name", "title", "num_entries", "compressed_bytes", "uncompressed_bytes",
                     "object_path", "aliases", "classname"):  # fmt: skip
            assert getattr(tree, name) == getattr(file["Events"], name), name
        assert tree.file.uuid == file.file.uuid
    assert tree.file.file_path == str(refs)
    assert re.fullmatch(r"<TTree 'Events' \(9 branches\) at 0x[0-9a-f]+>", repr(tree))
    assert re.fullmatch(r"<TBranch 'run' at 0x[0-9a-f]+>", repr(tree["run"]))


def test_properties_of_directories(refs: Path, zlib_file: Path) -> None:
    ours = vroot.open(refs)
    with uproot.open(zlib_file) as theirs:
        for options in ({}, {"recursive": False}, {"cycle": False}, {"filter_name": "*s*"},
                        {"filter_classname": "TTree"}, {"filter_name": "dir/*"}):  # fmt: skip
            assert ours.keys(**options) == theirs.keys(**options)
            assert ours.classnames(**options) == theirs.classnames(**options)
        assert len(ours) == len(theirs)
        assert list(ours) == list(theirs)
        for key in (
            "Events",
            "Events;1",
            "dir",
            "dir/sub/small",
            "dir/sub",
            "Evnt",
            "Events;2",
            "",
        ):
            assert (key in ours) == (key in theirs), key
        assert ours["dir/sub"].object_path == theirs["dir/sub"].object_path
        assert ours["dir/sub"].path == tuple(theirs["dir/sub"].path)
        for key in ("Events", "Events;1", "/Events", "dir/sub/small", "dir;1/sub;1/small;1"):
            assert ours[key].object_path == theirs[key].object_path
        for key in ("Events:run", "Events/run", "dir/sub/small:x", "dir/sub/small/x"):
            assert ours[key].object_path == theirs[key].object_path
    assert ours.title_of("Events") == "all the events"
    assert ours.classname_of("dir/sub/small") == "TTree"
    assert dict(ours.items(filter_name="dir*", recursive=False)) == {"dir;1": ours["dir"]}
    assert [one.name for one in ours.values(filter_classname="TTree")] == [
        "Events", "small", "Steady", "nothing"]  # fmt: skip


def test_missing_keys(refs: Path) -> None:
    file = vroot.open(refs)
    with pytest.raises(KeyInFileError, match=r"Muon_pz[\s\S]*Did you mean: 'Muon_pt'[\s\S]*Events"):
        file["Events"]["Muon_pz"]
    with pytest.raises(KeyError, match="Evts"):
        file["Evts"]
    with pytest.raises(KeyInFileError, match="with cycle 7"):
        file["Events;7"]
    with pytest.raises(KeyInFileError, match="is not a TTree"):
        file["dir:x"]
    with pytest.raises(KeyInFileError, match="zzz"):
        file["Events"].arrays(["run", "zzz"])
    assert "Muon_pz" not in file["Events"]
    assert "Muon_pt" in file["Events"]
    assert file["Events"].get("Muon_pz") is None
    error = pickle.loads(pickle.dumps(KeyInFileError("a", keys=["b"], file_path="f")))  # noqa: S301
    assert str(error) == str(KeyInFileError("a", keys=["b"], file_path="f"))


def test_mapping_of_branches(refs: Path) -> None:
    tree = vroot.open(refs)["Events"]
    assert len(tree) == 9
    assert tree[0] is tree["run"]
    assert tree[-1].name == "label"
    assert [branch.name for branch in tree] == tree.keys()
    assert tree["/run"] is tree["run"]
    with pytest.raises(TypeError, match="integer or a string"):
        tree[1.5]
    assert np.asarray(tree["run"]).tolist() == list(range(1000))


def test_open_forms(refs: Path, zlib_file: Path) -> None:
    expected = vroot.open(refs)["dir/sub/small/x"].array().tolist()
    references = vroot.scan(zlib_file)
    for opened in (
        vroot.open(str(refs)),
        vroot.open(refs),
        vroot.open(references),
        vroot.open(zlib_file),
        vroot.open(refs.as_uri()),
    ):
        assert opened["dir/sub/small/x"].array().tolist() == expected
    for tree in (
        vroot.open(f"{refs}:dir/sub/small"),
        vroot.open(f"{refs}:dir/sub/small;1"),
        vroot.open({str(refs): "dir/sub/small"}),
        vroot.open({refs: "/dir/sub/small"}),
        vroot.open(f"{zlib_file}:dir/sub/small"),
    ):
        assert tree["x"].array().tolist() == expected


def test_open_wrong_things(refs: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        vroot.open("none.json")
    with pytest.raises(FileNotFoundError, match=r"none\.root"):
        vroot.open("none.root:Events")
    with pytest.raises(KeyInFileError):
        vroot.open(f"{refs}:nonesuch")
    with pytest.raises(ValueError, match="path must be"):
        vroot.open(3)
    with pytest.raises(ValueError, match="one item"):
        vroot.open({"a.json": "x", "b.json": "y"})
    with pytest.raises(IsADirectoryError):
        vroot.open(tmp_path)
    (tmp_path / "text.json").write_text("[1, 2")
    with pytest.raises(vroot.exceptions.ReferenceStoreError, match=r"text\.json"):
        vroot.open(tmp_path / "text.json")


def test_colon_in_the_name_of_a_file(refs: Path, tmp_path: Path) -> None:
    odd = tmp_path / "run:1.json"
    odd.write_bytes(refs.read_bytes())
    assert vroot.open(str(odd)).keys() == vroot.open(refs).keys()
    assert vroot.open(f"{odd}:Events").name == "Events"


def test_context_manager_and_close(refs: Path) -> None:
    with vroot.open(refs) as file:
        branch = file["Events/run"]
        assert not file.closed
    assert file.closed
    with pytest.raises(OSError, match="closed"):
        branch.array()
    with vroot.open(f"{refs}:Events") as tree:
        assert tree.num_entries == 1000


def test_pickle(refs: Path) -> None:
    file = vroot.open(refs)
    for one in (file, file["dir"], file["Events"], file["Events/run"]):
        copy = pickle.loads(pickle.dumps(one))  # noqa: S301
        assert type(copy) is type(one)
    branch = pickle.loads(pickle.dumps(file["Events/Muon_pt"]))  # noqa: S301
    assert same(branch.array(), file["Events/Muon_pt"].array())


def test_executors(refs: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with ThreadPoolExecutor(3) as pool:
        array = tree.arrays(decompression_executor=pool)
    assert same(array, tree.arrays())


@pytest.mark.parametrize("options", [{}, {"cut": "met > 0"}, {"ak_add_doc": True}])
def test_nothing_holds_arrays_that_the_user_has_let_go(refs: Path, options: Any) -> None:
    # Not even until the next garbage collection, which may come after many steps.
    tree = vroot.open(refs)["Events"]
    reads: list[Callable[[], Any]] = [
        lambda: tree.arrays(["run", "met"], **options),
        lambda: next(tree.iterate(["met"], step_size=100, **options)),
    ]
    gc.disable()
    try:
        for read in reads:
            arrays = read()
            buffer = weakref.ref(arrays.layout.contents[-1].data)
            assert buffer() is not None
            del arrays
            assert buffer() is None
    finally:
        gc.enable()


def test_a_window_bounds_the_requests(refs: Path, requests: list[int]) -> None:
    arrays, copies = [], []
    for window_bytes in (64 << 20, 16 << 10, 1):
        requests.clear()
        file = vroot.open(refs, window_bytes=window_bytes, verify_sources=False)
        arrays.append(file["Events"].arrays())
        copies.append((len(requests), max(requests)))
        again = pickle.loads(pickle.dumps(file))  # noqa: S301
        assert again.fetcher.window_bytes == window_bytes
    (one, whole), (several, longest), (most, _) = copies
    assert one < several < most
    assert longest <= 16 << 10 < whole
    assert same(arrays[0], arrays[1])
    assert same(arrays[0], arrays[2])
    with pytest.raises(ValueError, match="must be positive, not 0"):
        vroot.open(refs, window_bytes=0)


def test_not_yet_supported_is_said(refs: Path) -> None:
    file = vroot.open(refs)
    with pytest.raises(ValueError, match="not recognized"):
        file["Events"].arrays(library="cupy")
    with pytest.raises(UnsupportedError, match="language"):
        file["Events"].arrays(["run"], language="C++")


def test_empty_tree(refs: Path, zlib_file: Path) -> None:
    tree = vroot.open(refs)["nothing"]
    with uproot.open(zlib_file) as file:
        assert same(tree.arrays(), file["nothing"].arrays())
        assert tree["x"].entry_offsets == file["nothing/x"].entry_offsets


def test_sidecar(zlib_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "events.root"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, f"{path}.refs.json", url="https://example.org/nowhere.root")
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot\n"
        f"print(vroot.open({str(path)!r})['Events/run'].array()[7])\n"
        f"print(vroot.open({f'{path}:Events'!r})['run'].array()[8])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout.split() == ["7", "8"]


def test_stale_sidecar_is_not_used_and_it_is_said(zlib_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "events.root"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, f"{path}.refs.json")
    with uproot.recreate(path) as file:
        file.mktree("Events", {"x": np.dtype("f8")}).extend({"x": np.array([1.5])})
    with pytest.warns(vroot.exceptions.StaleReferencesWarning, match="has changed"):
        opened = vroot.open(path)
    assert opened["Events/x"].array().tolist() == [1.5]


def test_root_file_without_references_or_uproot(zlib_file: Path) -> None:
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot\n"
        f"try: vroot.open({str(zlib_file)!r})\n"
        "except ImportError as err: print(err)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "pip install 'vroot[scan]'" in result.stdout


def test_damage_is_found(tmp_path: Path, zlib_file: Path) -> None:
    path, out = tmp_path / "events.root", tmp_path / "refs.json"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, out)
    branch = vroot.open(out)["Events/run"]
    manifest = branch.column.manifest
    content = bytearray(path.read_bytes())
    # Not in the first baskets: those are in the header that is checked before reading.
    content[int(manifest.offset[3]) + 40] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(CorruptBasketError, match=rf"run.*basket 3.*{manifest.offset[3]}.*events"):
        vroot.open(out)["Events/run"].array()
    assert vroot.open(out)["Events/run"].array(entry_stop=777).tolist() == list(range(777))


def test_shortened_source_is_found(tmp_path: Path, zlib_file: Path) -> None:
    path, out = tmp_path / "events.root", tmp_path / "refs.json"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, out)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(vroot.exceptions.StaleReferencesError, match="1000 bytes"):
        vroot.open(out)["Events/run"].array()
    with pytest.raises(vroot.exceptions.ShortReadError, match="asked for"):
        vroot.open(out, verify_sources=False)["Events"].arrays()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"references point to"):
        vroot.open(out)["Events/run"].array()


def test_reading_imports_no_uproot(refs: Path) -> None:
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot as uproot\n"
        f"tree = uproot.open({str(refs)!r})['Events']\n"
        "assert not {'zarr', 'fsspec', 'pandas', 'awkward'} & set(sys.modules)\n"
        "print(len(tree.arrays().tolist()), tree.arrays(library='np')['run'].sum())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout.split() == ["1000", str(sum(range(1000)))]
