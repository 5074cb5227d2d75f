"""The merging of byte ranges into requests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.io.merging import Request, coalesce

ANY_TIME = settings(deadline=None)

Range = tuple[int, int, int]
RANGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 40)), max_size=25
)
LIMITS = st.tuples(st.integers(0, 50), st.integers(1, 150))


def merge(ranges: list[Range], max_gap: int, max_request: int) -> list[Request]:
    columns = np.array(ranges, np.int64).reshape(-1, 3)
    return coalesce(
        columns[:, 0],
        columns[:, 1],
        columns[:, 2],
        max_gap_bytes=max_gap,
        max_request_bytes=max_request,
    )


def plain(requests: list[Request]) -> list[tuple[int, int, int, list[int]]]:
    return [(r.source, r.offset, r.length, r.members.tolist()) for r in requests]


@given(RANGES, LIMITS)
@ANY_TIME
def test_every_range_is_inside_exactly_one_request(
    ranges: list[Range], limits: tuple[int, int]
) -> None:
    requests = merge(ranges, *limits)
    members = [number for request in requests for number in request.members.tolist()]
    assert sorted(members) == list(range(len(ranges)))
    for request in requests:
        for number in request.members.tolist():
            source, offset, length = ranges[number]
            assert source == request.source
            assert request.offset <= offset
            assert offset + length <= request.offset + request.length


@given(RANGES, LIMITS)
@ANY_TIME
def test_a_request_fetches_no_more_than_from_its_first_to_its_last_byte(
    ranges: list[Range], limits: tuple[int, int]
) -> None:
    for request in merge(ranges, *limits):
        offsets = [ranges[number][1] for number in request.members.tolist()]
        stops = [sum(ranges[number][1:]) for number in request.members.tolist()]
        assert (request.offset, request.offset + request.length) == (min(offsets), max(stops))
        assert offsets == sorted(offsets)


@given(RANGES, LIMITS)
@ANY_TIME
def test_gaps_and_requests_keep_to_their_limits(
    ranges: list[Range], limits: tuple[int, int]
) -> None:
    max_gap, max_request = limits
    for request in merge(ranges, max_gap, max_request):
        numbers = request.members.tolist()
        assert len(numbers) == 1 or request.length <= max_request
        reached = request.offset
        for number in numbers:
            assert ranges[number][1] - reached <= max_gap
            reached = max(reached, sum(ranges[number][1:]))


@given(RANGES, LIMITS)
@ANY_TIME
def test_requests_are_sorted(ranges: list[Range], limits: tuple[int, int]) -> None:
    places = [(request.source, request.offset) for request in merge(ranges, *limits)]
    assert places == sorted(places)


@given(RANGES, LIMITS)
@ANY_TIME
def test_neighbors_that_could_be_merged_are(ranges: list[Range], limits: tuple[int, int]) -> None:
    max_gap, max_request = limits
    requests = merge(ranges, max_gap, max_request)
    for i, one in enumerate(requests[:-1]):
        other = requests[i + 1]
        # Only the first range of the next request was refused, so only that one is looked at.
        _, offset, length = ranges[other.members.tolist()[0]]
        end = one.offset + one.length
        assert (
            other.source != one.source
            or offset - end > max_gap
            or max(end, offset + length) - one.offset > max_request
        )


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([], []),
        ([(0, 5, 3)], [(0, 5, 3, [0])]),
        ([(0, 0, 5), (0, 15, 5)], [(0, 0, 20, [0, 1])]),  # a gap of exactly the limit
        ([(0, 0, 5), (0, 16, 5)], [(0, 0, 5, [0]), (0, 16, 5, [1])]),
        ([(0, 15, 5), (0, 0, 5)], [(0, 0, 20, [1, 0])]),
        ([(0, 0, 50), (0, 50, 50)], [(0, 0, 100, [0, 1])]),  # exactly the limit of a request
        ([(0, 0, 50), (0, 50, 51)], [(0, 0, 50, [0]), (0, 50, 51, [1])]),
        ([(0, 0, 500), (0, 10, 5)], [(0, 0, 500, [0]), (0, 10, 5, [1])]),
        ([(1, 0, 5), (0, 0, 5)], [(0, 0, 5, [1]), (1, 0, 5, [0])]),
        ([(0, 0, 50), (0, 10, 5), (0, 55, 5)], [(0, 0, 60, [0, 1, 2])]),
        ([(0, 7, 2), (0, 7, 2)], [(0, 7, 2, [0, 1])]),
    ],
)
def test_examples(ranges: list[Range], expected: list[tuple[int, int, int, list[int]]]) -> None:
    assert plain(merge(ranges, 10, 100)) == expected


def test_ranges_beyond_four_gigabytes_are_exact() -> None:
    start = 2**40
    assert plain(merge([(0, start, 5), (0, start + 5, 5)], 0, 100)) == [(0, start, 10, [0, 1])]


def test_small_integers_of_the_caller_do_not_overflow() -> None:
    requests = coalesce(
        np.zeros(2, np.int64),
        np.array([0, 2**31 - 10], np.int64),
        np.array([2**31 - 10, 10], np.int64),
        max_gap_bytes=0,
        max_request_bytes=2**40,
    )
    assert plain(requests) == [(0, 0, 2**31, [0, 1])]
