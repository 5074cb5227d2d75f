"""RNTuples: files that uproot writes, stores made by hand, and damaged ones."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ntuples import Column, write_store

import vroot
from vroot.exceptions import (
    CorruptPageError,
    DeserializationError,
    KeyInFileError,
    ReferenceStoreError,
    UnsupportedError,
    VrootError,
)
from vroot.ntuple import RField, RNTuple
from vroot.scanner.ntuple import _first_element
from vroot.schema import decode_runs

CLUSTERS = [(0, 10), (10, 17), (17, 30)]
RANGES = [
    (None, None),
    (0, 0),
    (5, 3),
    (8, 14),
    (12, 13),
    (-3, None),
    (None, -20),
    (10, 17),
    (90, 99),
]


def columns(start: int, stop: int) -> dict[str, Any]:
    """Columns of every kind that uproot writes, of which no two entries are alike."""
    numbers = range(start, stop)
    return {
        "i": np.array(numbers, "i4") * 3 - 5,
        "flag": np.array([i % 3 == 0 for i in numbers]),
        "small": np.array([i % 256 for i in numbers], "u1"),
        "x": np.array(numbers) / 7,
        "text": ak.Array([f"event {i}" * (i % 4) for i in numbers]),
        "list": ak.Array([[i + j for j in range(i % 4)] for i in numbers]),
        "lists": ak.Array([[[i, j] for j in range(i % 3)] for i in numbers]),
        "record": ak.Array([{"a": i, "inner": {"b": i / 2}} for i in numbers]),
        "hits": ak.Array([[{"pos": i, "t": float(j)} for j in range(i % 3)] for i in numbers]),
        "array": ak.to_regular(ak.Array([[i, i + 0.5, -i] for i in numbers])),
        "maybe": ak.Array([None if i % 3 == 0 else i for i in numbers]),
        "variant": ak.Array([i if n % 3 else f"text {i}" for n, i in enumerate(numbers)]),
        "pair": ak.Array([(i, float(i)) for i in numbers]),
    }


@pytest.fixture(scope="session", params=["zstd", "none"])
def ntuple_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ROOT file with an RNTuple of three clusters, and one without entries."""
    compression = uproot.ZSTD(3) if request.param == "zstd" else None
    path = tmp_path_factory.mktemp("ntuple") / f"{request.param}.root"
    with uproot.recreate(path, compression=compression) as file:
        ntuple = file.mkrntuple("events", columns(*CLUSTERS[0]), "what happened")
        for cluster in CLUSTERS[1:]:
            ntuple.extend(columns(*cluster))
        file.mkrntuple("dir/nothing", {"x": np.dtype("f8")})
    return path


@pytest.fixture(scope="session")
def expected() -> dict[str, list[Any]]:
    parts = [columns(*cluster) for cluster in CLUSTERS]
    return {name: [x for part in parts for x in ak.to_list(part[name])] for name in parts[0]}


@pytest.fixture
def events(ntuple_file: Path) -> Any:
    return vroot.open(vroot.scan(ntuple_file))["events"]


@pytest.fixture
def theirs(ntuple_file: Path) -> Iterator[Any]:
    with uproot.open(ntuple_file) as file:
        yield file["events"]


