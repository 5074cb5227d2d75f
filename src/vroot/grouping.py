"""Several branches read together, those that only group others put together from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, TypeAlias

from vroot.engine import BasketCache
from vroot.interpretations import AsBits, AsGrouped, AsJagged
from vroot.language import Computed
from vroot.library import How, LibraryName, group, regularize_library, to_library

if TYPE_CHECKING:
    from vroot.branch import TBranch
    from vroot.file import File

__all__ = ["Selection", "branches_of", "leaves_of", "read_one", "read_together"]


#: Names and branches or expressions that are to be read, and what they are to be cut by.
Selection: TypeAlias = tuple[
    Sequence[tuple[str, "TBranch | Computed"]], "TBranch | Computed | None"
]


def branches_of(each: TBranch | Computed) -> list[TBranch]:
    """Give the branches that are needed for a branch or an expression.

    Parameters
    ----------
    each : TBranch or Computed
        A branch, or an expression.

    Returns
    -------
    list of TBranch
        The branch itself, or those that the expression is made of.
    """
    return each.branches if isinstance(each, Computed) else [each]


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
    selection: Selection,
    entries: tuple[int, int],
    executor: Executor | None,
    library: Any,
    how: How,
    cache: BasketCache | None = None,
) -> Any:
    """Read branches in one plan, compute with them, and put them together.

    Parameters
    ----------
    file : File
        The opened store.
    selection : Selection
        Names and branches or expressions; and the cut, if there is one, which is to be unequal to
        zero, and, where it is jagged, selects among the items of entries.
    entries : tuple of int
        Half-open range of entries, within bounds.
    executor : Executor, optional
        Decodes the baskets.
    library : "ak", "np" or "pd"
        What to make of the data.
    how : None, dict, tuple, list or "zip"
        See `vroot.library.group`.
    cache : BasketCache, optional
        Baskets that were decoded for the step before.

    Returns
    -------
    ak.Array, dict, tuple or list
        As `how` says.
    """
    chosen, cut = selection
    name = regularize_library(library)
    wanted = [each for _, each in chosen] + ([] if cut is None else [cut])
    branches = [branch for each in wanted for branch in branches_of(each)]
    arrays = _read(file, branches, entries, executor, name, cache)
    values: dict[str, Any] = {}

    def result(each: TBranch | Computed) -> Any:
        if isinstance(each, Computed):
            return each.evaluate(values, lambda branch: _array(branch, arrays, name, how))
        return _array(each, arrays, name, how)

    results = [(text, result(each)) for text, each in chosen]
    if cut is not None:
        results = _select(results, result(cut) != 0)
    jagged = [any(map(_is_jagged, branches_of(each))) for _, each in chosen]
    return group(results, jagged, name, how)


def _select(arrays: list[tuple[str, Any]], mask: Any) -> list[tuple[str, Any]]:
    selected = []
    for name, array in arrays:
        try:
            selected.append((name, array[mask]))
        except (TypeError, ValueError, LookupError) as err:
            err.add_note(f"when the cut was applied to {name!r}")
            raise
    return selected


def _is_jagged(branch: TBranch) -> bool:
    interpretation = branch._spec.interpretation
    return isinstance(interpretation, AsJagged) or interpretation == AsBits(jagged=True)


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
    cache: BasketCache | None = None,
) -> dict[str, Any]:
    """Arrays of all branches with data that the given ones are made of, by path."""
    leaves = {leaf._path: leaf for branch in branches for leaf in leaves_of(branch)}
    data = file.read(list(leaves.values()), *entries, executor, cache)
    return {
        path: to_library(leaf._spec.interpretation, values, library, entries[0])
        for (path, leaf), values in zip(leaves.items(), data, strict=True)
    }


def _array(branch: TBranch, arrays: Mapping[str, Any], library: LibraryName, how: How) -> Any:
    if not isinstance(branch._spec.interpretation, AsGrouped):
        return arrays[branch._path]
    children = _children_of(branch)
    named = [(name, _array(child, arrays, library, how)) for name, child in children.items()]
    return group(named, [_is_jagged(child) for child in children.values()], library, how)
