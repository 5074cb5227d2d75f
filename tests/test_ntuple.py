"""RNTuples: files that uproot writes, stores made by hand, and damaged ones."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from ntuples import CLUSTERS, columns, write_events

import vroot
from vroot.exceptions import (
    KeyInFileError,
    UnsupportedError,
)
from vroot.ntuples.ntuple import RField, RNTuple
from vroot.scanner.ntuple import _first_element

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


@pytest.fixture(scope="session", params=["zstd", "none"])
def ntuple_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ROOT file with an RNTuple of three clusters, and one without entries."""
    compression = uproot.ZSTD(3) if request.param == "zstd" else None
    path = tmp_path_factory.mktemp("ntuple") / f"{request.param}.root"
    return write_events(path, compression)


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
        with pytest.raises(OSError, match="closed"):
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

    def test_pandas(self, events: Any, theirs: Any) -> None:
        pandas = pytest.importorskip("pandas")
        names = ["i", "flag", "x", "text", "list", "maybe"]
        for start, stop in ((None, None), (8, 14), (-3, None), (10, 17)):
            options: dict[str, Any] = {"entry_start": start, "entry_stop": stop, "library": "pd"}
            ours, other = events.arrays(names, **options), theirs.arrays(names, **options)
            pandas.testing.assert_frame_equal(ours, other)
        for name in names:
            ours, other = (each[name].array(5, 12, library="pd") for each in (events, theirs))
            pandas.testing.assert_series_equal(ours, other)
        assert isinstance(events.arrays("x", library="pd", how=tuple), tuple)
        with pytest.raises(UnsupportedError, match="array"):
            events.arrays("array", library="pd")

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
            {"backend": "cuda"},
            {"interpreter": "gpu"},
            {"language": "python"},
        ],
    )
    def test_what_is_not_supported(self, events: Any, options: dict[str, Any]) -> None:
        with pytest.raises(UnsupportedError):
            events.arrays(**options)

    def test_what_is_not_used(self, events: Any) -> None:
        assert len(events["x"].array(array_cache=None, interpretation_executor=None)) == 30

    @pytest.mark.parametrize("step_size", [1, 7, 1000, "100 B", "1 kB", "100 MB"])
    @pytest.mark.parametrize("entries", [(None, None), (3, 14), (5, 5)])
    def test_iterate(
        self, events: Any, theirs: Any, step_size: int | str, entries: tuple[int, int]
    ) -> None:
        options = {"entry_start": entries[0], "entry_stop": entries[1], "step_size": step_size}
        names = [field.name for field in events.fields if "variant" not in field.typename][:4]
        ours = list(events.iterate(names, report=True, **options))
        expected = list(theirs.iterate(names, report=True, **options))
        assert len(ours) == len(expected)
        for (array, report), (its_array, its_report) in zip(ours, expected, strict=True):
            assert array.to_list() == its_array.to_list()
            assert str(array.type) == str(its_array.type)
            assert (report.start, report.stop) == (its_report.start, its_report.stop)
        if isinstance(step_size, str):
            range_options = {"entry_start": entries[0], "entry_stop": entries[1]}
            assert events.num_entries_for(step_size, names, **range_options) == (
                theirs.num_entries_for(step_size, names, **range_options)
            )

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
        schema = vroot.open(refs)["events"].schema
        column = next(
            i for i, spec in enumerate(schema.columns) if schema.fields[spec.field].name == "i"
        )
        with zarr.config.set({"array.rectilinear_chunks": True}):
            group = zarr.open_group("reference://", mode="r", storage_options={"fo": str(refs)})
            packed = group[f"events/column-{column}"][:]
        assert packed.dtype == np.uint8
        assert packed.view("<i4").tolist() == columns(0, 30)["i"].tolist()


def test_iterate_reads_no_page_twice(tmp_path: Path, requests: list[int]) -> None:
    path = tmp_path / "pages.root"
    columns = {"x": np.arange(1000.0), "y": ak.Array([[i] * (i % 3) for i in range(1000)])}
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("data", columns)
        ntuple.extend(columns)
    fields = vroot.open(vroot.scan(path), verify_sources=False)["data"]
    requests.clear()
    expected = fields.arrays()
    once = sum(requests)
    requests.clear()
    parts = list(fields.iterate(step_size=170))
    assert 0 < sum(requests) <= once  # those at once read through what is between pages
    assert len(parts) == 12
    assert ak.array_equal(ak.concatenate(parts), expected)
    # Another call knows nothing of the pages of the one before.
    requests.clear()
    assert ak.array_equal(next(fields.iterate(step_size=170)), expected[:170])
    assert sum(requests) > 0
