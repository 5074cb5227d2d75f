"""Caches of arrays and objects, parameters of documentation, executors, and uproot's signatures."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
import uproot.source.futures

import vroot
from vroot.exceptions import UnsupportedError
from vroot.io.fetcher import Fetcher
from vroot.read import columns
from vroot.trees import reading

NAMES = ["run", "Muon_pt", "label"]


@pytest.fixture(scope="module")
def ntuple(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "ntuple.root"
    columns = {"x": np.arange(100.0), "y": ak.Array([[1, 2], []] * 50)}
    with uproot.recreate(path) as file:
        file.mkrntuple("data", columns)
    return path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many branches each call reads."""
    numbers: list[int] = []
    original = columns.read_columns

    def counting(wanted: Any, *args: Any) -> Any:
        numbers.append(len(wanted))
        return original(wanted, *args)

    monkeypatch.setattr(reading, "read_columns", counting)
    return numbers


# --- the caches themselves


def test_lru_cache() -> None:
    cache = vroot.LRUCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache["a"] == 1
    cache["c"] = 3
    assert list(cache) == ["a", "c"]
    cache["a"] = 4
    assert (dict(cache), len(cache), cache.current, cache.limit) == ({"c": 3, "a": 4}, 2, 2, 2)
    del cache["c"]
    assert cache.current == 1
    assert repr(cache).startswith("<LRUCache (1/2 full) at 0x")
    assert "no limit" in repr(vroot.LRUCache(None))
    copied = pickle.loads(pickle.dumps(cache))  # noqa: S301
    assert (len(copied), copied.current, copied.limit) == (0, 0, 2)


def test_lru_array_cache() -> None:
    cache = vroot.LRUArrayCache("1 kB")
    cache["a"], cache["b"] = np.zeros(60), ak.Array(np.zeros(60))
    assert (list(cache), cache.current) == (["a", "b"], 960)
    cache["c"] = np.zeros(6)
    assert (list(cache), cache.current) == (["b", "c"], 528)
    cache["too large"] = np.zeros(126)
    assert (len(cache), cache.current) == (0, 0)
    cache["unknown"] = object()
    assert len(cache) == 0
    unlimited = vroot.LRUArrayCache(None)
    unlimited["unknown"] = object()
    assert unlimited.current == 1024
    with pytest.raises(TypeError, match="memory size"):
        vroot.LRUArrayCache("many")


@pytest.mark.parametrize(
    "use",
    [
        lambda cache, i: cache.get(i),
        lambda cache, i: cache.update({i: i}),
        lambda cache, i: list(cache),
    ],
)
def test_caches_and_threads(use: Callable[[Any, int], Any]) -> None:
    cache = vroot.LRUCache(10)
    with ThreadPoolExecutor(4) as pool:
        for number in range(500):
            pool.submit(cache.__setitem__, number, number)
            pool.submit(use, cache, number).result()
    assert cache.current == len(cache) == 10


# --- array_cache


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_arrays_come_from_the_cache(refs: Path, reads: list[int], library: str) -> None:
    tree = vroot.open(refs)["Events"]
    cache: dict[str, Any] = {}
    first = tree.arrays(NAMES, array_cache=cache, library=library)
    second = tree.arrays([*NAMES, "met"], array_cache=cache, library=library)
    tree["met"].array(array_cache=cache, library=library)
    tree["met"].array(array_cache=cache, library=library, entry_stop=10)
    assert reads == [3, 1, 0, 1]
    for name in NAMES:
        assert list(map(str, first[name])) == list(map(str, second[name]))
    assert len(cache) == 5
    uuid = tree.file.uuid
    key = f"{uuid}:/Events;1:run(0):AsDtype('>u4'):0-1000:{library}"
    assert next(iter(cache)) == key
    assert tree["Muon_pt"].cache_key == f"{uuid}:/Events;1:Muon_pt(6)"


def test_cache_keys_are_those_of_uproot(refs: Path, zlib_file: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        assert tree.cache_key == file["Events"].cache_key
        for name in tree.keys():  # noqa: SIM118
            assert tree[name].cache_key == file["Events"][name].cache_key


def test_the_file_keeps_no_arrays_unless_it_is_told(refs: Path, reads: list[int]) -> None:
    for options, expected in (
        ({}, [1, 1]),
        ({"array_cache": None}, [1, 1]),
        ({"array_cache": "1 MB"}, [1, 0]),
        ({"array_cache": 100}, [1, 1]),
    ):
        tree = vroot.open(refs, **options)["Events"]
        reads.clear()
        assert ak.array_equal(tree["run"].array(), tree["run"].array())
        assert reads == expected
    tree = vroot.open(refs, array_cache="1 MB")["Events"]
    reads.clear()
    tree["run"].array(array_cache=None)
    tree["run"].array()
    assert reads == [1, 1]
    with pytest.raises(TypeError, match="array_cache must be None, a MutableMapping, or a memory"):
        tree["run"].array(array_cache=1.5)
    with pytest.raises(TypeError, match="object_cache must be None"):
        vroot.open(refs, object_cache="100 MB")  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["np", "pd", "ak"])
