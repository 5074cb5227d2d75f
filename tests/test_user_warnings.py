"""Warnings name the line of the user, however deep in vroot their reason is found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import vroot
from vroot.exceptions import NameConflictWarning, StaleReferencesWarning


def test_references_that_are_not_used(zlib_file: Path, tmp_path: Path) -> None:
    source = Path(shutil.copy(zlib_file, tmp_path / "f.root"))
    vroot.scan(source, tmp_path / "f.root.refs.json")
    os.utime(source, (2e9, 2e9))
    with pytest.warns(StaleReferencesWarning, match="has changed") as warned:
        vroot.open(source)
    assert [each.filename for each in warned] == [__file__]
    with pytest.warns(StaleReferencesWarning, match="has changed") as warned:
        list(vroot.num_entries({str(source): "Events"}))
    assert [each.filename for each in warned] == [__file__]


def test_names_that_mean_several_things(refs: Path) -> None:
    tree = vroot.open(refs)["Events"]
    with pytest.warns(NameConflictWarning, match="both an alias and a branch") as warned:
        tree.arrays(["met"], aliases={"met": "run"})
    assert [each.filename for each in warned] == [__file__]