class TestFacade:
    def test_listings_are_those_of_uproot(self, events: Any, theirs: Any) -> None:
        assert isinstance(events, RNTuple)
        for filters in (
            {},
            {"recursive": False},
            {"full_paths": False},
            {"filter_name": "h*"},
            {"filter_name": ["record", "/.*t$/"]},
            {"filter_name": "hits.pos"},
            {"filter_name": ".x"},
            {"filter_typename": "*double*"},
            {"filter_field": lambda field: len(field.fields) > 0},
        ):
            assert events.keys(**filters) == theirs.keys(**filters)
            assert events.typenames(**filters) == theirs.typenames(**filters) or not filters.get(
                "full_paths", True
            )
        assert [field.name for field in events] == [field.name for field in theirs]
        assert [field.name for field in events.values()] == [f.name for f in theirs.values()]
        assert (events.name, events.description) == (theirs.name, theirs.description)
        assert events.classname == "ROOT::RNTuple"
        assert events.object_path == "/events;1"
        assert events.num_entries == 30
        assert len(events) == len(theirs)
        assert repr(events).startswith("<ROOT::RNTuple 'events' (13 fields) at 0x")

    def test_fields_are_those_of_uproot(self, events: Any, theirs: Any) -> None:
        for ours, other in zip(events.all_fields, theirs.all_fields, strict=True):
            for name in ("name", "path", "typename", "description", "field_id", "top_level"):
                assert getattr(ours, name) == getattr(other, name)
            assert ours.is_anonymous == bool(other.is_anonymous)
            assert ours.in_variant == other.in_variant
            if not (ours.is_anonymous or ours.in_variant):
                assert ours.index == other.index

    def test_look_up(self, events: Any) -> None:
        assert events["hits"]["pos"].path == "hits.pos"
        for where in ("hits.pos", "hits/pos", "hits\\pos", "pos", ".hits.pos", "/hits/pos"):
            assert events[where].path == "hits.pos"
        assert events["record.inner.b"].top_level is False
        assert events[0] is events.fields[0]
        assert "pos" in events
        assert "none" not in events
        for where in ("none", "hits.none", ".pos"):
            with pytest.raises(KeyInFileError, match="not found"):
                events[where]
        with pytest.raises(TypeError):
            events[1.5]

    def test_look_up_from_the_file(self, ntuple_file: Path) -> None:
        refs = vroot.scan(ntuple_file)
        file = vroot.open(refs)
        assert isinstance(file["events/hits/pos"], RField)
        assert file.classnames()["events;1"] == "ROOT::RNTuple"
        assert file["dir/nothing"].object_path == "/dir/nothing;1"

    def test_show(self, events: Any, theirs: Any) -> None:
        for options in ({}, {"recursive": False}, {"max_width": 20}, {"filter_name": "h*"}):
            ours, other = io.StringIO(), io.StringIO()
            events.show(stream=ours, **options)
            theirs.show(stream=other, **options)
            assert ours.getvalue() == other.getvalue()
            ours, other = io.StringIO(), io.StringIO()
            events["hits"].show(stream=ours, **options)
            theirs["hits"].show(stream=other, **options)
            assert ours.getvalue() == other.getvalue()

    def test_forms_are_those_of_uproot(self, events: Any, theirs: Any) -> None:
        for filters in ({}, {"filter_name": "hits.pos"}, {"ak_add_doc": True}):
            ours, other = events.to_akform(**filters), theirs.to_akform(**filters)
            assert ours[0].to_json() == other[0].to_json()
            assert ours[1] == other[1]
        for key in theirs:
            ours, other = events[key.path].to_akform(), key.to_akform()
            assert ours[0].to_json() == other[0].to_json()
            assert ours[1] == other[1]
        doc = {"ak_add_doc": {"type": "typename"}}
        ours, other = events["hits"].to_akform(**doc), theirs["hits"].to_akform(**doc)
        assert ours[0].to_json() == other[0].to_json()

    def test_the_deprecated_filter(self, events: Any) -> None:
        with pytest.warns(DeprecationWarning, match="filter_field"):
            assert events.keys(filter_branch=lambda field: field.name == "x") == ["x"]
        with pytest.raises(TypeError, match="filter_field"):
            events.keys(filter_field="x")

    def test_pickle(self, events: Any, expected: dict[str, list[Any]]) -> None:
        again = pickle.loads(pickle.dumps(events))  # noqa: S301
        assert again.arrays(entry_stop=3).tolist() == events.arrays(entry_stop=3).tolist()
        field = pickle.loads(pickle.dumps(events["hits.pos"]))  # noqa: S301
        assert field.path == "hits.pos"

    def test_closing(self, events: Any) -> None:
        with events:
            pass
        with pytest.raises(ValueError, match="closed"):
            events["x"].array()


