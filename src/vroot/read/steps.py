"""Steps of iteration: how many entries fit a size of memory, and what is said of a step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

from vroot.metadata.entry_ranges import baskets_of_range
from vroot.metadata.specs import BasketTable
from vroot.read.opened import OpenedFile

__all__ = ["Report", "bytes_of_size", "entries_of_step", "regularize_step"]

SIZE = re.compile(
    r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([kmgtpezy]?)(i?)b\s*", re.IGNORECASE
)
PREFIXES = " kmgtpezy"


def bytes_of_size(size: int | str) -> int:
    """Turn a size of memory into bytes.

    Parameters
    ----------
    size : int or str
        Bytes, or a number with a unit: "100 MB" are 100 000 000 bytes, "1 MiB" 1024².

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(size, str):
        match = SIZE.fullmatch(size)
        if match is not None:
            number, prefix, binary = match.groups()
            base = 1024 if binary else 1000
            return int(float(number) * base ** PREFIXES.index(prefix.lower() or " "))
    elif _is_whole(size):
        return int(size)
    raise TypeError(
        "number of entries or memory size string with units (such as '100 MB') required, not "
        f"{size!r}"
    )


def _is_whole(size: Any) -> bool:
    """Whether it is a whole number, NumPy's included, but not True or False, as in uproot."""
    return isinstance(size, Integral) and not isinstance(size, bool)


def regularize_step(step_size: int | str, entries_for: Callable[[int], int]) -> int:
    """Give the entries of a step.

    Parameters
    ----------
    step_size : int or str
        Entries, or a size of memory.
    entries_for : callable
        Says how many entries fit so many bytes.

    Returns
    -------
    int
        Entries, at least 1.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If it is a number below 1, by whose steps nothing would be read.
    """
    if not _is_whole(step_size):
        return entries_for(bytes_of_size(step_size))
    if int(step_size) < 1:
        raise ValueError(f"step_size must be positive, not {step_size!r}")
    return int(step_size)


def entries_of_step(
    tables: Iterable[BasketTable], target_bytes: int, entry_start: int, entry_stop: int
) -> int:
    """Say how many entries are about as large as a size of memory, from the metadata alone.

    Parameters
    ----------
    tables : iterable of BasketTable
        The baskets of the branches that are to be read.
    target_bytes : int
        The size, in uncompressed bytes with the keys, as uproot counts them.
    entry_start, entry_stop : int
        Half-open range of entries that is to be read in steps.

    Returns
    -------
    int
        Entries a step, at least 1.
    """
    total = 0
    for table in tables:
        numbers = [part.basket for part in baskets_of_range(table.edges, entry_start, entry_stop)]
        total += int(table.uncompressed_bytes[numbers].sum())
        if table.key_bytes is not None:
            total += int(table.key_bytes[numbers].sum())
    if total == 0:
        return 1
    return max(1, round(target_bytes * (entry_stop - entry_start) / total))


@dataclass(frozen=True)
class Report:
    """What is said of a step, if it is asked for.

    Parameters
    ----------
    source : TTree, TBranch or RNTuple
        What is iterated over.
    tree_entry_start, tree_entry_stop : int
        Half-open range of entries of the step, in the tree.
    global_offset : int
        Entries in the files before.
    """

    source: Any
    tree_entry_start: int
    tree_entry_stop: int
    global_offset: int = 0

    def __repr__(self) -> str:
        where = f"{self.file_path}:{self.source.object_path}"
        return (
            f"<Report start={self.global_entry_start} stop={self.global_entry_stop} "
            f"source={where!r}>"
        )

    @property
    def tree(self) -> Any:
        """The tree."""
        return self.source.tree

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        file: OpenedFile = self.source.file
        return file

    @property
    def file_path(self) -> str:
        """What was opened."""
        return self.file.file_path

    @property
    def global_entry_start(self) -> int:
        """First entry of the step, counted over all files."""
        return self.tree_entry_start + self.global_offset

    @property
    def global_entry_stop(self) -> int:
        """End of the step, counted over all files."""
        return self.tree_entry_stop + self.global_offset

    @property
    def start(self) -> int:
        """The same as `global_entry_start`."""
        return self.global_entry_start

    @property
    def stop(self) -> int:
        """The same as `global_entry_stop`."""
        return self.global_entry_stop

    def to_global(self, global_offset: int) -> Self:
        """Give the same report with another number of entries in the files before."""
        return replace(self, global_offset=global_offset)
