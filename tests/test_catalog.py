"""References of ROOT files: beside them, by the catalog, or by a scan in memory."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import msgspec
import numpy as np
import pytest
import uproot
from serving import RangeHandler, serve

import vroot
import vroot.scanner.scan
from vroot.exceptions import CatalogError, StaleReferencesWarning
from vroot.io import remote
from vroot.locate.catalog import Catalog, current_catalog, load_catalog


@pytest.fixture(autouse=True)
def _no_catalog(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("VROOT_CATALOG", raising=False)
    with vroot.set_catalog(None):
        yield


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is scanned from now on."""
    scanned: list[str] = []
    original = vroot.scanner.scan.scan_file

    def noting(source: Any, *args: Any, **options: Any) -> Any:
        scanned.append(str(source))
        return original(source, *args, **options)

    monkeypatch.setattr("vroot.scanner.scan.scan_file", noting)
    return scanned


@pytest.fixture
def root_file(tmp_path: Path) -> Path:
    """A ROOT file whose references are in a folder of their own."""
    path = tmp_path / "data" / "deep" / "a.root"
    path.parent.mkdir(parents=True)
    write(path, [1, 2, 3])
    (tmp_path / "refs" / "deep").mkdir(parents=True)
    vroot.scan(path, tmp_path / "refs/deep/a.root.refs.json", url="https://example.org/gone.root")
    return path


def write(path: Path, values: list[int]) -> None:
    with uproot.recreate(path) as file:
        file.mktree("T", {"x": np.dtype("i8")}).extend({"x": np.array(values)})


def values(path: Any) -> list[int]:
    found: list[int] = vroot.open(path)["T/x"].array().to_list()
    return found


def test_lookup() -> None:
    catalog = Catalog(
        {
            "root://host//store/a.root": "https://refs/other.json",
            "root://host//store/": "https://refs/",
            "root://host//store/deep/": "s3://deep/refs/",
            "https://host/a.root?version=2": "two.json",
            "https://host/a.root": "one.json",
            "/data/": "/refs/",
        }
    )

    def both(stem: str) -> tuple[str, ...]:
        return (f"{stem}.refs.json", f"{stem}.refs.json.zst")

    for location, expected in (
        ("root://host//store/a.root", ("https://refs/other.json",)),
        ("root://host//store/b.root", both("https://refs/b.root")),
        ("root://host//store/d/b.root?authz=a:b/c", both("https://refs/d/b.root")),
        ("root://host//store/deep/b.root", both("s3://deep/refs/b.root")),
        ("https://host/a.root?version=2", ("two.json",)),
        ("https://host/a.root?X-Amz-Credential=a:b", ("one.json",)),
        ("file:///data/x/../f.root", both("/refs/f.root")),
        ("/data/f.root", both("/refs/f.root")),
        ("/database/f.root", ()),
        ("root://other//store/a.root", ()),
    ):
        assert catalog.stores(location) == expected, location


@pytest.mark.parametrize("form", ["exact", "prefix", "longest", "file", "path", "compressed"])
def test_local_root_file(root_file: Path, tmp_path: Path, scans: list[str], form: str) -> None:
    store = tmp_path / "refs/deep/a.root.refs.json"
    catalog: Any = {f"{tmp_path}/data/": f"{tmp_path}/refs/"}
    if form == "exact":
        catalog = {root_file: store}
    elif form == "longest":
        catalog |= {f"{tmp_path}/data/deep/": f"{tmp_path}/refs/deep/", f"{tmp_path}/": "/none/"}
    elif form == "compressed":
        vroot.scan(root_file, f"{store}.zst")
        scans.clear()
        store.unlink()
    elif form in ("file", "path"):
        (tmp_path / "catalog.json").write_text(json.dumps({"data/": "refs/"}))
        catalog = tmp_path / "catalog.json"
        catalog = str(catalog) if form == "file" else catalog
    with vroot.set_catalog(catalog):
        assert values(root_file) == values(f"{root_file}") == [1, 2, 3]
        assert vroot.open(f"{root_file}:T").num_entries == 3
        assert len(vroot.concatenate(f"{root_file.parent}/*.root:T")) == 3
    assert scans == []