class TestReading:
    @pytest.mark.parametrize(("start", "stop"), RANGES)
    def test_values(
        self, events: Any, expected: dict[str, list[Any]], start: int | None, stop: int | None
    ) -> None:
        together = events.arrays(entry_start=start, entry_stop=stop)
        begin, end, _ = slice(start, stop).indices(30)
        for name, values in expected.items():
            assert together[name].tolist() == values[begin:end]
            assert events[name].array(start, stop).tolist() == values[begin:end]
        assert len(together) == max(end - begin, 0)

    @pytest.mark.parametrize(("start", "stop"), RANGES)
    def test_types_are_those_of_uproot(
        self, events: Any, theirs: Any, start: int | None, stop: int | None
    ) -> None:
        ours = events.arrays(entry_start=start, entry_stop=stop)
        other = theirs.arrays(entry_start=start, entry_stop=stop)
        assert ours.layout.form == other.layout.form
        assert str(ours.type) == str(other.type)

    def test_subfields(self, events: Any, theirs: Any) -> None:
        for key, other_field in theirs.items():
            ours, other = events[key].array(), other_field.array()
            assert ours.layout.form == other.layout.form
            if "variant" not in key:
                assert ours.tolist() == other.tolist()

    def test_numpy(self, events: Any, theirs: Any) -> None:
        ours, other = events.arrays(library="np"), theirs.arrays(library="np")
        assert list(ours) == list(other)
        for name, array in other.items():
            assert ours[name].dtype == array.dtype
            if name != "variant":
                assert repr(ours[name]) == repr(array)
        assert events["i"].array(library="np").dtype == np.int32

    def test_groups(self, events: Any, theirs: Any) -> None:
        options: dict[str, Any] = {"filter_name": ["i", "x"]}
        for library in ("ak", "np"):
            for how in (tuple, list, dict):
                ours = events.arrays(library=library, how=how, **options)
                other = theirs.arrays(library=library, how=how, **options)
                assert type(ours) is type(other)
                assert len(ours) == len(other) == 2
        assert events.arrays("x").fields == ["x"]
        assert events.arrays(["x", "hits.pos"]).fields == theirs.arrays(["x", "hits.pos"]).fields
        assert events.arrays("none").fields == []
        assert len(events.arrays("none")) == 30

    @pytest.mark.parametrize(
        "options",
        [
            {"cut": "x > 1"},
            {"aliases": {"y": "x"}},
            {"how": "zip"},
            {"library": "pd"},
            {"virtual": True},
            {"backend": "cuda"},
            {"interpreter": "gpu"},
            {"access_log": []},
            {"language": "python"},
        ],
    )
    def test_what_is_not_supported(self, events: Any, options: dict[str, Any]) -> None:
        with pytest.raises(UnsupportedError):
            events.arrays(**options)

    def test_what_is_not_supported_yet(self, events: Any) -> None:
        with pytest.raises(UnsupportedError, match="iterate"):
            events.iterate()
        with pytest.raises(UnsupportedError, match="virtual"):
            events["x"].array(virtual=True)
        assert len(events["x"].array(array_cache=None, interpretation_executor=None)) == 30

    def test_wrong_options(self, events: Any) -> None:
        with pytest.raises(TypeError, match="how"):
            events.arrays(how=set)
        with pytest.raises(ValueError, match="filter_name"):
            events.arrays("x", filter_name="y")
        with pytest.raises(UnsupportedError, match="has no path"):
            next(field for field in events.all_fields if field.in_variant).array()

    def test_executor(self, events: Any, expected: dict[str, list[Any]]) -> None:
        with ThreadPoolExecutor(2) as executor:
            assert events["x"].array(decompression_executor=executor).tolist() == expected["x"]

    def test_without_entries(self, ntuple_file: Path) -> None:
        nothing = vroot.open(vroot.scan(ntuple_file))["dir/nothing"]
        assert nothing.num_entries == 0
        assert str(nothing.arrays().type) == "0 * {x: float64}"

    def test_without_uproot(self, ntuple_file: Path, tmp_path: Path) -> None:
        refs = tmp_path / "refs.json"
        vroot.scan(ntuple_file, refs)
        code = (
            "import sys; sys.modules['uproot'] = None; import vroot;"
            f"print(vroot.open({str(refs)!r})['events'].arrays()['i'].tolist()[-1])"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert run.stdout.strip() == "82"


class TestScan:
    @pytest.mark.parametrize(
        ("index", "expected"), [(0, (0, False)), (7, (7, False)), ((1 << 64) - 7, (7, True))]
    )
    def test_first_elements(self, index: int, expected: tuple[int, bool]) -> None:
        assert _first_element(SimpleNamespace(first_element_index=index)) == expected

    def test_the_same_bytes_under_any_hash_seed(self, ntuple_file: Path, tmp_path: Path) -> None:
        contents = []
        for seed in ("0", "1", "random"):
            out = tmp_path / f"{seed}.json"
            code = f"import vroot; vroot.scan({str(ntuple_file)!r}, {str(out)!r})"
            env = {**os.environ, "PYTHONHASHSEED": seed}
            subprocess.run([sys.executable, "-c", code], check=True, env=env)
            contents.append(out.read_bytes())
        assert contents[0] == contents[1] == contents[2]

    def test_pages_are_not_read(
        self, ntuple_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / ntuple_file.name
        path.write_bytes(ntuple_file.read_bytes())
        before = vroot.scan(path)
        content = bytearray(path.read_bytes())
        for key, value in before["refs"].items():
            if "/column-" in key and isinstance(value, list):
                _, offset, length = value
                # The beginning of the file says what else is in it.
                if offset > 512:
                    content[offset : offset + length] = bytes(length)
        path.write_bytes(content)
        assert vroot.scan(path) == before

    def test_a_damaged_page_list_is_recorded(self, ntuple_file: Path, tmp_path: Path) -> None:
        with uproot.open(ntuple_file) as file:
            link = file["events"].footer.cluster_group_records[0].page_list_link.locator
            offset, size = int(link.offset), int(link.num_bytes)
        content = bytearray(ntuple_file.read_bytes())
        content[offset + size - 12] ^= 1
        path = tmp_path / "damaged.root"
        path.write_bytes(content)
        file = vroot.open(vroot.scan(path))
        assert file.keys() == ["events;1", "dir;1", "dir/nothing;1"]
        with pytest.raises(UnsupportedError, match="cannot be read"):
            file["events"]
        assert file["dir/nothing"].num_entries == 0

    def test_zarr_reads_the_pages(self, ntuple_file: Path, tmp_path: Path) -> None:
        zarr = pytest.importorskip("zarr", minversion="3.2")
        refs = tmp_path / "refs.json"
        vroot.scan(ntuple_file, refs)
        schema = vroot.open(refs)["events"]._schema
        column = next(
            i for i, spec in enumerate(schema.columns) if schema.fields[spec.field].name == "i"
        )
        with zarr.config.set({"array.rectilinear_chunks": True}):
            group = zarr.open_group("reference://", mode="r", storage_options={"fo": str(refs)})
            packed = group[f"events/column-{column}"][:]
        assert packed.dtype == np.uint8
        assert packed.view("<i4").tolist() == columns(0, 30)["i"].tolist()


# --- stores made by hand


def leaf(name: str, typename: str = "float", **more: Any) -> dict[str, Any]:
    return {"name": name, "typename": typename, **more}


def open_store(references: dict[str, Any]) -> Any:
    return vroot.open(references)["ntuple"]


def split(values: list[Any], sizes: list[int]) -> list[list[Any]]:
    parts, start = [], 0
    for size in sizes:
        parts.append(values[start : start + size])
        start += size
    return parts


class TestPages:
    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.data())
    def test_any_split_into_clusters_and_pages(self, tmp_path: Path, data: Any) -> None:
        lists = data.draw(st.lists(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=5)))
        sizes = data.draw(st.lists(st.integers(0, 4), max_size=6))
        sizes.append(max(len(lists) - sum(sizes), 0))
        clusters = split(lists, sizes)
        clusters = [cluster for cluster in clusters if cluster]
        index_type = data.draw(st.sampled_from(["Index32", "Index64", "SplitIndex32"]))
        item_type = data.draw(st.sampled_from(["Int32", "SplitInt32", "Int64", "SplitInt64"]))
        tag = data.draw(st.sampled_from([b"", b"ZS", b"ZL"]))
        checked = data.draw(st.booleans())

        def pages(values: list[Any]) -> list[list[Any]]:
            cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
            bounds = [0, *cuts, len(values)]
            found = [values[a:b] for a, b in pairwise(bounds)]
            return [page for page in found if page]

        index = [pages(np.cumsum([len(x) for x in cluster]).tolist()) for cluster in clusters]
        items = [pages([item for x in cluster for item in x]) for cluster in clusters]
        references = write_store(
            tmp_path / "pages.bin",
            [
                leaf("v", "std::vector<std::int32_t>", role="collection"),
                leaf("_0", "std::int32_t", parent=0),
            ],
            [
                Column(index_type, 0, index, tag=tag, checked=checked),
                Column(item_type, 1, items, tag=tag, checked=checked),
            ],
            [len(cluster) for cluster in clusters],
        )
        field = open_store(references)["v"]
        assert field.array().tolist() == lists
        start, stop = data.draw(st.tuples(st.integers(0, 30), st.integers(0, 30)))
        assert field.array(start, stop).tolist() == lists[start:stop]

    def test_a_field_that_was_added_later(self, tmp_path: Path) -> None:
        references = write_store(
            tmp_path / "pages.bin",
            [
                leaf("x"),
                leaf("a", "std::array<float,2>", repetition=2),
                leaf("_0", parent=1),
                leaf("v", "std::vector<float>", role="collection"),
                leaf("_0", parent=3),
            ],
            [
                Column("Real32", 0, [[[1.0, 2.0]], [[3.0], [4.0]]]),
                Column("Real32", 2, [[], [[5.0, 6.0]]], more={"first_element": 6}),
                Column("Index32", 3, [[], [[2]]], more={"first_element": 3}),
                Column("Real32", 4, [[], [[8.0, 9.0]]]),
            ],
            [2, 2],
        )
        ntuple = open_store(references)
        arrays = [[0, 0], [0, 0], [0, 0], [5, 6]]
        lists = [[], [], [], [8, 9]]
        for start in range(5):
            for stop in range(start, 5):
                found = ntuple.arrays(entry_start=start, entry_stop=stop)
                assert found.x.tolist() == [1, 2, 3, 4][start:stop]
                assert found.a.tolist() == arrays[start:stop]
                assert found.v.tolist() == lists[start:stop]

    def test_representations_that_take_turns(self, tmp_path: Path) -> None:
        references = write_store(
            tmp_path / "pages.bin",
            [leaf("x"), leaf("s", "std::string")],
            [
                Column("Real16", 0, [[[1.5]], []], more={"suppressed": [0, 1]}),
                Column(
                    "SplitReal32",
                    0,
                    [[], [[2.7]]],
                    more={"suppressed": [1, 0], "representation": 1},
                ),
                Column("Index64", 1, [[[2]], []], more={"suppressed": [0, 1]}),
                Column("Char", 1, [[[97, 98]], []], more={"suppressed": [0, 1]}),
                Column(
                    "SplitIndex32", 1, [[], [[1]]], more={"suppressed": [1, 0], "representation": 1}
                ),
                Column("Char", 1, [[], [[99]]], more={"suppressed": [1, 0], "representation": 1}),
            ],
            [1, 1],
        )
        ntuple = open_store(references)
        # The type that holds both: a Real32 does not fit into a Real16.
        assert ntuple["x"].array().tolist() == [1.5, float(np.float32(2.7))]
        assert ntuple["s"].array().tolist() == ["ab", "c"]
        assert ntuple["s"].array(1).tolist() == ["c"]

    def test_variants_over_clusters(self, tmp_path: Path) -> None:
        references = write_store(
            tmp_path / "pages.bin",
            [
                leaf("v", "std::variant<float,std::int32_t>", role="variant"),
                leaf("_0", parent=0),
                leaf("_1", "std::int32_t", parent=0),
            ],
            [
                Column("Switch", 0, [[[(0, 1), (0, 2), (0, 0)]], [[(0, 2), (1, 2), (0, 1)]]]),
                Column("Real32", 1, [[[0.5]], [[1.5]]]),
                Column("Int32", 2, [[[7]], [[8, 9]]]),
            ],
            [3, 3],
        )
        field = open_store(references)["v"]
        values = [0.5, 7, None, 8, 9, 1.5]
        for start in range(7):
            for stop in range(start, 7):
                assert field.array(start, stop).tolist() == values[start:stop]

    def test_pages_that_several_columns_share(self, tmp_path: Path) -> None:
        fields, pages = [leaf("x"), leaf("y")], [[[1.0, 2.0], [3.0]]]
        columns = [Column("Real32", i, pages, tag=b"ZS") for i in range(2)]
        references = write_store(tmp_path / "pages.bin", fields, columns, [3])
        for i in range(2):
            shared = references["refs"][f"ntuple/column-0/c/{i}"]
            references["refs"][f"ntuple/column-1/c/{i}"] = shared
        ntuple = open_store(references)
        for start in range(4):
            found = ntuple.arrays(entry_start=start)
            assert found.x.tolist() == found.y.tolist() == [1.0, 2.0, 3.0][start:]

    def test_projected_fields(self, tmp_path: Path) -> None:
        references = write_store(
            tmp_path / "pages.bin",
            [
                leaf("v", "std::vector<float>", role="collection"),
                leaf("_0", parent=0),
                leaf("n", "ROOT::RNTupleCardinality<std::uint32_t>", source=0),
                leaf("w", "std::vector<float>", role="collection", source=0),
                leaf("_0", parent=3, source=1),
            ],
            [
                Column("SplitIndex64", 0, [[[1, 1]], [[2]]]),
                Column("Real32Quant", 1, [[[0.0]], [[1.0, -1.0]]], 8, (-1.0, 1.0)),
            ],
            [2, 1],
        )
        ntuple = open_store(references)
        assert ntuple["n"].array().tolist() == [1, 0, 2]
        assert ntuple["n"].array(1).tolist() == [0, 2]
        assert ntuple["w"].array(1).tolist() == ntuple["v"].array(1).tolist()
        assert ntuple["v"].array(2).tolist() == [[1.0, -1.0]]

    def test_members_of_the_same_name(self, tmp_path: Path) -> None:
        fields = [
            leaf("c", "Child", role="record"),
            leaf(":_0", "Left", role="record", parent=0),
            leaf("x", parent=1),
            leaf(":_1", "Right", role="record", parent=0),
            leaf("x", parent=3),
        ]
        pages = [Column("Real32", 2, [[[1.0]]]), Column("Real32", 4, [[[2.0]]])]
        ntuple = open_store(write_store(tmp_path / "pages.bin", fields, pages, [1]))
        assert ntuple.keys() == ["c", "c.Left::x", "c.Right::x"]
        assert ntuple["c.Right::x"].array().tolist() == [2.0]
        assert ntuple["c"].array().tolist() == [{"Right::x": 2.0, "Left::x": 1.0}]

    def test_members_that_nothing_tells_apart(self, tmp_path: Path) -> None:
        fields = [leaf("x"), leaf("x")]
        pages = [Column("Real32", i, [[[1.0]]]) for i in range(2)]
        ntuple = open_store(write_store(tmp_path / "pages.bin", fields, pages, [1]))
        with pytest.raises(UnsupportedError, match="tell them apart"):
            ntuple.keys()

    def test_serialized_objects(self, tmp_path: Path) -> None:
        fields = [leaf("t", "TTree", role="streamer"), leaf("x")]
        pages = [Column("Byte", 0, [[[1]]]), Column("Real32", 1, [[[1.0]]])]
        ntuple = open_store(write_store(tmp_path / "pages.bin", fields, pages, [1]))
        with pytest.raises(UnsupportedError, match=r"serialized(.|\n)*in RNTuple /ntuple;1"):
            ntuple["t"].array()
        assert ntuple["x"].array().tolist() == [1.0]

    def test_a_type_that_is_not_known(self, tmp_path: Path) -> None:
        pages = [Column("Real32", i, [[[1.0]]]) for i in range(2)]
        references = write_store(tmp_path / "pages.bin", [leaf("x"), leaf("y")], pages, [1])
        data = references["refs"]["ntuple/zarr.json"]["attributes"]["vroot"]["data"]
        data["columns"][0] |= {"type": "0x1e", "bits": 32}
        ntuple = open_store(references)
        with pytest.raises(UnsupportedError, match="0x1e"):
            ntuple["x"].array()
        assert ntuple["y"].array().tolist() == [1.0]


