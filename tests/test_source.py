"""`File.source`: uproot's counters of what was read."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import uproot

import vroot
from vroot.exceptions import ClosedFileError


def test_counters_are_of_what_was_fetched(refs: Path, requests: list[int]) -> None:
    file = vroot.open(refs)
    assert file.source.num_requested_bytes == 0
    file["Events"]["run"].array()
    assert requests
    assert file.source.num_requested_bytes == sum(requests)
    assert 0 < file.source.num_requests <= file.source.num_requested_chunks == len(requests)


def test_the_same_names_as_in_uproot(refs: Path, zlib_file: Path) -> None:
    ours = vroot.open(refs)["Events"]
    theirs = uproot.open(zlib_file)["Events"]
    for name in ("num_bytes", "num_requests", "num_requested_chunks", "num_requested_bytes"):
        assert type(getattr(ours.file.source, name)) is type(getattr(theirs.file.source, name))
    assert ours.file.source.num_bytes == theirs.file.source.num_bytes == zlib_file.stat().st_size
    assert ours.file.file is ours.file
    assert ours.source.file_path == str(zlib_file)
    counters = ours.file.source.performance_counters
    assert counters.asdict().keys() == theirs.file.source.performance_counters.asdict().keys()


def test_a_pickled_file_goes_on_counting(refs: Path) -> None:
    file = vroot.open(refs)
    file["Events"]["run"].array()
    before = file.source.num_requested_bytes
    copy = pickle.loads(pickle.dumps(file))  # noqa: S301
    assert copy.source.num_requested_bytes == before > 0
    copy["Events"]["met"].array()
    assert copy.source.num_requested_bytes > before == file.source.num_requested_bytes


def test_closing_the_source_closes_the_file(refs: Path) -> None:
    file = vroot.open(refs)
    with file.source as source:
        assert not source.closed
    assert source.closed
    with pytest.raises(ClosedFileError):
        file["Events"]["run"].array()
