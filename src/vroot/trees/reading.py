"""Several branches read together, those that only group others put together from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from vroot.arrays.caches import copied
from vroot.arrays.grouping import group, records_of
from vroot.arrays.libraries import How, LibraryName, to_layout, to_library
from vroot.exceptions import VrootError
from vroot.expressions.language import Computed
from vroot.metadata.flat import AsDtypeInPlace
from vroot.metadata.interpretations import AsBits, AsGrouped, AsInstances, AsJagged
from vroot.read.columns import read_columns
from vroot.read.opened import OpenedFile
from vroot.read.step_cache import StepCache
from vroot.registration import cannot_be_awkward
from vroot.trees.protocols import Branch, Branches

__all__ = [
    "AddDoc",
    "Options",
    "Selection",
    "ak_doc",
    "branches_of",
    "leaves_of",
    "read_columns_of",
    "read_one",
    "read_together",
]

AddDoc: TypeAlias = bool | Mapping[str, str]


class Selection(NamedTuple):
    """What is to be read and computed.

    Parameters
    ----------
    of : HasBranches
        The tree or branch that it is of.
    chosen : sequence of (str, TBranch or Computed)
        Names, and branches or expressions.
    cut : TBranch or Computed, optional
        What it is to be cut by: this is to be unequal to zero, and, where it is jagged, selects
        among the items of entries.
    """

    of: Branches
    chosen: Sequence[tuple[str, Branch | Computed[Branch]]]
    cut: Branch | Computed[Branch] | None = None

    @property
    def wanted(self) -> list[Branch | Computed[Branch]]:
        """What is to be read or computed, the cut included."""
        return [each for _, each in self.chosen] + ([] if self.cut is None else [self.cut])


@dataclass(frozen=True)
class Options:
    """How branches are read, and what becomes of them.

    Parameters
    ----------
    library : "ak", "np" or "pd"
        What to make of the data.
    how : None, dict, tuple, list or "zip"
        See `vroot.arrays.grouping.group`.
    executor : Executor, optional
        Decodes the baskets.
    ak_add_doc : bool or dict
        Whether titles become the parameter ``__doc__`` of Awkward Arrays; or attributes of the
        tree by the names of the parameters that they become.
    array_cache : MutableMapping, optional
        Arrays that have been read.
    even_closed : bool
        Whether to read although the file is closed.
    """

    library: LibraryName = "ak"
    how: How = None
    executor: Executor | None = None
    ak_add_doc: AddDoc = False
    array_cache: MutableMapping[str, Any] | None = None
    even_closed: bool = False


def ak_doc(of: Branches, ak_add_doc: AddDoc) -> dict[str, Any]:
    """Give the parameters that Awkward Arrays of a tree or branch get.

    Parameters
    ----------
    of : HasBranches
        The tree or branch.
    ak_add_doc : bool or dict
        See `Options`.

    Returns
    -------
    dict
        Parameters by name.
    """
    if isinstance(ak_add_doc, Mapping):
        return {key: getattr(of, attribute) for key, attribute in ak_add_doc.items()}
    return {"__doc__": of.title} if ak_add_doc else {}


def branches_of(each: Branch | Computed[Branch]) -> list[Branch]:
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


def leaves_of(branch: Branch) -> list[Branch]:
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
    if not isinstance(branch.spec.interpretation, AsGrouped):
        return [branch]
    return [leaf for child in _children_of(branch).values() for leaf in leaves_of(child)]


def _children_of(branch: Branch) -> dict[str, Branch]:
    return {child.name: branch[child.name] for child in branch.branches}


def read_together(
    selection: Selection,
    entries: tuple[int, int],
    options: Options,
    cache: StepCache[Any] | None = None,
) -> Any:
    """Read branches in one plan, compute with them, and put them together.

    Parameters
    ----------
    selection : Selection
        What to read.
    entries : tuple of int
        Half-open range of entries, within bounds.
    options : Options
        How to read it.
    cache : StepCache, optional
        Baskets that were decoded for the step before.

    Returns
    -------
    ak.Array, dict, tuple or list
        As `options.how` says.
    """
    columns = _only_columns(selection, options)
    if columns:
        of = selection.of.file
        layout_of = read_columns_of(
            of, list(columns.values()), entries, options, cache, layouts=True
        )
        return records_of({name: layout_of(branch) for name, branch in columns.items()})
    branches = [branch for each in selection.wanted for branch in branches_of(each)]
    array_of = read_columns_of(selection.of.file, branches, entries, options, cache)
    values: dict[str, Any] = {}

    def result(each: Branch | Computed[Branch]) -> Any:
        return each.evaluate(values, array_of) if isinstance(each, Computed) else array_of(each)

    results = [(text, result(each)) for text, each in selection.chosen]
    if selection.cut is not None:
        results = _select(results, selection.cut, result(selection.cut) != 0)
    jagged = [any(map(_is_jagged, branches_of(each))) for _, each in selection.chosen]
    grouped = group(results, jagged, options.library, options.how)
    return _documented(grouped, selection.of, options.ak_add_doc)


def _only_columns(selection: Selection, options: Options) -> dict[str, Branch]:
    """Give the branches of a selection by name, if nothing but records of them is wanted."""
    if (
        selection.cut is not None
        or (options.library, options.how) != ("ak", None)
        or options.ak_add_doc
        or options.array_cache is not None
    ):
        return {}
    columns: dict[str, Branch] = {}
    for name, each in selection.chosen:
        if isinstance(each, Computed) or isinstance(each.spec.interpretation, AsGrouped):
            return {}
        columns[name] = each
    return columns


def _select(
    arrays: list[tuple[str, Any]], cut: Branch | Computed[Branch], mask: Any
) -> list[tuple[str, Any]]:
    selected = []
    for name, array in arrays:
        try:
            selected.append((name, array[mask]))
        except (TypeError, ValueError, LookupError) as err:
            if not hasattr(mask, "__len__"):
                text = cut.text if isinstance(cut, Computed) else cut.name
                raise TypeError(
                    f"the cut {text!r} gives a single value, not one for each entry: a cut is an "
                    "expression of branches, such as 'nMuon > 1'"
                ) from err
            err.add_note(f"when the cut was applied to {name!r}")
            raise
    return selected


def _is_jagged(branch: Branch) -> bool:
    interpretation = branch.spec.interpretation
    return isinstance(interpretation, AsJagged) or interpretation == AsBits(jagged=True)


def read_one(branch: Branch, entries: tuple[int, int], options: Options) -> Any:
    """Read one branch; parameters as in `read_together`.

    Returns
    -------
    ak.Array or ndarray
        Records, or a dict in NumPy, if the branch groups others.
    """
    return read_columns_of(branch.file, [branch], entries, options)(branch)


def read_columns_of(
    file: OpenedFile,
    branches: Sequence[Branch],
    entries: tuple[int, int],
    options: Options,
    cache: StepCache[Any] | None = None,
    *,
    layouts: bool = False,
) -> Callable[[Branch], Any]:
    """Read all that branches are made of; parameters as in `read_together`.

    Returns
    -------
    callable
        From one of the branches to its array; or to the layout of an Awkward Array, if `layouts`.
    """
    leaves = _leaves_by_path(branches, options.library)
    arrays = _cached(leaves, entries, options)
    missing = {path: leaf for path, leaf in leaves.items() if path not in arrays}
    if not options.even_closed:
        file.fetcher.check_open()
    fetch = partial(file.fetcher.fetch, executor=options.executor, even_closed=options.even_closed)
    data = read_columns([leaf.column for leaf in missing.values()], *entries, fetch, cache)
    for (path, leaf), values in zip(missing.items(), data, strict=True):
        kind = leaf.spec.interpretation
        try:
            array = (
                to_layout(kind, values)
                if layouts
                else to_library(kind, values, options.library, entries[0])
            )
        except VrootError as err:
            err.add_note(f"in branch {leaf.object_path!r} of {file.file_path}")
            raise
        arrays[path] = array
        if options.array_cache is not None and not _in_place(leaf):
            options.array_cache[_cache_key(leaf, entries, options)] = copied(array)

    return partial(_array_of, arrays=arrays, options=options)


def _leaves_by_path(branches: Sequence[Branch], library: LibraryName) -> dict[str, Branch]:
    """The branches that hold the data, each of which can be read in one way only.

    Raises
    ------
    ValueError, TypeError, CannotBeAwkward
        If one cannot be read so.
    """
    leaves: dict[str, Branch] = {}
    for leaf in (leaf for branch in branches for leaf in leaves_of(branch)):
        given = leaf.spec.interpretation
        known = leaves.setdefault(leaf.node_path, leaf).spec.interpretation
        if known is not given and known != given:
            raise ValueError(
                f"branch {leaf.object_path!r} cannot be read with several interpretations at once: "
                f"{known!r} and {given!r}"
            )
        if isinstance(given, AsInstances) and library != "np":
            raise cannot_be_awkward(
                f"branch {leaf.object_path!r} has no Awkward Array, because of {given.reason}: use "
                f'library="np"\nin file {leaf.file.file_path}'
            )
        if _in_place(leaf) and library != "np":
            raise TypeError(
                f'branch {leaf.object_path!r} can be read in place with library="np" only, not '
                f"{library!r}"
            )
    return leaves


def _in_place(branch: Branch) -> bool:
    return isinstance(branch.spec.interpretation, AsDtypeInPlace)


def _array_of(branch: Branch, arrays: Mapping[str, Any], options: Options) -> Any:
    """Give the array of a branch, put together of those below if it groups them.

    No closure calls itself here: it would hold the arrays until the next garbage collection.
    """
    if not isinstance(branch.spec.interpretation, AsGrouped):
        return _documented(arrays[branch.node_path], branch, bool(options.ak_add_doc))
    children = _children_of(branch)
    named = [(name, _array_of(child, arrays, options)) for name, child in children.items()]
    jagged = [_is_jagged(child) for child in children.values()]
    grouped = group(named, jagged, options.library, options.how)
    return _documented(grouped, branch, options.ak_add_doc)


def _cached(
    leaves: Mapping[str, Branch], entries: tuple[int, int], options: Options
) -> dict[str, Any]:
    """Those arrays that the cache has, by path."""
    if options.array_cache is None:
        return {}
    found = {
        path: options.array_cache.get(_cache_key(leaf, entries, options))
        for path, leaf in leaves.items()
        if not _in_place(leaf)
    }
    return {path: copied(array) for path, array in found.items() if array is not None}


def _cache_key(branch: Branch, entries: tuple[int, int], options: Options) -> str:
    start, stop = entries
    interpretation = branch.spec.interpretation
    return f"{branch.cache_key}:{interpretation!r}:{start}-{stop}:{options.library}"


def _documented(array: Any, of: Branches, ak_add_doc: AddDoc) -> Any:
    """Add parameters to an array, if it is one of Awkward."""
    if not ak_add_doc or type(array).__module__ != "awkward.highlevel":
        return array
    import awkward as ak

    for name, value in ak_doc(of, ak_add_doc).items():
        array = ak.with_parameter(array, name, value)
    return array
