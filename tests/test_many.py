"""Steps of iteration, and trees in several files."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.decode.interpretation import decode_basket
from vroot.exceptions import KeyInFileError
from vroot.read.steps import bytes_of_size


def same(ours: ak.Array, theirs: ak.Array) -> bool:
    return str(ours.type) == str(theirs.type) and bool(ak.array_equal(ours, theirs))


NAMES = ["run", "Muon_pt", "label"]


@pytest.mark.parametrize("step_size", [1, 7, 299, 300, 1000, 5000, "10 kB", "3 KiB", "1 MB"])
@pytest.mark.parametrize("entries", [(None, None), (250, 320), (5, 5)])
def test_iterate_a_tree(
    refs: Path, zlib_file: Path, step_size: int | str, entries: tuple[int | None, int | None]
) -> None:
    options: dict[str, Any] = {"entry_start": entries[0], "entry_stop": entries[1]}
    if step_size == 1:
        options["entry_stop"] = 305 if entries[1] is None else entries[1]
        options["entry_start"] = 295
    options |= {"step_size": step_size, "report": True}
    with uproot.open(zlib_file) as file:
        theirs = list(file["Events"].iterate(NAMES, **options))
    ours = list(vroot.open(refs)["Events"].iterate(NAMES, **options))
    assert len(ours) == len(theirs)
    for (array, report), (expected, its_report) in zip(ours, theirs, strict=True):
        assert same(array, expected)
        for name in ("tree_entry_start", "tree_entry_stop", "start", "stop", "global_offset"):
            assert getattr(report, name) == getattr(its_report, name)
        assert report.tree.name == its_report.tree.name
        assert report.file_path == str(refs)


def test_a_basket_is_decoded_once_for_all_steps(
    refs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []
    original = decode_basket

    def counting(interpretation: Any, basket: Any) -> Any:
        decoded.append(basket.entries)
        return original(interpretation, basket)

    monkeypatch.setattr("vroot.read.columns.decode_basket", counting)
    steps = list(vroot.open(refs)["Events"].iterate(["run"], step_size=10))
    assert len(steps) == 100
    assert decoded == [300, 1, 476, 223]


@pytest.mark.parametrize("size", ["1 kB", "100 kB", 5000, "1 MB"])
@pytest.mark.parametrize("expressions", [["run"], ["Muon_pt", "label"], None])
def test_num_entries_for(
    refs: Path, zlib_file: Path, size: int | str, expressions: list[str] | None
) -> None:
    ours = vroot.open(refs)["Events"].num_entries_for(size, expressions)
    with uproot.open(zlib_file) as file:
        assert ours == file["Events"].num_entries_for(size, expressions)


def test_common_entry_offsets(refs: Path, zlib_file: Path) -> None:
    file = vroot.open(refs)
    with uproot.open(zlib_file) as expected:
        for tree in ("Events", "Steady", "nothing"):
            assert file[tree].common_entry_offsets() == expected[tree].common_entry_offsets()
        assert (
            file["Events/run"].common_entry_offsets()
            == expected["Events/run"].common_entry_offsets()
        )


@pytest.mark.parametrize("step_size", [0, -1, -(10**30)])
def test_steps_by_which_nothing_would_be_read(refs: Path, step_size: int) -> None:
    tree = vroot.open(refs)["Events"]
    reads: list[Callable[[], Any]] = [
        lambda: next(tree.iterate("run", step_size=step_size)),
        lambda: next(vroot.iterate({refs: "Events"}, "run", step_size=step_size)),
        lambda: vroot.dask({refs: "Events"}, step_size=step_size),
        lambda: vroot.dask({refs: "Events"}, step_size=step_size, library="np"),
    ]
    for read in reads:
        with pytest.raises(ValueError, match="step_size must be positive"):
            read()


def test_sizes_of_memory() -> None:
    assert bytes_of_size("100 MB") == 100_000_000
    assert bytes_of_size("1.5kib") == 1536
    assert bytes_of_size(7) == 7
    assert bytes_of_size(np.int64(7)) == 7  # type: ignore[arg-type]
    for wrong in ("100", "MB", "1 MBs", 1.5, None, True):
        with pytest.raises(TypeError, match="memory size"):
            bytes_of_size(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["references", "ROOT files"])
@pytest.mark.parametrize("library", ["ak", "np", "pd"])
def test_concatenate(folder: Path, kind: str, library: str) -> None:
    ending = "json" if kind == "references" else "root"
    options: dict[str, Any] = {"library": library}
    names = ["run", "weight"]
    for entries in ((None, None), (990, 1010), (1500, -500), (-10, None), (0, 1)):
        options |= {"entry_start": entries[0], "entry_stop": entries[1]}
        ours = vroot.concatenate(f"{folder}/file*.{ending}:Events", names, **options)
        # In order: uproot takes what a pattern matches as the folder lists it.
        files = [f"{folder}/file{i}.root:Events" for i in range(3)]
        theirs = uproot.concatenate(files, names, **options)
        if library == "ak":
            assert same(ours, theirs)
        elif library == "np":
            assert all(np.array_equal(ours[name], theirs[name]) for name in names)
        else:
            assert ours.equals(theirs)


def files_of(folder: Path, form: int, ending: str) -> Any:
    paths = [folder / f"file{i}.{ending}" for i in range(3)]
    return [
        f"{folder}/file[01].{ending}:Events",
        [f"{path}:Events" for path in paths],
        dict.fromkeys(paths, "Events"),
        {str(path): {"object_path": "Events"} for path in paths},
        {f"{folder}/file{{0,2}}.{ending}": "Events"},
        [{paths[0]: "Events"}, f"{paths[2]}:dir/sub/small"],
        [f"{paths[0]}:Events", f"{paths[0]}:Events"],
    ][form]


@pytest.mark.parametrize("form", range(7))
def test_forms_of_files(folder: Path, form: int) -> None:
    options: dict[str, Any] = {"filter_name": ["run", "x"], "step_size": 400, "report": True}
    options["how"] = tuple
    ours = list(vroot.iterate(files_of(folder, form, "json"), **options))
    # The forms that uproot lacks, or lists in the order of the folder, in other words.
    words = {
        0: [f"{folder}/file0.root:Events", f"{folder}/file1.root:Events"],
        3: files_of(folder, 2, "root"),
        4: {f"{folder}/file0.root": "Events", f"{folder}/file2.root": "Events"},
    }
    theirs = list(uproot.iterate(words.get(form, files_of(folder, form, "root")), **options))
    assert len(ours) == len(theirs)
    for (arrays, report), (expected, its_report) in zip(ours, theirs, strict=True):
        assert all(itertools.starmap(same, zip(arrays, expected, strict=True)))
        assert (report.start, report.stop) == (its_report.start, its_report.stop)
        assert report.global_offset == its_report.global_offset


def test_opened_trees(folder: Path) -> None:
    trees = [vroot.open(folder / f"file{i}.json")["Events"] for i in (0, 2)]
    array = vroot.concatenate(trees, ["run"])
    assert array.run.to_list() == [*range(1000), *range(1000)]


def test_what_is_missing(folder: Path) -> None:
    files = f"{folder}/file*.json:Events"
    with pytest.raises(KeyInFileError, match="met"):
        vroot.concatenate(files, ["met"])
    assert len(vroot.concatenate(files, ["met"], allow_missing=True)) == 2000
    assert sum(map(len, vroot.iterate(files, ["met"], allow_missing=True))) == 2000
    with pytest.raises(KeyInFileError):
        vroot.concatenate(f"{folder}/file*.json:nonesuch")
    assert vroot.concatenate(f"{folder}/file*.json:nonesuch", allow_missing=True) == []
    with pytest.raises(FileNotFoundError, match="no file matches"):
        vroot.concatenate(f"{folder}/none*.json:Events")
    with pytest.raises(ValueError, match="the tree must be named"):
        vroot.concatenate(folder / "file0.json")
    with pytest.raises(TypeError, match="'files' must be"):
        vroot.concatenate(3)
    with pytest.raises(KeyInFileError, match="not a tree"):
        vroot.concatenate({folder / "file0.json": "dir"})


def test_num_entries(folder: Path) -> None:
    counts = list(vroot.num_entries(f"{folder}/file*.json:Events"))
    assert [count for *_, count in counts] == [1000, 1000, 1000]
    assert counts[0][:2] == (f"{folder}/file0.json", "Events")


def test_rntuples(tmp_path: Path) -> None:
    for i in range(2):
        with uproot.recreate(tmp_path / f"{i}.root") as file:
            file.mkrntuple("events", {"x": np.arange(5) + 10 * i, "y": np.arange(5) / 2})
    files = [f"{tmp_path / name}:events" for name in ("0.root", "1.root")]
    ours, theirs = vroot.concatenate(files, ["x"]), uproot.concatenate(files, ["x"])
    assert same(ours, theirs)
    steps = list(vroot.iterate(files, step_size=3, report=True))
    assert [report.start for _, report in steps] == [0, 3, 5, 8]
    assert [array.x.to_list() for array, _ in steps] == [[0, 1, 2], [3, 4], [10, 11, 12], [13, 14]]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ROOT files with several trees, none, or empty ones, and references beside them."""
    path = tmp_path_factory.mktemp("odd")
    trees: dict[str, dict[str, list[str]]] = {
        "a": {"T": ["x", "y"]},
        "b": {"T": ["x"]},
        "c": {"T": ["x", "y"]},
        "two": {"T": ["x"], "U": ["x"]},
        "other": {"U": ["x"]},
        "none": {},
    }
    for name, contents in trees.items():
        with uproot.recreate(path / f"{name}.root") as file:
            for tree, branches in contents.items():
                file.mktree(tree, dict.fromkeys(branches, "f8"))
                file[tree].extend({branch: np.arange(10) / len(name) for branch in branches})
    with uproot.recreate(path / "empty.root") as file:
        file.mktree("T", {"x": "f8", "y": "f8"})
    for file_path in list(path.glob("*.root")):
        vroot.scan(file_path, f"{file_path}.refs.json")
    return path


