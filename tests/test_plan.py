"""From a range of entries to baskets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.metadata.entry_ranges import BasketRange, baskets_of_range, regularize_entry_range

ANY_TIME = settings(deadline=None)
LIMIT = st.none() | st.integers(-30, 30) | st.integers(-(2**70), 2**70)


@given(st.integers(0, 20), LIMIT, LIMIT)
@ANY_TIME
def test_entry_numbers_are_those_of_a_python_slice(
    num_entries: int, entry_start: int | None, entry_stop: int | None
) -> None:
    start, stop = regularize_entry_range(num_entries, entry_start, entry_stop)
    assert 0 <= start <= stop <= num_entries
    assert list(range(start, stop)) == list(range(num_entries))[entry_start:entry_stop]


@pytest.mark.parametrize(
    ("num_entries", "given_range", "expected"),
    [
        (10, (None, None), (0, 10)),
        (10, (3, None), (3, 10)),
        (10, (None, 3), (0, 3)),
        (10, (-3, None), (7, 10)),
        (10, (None, -3), (0, 7)),
        (10, (-100, 100), (0, 10)),
        (10, (100, None), (10, 10)),
        (10, (None, -100), (0, 0)),
        # uproot keeps the start of an empty range: the entry offsets of its result begin there.
        (10, (5, 3), (5, 5)),
        (10, (-1, 0), (9, 9)),
        (0, (-1, 1), (0, 0)),
        (0, (None, None), (0, 0)),
    ],
)
def test_entry_numbers_of_uproot(
    num_entries: int, given_range: tuple[int | None, int | None], expected: tuple[int, int]
) -> None:
    assert regularize_entry_range(num_entries, *given_range) == expected


def test_numbers_of_numpy_become_plain_ones() -> None:
    start, stop = regularize_entry_range(10, np.int64(-4), np.uint8(8))  # type: ignore[arg-type]
    assert (start, stop) == (6, 8)
    assert type(start) is int
    assert type(stop) is int


@st.composite
def baskets(draw: st.DrawFn) -> tuple[list[int], int, int]:
    entries = draw(st.lists(st.integers(0, 5), max_size=8))
    start = draw(st.integers(0, sum(entries)))
    return entries, start, draw(st.integers(0, sum(entries)))


@given(baskets())
@ANY_TIME
def test_the_baskets_hold_the_wanted_entries_and_no_others(
    case: tuple[list[int], int, int],
) -> None:
    entries, start, stop = case
    # Every entry that there is, one by one: its basket, and its number there.
    where = [(basket, i) for basket, number in enumerate(entries) for i in range(number)]
    ranges = baskets_of_range(np.cumsum([0, *entries]), start, stop)
    found = [(part.basket, i) for part in ranges for i in range(part.start, part.stop)]
    assert found == where[start:stop]


@given(baskets())
@ANY_TIME
def test_the_parts_fill_the_output_without_gaps(case: tuple[list[int], int, int]) -> None:
    entries, start, stop = case
    position = 0
    for part in baskets_of_range(np.cumsum([0, *entries]), start, stop):
        assert part.start < part.stop
        assert part.position == position
        position += part.stop - part.start
    assert position == max(0, stop - start)


@given(baskets())
@ANY_TIME
def test_a_basket_is_planned_once(case: tuple[list[int], int, int]) -> None:
    entries, start, stop = case
    numbers = [part.basket for part in baskets_of_range(np.cumsum([0, *entries]), start, stop)]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 9, [(0, 0, 3, 0), (2, 0, 4, 3), (3, 0, 2, 7)]),
        (2, 8, [(0, 2, 3, 0), (2, 0, 4, 1), (3, 0, 1, 5)]),
        (3, 7, [(2, 0, 4, 0)]),  # along the edges: neither neighbor, nor the empty basket
        (4, 5, [(2, 1, 2, 0)]),
        (3, 3, []),
        (9, 9, []),
        (5, 2, []),
    ],
)
def test_examples(start: int, stop: int, expected: list[tuple[int, int, int, int]]) -> None:
    edges = np.array([0, 3, 3, 7, 9])
    assert baskets_of_range(edges, start, stop) == [BasketRange(*part) for part in expected]


def test_no_baskets_are_found_where_there_are_none() -> None:
    assert baskets_of_range(np.zeros(1, np.int64), 0, 0) == []


def test_parts_are_plain_integers() -> None:
    # They are counted up and sent to other processes: NumPy's would overflow and take long.
    (part,) = baskets_of_range(np.array([0, 5]), 1, 3)
    assert {type(part.basket), type(part.start), type(part.stop), type(part.position)} == {int}