# --- damage


def test_every_damaged_page_is_found(tmp_path: Path) -> None:
    path = tmp_path / "pages.bin"
    pages = [[[1.0, 2.0], [3.0]], [[4.0, 5.0]]]
    references = write_store(path, [leaf("x")], [Column("SplitReal32", 0, pages)], [3, 2])
    content = path.read_bytes()
    for page, start in enumerate([(0, 604), (1, 620), (2, 632)]):
        offset = references["refs"][f"ntuple/column-0/c/{page}"][1]
        assert offset == start[1]
        for position in (0, 3, 4 if page == 1 else 8):
            damaged = bytearray(content)
            damaged[offset + position] ^= 0x10
            path.write_bytes(damaged)
            with pytest.raises(CorruptPageError) as caught:
                open_store(references).arrays()
            for words in ("field 'x'", "column 0", f"page {page}", f"offset {offset}", "/ntuple;1"):
                assert words in str(caught.value)
    path.write_bytes(content)
    assert open_store(references)["x"].array().tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("index", "items"),
    [
        ([1, 0], [1.0]),
        ([1, 2], [1.0]),
        ([0, 0], [1.0]),
        ([1, 1], []),
    ],
)
def test_an_index_that_does_not_fit_is_refused(
    tmp_path: Path, index: list[int], items: list[float]
) -> None:
    fields = [leaf("v", role="collection"), leaf("_0", parent=0)]
    pages = [Column("Index64", 0, [[index]]), Column("Real32", 1, [[items] if items else []])]
    field = open_store(write_store(tmp_path / "pages.bin", fields, pages, [2]))["v"]
    with pytest.raises(CorruptPageError, match="does not rise to"):
        field.array()


