"""What a call that reads several branches is about, and the steps that it is read in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from vroot.expressions.language import Computed, Expressions, checked_aliases, regularize_language
from vroot.mapping.filters import Filter
from vroot.metadata.interpretations import AsGrouped, Unsupported
from vroot.read.step_cache import StepCache
from vroot.read.steps import Report, entries_of_step, regularize_step
from vroot.trees.protocols import Branch, Branches
from vroot.trees.reading import Options, Selection, branches_of, leaves_of, read_together

__all__ = ["BranchFilter", "entries_for", "select", "steps"]

BranchFilter: TypeAlias = Callable[[Branch], bool] | None


def select(
    tree: Branches,
    expressions: str | Iterable[Any] | None,
    cut: str | None,
    filters: tuple[Filter, Filter, BranchFilter],
    aliases: Mapping[str, str] | None,
    language: Any,
) -> Selection:
    """Say what is to be read and computed, and by what it is to be cut.

    Parameters
    ----------
    tree : HasBranches
        Where names are looked up.
    expressions, cut, aliases, language
        As in `HasBranches.arrays`.
    filters : tuple
        Of names, C++ types and branches, for all branches, if `expressions` is None.

    Returns
    -------
    Selection
        Names and branches or expressions; and the cut, or None.
    """
    of = tree
    chosen: Sequence[tuple[str, Branch | Computed[Branch]]]
    scope = _scope(tree, aliases, language)
    if expressions is not None:
        chosen = scope.choose(expressions)
    elif tree.itself and not tree.components:
        chosen = tree.itself
        # As in uproot: it is read from its parent, so a cut may use the branches beside it.
        of = tree.itself[0][1].parent
        scope = _scope(of, aliases, language)
    else:
        chosen = _choose(tree, filters)
    return Selection(of, chosen, None if cut is None else scope.resolve_cut(cut))


def steps(
    tree: Branches,
    selection: Selection,
    entries: tuple[int, int],
    step_size: int | str,
    options: Options,
) -> Iterator[tuple[Any, Report]]:
    """Read a selection step by step; a basket that reaches over a step's end is decoded once.

    Parameters
    ----------
    tree : HasBranches
        What is read.
    selection : Selection
        See `select`.
    entries : tuple of int
        Half-open range of entries, within bounds.
    step_size : int or str
        Entries a step, or a size of memory.
    options : Options
        How to read it.

    Yields
    ------
    tuple of arrays and Report
        One step.
    """
    if not selection.chosen:
        return
    step = regularize_step(step_size, lambda size: entries_for(size, selection, entries))
    # As in uproot, where a branch without others in it is read as a part of what it is in.
    alone = tree.itself and not tree.components
    source = tree.itself[0][1].parent if alone else tree
    cache: StepCache[Any] = StepCache()
    for start in range(*entries, step):
        part = (start, min(start + step, entries[1]))
        arrays = read_together(selection, part, options, cache)
        yield arrays, Report(source, *part)


def entries_for(target_bytes: int, selection: Selection, entries: tuple[int, int]) -> int:
    """Say how many entries of a selection fit a size of memory.

    Parameters
    ----------
    target_bytes : int
        The size.
    selection : Selection
        See `select`.
    entries : tuple of int
        Half-open range of entries, of which the average is taken.

    Returns
    -------
    int
        Entries, at least 1.
    """
    tables = {
        leaf.node_path: leaf.spec.baskets
        for each in selection.wanted
        for branch in branches_of(each)
        for leaf in leaves_of(branch)
    }
    return entries_of_step(tables.values(), target_bytes, *entries)


def _scope(tree: Branches, aliases: Mapping[str, str] | None, language: Any) -> Expressions[Branch]:
    """What names in expressions mean here."""
    return Expressions(
        lambda name: tree.find(name.removeprefix("/"), recursive=not name.startswith("/")),
        tree.keys,
        tree.tree.aliases | checked_aliases(aliases),
        regularize_language(language),
        tree.file.file_path,
        tree.object_path,
    )


def _choose(
    tree: Branches, filters: tuple[Filter, Filter, BranchFilter]
) -> list[tuple[str, Branch]]:
    filter_name, filter_typename, filter_branch = filters
    matched = list(
        tree.iteritems(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            full_paths=False,
        )
    )
    # As in uproot, a name that is not unique means the first branch that has it.
    return [(name, tree[name]) for name, _ in _without_doubles(matched)]


def _is_unknown(branch: Branch) -> bool:
    interpretation = branch.spec.interpretation
    return isinstance(interpretation, Unsupported) and not interpretation.in_arrays


def _is_grouped(branch: Branch) -> bool:
    return isinstance(branch.spec.interpretation, AsGrouped)


def _without_doubles(matched: list[tuple[str, Branch]]) -> list[tuple[str, Branch]]:
    """Choose, as uproot does, between groups and the branches that they are made of.

    A group is left out if all its branches were matched, or if it has one without interpretation;
    otherwise it comes after the others, and those of its branches that were matched are left out.
    """
    regular = [
        (name, branch)
        for name, branch in matched
        if not _is_unknown(branch) and not _is_grouped(branch)
    ]
    paths = {branch.node_path for _, branch in regular}
    groups: list[tuple[str, Branch]] = []
    hidden: set[str] = set()
    for name, branch in matched:
        if not _is_grouped(branch) or any(_is_unknown(child) for child in branch.branches):
            continue
        leaves = {leaf.node_path for leaf in leaves_of(branch) if not _is_unknown(leaf)}
        found = leaves & paths
        if not leaves or found != leaves:
            hidden |= found
            groups.append((name, branch))
    above = {f"{branch.node_path}/" for _, branch in groups}
    return [(name, branch) for name, branch in regular if branch.node_path not in hidden] + [
        (name, branch)
        for name, branch in groups
        if not any(branch.node_path.startswith(path) for path in above)
    ]