def test_what_a_user_changes_does_not_come_back(refs: Path, library: str) -> None:
    branch = vroot.open(refs, array_cache="1 MB")["Events"]["run"]
    for _ in range(3):
        array = branch.array(library=library)
        assert array[1] == 1
        if library == "ak":
            array.layout.parameters["changed"] = True  # of this array alone
            array = ak.with_parameter(array, "__doc__", "changed")
        else:
            array[1] = 17


def test_documentation_does_not_depend_on_the_cache(refs: Path) -> None:
    branch = vroot.open(refs, array_cache="1 MB")["Events"]["run"]
    for add_doc in (False, True, False, True):
        parameters = branch.array(ak_add_doc=add_doc).layout.parameters
        assert parameters == ({"__doc__": "run/i"} if add_doc else {})


def test_the_cache_of_a_file_in_pickles(refs: Path) -> None:
    file = vroot.open(refs, array_cache="1 MB", object_cache={})
    file["Events"].arrays(NAMES)
    assert file.array_cache.current > 0
    copied = pickle.loads(pickle.dumps(file))  # noqa: S301
    assert (copied.array_cache.limit, copied.array_cache.current) == (1_000_000, 0)
    assert copied.object_cache is None


def test_object_cache(refs: Path) -> None:
    file = vroot.open(refs)
    assert file["Events"] is file["Events"]
    assert vroot.open(refs, object_cache=None)["hist"] is not None
    small = vroot.open(refs, object_cache=1)
    first = small["Events"]
    assert small["Steady"] is small["Steady"]
    assert small["Events"] is not first
    shared: dict[str, Any] = {}
    one = vroot.open(refs, object_cache=shared)["Events"]
    two = vroot.open(refs, object_cache=shared)["Events"]
    assert one.file is not two.file
    assert len(shared) == 1