@pytest.mark.parametrize("switch", [(0, 3), (1, 1), (1 << 40, 1), (0, 200)])
def test_a_switch_that_leads_nowhere_is_refused(tmp_path: Path, switch: tuple[int, int]) -> None:
    fields = [leaf("v", role="variant"), leaf("_0", parent=0), leaf("_1", parent=0)]
    pages = [Column("Switch", 0, [[[switch]]])]
    pages += [Column("Real32", i, [[[1.0]]]) for i in (1, 2)]
    field = open_store(write_store(tmp_path / "pages.bin", fields, pages, [1]))["v"]
    with pytest.raises(CorruptPageError):
        field.array()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entries": 3}, "the clusters have 2 entries"),
        ({"clusters": [3]}, "elements in the clusters"),
        ({"clusters": [-1]}, "entries of a cluster"),
        ({"clusters": [[1, 1 << 25]]}, "more than"),
        ({"clusters": [1 << 62, 1 << 62]}, "in all"),
        ({"clusters": [2, 0]}, "pages"),
        ({"fields": [leaf("x", parent=0)]}, "does not precede"),
        ({"fields": [leaf("x", source=0)]}, "no field with columns"),
        ({"fields": [leaf("x", source=7)]}, "no field with columns"),
        ({"fields": [leaf("x", repetition=-1)]}, "repeats"),
        ({"fields": [leaf("x", repetition=1 << 40)]}, "elements in"),
        ({"fields": [leaf("x", role="collection")]}, "collection of 0 fields"),
        ({"fields": [leaf("x", role="variant")]}, "Switch"),
        ({"fields": []}, "does not exist"),
        ({"fields": [leaf("x", parent=i - 1 if i else None) for i in range(100)]}, "deep"),
        ({"columns": []}, "0 columns"),
        ({"columns": 7}, "RNTuple"),
        ({"columns": [{"elements": [[2, 1 << 40]]}]}, "repeated"),
        ({"columns": [{"elements": [0, 2]}]}, "no elements"),
        ({"columns": [{"elements": [2, 2]}]}, "pages"),
        ({"columns": [{"elements": [1 << 60]}]}, "elements of a page"),
        ({"columns": [{"elements": [1 << 40]}]}, "elements in the clusters"),
        ({"columns": [{"elements": [1 << 40]}], "clusters": [1 << 40]}, "cannot become"),
        (
            {
                "columns": [{"elements": [], "pages": [0], "first_element": 1 << 40}],
                "clusters": [1 << 40],
            },
            "without pages",
        ),
        ({"columns": [{"suppressed": [1]}]}, "suppressed"),
        ({"columns": [{"suppressed": [1, 1]}]}, "marks"),
        ({"columns": [{"bits": 500}]}, "bits"),
        ({"columns": [{"bits": 16}]}, "cannot become"),
        ({"columns": [{"type": "Int16", "bits": 32}]}, "bits"),
        ({"columns": [{"first_element": 1}]}, "begins with element 1"),
        ({"columns": [{"first_element": -1}]}, "begins with element -1"),
        ({"columns": [{"representation": 1}]}, "0 columns"),
        ({"columns": [{"type": "Switch"}]}, "numbers"),
        ({"columns": [{"type": "Index32"}]}, "numbers"),
        ({"columns": [{"stored": "zstd"}]}, "page|stored"),
        ({"columns": [{"stored": "none"}]}, "stored|Invalid"),
    ],
)
def test_a_contradictory_store_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    pages = [Column("Real32", 0, [[[1.0, 2.0]]])]
    references = write_store(tmp_path / "pages.bin", [leaf("x")], pages, [2])
    data = references["refs"]["ntuple/zarr.json"]["attributes"]["vroot"]["data"]
    change, columns = dict(change), change.get("columns")
    if isinstance(columns, list) and columns:
        change = change | {"columns": [data["columns"][0] | columns[0]]}
    about = references["refs"]["ntuple/zarr.json"]["attributes"]["root"]
    about["num_entries"] = change.pop("entries", about["num_entries"])
    data |= change
    if "clusters" in change:
        entries = sum(decode_runs(change["clusters"]).tolist())
        about["num_entries"] = entries
    with pytest.raises(VrootError, match=message):
        open_store(references).arrays()


