"""What notebooks show: small, whatever is in the file, and all text escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import uproot

import vroot
from vroot.mapping.html import MAX_ROWS, folding_table, size_text

HOSTILE = "<script>alert(1)</script>\" onload='x' &amp;"


class Tags(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"style", "open"}
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(shown: object) -> Tags:
    text = shown._repr_html_()  # type: ignore[attr-defined]  # what notebooks call
    tags = Tags(text)
    assert tags.open == []
    assert set(tags.seen) <= {"details", "summary", "b", "table", "tr", "th", "td", "p", "code"}
    return tags


@pytest.fixture
def hostile(tmp_path: Path) -> vroot.File:
    path = tmp_path / "hostile.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("T", {"x": "f8"}, title=HOSTILE)
        tree.extend({"x": np.zeros(3)})
        file["s"] = HOSTILE
        file.mkrntuple(HOSTILE[:8], {"y": "f4"}).extend({"y": np.zeros(3, np.float32)})
    file = vroot.open(vroot.scan(path))
    assert isinstance(file, vroot.File)
    return file


def test_titles_and_names_are_text(hostile: vroot.File) -> None:
    tags = parsed(hostile)
    assert HOSTILE in "".join(tags.text)
    assert "script" not in tags.seen
    parsed(hostile[HOSTILE[:8]])
    parsed(hostile["T"])


def test_what_a_file_shows(refs: Path) -> None:
    text = parsed(vroot.open(refs)).text
    assert {"name", "class", "title", "entries", "Events;1", "TTree", "1,000"} <= set(text)


def test_what_a_tree_shows(refs: Path, requests: list[int]) -> None:
    tree = vroot.open(refs)["Events"]
    text = parsed(tree).text
    assert {*tree.keys(), "uint32_t", "AsDtype('>u4')", "baskets", "size"} <= set(text)
    assert f" · {len(tree)} branches\n" in "".join(text)
    assert {"run", "uint32_t"} <= set(parsed(tree["run"]).text)
    assert requests == []  # nothing was read


def test_a_wide_tree_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "wide.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("T", {f"branch{i}": "i4" for i in range(MAX_ROWS + 50)})
        tree.extend({f"branch{i}": np.zeros(2, np.int32) for i in range(MAX_ROWS + 50)})
    shown = parsed(vroot.open(vroot.scan(path))["T"])
    assert shown.seen.count("tr") == 1 + MAX_ROWS
    assert any(f"first {MAX_ROWS}" in text for text in shown.text)


def test_fields(hostile: vroot.File) -> None:
    ntuple = hostile[HOSTILE[:8]]
    assert {"y", "float", "typename"} <= set(parsed(ntuple).text)
    assert " · 1 field\n" in "".join(parsed(ntuple).text)
    assert " · 0 fields\n" in "".join(parsed(ntuple["y"]).text)


def test_long_texts_and_bytes_that_are_no_text() -> None:
    table = folding_table("t" * 500, [], ["a"], [["\udcff" + "x" * 500], [None], [1234567]])
    assert "?" in table
    assert "1,234,567" in table
    assert len(table) < 2000


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_340_000, "2.34 MB"), (10**30, "1e+12 EB")],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text