def test_environment(root_file: Path, tmp_path: Path) -> None:
    (tmp_path / "catalog.json").write_text(json.dumps({"data/": "refs/"}))
    code = (
        "import sys; sys.modules['uproot'] = None\n"
        "import vroot\n"
        f"print(vroot.open({f'{root_file}:T'!r})['x'].array().to_list())\n"
        "with vroot.set_catalog(None):\n"
        f"    try: vroot.open({str(root_file)!r})\n"
        "    except ImportError as err: print(err.extra)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"VROOT_CATALOG": str(tmp_path / "catalog.json")},
    )
    assert result.stdout.splitlines() == ["[1, 2, 3]", "scan"]


def test_environment_without_its_file(
    root_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VROOT_CATALOG", str(tmp_path / "none.json"))
    monkeypatch.setattr("vroot.locate.catalog._set", [])
    with pytest.raises(FileNotFoundError, match=r"none\.json") as error:
        vroot.open(root_file)
    assert "VROOT_CATALOG" in str(error.value.__notes__)


def test_environment_with_the_home_of_the_user(
    root_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home.json").write_text(json.dumps({str(root_file): "refs.json"}))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VROOT_CATALOG", "~/home.json")
    monkeypatch.setattr("vroot.locate.catalog._set", [])
    catalog = current_catalog()
    assert catalog is not None
    assert catalog.stores(str(root_file)) == (str(tmp_path / "refs.json"),)


def test_a_sidecar_comes_first(root_file: Path, scans: list[str]) -> None:
    vroot.scan(root_file, f"{root_file}.refs.json")
    scans.clear()
    with vroot.set_catalog({root_file: "/none.json"}):
        assert values(root_file) == [1, 2, 3]
    assert scans == []


def test_missing_references(root_file: Path, tmp_path: Path, scans: list[str]) -> None:
    catalogs: list[Any] = [{root_file: tmp_path / "none.json"}, {f"{tmp_path}/data/": "/none/"}]
    for catalog in catalogs:
        with (
            vroot.set_catalog(catalog),
            pytest.warns(StaleReferencesWarning, match=r"none.*catalog names.*not there") as said,
        ):
            assert values(root_file) == [1, 2, 3]
        assert said[0].filename == __file__
    assert len(scans) == 2


def test_outdated_references(root_file: Path, tmp_path: Path, scans: list[str]) -> None:
    write(root_file, [4, 5])
    with vroot.set_catalog({f"{tmp_path}/data/": f"{tmp_path}/refs/"}):
        with pytest.warns(StaleReferencesWarning, match=r"refs\.json.*not used.*has changed"):
            assert values(root_file) == [4, 5]
        assert len(scans) == 1
        assert vroot.open(root_file, verify_sources=False)["T"].num_entries == 3
    assert len(scans) == 1


def test_damaged_references(root_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "refs/deep/a.root.refs.json"
    store.write_text("{")
    with (
        vroot.set_catalog({root_file: store}),
        pytest.warns(StaleReferencesWarning, match="not a kerchunk reference file"),
    ):
        assert values(root_file) == [1, 2, 3]


def test_a_folder_where_references_should_be(
    root_file: Path, tmp_path: Path, scans: list[str]
) -> None:
    with (
        vroot.set_catalog({root_file: tmp_path / "refs/deep"}),
        pytest.warns(StaleReferencesWarning, match=r"refs/deep, which the catalog names, is not"),
    ):
        assert vroot.open(root_file)["T/x"].array().tolist() == [1, 2, 3]
    assert scans == [str(root_file)]


def test_a_sidecar_that_cannot_be_read(
    root_file: Path, scans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sidecar = root_file.with_name("a.root.refs.json")
    sidecar.touch()
    original = Path.read_bytes

    def denying(path: Path) -> bytes:
        if path == sidecar:
            raise PermissionError(13, "Permission denied", str(path))
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", denying)
    with pytest.warns(StaleReferencesWarning, match=r"a\.root\.refs\.json is not used: .*denied"):
        assert vroot.open(root_file)["T/x"].array().tolist() == [1, 2, 3]
    assert scans == [str(root_file)]


def test_missing_root_file(root_file: Path, tmp_path: Path) -> None:
    root_file.unlink()
    with (
        vroot.set_catalog({f"{tmp_path}/data/": f"{tmp_path}/refs/"}),
        pytest.raises(FileNotFoundError, match=r"a\.root"),
    ):
        vroot.open(root_file)


def test_nested_and_threads(root_file: Path, tmp_path: Path, scans: list[str]) -> None:
    assert current_catalog() is None
    with vroot.set_catalog({root_file: tmp_path / "refs/deep/a.root.refs.json"}) as outer:
        with pytest.raises(LookupError, match="None"), vroot.set_catalog(None):
            raise LookupError(str(current_catalog()))
        assert current_catalog() is outer.catalog
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(values, [root_file] * 4)) == [[1, 2, 3]] * 4
        vroot.set_catalog({})
    assert current_catalog() is None
    assert scans == []


def test_malformed_catalogs(tmp_path: Path) -> None:
    file = tmp_path / "catalog.json"
    for content, message in (
        ("[1]", "not a catalog"),
        ('{"a.root": 1}', "not a catalog"),
        ('{"version": 1, "refs": {}}', "not a catalog"),
        ('{"a/": "b.json"}', "both end with"),
        ('{"a.root": "b/"}', "both end with"),
    ):
        file.write_text(content)
        with pytest.raises(CatalogError, match=rf"catalog\.json.*{message}"):
            vroot.set_catalog(file)
    with pytest.raises(CatalogError, match="two strings"):
        vroot.set_catalog({"a.root": 3})  # type: ignore[dict-item]
    with pytest.raises(FileNotFoundError):
        vroot.set_catalog(tmp_path / "none.json")
    with pytest.raises(ValueError, match="path must be"):
        vroot.set_catalog(3)  # type: ignore[arg-type]
    assert current_catalog() is None


def test_remote_catalog() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/cat/c.json", b'{"a.root": "r/a.json", "/data/": "refs/", "s3://b/": "s3://c/"}')
    assert load_catalog("memory://cat/c.json").entries == {
        "memory://cat/a.root": "memory://cat/r/a.json",
        "/data/": "memory://cat/refs/",
        "s3://b/": "s3://c/",
    }


@pytest.mark.parametrize(
    "store",
    [
        "/etc/a.json",
        "file:///etc/a.json",
        "FILE:///etc/a.json",
        "simplecache::file:///etc/a.json",
        "zip://a.json::file:///etc/a.zip",
        "dir:///etc/a.json",
        "reference://a.json",
    ],
)
def test_what_a_remote_catalog_may_not_name(store: str) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/cat/c.json", msgspec.json.encode({"a.root": store}))
    with pytest.raises(CatalogError, match="not read for safety"):
        load_catalog("memory://cat/c.json")


class NotingHandler(RangeHandler):
    """A server that notes what is asked of it, and denies secret references."""

    asked: list[str] = []  # noqa: RUF012  # emptied by each test

    def do_GET(self) -> None:  # noqa: N802  # the name that the base class calls
        self.asked.append(self.path)
        if "secret" in self.path and ".json" in self.path:
            self.send_error(403)
        else:
            super().do_GET()


@pytest.fixture
def served(root_file: Path, tmp_path: Path) -> Iterator[str]:
    NotingHandler.asked.clear()
    yield from serve(tmp_path, NotingHandler)


def test_beside_a_remote_file(
    served: str, root_file: Path, tmp_path: Path, scans: list[str]
) -> None:
    url = f"{served}/data/deep/a.root"
    store = tmp_path / "refs/deep/a.root.refs.json"
    beside = Path(f"{root_file}.refs.json")
    beside.write_bytes(store.read_bytes())
    for location in (url, f"{url}?token=a:b"):
        assert values(location) == [1, 2, 3]
        assert vroot.open(f"{url}:T").num_entries == 3
    assert scans == []
    # It is looked for once, got once, and the ROOT file checked once.
    NotingHandler.asked.clear()
    assert values(url) == [1, 2, 3]
    assert NotingHandler.asked == [
        "/data/deep/a.root.refs.json", "/data/deep/a.root.refs.json",
        "/data/deep/a.root", "/data/deep/a.root"]  # fmt: skip


def test_nothing_beside_a_remote_file(
    served: str, root_file: Path, scans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[str] = []

    def instead(source: Any, **options: Any) -> Any:
        scanned.append(source)
        return vroot.scanner.scan.scan_file(root_file, url=source, inline_limit_bytes=0)

    monkeypatch.setattr("vroot.files.opening.scan", instead)
    url = f"{served}/data/deep/a.root"
    with warnings.catch_warnings(action="error"):
        assert values(url) == [1, 2, 3]
        assert values(f"{url}?secret=a:b") == [1, 2, 3]
    assert scanned == [url, f"{url}?secret=a:b"]


def test_outdated_beside_a_remote_file(
    served: str, root_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "refs/deep/a.root.refs.json"
    Path(f"{root_file}.refs.json").write_bytes(store.read_bytes())
    write(root_file, [4, 5])

    def scan_served(source: str, **_: object) -> dict[str, Any]:
        return vroot.scanner.scan.scan_file(root_file, url=source, inline_limit_bytes=0)

    monkeypatch.setattr("vroot.files.opening.scan", scan_served)
    with pytest.warns(StaleReferencesWarning, match="has changed"):
        assert values(f"{served}/data/deep/a.root") == [4, 5]


def test_catalog_of_remote_files(served: str, scans: list[str], tmp_path: Path) -> None:
    url = f"{served}/data/deep/a.root?token=a:b"
    with vroot.set_catalog({f"{served}/data/": f"{served}/refs/"}):
        assert values(url) == [1, 2, 3]
    # The data are read where the user said, not where the store says; nothing is looked for beside.
    assert NotingHandler.asked == [
        "/refs/deep/a.root.refs.json", "/data/deep/a.root?token=a:b",
        "/data/deep/a.root?token=a:b"]  # fmt: skip
    # References elsewhere of a local file, which the user named.
    with vroot.set_catalog({f"{tmp_path}/data/": f"{served}/refs/"}):
        assert values(tmp_path / "data/deep/a.root") == [1, 2, 3]
    assert scans == []


def test_denied_references(served: str, root_file: Path, scans: list[str]) -> None:
    with (
        vroot.set_catalog({root_file: f"{served}/secret.json"}),
        pytest.warns(StaleReferencesWarning, match=r"secret\.json.*not there"),
    ):
        assert values(root_file) == [1, 2, 3]
    with pytest.raises(PermissionError, match="403"):
        vroot.open(f"{served}/secret.json")


def test_root_file_that_cannot_be_asked_for(served: str) -> None:
    with pytest.raises(PermissionError, match="403"):
        vroot.open(f"{served}/secret.json.root")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        vroot.open(f"{served}/nowhere.root")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and nothing listens
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/a.root"
        with pytest.raises(OSError, match="Cannot connect"):
            vroot.open(address)


def test_options_go_to_the_place_of_the_root_file_only(
    root_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/secret/a.root", root_file.read_bytes())
    memory.pipe("/public/a.json", (tmp_path / "refs/deep/a.root.refs.json").read_bytes())
    seen: list[tuple[str, Any]] = []
    original = remote.filesystem

    def noting(url: str, options: Any) -> Any:
        seen.append((url, dict(options)))
        return original(url, options)

    monkeypatch.setattr("vroot.io.remote.filesystem", noting)
    with vroot.set_catalog({"memory://secret/a.root": "memory://public/a.json"}):
        file = vroot.open("memory://secret/a.root", storage_options={"use_listings_cache": False})
    assert file["T"].num_entries == 3
    assert seen[0] == ("memory://public/a.json", {})
    assert seen[1] == ("memory://secret/a.root", {"use_listings_cache": False})