def test_ntuple_cache(ntuple: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[int] = []
    original = Fetcher.fetch

    def counting(self: Fetcher, wanted: Any, use: Any, executor: Any, **options: Any) -> None:
        pieces.append(wanted.source.size)
        original(self, wanted, use, executor, **options)

    monkeypatch.setattr(Fetcher, "fetch", counting)
    fields = vroot.open(vroot.scan(ntuple), array_cache="1 MB")["data"]
    expected = fields.arrays(array_cache=None)
    for _ in range(2):
        assert ak.array_equal(fields.arrays(), expected)
        array = fields["x"].array(library="np")
        assert array[1] == 1.0
        array[1] = 17.0
    assert pieces == [3, 3, 0, 0, 0]
    assert fields.file.array_cache.current == 800 + 101 * 8 + 800
    with uproot.open(ntuple) as file:
        assert fields.cache_key.partition(":")[0] == file["data"].cache_key.partition(":")[0]


# --- ak_add_doc


def forms(arrays: Any) -> Any:
    if isinstance(arrays, ak.Array):
        return arrays.layout.form.to_dict()
    return [forms(array) for array in (arrays.values() if isinstance(arrays, dict) else arrays)]


@pytest.mark.parametrize(
    "add_doc", [False, True, {"__doc__": "title"}, {"a": "name", "b": "title"}]
)
@pytest.mark.parametrize("how", [None, tuple, dict, "zip"])
def test_ak_add_doc(refs: Path, zlib_file: Path, add_doc: Any, how: Any) -> None:
    tree = vroot.open(refs)["Events"]
    options: dict[str, Any] = {"ak_add_doc": add_doc, "how": how}
    with uproot.open(zlib_file, array_cache=None) as file:
        theirs = file["Events"]
        for expressions, cut in (
            (NAMES, None),
            (["Muon_pt", "Muon_charge", "run + 1"], None),
            (NAMES, "run > 4"),
        ):
            expected = theirs.arrays(expressions, cut, **options)
            assert forms(tree.arrays(expressions, cut, **options)) == forms(expected)
        (expected,) = theirs["label"].iterate(**options)
        (ours,) = tree["label"].iterate(**options)
        assert forms(ours) == forms(expected)
        ours = tree["label"].array(ak_add_doc=add_doc)
        assert forms(ours) == forms(theirs["label"].array(ak_add_doc=add_doc))
        if how is None:
            files = {str(zlib_file): "Events"}
            expected = uproot.concatenate(files, NAMES, ak_add_doc=add_doc)
            assert forms(vroot.concatenate({str(refs): "Events"}, NAMES, ak_add_doc=add_doc)) == (
                forms(expected)
            )


@pytest.mark.parametrize("add_doc", [True, {"__doc__": "title"}, {"a": "name"}])
def test_ak_add_doc_of_virtual_arrays(refs: Path, zlib_file: Path, add_doc: Any) -> None:
    tree = vroot.open(refs)["Events"]
    options: dict[str, Any] = {"ak_add_doc": add_doc, "virtual": True}
    with uproot.open(zlib_file) as file:
        for name in ["run", "Muon_pt"]:
            expected = file["Events"].arrays(filter_name=name, **options)
            assert forms(tree.arrays(filter_name=name, **options)) == forms(expected)
    # uproot's are no strings any more.
    label = tree.arrays(filter_name="label", **options).label
    assert label.layout.parameters["__array__"] == "string"
    assert ak.materialize(label)[3] == tree["label"].array()[3]


# --- executors


class Submits:
    """An executor with `submit` alone, whose futures have `result` alone."""

    def submit(self, task: Any, /, *args: Any) -> Any:
        return uproot.source.futures.TrivialFuture(task(*args))


class Maps:
    """An executor with `map` alone, which runs when it is asked for results."""

    def map(self, task: Any, *columns: Any) -> Any:
        return (task(*row) for row in zip(*columns, strict=True))


@pytest.mark.parametrize(
    "make",
    [
        Submits,
        Maps,
        uproot.source.futures.TrivialExecutor,
        lambda: uproot.source.futures.ThreadPoolExecutor(2),
        lambda: ThreadPoolExecutor(2),
    ],
)
@pytest.mark.parametrize("which", ["decompression_executor", "interpretation_executor"])
def test_executors(refs: Path, ntuple: Path, make: Callable[[], Any], which: str) -> None:
    tree = vroot.open(refs)["Events"]
    options: dict[str, Any] = {which: make()}
    assert ak.array_equal(tree.arrays(**options), tree.arrays())
    assert ak.array_equal(tree["label"].array(**options), tree["label"].array())
    assert ak.array_equal(ak.materialize(tree.arrays(virtual=True, **options)), tree.arrays())
    (step,) = tree.iterate(step_size=1000, **options)
    assert ak.array_equal(step, tree.arrays())
    fields = vroot.open(vroot.scan(ntuple))["data"]
    assert ak.array_equal(fields.arrays(**options), fields.arrays())
    if hasattr(options[which], "shutdown"):
        options[which].shutdown()


def test_no_executor(refs: Path) -> None:
    with pytest.raises(TypeError, match="must have a method submit or map, not 3"):
        vroot.open(refs)["Events"]["run"].array(decompression_executor=3)


@pytest.mark.parametrize("make", [Submits, Maps, lambda: ThreadPoolExecutor(2)])
def test_errors_in_executors(zlib_file: Path, tmp_path: Path, make: Callable[[], Any]) -> None:
    path = tmp_path / "cut.root"
    path.write_bytes(zlib_file.read_bytes())
    tree = vroot.open(vroot.scan(path), verify_sources=False)["Events"]
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(OSError, match=r"cut\.root"):
        tree.arrays(decompression_executor=make())


# --- signatures

#: Parameters whose defaults are objects of uproot's that None stands for here.
NONE = {"filter_name", "filter_typename", "filter_branch", "filter_field", "language", "stream"}
METHODS = (
    "arrays", "array", "iterate", "keys", "values", "items", "iterkeys", "itervalues", "iteritems",
    "typenames", "itertypenames", "show", "num_entries_for", "common_entry_offsets",
    "basket_entry_start_stop", "basket_uncompressed_bytes", "to_akform",
)  # fmt: skip


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [
        (each.name, each.kind, None if each.name in NONE else each.default)
        for each in inspect.signature(function).parameters.values()
    ]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (uproot.TTree, vroot.TTree),
        (uproot.TBranch, vroot.TBranch),
        (uproot.behaviors.RNTuple.RNTuple, vroot.RNTuple),
        (uproot.models.RNTuple.RField, vroot.RField),
    ],
)
def test_signatures(theirs: Any, ours: Any) -> None:
    compared = [name for name in METHODS if hasattr(theirs, name)]
    assert len(compared) >= 13
    for name in compared:
        assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name)), name


def test_methods_refuse_what_they_do_not_take(refs: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with pytest.raises(TypeError, match="nonesuch"):
        tree.keys(nonesuch=1)


def test_baskets(refs: Path, zlib_file: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with uproot.open(zlib_file) as file:
        for name in ("run", "Muon_pt", "label"):
            ours, theirs = tree[name], file["Events"][name]
            for basket in range(theirs.num_baskets):
                for method in ("basket_entry_start_stop", "basket_uncompressed_bytes"):
                    assert getattr(ours, method)(basket) == getattr(theirs, method)(basket)
    for number in (-1, 4):
        with pytest.raises(IndexError, match=f"has 4 baskets, no basket {number}"):
            tree["run"].basket_entry_start_stop(number)
    assert tree["run"].aliases == tree.aliases
    table = tree["run"].spec.baskets
    object.__setattr__(table, "key_bytes", None)
    with pytest.raises(UnsupportedError, match="scan the file again"):
        tree["run"].basket_uncompressed_bytes(0)
