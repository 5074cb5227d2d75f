"""Collections of dask: the same as uproot's, of partitions that are small and read little."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import cloudpickle
import dask
import dask_awkward as dak
import numpy as np
import pytest
import uproot
from dask.distributed import Client, LocalCluster
from ntuples import write_events
from test_groups import store  # noqa: F401  # a fixture

import vroot
from vroot.exceptions import (
    DeserializationError,
    KeyInFileError,
    MissingExtraError,
    UnsupportedError,
)
from vroot.read import columns
from vroot.trees import reading


def layer_of(collection: Any) -> Any:
    """The layer of the graph that reads."""
    return next(each for each in collection.dask.layers.values() if hasattr(each, "io_func"))


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.divisions == theirs.divisions
    assert ours.npartitions == theirs.npartitions
    assert ours.form.to_json() == theirs.form.to_json()
    got, expected = ours.compute(scheduler="sync"), theirs.compute(scheduler="sync")
    assert got.layout.form.to_json() == expected.layout.form.to_json()
    assert got.to_list() == expected.to_list()


STEPS = [[0, 10], [10, 10], [301, 777]]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"step_size": 300},
        {"step_size": "20 kB"},
        {"steps_per_file": 3},
        {"steps_per_file": 3, "open_files": False},
        {"open_files": False, "steps_per_file": 17, "filter_name": "run"},
        {"filter_name": ["Muon_*", "run"], "full_paths": True},
        {"filter_typename": "/float.*/", "recursive": False},
        {"filter_branch": lambda branch: branch.name in ("met", "Muon_pt")},
        {"ak_add_doc": True, "filter_name": ["run", "Muon_pt", "matrix"]},
        {"ak_add_doc": {"__doc__": "title", "is": "name"}, "filter_name": ["run", "met"]},
        {"ak_add_doc": {"is": "name"}, "filter_name": "run", "open_files": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("names", [[0], [0, 2], [2, 1]])
def test_as_uproot(folder: Path, names: list[int], options: dict[str, Any]) -> None:
    if names == [2, 1] and not options.get("open_files", True):
        options = options | {"filter_name": "run"}
    ours = [f"{folder}/file{i}.json:Events" for i in names]
    theirs = [f"{folder}/file{i}.root:Events" for i in names]
    assert_same(vroot.dask(ours, **options), uproot.dask(theirs, **options))


@pytest.mark.parametrize("open_files", [True, False])
@pytest.mark.parametrize("steps", [STEPS, [0, 400, 400, 1000], [[5, 5]], [7]])
def test_steps_of_files(folder: Path, steps: Any, open_files: bool) -> None:
    def named(ending: str) -> dict[str, Any]:
        details = {"object_path": "Events", "steps": steps, "num_entries": 1000, "uuid": "?"}
        return {f"{folder}/file0.{ending}": details, f"{folder}/file2.{ending}": details}

    options: dict[str, Any] = {"open_files": open_files, "filter_name": ["run", "label"]}
    if steps == [7] and not open_files:
        for function, ending in ((vroot.dask, "json"), (uproot.dask, "root")):
            with pytest.raises(ValueError, match="non-zero length"):
                function(named(ending), **options)
        return
    assert_same(vroot.dask(named("json"), **options), uproot.dask(named("root"), **options))


def test_globs_branches_and_open_trees(folder: Path, zlib_file: Path, refs: Path) -> None:
    theirs = [f"{folder}/file{i}.root:Events" for i in range(3)]
    assert_same(vroot.dask({f"{folder}/*.json": "Events"}), uproot.dask(theirs))
    assert_same(vroot.dask(f"{refs}:Events/met"), uproot.dask(f"{zlib_file}:Events/met"))
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        assert_same(vroot.dask(tree, step_size=400), uproot.dask(file["Events"], step_size=400))
    assert (
        vroot.dask(tree["met"]).compute(scheduler="sync").met.tolist()
        == tree["met"].array().tolist()
    )
    # References that are in no file travel as they are; what was not scanned before is, once.
    for where in (vroot.open(vroot.scan(zlib_file))["Events"], f"{zlib_file}:Events"):
        collection = vroot.dask(where, step_size=600)
        assert collection.run.compute(scheduler="sync").tolist() == list(range(1000))
        assert isinstance(layer_of(collection).inputs[0].location, vroot.TTree)


def test_root_files_with_references_beside_them(zlib_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "events.root"
    path.write_bytes(zlib_file.read_bytes())
    vroot.scan(path, f"{path}.refs.json")
    collection = vroot.dask({path: "Events"}, step_size=600)
    assert layer_of(collection).inputs[1] == (str(path), "/Events;1", 600, 1000, True)
    assert collection.run.compute(scheduler="sync").tolist() == list(range(1000))


def test_without_entries(zlib_file: Path, refs: Path) -> None:
    assert_same(vroot.dask(f"{refs}:nothing"), uproot.dask(f"{zlib_file}:nothing"))


def test_docs_leave_strings_strings(refs: Path) -> None:
    # uproot's replace what else the form has: there they become lists of characters.
    documented = vroot.dask({refs: "Events"}, ak_add_doc=True).label
    assert str(documented.form.type) == "string"
    assert documented.compute().layout.parameters == {"__array__": "string", "__doc__": "label/C"}


@pytest.mark.parametrize(
    "options", [{}, {"step_size": 300}, {"steps_per_file": 3, "open_files": False}], ids=str
)
def test_numpy(folder: Path, options: dict[str, Any]) -> None:
    options |= {"library": "np"}
    ours = vroot.dask({f"{folder}/file[02].json": "Events"}, **options)
    theirs = uproot.dask([f"{folder}/file{i}.root:Events" for i in (0, 2)], **options)
    assert list(ours) == list(theirs)
    matrix = theirs.pop("matrix")  # it cannot be computed, if there are several partitions
    for name, array in ours.items():
        if name == "matrix":
            assert array.dtype == matrix.dtype
            continue
        assert array.dtype == theirs[name].dtype
        np.testing.assert_equal(array.chunks[0], theirs[name].chunks[0])
        got, expected = (each[name].compute(scheduler="sync") for each in (ours, theirs))
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        assert all(map(np.array_equal, got, expected))
    assert ours["matrix"].shape[1:] == (2, 3)
    expected = vroot.concatenate({f"{folder}/file[02].json": "Events"}, ["matrix"]).matrix
    assert ours["matrix"][:, 1, 2].compute(scheduler="sync").tolist() == expected[:, 1, 2].tolist()


def test_numpy_with_steps(refs: Path) -> None:
    for open_files in (True, False):
        named = {refs: {"object_path": "Events", "steps": STEPS}}
        run = vroot.dask(named, library="np", open_files=open_files)["run"]
        assert run.compute(scheduler="sync").tolist() == [*range(10), *range(301, 777)]


@pytest.fixture(scope="module")
def ntuples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An RNTuple, and its references."""
    path = tmp_path_factory.mktemp("ntuples")
    write_events(path / "file.root", uproot.ZLIB(1))
    vroot.scan(path / "file.root", path / "file.json")
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"step_size": 2},
        {"step_size": "200 B"},
        {"open_files": False, "steps_per_file": 3},
        {"filter_name": ["*.pos", "record.a", "i"]},
        {"filter_name": "i", "open_files": False, "ak_add_doc": True},
    ],
    ids=str,
)
def test_rntuples(ntuples: Path, options: dict[str, Any]) -> None:
    # What uproot makes of variants in the second cluster and beyond is another matter.
    options = {"filter_name": lambda name: "variant" not in name} | options
    ours = vroot.dask(f"{ntuples}/file.json:events", **options)
    assert_same(ours, uproot.dask(f"{ntuples}/file.root:events", **options))
    name = ours.fields[-1]
    (touched,) = dak.report_necessary_columns(ours[name]).values()
    assert touched == {name}
    both = vroot.dask([f"{ntuples}/file.json:events"] * 2, **options)[name]
    once = vroot.open(ntuples / "file.json")["events"].arrays()
    assert len(both.compute(scheduler="sync")) == 2 * len(once)