def test_references_that_are_missing_or_inline_are_refused(tmp_path: Path) -> None:
    pages = [Column("Real32", 0, [[[1.0, 2.0]]])]
    references = write_store(tmp_path / "pages.bin", [leaf("x")], pages, [2])
    key = "ntuple/column-0/c/0"
    for reference in (None, "base64:AAAAAAAAAAA=", ["{{s9}}", 0, 8], ["{{s0}}", -5, 8]):
        changed = copy.deepcopy(references)
        changed["refs"] |= {key: reference}
        if reference is None:
            del changed["refs"][key]
        with pytest.raises(ReferenceStoreError):
            open_store(changed).arrays()
    references["refs"][key] = ["{{s0}}", 1 << 40, 8]
    with pytest.raises((VrootError, OSError)):
        open_store(references).arrays()


def mutate(value: Any, chooser: random.Random) -> Any:
    """Change one thing somewhere in plain data."""
    if isinstance(value, dict) and value:
        key = chooser.choice(list(value))
        if chooser.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return value | {key: mutate(value[key], chooser)}
    if isinstance(value, list) and value:
        where = chooser.randrange(len(value))
        if chooser.random() < 0.1:
            return value[:where] + value[where + 1 :]
        return [*value[:where], mutate(value[where], chooser), *value[where + 1 :]]
    numbers = [0, 1, -1, 2, 7, 1 << 20, 1 << 31, 1 << 40, 1 << 62]
    texts = [
        "",
        "leaf",
        "record",
        "variant",
        "collection",
        "Switch",
        "Bit",
        "Index32",
        "raw",
        "zstd",
    ]
    return chooser.choice([*numbers, *texts, [], {}, None, [[1, 1 << 20]]])


