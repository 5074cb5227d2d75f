"""uproot's executors, which `arrays` and the like take besides those of Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent import futures
from typing import ParamSpec, TypeVar

__all__ = ["ThreadPoolExecutor", "TrivialExecutor"]

P = ParamSpec("P")
T = TypeVar("T")


class TrivialExecutor(futures.Executor):
    """Runs everything in the calling thread, when it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> futures.Future[T]:
        """Run a function, which may raise here, and give what is already its result."""
        future: futures.Future[T] = futures.Future()
        future.set_result(fn(*args, **kwargs))
        return future


class ThreadPoolExecutor(futures.ThreadPoolExecutor):
    """Python's pool of threads, with the attributes of uproot's.

    Parameters
    ----------
    max_workers : int, optional
        Number of threads; one for each processor if not given.
    """

    def __init__(self, max_workers: int | None = None) -> None:
        super().__init__(max_workers or os.cpu_count())

    @property
    def max_workers(self) -> int:
        """Greatest number of threads."""
        return self._max_workers

    @property
    def num_workers(self) -> int:
        """The same: uproot starts them all at once."""
        return self._max_workers

    @property
    def closed(self) -> bool:
        """Whether it was shut down."""
        return self._shutdown
