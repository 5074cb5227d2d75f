"""Names as components of a path: any name survives, and siblings stay apart."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.format.names import RESERVED, component, component_name

ANY_TIME = settings(deadline=None)

#: What ROOT wrote is bytes; those that are no UTF-8 become lone surrogates, as in uproot.
DECODED = st.binary(max_size=12).map(lambda data: data.decode("utf-8", "surrogateescape"))
AWKWARD = st.lists(
    st.sampled_from(
        [*RESERVED, "", ".", "..", "/", "%", ";", ";1", "%2F", "__", "_", "é", "\0", "\udcff", "A"]
    ),
    max_size=4,
).map("".join)
# Bytes that are UTF-8 only together would not survive, but they never come one by one.
NAMES = DECODED | st.text(max_size=12) | AWKWARD


@given(NAMES, st.none() | st.integers(1, 9))
@ANY_TIME
def test_a_name_survives(name: str, cycle: int | None) -> None:
    assert component_name(component(name, cycle=cycle)) == name


@given(NAMES)
@ANY_TIME
def test_a_name_survives_when_it_is_taken(name: str) -> None:
    taken: list[str] = []
    for _ in range(4):
        taken.append(component(name, taken))
    assert len(set(taken)) == 4
    assert [component_name(text) for text in taken] == [name] * 4


@given(st.lists(st.tuples(NAMES, st.none() | st.integers(1, 4)), max_size=12))
@ANY_TIME
def test_siblings_stay_apart(siblings: list[tuple[str, int | None]]) -> None:
    taken: list[str] = []
    for name, cycle in siblings:
        taken.append(component(name, taken, cycle))
    assert len(set(taken)) == len(taken)
    assert [component_name(text) for text in taken] == [name for name, _ in siblings]


@given(st.lists(st.tuples(NAMES, st.none() | st.integers(1, 4)), max_size=8))
@ANY_TIME
def test_a_component_is_one_that_zarr_and_the_store_allow(
    siblings: list[tuple[str, int | None]],
) -> None:
    taken: list[str] = []
    for name, cycle in siblings:
        taken.append(component(name, taken, cycle))
    for text in taken:
        assert text
        assert "/" not in text
        assert text not in RESERVED
        # Zarr v3: not only of periods, and not beginning with two underscores.
        assert not re.fullmatch(r"\.+", text)
        assert not text.startswith("__")
        # It is written into JSON and URLs, so that it must be clean text.
        assert text.isascii()
        assert text.isprintable()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MET_pt", "MET_pt"),
        ("Muon.fP[10]", "Muon.fP[10]"),
        ("vector<float>", "vector<float>"),
        ("a/b", "a%2Fb"),
        ("100%", "100%25"),
        ("a;1", "a%3B1"),
        ("é", "%C3%A9"),
        ("\udcff", "%FF"),
        (".", "%2E"),
        ("..", "%2E."),
        ("..a", "..a"),
        ("__x", "%5F_x"),
        ("_x", "_x"),
        ("content", "%63ontent"),
        ("contents", "contents"),
        ("zarr.json", "%7Aarr.json"),
        ("", ";1"),
    ],
)
def test_ordinary_names_stay_readable_and_others_are_quoted(name: str, expected: str) -> None:
    assert component(name) == expected


@pytest.mark.parametrize(
    ("taken", "cycle", "expected"),
    [
        ([], 3, "tree"),  # the first of a name, ROOT's newest cycle, has the plain one
        (["tree"], 3, "tree;3"),
        (["tree"], None, "tree;2"),
        (["tree", "tree;2"], None, "tree;3"),
        (["tree", "tree;3"], 3, "tree;3;3"),
        (["Tree"], 3, "tree"),
    ],
)
def test_a_suffix_tells_equal_names_apart(
    taken: list[str], cycle: int | None, expected: str
) -> None:
    assert component("tree", taken, cycle) == expected