def test_what_rntuples_cannot(ntuples: Path) -> None:
    with pytest.raises(UnsupportedError, match="RNTuples"):
        vroot.dask(f"{ntuples}/file.json:events", library="np")
    with pytest.raises(UnsupportedError, match="is a field"):
        vroot.dask(f"{ntuples}/file.json:events/i")


def test_only_what_is_touched_is_read(
    refs: Path, zlib_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = columns.read_columns

    def counting(wanted: Any, *arguments: Any) -> Any:
        read.extend(column.path.rpartition(":")[2] for column in wanted)
        return original(wanted, *arguments)

    monkeypatch.setattr(reading, "read_columns", counting)
    ours, theirs = vroot.dask(f"{refs}:Events"), uproot.dask(f"{zlib_file}:Events")
    assert read == []  # not even for the types

    def analysis(array: Any) -> list[Any]:
        return [array.Muon_pt[array.run > 3] + 1, dak.num(array.Muon_charge), array[["met"]]]

    for one, other in zip(analysis(ours), analysis(theirs), strict=True):
        (mine,) = dak.report_necessary_columns(one).values()
        (its,) = dak.report_necessary_columns(other).values()
        assert mine == its
        read.clear()
        got, expected = one.compute(scheduler="sync"), other.compute(scheduler="sync")
        assert ak.array_equal(got, expected)
        assert set(read) == set(mine)
    layer = layer_of(ours)
    read.clear()
    (part,) = map(layer.io_func.project_manually(frozenset({"run"})), layer.inputs)
    assert part.run.tolist() == list(range(1000))
    assert read == ["run"]


class Renamed:
    """A mapping of forms, as coffea has them: charges and momenta under other names."""

    behavior = None
    replaced = False

    def __call__(self, form: Any) -> tuple[Any, Any]:
        assert form.parameters["typenames"]["Muon_pt"] == "float[]"
        muons = {"pt": form.content("Muon_pt"), "charge": form.content("Muon_charge")}
        for name, content in muons.items():
            content.form_key, content.content.form_key = f"Muon_{name}", f"Muon_{name}:items"
        return ak.forms.RecordForm(list(muons.values()), list(muons), form_key="muons"), self

    def buffer_key(self, form_key: str, attribute: str, form: Any) -> str:
        return f"{form_key}/{attribute}"

    def parse_buffer_key(self, buffer_key: str) -> tuple[str, str]:
        form_key, attribute = buffer_key.split("/")
        return form_key, attribute

    def keys_for_buffer_keys(self, buffer_keys: frozenset[str]) -> set[str]:
        return {self.parse_buffer_key(key)[0].removesuffix(":items") for key in buffer_keys}

    def load_buffers(
        self, tree: Any, keys: Any, start: int, stop: int, first: Any, second: Any, options: Any
    ) -> dict[str, Any]:
        assert options == {"ak_add_doc": {"__doc__": "title"}}
        buffers: dict[str, Any] = {}
        for key in keys:
            layout = tree[key].array(entry_start=start, entry_stop=stop).layout
            buffers |= {
                f"{key}/offsets": layout.offsets.data,
                f"{key}:items/data": layout.content.data,
            }
        return buffers


class Replacing(Renamed):
    """The same, which fills what is not loaded by itself."""

    def buffer_replacements(self, tree: Any, keys: Any, *arguments: Any) -> dict[str, Any]:
        return self.load_buffers(tree, keys, *arguments)


@pytest.mark.parametrize("open_files", [True, False])
def test_form_mapping(refs: Path, open_files: bool) -> None:
    options: dict[str, Any] = {
        "ak_add_doc": {"__doc__": "title"}, "open_files": open_files, "steps_per_file": 2,
    }  # fmt: skip
    expected = vroot.open(refs)["Events"].arrays(["Muon_pt", "Muon_charge"])
    mapped = vroot.dask({refs: "Events"}, form_mapping=Renamed(), **options)
    assert mapped.fields == ["pt", "charge"]
    (needed,) = dak.report_necessary_columns(mapped.pt + 1).values()
    assert needed == {"Muon_pt"}
    assert mapped.pt.compute(scheduler="sync").to_list() == expected.Muon_pt.to_list()
    assert mapped.compute().charge.to_list() == expected.Muon_charge.to_list()
    read = layer_of(vroot.dask({refs: "Events"}, form_mapping=Replacing(), **options)).io_func
    part = read.project_manually(frozenset({"Muon_pt"}))(layer_of(mapped).inputs[1])
    assert part.charge.to_list() == expected.Muon_charge[500:].to_list()


def test_known_base_form(refs: Path, zlib_file: Path, tmp_path: Path) -> None:
    form = vroot.dask({refs: "Events"}, filter_name=["run", "label"]).form
    collection = vroot.dask(
        {tmp_path / "not there.json": "Events"}, known_base_form=form, open_files=False
    )
    assert collection.fields == ["run", "label"]
    with pytest.raises(FileNotFoundError):
        collection.run.compute(scheduler="sync")
    options: dict[str, Any] = {"known_base_form": form, "open_files": False}
    assert_same(
        vroot.dask({refs: "Events"}, **options), uproot.dask({zlib_file: "Events"}, **options)
    )


@pytest.mark.parametrize(
    "options",
    [
        {"step_size": 10, "steps_per_file": 2},
        {"step_size": 10, "open_files": False},
        {"known_base_form": ak.forms.RecordForm([], [])},
        {"library": "pd"},
        {"library": "np", "form_mapping": Renamed()},
        {"library": "xx"},
        {"filter_name": "nothing of this name"},
        {"step_size": "10 parsecs"},
        {"step_size": 0},
        {"object_path": "Event"},
        {"steps": [[0, 10]], "step_size": 10},
        {"steps": [[0, 10]], "steps_per_file": 10},
        {"steps": [[0, 1001]]},
        {"steps": [[-1, 10]], "library": "np"},
        {"steps": [[10, 0]]},
        {"steps": [10, 0]},
        {"steps": []},
        {"steps": ["x"]},
        {"steps": [[[1, 2]]]},
        {"steps": {"a": 1}},
        {"object_path": 5},
    ],
    ids=str,
)
def test_errors_as_uproot(refs: Path, zlib_file: Path, options: dict[str, Any]) -> None:
    details = {"object_path": options.pop("object_path", "Events")}
    if "steps" in options:
        details["steps"] = options.pop("steps")
    raised = []
    kinds = (TypeError, ValueError, KeyError, NotImplementedError)
    for function, path in ((vroot.dask, refs), (uproot.dask, zlib_file)):
        with pytest.raises(kinds) as error:
            function({path: details}, **options)
        raised.append(error.value)
    assert [isinstance(raised[0], kind) for kind in kinds] == [
        isinstance(raised[1], kind) for kind in kinds
    ]
    if type(raised[0]) is TypeError and "partition" in str(raised[1]):
        assert str(raised[0]) == str(raised[1])


def test_errors_of_our_own(refs: Path, folder: Path) -> None:
    with pytest.raises(UnsupportedError, match="custom_classes"):
        vroot.dask({refs: "Events"}, custom_classes={}, timeout=3)
    with pytest.raises(TypeError, match="for some but not all"):
        vroot.dask({refs: {"object_path": "Events", "steps": [0, 1]}, folder / "a.json": "Events"})
    with pytest.raises(TypeError, match=r"vroot\.dask only"):
        next(vroot.iterate({refs: {"object_path": "Events", "steps": [0, 1]}}))
    with pytest.raises(ValueError, match="is a branch: with open_files=False"):
        vroot.dask(f"{refs}:Events/met", open_files=False)
    with pytest.raises(ValueError, match=r"out of bounds of /Events;1, which has 1000 entries"):
        vroot.dask(
            {refs: {"object_path": "Events", "steps": [0, 2000]}}, open_files=False
        ).run.compute(scheduler="sync")
    met = vroot.dask({f"{folder}/file[01].json": "Events"}, open_files=False).met
    with pytest.raises(KeyInFileError, match=r"(?s)'met'.*file1"):
        met.compute(scheduler="sync")


def test_missing_extra(refs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask_awkward", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'vroot\[dask\]'"):
        vroot.dask({refs: "Events"})
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'vroot\[dask\]'"):
        vroot.dask({refs: "Events"}, library="np")


def test_neither_dask_nor_uproot_is_imported_before_it_is_needed(refs: Path) -> None:
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot\n"
        "assert not {'dask', 'dask_awkward', 'awkward'} & set(sys.modules)\n"
        f"print(vroot.dask({{{str(refs)!r}: 'Events'}}).run.compute(scheduler='sync')[7])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout.split() == ["7"]


@pytest.mark.parametrize("open_files", [True, False])
def test_missing_trees(refs: Path, folder: Path, open_files: bool) -> None:
    named = [f"{refs}:dir/sub/small", f"{folder}/file0.json:dir/nowhere", f"{refs}:dir/sub/small"]
    options: dict[str, Any] = {"allow_missing": True, "open_files": open_files}
    for order in (named, named[1:]):
        expected = list(range(5)) * (len(order) - 1)
        assert vroot.dask(order, **options).x.compute(scheduler="sync").tolist() == expected
        numpy = vroot.dask(order, library="np", **options)["x"]
        assert numpy.compute(scheduler="sync").tolist() == expected
    with pytest.raises(ValueError, match="no trees were found"):
        vroot.dask(named[1:2], **options)
    with pytest.raises(KeyInFileError, match="nowhere"):
        vroot.dask(named, open_files=open_files).compute(scheduler="sync")


def test_files_that_differ_are_told_apart(tmp_path: Path) -> None:
    for name, dtype in (("a", "f4"), ("b", "f8")):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file.mktree("t", {"x": np.dtype(dtype)}).extend({"x": np.arange(3, dtype=dtype)})
        vroot.scan(tmp_path / f"{name}.root", tmp_path / f"{name}.json")
    both = vroot.dask({f"{tmp_path}/*.json": "t"})
    with pytest.raises(DeserializationError, match=r"'x' is float64 here, but float32.*\n.*b.json"):
        both.compute(scheduler="sync")


def test_a_branch_that_cannot_be_read_spoils_no_other(zlib_file: Path) -> None:
    references = vroot.scan(zlib_file)
    attributes = references["refs"]["Events/met/zarr.json"]["attributes"]["vroot"]
    attributes["interpretation"] = {"kind": "unsupported", "reason": "too odd"}
    collection = vroot.dask(vroot.open(references)["Events"])
    assert collection.run.compute(scheduler="sync").tolist() == list(range(1000))
    with pytest.raises(UnsupportedError, match="too odd"):
        collection.met.compute(scheduler="sync")
    attributes["interpretation"]["in_arrays"] = False
    assert "met" not in vroot.dask(vroot.open(references)["Events"]).fields


def test_groups(store: dict[str, Any]) -> None:  # noqa: F811
    tree = vroot.open(store)["Events"]
    everything = vroot.dask(tree)
    assert sorted(everything.fields) == sorted(ak.fields(tree.arrays()))
    for names in (["G"], ["G", "run", "weight"], ["H", "met"], ["run"]):
        for full_paths in (False, True):
            some = vroot.dask(tree, filter_name=names, full_paths=full_paths)
            eager = tree.arrays(filter_name=names)
            assert {field.split("/")[-1] for field in some.fields} == set(ak.fields(eager))
            for field in some.fields:
                got = some[field].compute(scheduler="sync")
                assert ak.array_equal(got, eager[field.split("/")[-1]])


def test_read_errors_are_reported(folder: Path, tmp_path: Path) -> None:
    for ending in ("root", "json"):
        for i in (0, 2):
            name = f"file{i}.{ending}"
            (tmp_path / name).write_bytes((folder / name).read_bytes())
    options: dict[str, Any] = {
        "open_files": False, "steps_per_file": 2, "allow_read_errors_with_report": True,
    }  # fmt: skip
    ours, our_report, theirs, their_report = (
        each
        for module, ending in ((vroot, "json"), (uproot, "root"))
        for each in module.dask(
            {f"{tmp_path}/file{i}.{ending}": "Events" for i in (0, 2)}, **options
        )
    )
    for ending in ("root", "json"):
        (tmp_path / f"file2.{ending}").unlink()
    assert not ours.known_divisions
    got, report = dask.compute(ours.run, our_report, scheduler="sync")
    expected, its = dask.compute(theirs.run, their_report, scheduler="sync")
    assert ak.array_equal(got, expected)
    assert str(report.type) == str(its.type)
    assert report.exception.tolist() == its.exception.tolist()
    assert report.args.tolist() == [
        [each.replace(".root", ".json") for each in arguments] for arguments in its.args.tolist()
    ]
    counters = report.performance_counters.tolist()
    assert counters[2:] == [None, None]
    assert counters[0]["num_requests"] == counters[0]["num_requested_chunks"] >= 1
    assert counters[0]["num_requested_bytes"] > 0
    # With other errors, these are none to be reported.
    options["allow_read_errors_with_report"] = (KeyError, UnsupportedError)
    ours, _ = vroot.dask({f"{tmp_path}/*.json": "Events", folder / "file2.json": "dir"}, **options)
    with pytest.raises(FileNotFoundError):
        vroot.dask({tmp_path / "2.json": "Events"}, known_base_form=ours.form, **options)[
            0
        ].compute(scheduler="sync")
    caught, report = dask.compute(
        *vroot.dask({folder / "file0.json": "Events", folder / "file2.json": "dir"}, **options),
        scheduler="sync",
    )
    assert len(caught) == 1000
    assert report.exception.tolist() == [None, None, "KeyInFileError", "KeyInFileError"]


def test_tasks_are_small(tmp_path: Path) -> None:
    columns = {f"branch_{i}": np.arange(100) for i in range(200)}
    with uproot.recreate(tmp_path / "wide.root") as file:
        tree = file.mktree("t", {name: array.dtype for name, array in columns.items()})
        for _ in range(10):
            tree.extend(columns)
    vroot.scan(tmp_path / "wide.root", tmp_path / "wide.json")
    assert (tmp_path / "wide.json").stat().st_size > 100_000
    delayed: dict[str, Any] = {"open_files": False, "steps_per_file": 10}
    for options in ({"step_size": 100}, delayed):
        collection = vroot.dask({tmp_path / "wide.json": "t"}, **options).branch_7
        assert len(collection.compute()) == 1000  # what the opener keeps now is not sent
        (optimized,) = dask.optimize(collection)
        tasks = dict(optimized.dask)
        assert len(tasks) == 10
        for task in tasks.values():
            assert len(cloudpickle.dumps(task)) < 4000


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two processes."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_processes(folder: Path, client: Client) -> None:
    collection = vroot.dask({f"{folder}/*.json": "Events"}, step_size=200)
    assert client.compute(collection.run).result().tolist() == list(range(1000)) * 3
    pt, report = vroot.dask(
        {f"{folder}/*.json": "Events"},
        open_files=False,
        steps_per_file=4,
        allow_read_errors_with_report=True,
    )
    expected = vroot.concatenate({f"{folder}/*.json": "Events"}, ["Muon_pt"]).Muon_pt
    got, reports = client.gather(client.compute([pt.Muon_pt, report]))
    assert ak.array_equal(got, expected)
    assert reports.exception.tolist() == [None] * 12
    numpy = vroot.dask({f"{folder}/*.json": "Events"}, library="np")
    assert client.compute(numpy["run"].sum()).result() == 3 * sum(range(1000))
