"""ROOT files, and the stores made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import uproot
from samples import COMPRESSIONS, events, write_tree

import vroot
from vroot.io.local import LocalStore


@pytest.fixture(scope="session", params=list(COMPRESSIONS))
def root_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ROOT file, once with each compression."""
    name: str = request.param
    path = tmp_path_factory.mktemp("root") / f"{name}.root"
    return write_tree(path, COMPRESSIONS[name])


@pytest.fixture(scope="session")
def zlib_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ROOT file with zlib."""
    return write_tree(tmp_path_factory.mktemp("root") / "events.root", uproot.ZLIB(1))


@pytest.fixture(scope="session")
def refs(zlib_file: Path) -> Path:
    """The store of `zlib_file`, elsewhere."""
    out = zlib_file.parent.parent / f"{zlib_file.parent.name}.refs.json"
    vroot.scan(zlib_file, out)
    return out


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the byte ranges that are read from here on."""
    lengths: list[int] = []
    original = LocalStore.get_ranges

    def counting(self: LocalStore, url: str, **wanted: Any) -> Any:
        lengths.extend(wanted["lengths"])
        return original(self, url, **wanted)

    monkeypatch.setattr(LocalStore, "get_ranges", counting)
    return lengths


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three ROOT files with trees of the same kind, one without one of the branches."""
    path = tmp_path_factory.mktemp("many")
    for i in range(3):
        columns = events(i)
        if i == 1:
            del columns["met"]
        write_tree(path / f"file{i}.root", uproot.ZLIB(1), columns)
        vroot.scan(path / f"file{i}.root", path / f"file{i}.json")
    return path
