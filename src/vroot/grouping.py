"""Several branches read together, those that only group others put together from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from vroot.interpretations import AsGrouped, AsJagged
from vroot.library import How, LibraryName, group, regularize_library, to_library

if TYPE_CHECKING:
    from vroot.branch import TBranch
    from vroot.file import File

__all__ = ["leaves_of", "read_one", "read_together"]


def leaves_of(branch: TBranch) -> list[TBranch]:
    """Give the branches that hold the data of a branch.

    Parameters
    ----------
    branch : TBranch
        A branch.

    Returns
    -------
    list of TBranch
        The branch itself, or, if it only groups others, theirs.
    """
    if not isinstance(branch._spec.interpretation, AsGrouped):
        return [branch]
    return [leaf for child in _children_of(branch).values() for leaf in leaves_of(child)]


def _children_of(branch: TBranch) -> dict[str, TBranch]:
    return {child.name: branch[child.name] for child in branch.branches}


def read_together(
    file: File,
    chosen: Sequence[tuple[str, TBranch]],
    entries: tuple[int, int],
    executor: Executor | None,
    library: Any,
    how: How,
) -> Any:
    """Read branches in one plan, and put them together.

    Parameters
    ----------
    file : File
        The opened store.
    chosen : sequence of (str, TBranch)
        Names and branches.
    entries : tuple of int
        Half-open range of entries, within bounds.
    executor : Executor, optional
        Decodes the baskets.
    library : "ak", "np" or "pd"
        What to make of the data.
    how : None, dict, tuple, list or "zip"
        See `vroot.library.group`.

    Returns
    -------
    ak.Array, dict, tuple or list
        As `how` says.
    """
    name = regularize_library(library)
    arrays = _read(file, [branch for _, branch in chosen], entries, executor, name)
    return _group(chosen, arrays, name, how)


def read_one(
    branch: TBranch, entries: tuple[int, int], executor: Executor | None, library: Any
) -> Any:
    """Read one branch; parameters as in `read_together`.

    Returns
    -------
    ak.Array or ndarray
        Records, or a dict in NumPy, if the branch groups others.
    """
    name = regularize_library(library)
    return _array(branch, _read(branch.file, [branch], entries, executor, name), name, None)


def _read(
    file: File,
    branches: Sequence[TBranch],
    entries: tuple[int, int],
    executor: Executor | None,
    library: LibraryName,
) -> dict[str, Any]:
    """Arrays of all branches with data that the given ones are made of, by path."""
    leaves = {leaf._path: leaf for branch in branches for leaf in leaves_of(branch)}
    data = file.read(list(leaves.values()), *entries, executor)
    return {
        path: to_library(leaf._spec.interpretation, values, library, entries[0])
        for (path, leaf), values in zip(leaves.items(), data, strict=True)
    }


def _group(
    chosen: Sequence[tuple[str, TBranch]],
    arrays: Mapping[str, Any],
    library: LibraryName,
    how: How,
) -> Any:
    named = [(name, _array(branch, arrays, library, how)) for name, branch in chosen]
    jagged = [isinstance(branch._spec.interpretation, AsJagged) for _, branch in chosen]
    return group(named, jagged, library, how)


def _array(branch: TBranch, arrays: Mapping[str, Any], library: LibraryName, how: How) -> Any:
    if isinstance(branch._spec.interpretation, AsGrouped):
        return _group(list(_children_of(branch).items()), arrays, library, how)
    return arrays[branch._path]