def test_mutated_stores_give_arrays_or_errors(ntuple_file: Path) -> None:
    references = json.loads(json.dumps(vroot.scan(ntuple_file)))
    document = references["refs"]["events/zarr.json"]
    chooser = random.Random(1)  # noqa: S311
    failed = 0
    for _ in range(1000):
        own = document["attributes"]["vroot"]
        changed = {"attributes": document["attributes"] | {"vroot": mutate(own, chooser)}}
        refs = references["refs"] | {"events/zarr.json": document | changed}
        try:
            ntuple = vroot.open(references | {"refs": refs})["events"]
            ntuple.arrays(entry_start=2, entry_stop=25).to_list()
        except (VrootError, KeyError):
            failed += 1
    assert failed > 100


def test_mutated_pages_give_arrays_or_errors(ntuple_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "mutated.root"
    content = ntuple_file.read_bytes()
    path.write_bytes(content)
    references = vroot.scan(path)
    places = [
        value
        for key, value in references["refs"].items()
        # uproot writes no checksums, so that every byte of these is believed.
        if "/column-" in key and isinstance(value, list)
    ]
    chooser = random.Random(2)  # noqa: S311
    for _ in range(300):
        damaged = bytearray(content)
        for _, offset, length in chooser.sample(places, 3):
            damaged[offset + chooser.randrange(length)] = chooser.randrange(256)
        path.write_bytes(damaged)
        ntuple = vroot.open(references, verify_sources=False)["events"]
        try:
            ntuple.arrays().to_list()
        except (DeserializationError, UnicodeDecodeError):
            continue
