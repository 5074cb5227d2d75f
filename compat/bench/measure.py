"""Times, peak memories and goals of one case."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import awkward as ak

__all__ = ["Goal", "Result", "median_seconds", "same_arrays"]


@dataclass(frozen=True)
class Goal:
    """What vroot is to reach; what is None is no goal.

    Parameters
    ----------
    ratio : float, optional
        How many times longer uproot is to take at least.
    of_limit : float, optional
        How many times as long as the limit vroot may take.
    of_memory : float, optional
        Which part of uproot's peak memory vroot may take.
    seconds : float, optional
        How long vroot may take.
    """

    ratio: float | None = None
    of_limit: float | None = None
    of_memory: float | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        words = []
        if self.ratio is not None and self.ratio < 1:
            words.append(f"≤ {1 / self.ratio:.3g} x uproot")
        elif self.ratio is not None:
            words.append(f"≥ {self.ratio:g} x")
        if self.of_limit is not None:
            words.append(f"≤ {self.of_limit:g} x limit")
        if self.of_memory is not None:
            words.append(f"≤ {self.of_memory:g} x memory")
        if self.seconds is not None:
            words.append(f"≤ {self.seconds:g} s")
        return ", ".join(words)


@dataclass(frozen=True)
class Result:
    """The figures of one case.

    Parameters
    ----------
    case, title : str
        Its name, and what was timed.
    uproot_s, vroot_s : float
        Medians in seconds.
    goal : Goal
        What is to be reached.
    limit_s : float, optional
        Median of the bare decompression, in seconds, where that is of interest.
    uproot_bytes, vroot_bytes : int, optional
        Peak memories, where they were measured.
    """

    case: str
    title: str
    uproot_s: float
    vroot_s: float
    goal: Goal
    limit_s: float | None = None
    uproot_bytes: int | None = None
    vroot_bytes: int | None = None

    @property
    def ratio(self) -> float:
        """How many times longer uproot took."""
        return self.uproot_s / self.vroot_s

    @property
    def of_limit(self) -> float | None:
        """How many times as long as the limit vroot took."""
        return None if self.limit_s is None else self.vroot_s / self.limit_s

    @property
    def of_memory(self) -> float | None:
        """Which part of uproot's peak memory vroot took."""
        if not self.uproot_bytes or self.vroot_bytes is None:
            return None
        return self.vroot_bytes / self.uproot_bytes

    @property
    def met(self) -> bool | None:
        """Whether the goal was reached; None if a figure that it needs was not measured."""
        goal = self.goal
        pairs = [
            (None if goal.ratio is None else 1 / goal.ratio, 1 / self.ratio),
            (goal.of_limit, self.of_limit),
            (goal.of_memory, self.of_memory),
            (goal.seconds, self.vroot_s),
        ]
        wanted = [(most, got) for most, got in pairs if most is not None]
        if any(got is None for _, got in wanted):
            return None
        return all(got is not None and got <= most for most, got in wanted)

    def row(self) -> dict[str, Any]:
        """Everything as plain data."""
        derived = {name: getattr(self, name) for name in ("ratio", "of_limit", "of_memory", "met")}
        return asdict(self) | derived | {"goal": str(self.goal)}


def median_seconds(functions: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """Time functions in turn, so that what disturbs the machine disturbs all of them.

    Parameters
    ----------
    functions : sequence of callable
        What is timed. What they return is freed outside of the time.
    repeat : int
        How often each is called.

    Returns
    -------
    list of float
        The median of each, in seconds.
    """
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeat):
        for function, into in zip(functions, times, strict=True):
            gc.collect()
            start = time.perf_counter()
            result = function()
            into.append(time.perf_counter() - start)
            del result
    return [statistics.median(each) for each in times]


def same_arrays(expected: Any, got: Any) -> bool:
    """Say whether two arrays are equal: type, parameters, order of fields and values."""
    return str(expected.type) == str(got.type) and ak.array_equal(
        expected, got, equal_nan=True, dtype_exact=True, check_parameters=True
    )
