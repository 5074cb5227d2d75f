"""Filters of names, as uproot takes them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.mapping.filters import no_filter, regularize_filter

ANY_TIME = settings(deadline=None)
NAMES = ["MET_pt", "MET_phi", "Jet_pt", "nJet", "met_pt", "Jet.pt", "a/b", "x[3]", ""]


def accepted(given_filter: Any) -> list[str]:
    accepts = regularize_filter(given_filter)
    return [name for name in NAMES if accepts(name)]


@pytest.mark.parametrize(
    ("given_filter", "expected"),
    [
        (None, NAMES),
        ("MET_pt", ["MET_pt"]),
        ("MET", []),
        ("", [""]),
        ("Jet.pt", ["Jet.pt"]),  # a name, not a regular expression
        ("a/b", ["a/b"]),  # not between slashes
        ("/x", []),
        ("*", NAMES),
        ("MET_*", ["MET_pt", "MET_phi"]),
        ("*_pt", ["MET_pt", "Jet_pt", "met_pt"]),
        ("Jet?pt", ["Jet_pt", "Jet.pt"]),
        ("[Mm]*_pt", ["MET_pt", "met_pt"]),
        ("x[[]3]", ["x[3]"]),
        ("x[3]", []),  # a bracket makes it a pattern, as in uproot
        ("a*b", ["a/b"]),  # a star passes over a slash
        ("/MET/", ["MET_pt", "MET_phi"]),  # matched at the beginning,
        ("/pt/", []),
        ("/.*pt/", ["MET_pt", "Jet_pt", "met_pt", "Jet.pt"]),
        ("/MET_pt$/", ["MET_pt"]),  # and not to the end
        ("/met_pt/i", ["MET_pt", "met_pt"]),
        ("/ M E T _ p /x", ["MET_pt", "MET_phi"]),
        ("/(?i:met)_phi/", ["MET_phi"]),
        ("/a/b/", ["a/b"]),
        ("//", NAMES),
        ("/met/z", []),  # no such flag: a name
        ([], []),
        (["MET_pt"], ["MET_pt"]),
        (["MET_pt", "/jet/i"], ["MET_pt", "Jet_pt", "Jet.pt"]),
        (("n*", str.islower), ["nJet", "met_pt", "a/b", "x[3]"]),
        ([["MET_pt"], [["nJet"], None]], NAMES),
        ({"MET_pt": 1, "nJet": 2}, ["MET_pt", "nJet"]),
        ((name for name in ["nJet"]), ["nJet"]),
        (str.isupper, []),
        (no_filter, NAMES),
    ],
)
def test_what_is_accepted(given_filter: Any, expected: list[str]) -> None:
    assert accepted(given_filter) == expected


def test_an_iterator_is_used_up_only_once() -> None:
    accepts = regularize_filter(iter(["a", "b"]))
    assert [accepts("b"), accepts("b"), accepts("a"), accepts("c")] == [True, True, True, False]


def test_a_callable_is_taken_as_it_is() -> None:
    def begins_with_m(name: str) -> bool:
        return name.startswith("M")

    assert regularize_filter(begins_with_m) is begins_with_m


@pytest.mark.parametrize(
    ("given_filter", "name", "expected"),
    [
        ("/a.b$/", "a\nb", False),
        ("/a.b$/s", "a\nb", True),
        ("/a$/", "a\nb", False),
        ("/a$/m", "a\nb", True),
        ("/\\w$/", "é", True),
        ("/\\w$/u", "é", True),
        ("/a b$/x", "ab", True),
        ("/A. B$/isx", "a\nb", True),
        ("/A$/ii", "a", True),
    ],
)
def test_flags_are_those_of_the_re_module(given_filter: str, name: str, expected: bool) -> None:
    assert regularize_filter(given_filter)(name) is expected


@pytest.mark.parametrize("wrong", [1, 1.5, True, ["a", 1], [["a", [None, 2]]], b"bytes", object()])
def test_what_is_no_filter_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="filter must be None, callable, a regex"):
        regularize_filter(wrong)


def test_a_malformed_regular_expression_is_an_error_at_once() -> None:
    with pytest.raises(re.error):
        regularize_filter("/(/")


@given(st.text("aA_. ]-é\n\\$", max_size=5), st.text("aA_. ]-é\n\\$", max_size=5))
@ANY_TIME
def test_a_string_without_wildcards_is_a_name(name: str, other: str) -> None:
    accepts = regularize_filter(name)
    assert accepts(name)
    assert accepts(other) == (name == other)
