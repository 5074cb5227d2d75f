"""uproot's options for opening files."""

from __future__ import annotations

import inspect
import zipfile
from pathlib import Path
from typing import Any

import pytest
import uproot

import vroot
from vroot.exceptions import ReferenceStoreError, UnsupportedError
from vroot.files.options import OF_READING, regularize_open_options, separate_open_options

OPTIONS: dict[str, Any] = {
    "handler": vroot.as_uproot.names.look_up("vroot", "MemmapSource"),
    "num_workers": 4,
    "use_threads": False,
    "timeout": 30,
    "begin_chunk_size": 1000,
    "minimal_ttree_metadata": False,
    "xrootd_handler": uproot.MultithreadedXRootDSource,
}
CACHES: dict[str, Any] = {"object_cache": None, "array_cache": "1 GB"}


def test_the_parameters_are_those_of_uproot() -> None:
    expected = inspect.signature(uproot.open).parameters
    found = inspect.signature(vroot.open).parameters
    assert [name for name in found if name in expected] == list(expected)
    # Without being told, nothing is kept of what was read.
    differing = [name for name in expected if found[name].default != expected[name].default]
    assert differing == ["array_cache"]
    assert vroot.open.defaults == uproot.open.defaults  # type: ignore[attr-defined]  # as uproot


def test_options_without_effect(refs: Path) -> None:
    file = vroot.open(refs, **OPTIONS, **CACHES)
    assert file["Events"].num_entries == 1000
    (count,) = vroot.num_entries({refs: "Events"}, **OPTIONS)
    assert count[2] == 1000
    array = vroot.concatenate({refs: "Events"}, ["met"], library="np", **OPTIONS)
    assert len(array["met"]) == 1000
    steps = list(vroot.iterate({refs: "Events"}, ["met"], step_size=600, **OPTIONS))
    assert [len(step) for step in steps] == [600, 400]


@pytest.mark.parametrize("call", [vroot.concatenate, vroot.open])
def test_classes_of_the_user(refs: Path, call: Any) -> None:
    with pytest.raises(UnsupportedError, match="custom_classes are not supported"):
        call({refs: "Events"}, custom_classes={})


def test_options_for_fsspec(refs: Path, tmp_path: Path) -> None:
    """As in uproot, what is no option of its own is one for fsspec, which may know it."""
    assert regularize_open_options({"anon": True, "timeout": 3}) == {"anon": True}
    given = {"key": "given"}
    assert regularize_open_options({"anon": True, "key": "k"}, given) == {"anon": True, **given}
    assert regularize_open_options({"num_workers": 3}, given) is given
    assert regularize_open_options({}) is None
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(refs, "refs.json")
    with pytest.raises(ReferenceStoreError, match="this remote store"):  # which it has found
        vroot.open("zip://refs.json", fo=str(archive), timeout=3)


def test_options_for_reading_and_for_opening() -> None:
    options = {"filter_name": "*", "timeout": 3, "anon": True, "how": dict}
    assert separate_open_options(options, None) == (
        {"filter_name": "*", "how": dict},
        {"anon": True},
    )


def test_all_options_for_reading_are_known() -> None:
    """None of what reads trees and RNTuples is taken for an option of opening."""
    of_many = {"self", "expressions", "cut", "library", "step_size", "report", "options"}
    for reader in (vroot.HasBranches, vroot.HasFields):
        for method in (reader.arrays, reader.iterate):
            assert set(inspect.signature(method).parameters) - of_many <= OF_READING
