"""From many byte ranges to few requests: a pure planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Request", "coalesce"]


@dataclass(frozen=True, eq=False)
class Request:
    """One range of one source that covers several wanted ranges.

    Parameters
    ----------
    source : int
        Number of the source.
    offset, length : int
        The range, in bytes.
    members : ndarray of int64
        Numbers of the wanted ranges that it covers, by ascending offset.
    """

    source: int
    offset: int
    length: int
    members: npt.NDArray[np.int64]


def coalesce(
    source: npt.NDArray[np.integer[Any]],
    offset: npt.NDArray[np.integer[Any]],
    length: npt.NDArray[np.integer[Any]],
    *,
    max_gap_bytes: int,
    max_request_bytes: int,
) -> list[Request]:
    """Merge near ranges.

    Parameters
    ----------
    source, offset, length : ndarrays of integers, shape (ranges,)
        The wanted ranges, in any order; they may overlap.
    max_gap_bytes : int
        Ranges that are at most this far apart are merged.
    max_request_bytes : int
        No merged range grows beyond this; a single larger range stays whole.

    Returns
    -------
    list of Request
        Sorted by source and offset; every wanted range is in exactly one.
    """
    requests: list[Request] = []
    order = np.lexsort((offset, source))
    if order.size == 0:
        return requests
    sources = source[order].tolist()
    starts = offset[order].tolist()
    stops = (offset[order] + length[order]).tolist()
    first, begin, end = 0, starts[0], stops[0]
    for i in range(1, len(starts) + 1):
        if (
            i < len(starts)
            and sources[i] == sources[first]
            and starts[i] - end <= max_gap_bytes
            and max(end, stops[i]) - begin <= max_request_bytes
        ):
            end = max(end, stops[i])
            continue
        requests.append(Request(sources[first], begin, end - begin, order[first:i]))
        if i < len(starts):
            first, begin, end = i, starts[i], stops[i]
    return requests