#: What is read, as "name:tree" for a string and as "name" for a path, and with which options.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("a", {}),
    ("a:T b c:T", {"expressions": "x"}),
    ("two", {}),
    ("two", {"allow_missing": True}),
    ("a none", {"expressions": "x"}),
    ("a none", {"expressions": "x", "allow_missing": True}),
    ("a:U b:U", {}),
    ("a:T other:T", {"expressions": "x"}),
    ("a:T other:T", {"expressions": "x", "allow_missing": True}),
    ("a:T b:T", {"expressions": ["y"]}),
    ("a:T b:T c:T", {"expressions": ["y"], "allow_missing": True}),
    ("a:T b:T", {"filter_name": "[xy]"}),
    ("a:T c:T", {"filter_name": "[xy]", "library": "np"}),
    ("a:T missing:T", {"allow_missing": True}),
    ("empty:T", {}),
    ("empty:T a:T", {"expressions": "x", "cut": "x > 3"}),
    *(
        ("a:T empty:T b:T c:T", {"expressions": "x", "entry_start": start, "entry_stop": stop})
        for start, stop in ((0, 0), (10, 10), (5, 5), (30, 30), (30, None), (-3, None), (9, 11))
    ),
]


def outcome(read: Callable[[], Any]) -> Any:
    try:
        found = read()
    except (KeyError, ValueError, TypeError, OSError) as err:
        return type(err).__name__
    arrays = found if isinstance(found, list) else [found]
    return [
        {name: column.tolist() for name, column in array.items()}
        if isinstance(array, dict)
        else (str(array.type), array.to_list())
        for array in arrays
    ]


