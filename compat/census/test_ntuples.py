"""The comparison of RNTuples finds differences."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import msgspec
import numpy as np
import pytest
import uproot

import vroot
from compat.census.ntuple_oracle import FIELD_KIND
from compat.census.objects import OBJECTS
from compat.census.oracle import record_file
from compat.census.records import RECORD, BranchResult, FileRecord, Status
from compat.census.verdict import NTUPLE
from compat.census.workers import Worker

FIELDS = {"(all)", "x", "hits", "hits.pos"}


@pytest.fixture
def root_file(tmp_path: Path) -> Path:
    path = tmp_path / "file.root"
    with uproot.recreate(path, compression=None) as file:
        hits = ak.Array([[{"pos": i} for i in range(n)] for n in (2, 0, 1)])
        ntuple = file.mkrntuple("events", {"x": np.array([1.5, 2.5, 3.5]), "hits": hits})
        ntuple.extend({"x": np.array([4.5, 5.5, 6.5]), "hits": hits})
    return path


def compare(path: Path, references: Path) -> dict[str, BranchResult]:
    """Compare in a process without uproot; the results on the RNTuple and its fields."""
    worker = Worker("reader", 120)
    try:
        results = worker(path.parent, references)
    finally:
        worker.close()
    found = [result for result in results if result.tree == "events;1"]
    assert {result.kind for result in found} == {NTUPLE, FIELD_KIND}
    return {
        NTUPLE if result.kind == NTUPLE else result.branch or "(all)": result for result in found
    }


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers import this package, however pytest was started."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])


def record(path: Path) -> FileRecord:
    """Record what uproot says, no objects among it."""
    (path.parent / OBJECTS).write_bytes(msgspec.msgpack.encode([]))
    return record_file(path, path.parent)


def test_the_same(root_file: Path, tmp_path: Path) -> None:
    record(root_file)
    references = tmp_path / "refs.json"
    vroot.scan(root_file, references)
    results = compare(root_file, references)
    assert results.keys() == FIELDS | {NTUPLE}
    assert {result.status for result in results.values()} == {Status.IDENTICAL}


def test_other_values(root_file: Path, tmp_path: Path) -> None:
    record(root_file)
    content = root_file.read_bytes()
    # uproot writes no checksums, so that nothing else notices.
    root_file.write_bytes(content.replace(np.float64(5.5).tobytes(), np.float64(-5.5).tobytes()))
    references = tmp_path / "refs.json"
    vroot.scan(root_file, references)
    results = compare(root_file, references)
    different = {name for name, one in results.items() if one.status is Status.DIFFERENT}
    assert different == {"(all)", "x"}


def test_another_schema(root_file: Path, tmp_path: Path) -> None:
    said = record(root_file)
    (ntuple,) = said.ntuples
    changed = msgspec.structs.replace(
        ntuple,
        keys=["x", "hits"],
        branches=[msgspec.structs.replace(one, typename="T") for one in ntuple.branches],
    )
    said = msgspec.structs.replace(said, ntuples=[changed])
    (tmp_path / RECORD).write_bytes(msgspec.msgpack.encode(said))
    references = tmp_path / "refs.json"
    vroot.scan(root_file, references)
    results = compare(root_file, references)
    different = {name for name, one in results.items() if one.status is Status.DIFFERENT}
    assert different == FIELDS - {"(all)"} | {NTUPLE}


def test_an_rntuple_that_is_missing(root_file: Path, tmp_path: Path) -> None:
    record(root_file)
    references = tmp_path / "refs.json"
    store = vroot.scan(root_file)
    for key in [key for key in store["refs"] if key.startswith("events")]:
        del store["refs"][key]
    references.write_bytes(msgspec.json.encode(store))
    worker = Worker("reader", 120)
    try:
        results = worker(root_file.parent, references)
    finally:
        worker.close()
    assert sum(result.status is Status.NOT_RUN for result in results) == 1 + len(FIELDS)