@pytest.mark.parametrize(("names", "options"), CALLS)
def test_as_in_uproot(odd: Path, names: str, options: dict[str, Any]) -> None:
    files: list[str | Path] = []
    for name in names.split():
        stem, colon, tree = name.partition(":")
        files.append(f"{odd / stem}.root:{tree}" if colon else odd / f"{stem}.root")
    ours = outcome(lambda: vroot.concatenate(files, **options))
    assert ours == outcome(lambda: uproot.concatenate(files, **options))
    if "entry_start" not in options:
        ours = outcome(lambda: list(vroot.iterate(files, step_size=7, **options)))
        assert ours == outcome(lambda: list(uproot.iterate(files, step_size=7, **options)))


def test_reports_of_a_branch(odd: Path) -> None:
    def reports(module: Any) -> list[Any]:
        steps = module.iterate(f"{odd}/a.root:T/x", step_size=6, report=True)
        return [
            (report.source.object_path, report.file_path, report.tree.name, report.start)
            for _, report in steps
        ]

    assert reports(vroot) == reports(uproot)


def test_no_range_of_entries_over_files(odd: Path) -> None:
    with pytest.raises(TypeError, match="no 'entry_start'"):
        next(vroot.iterate(f"{odd}/a.root:T", entry_start=3))
