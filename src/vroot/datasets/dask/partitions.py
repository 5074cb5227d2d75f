"""Trees of several files: what they have in common, and how they are divided into partitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from vroot.datasets.dask.read import Opener, Partition, check_entries, object_path_of
from vroot.datasets.locations import FileSteps, Tree
from vroot.io.urls import beside
from vroot.locate.catalog import SIDECAR_SUFFIXES
from vroot.mapping.filters import Filter
from vroot.metadata.interpretations import AsGrouped, Unsupported
from vroot.ntuples.has_fields import HasFields
from vroot.read.steps import entries_of_step, regularize_step
from vroot.trees.branch import TBranch

__all__ = [
    "KeyFilter",
    "OpenTree",
    "common_keys",
    "delayed_partitions",
    "first_tree",
    "keys_of",
    "open_trees",
    "partitions_of",
    "without_doubles",
]


@dataclass(frozen=True, eq=False)
class OpenTree:
    """A tree, and how a task comes by it.

    Parameters
    ----------
    tree : TTree, TBranch or RNTuple
        The tree.
    location : str or tree
        The path that it was opened by; the tree itself where its references are in no file.
    steps : list of (int, int), optional
        The ranges of entries that are to be read.
    only : TBranch, optional
        The only branch that is meant.
    """

    tree: Tree
    location: str | Tree
    steps: list[tuple[int, int]] | None
    only: TBranch | None = None

    def ranges(self, step_entries: int) -> Iterator[tuple[int, int]]:
        """Give the ranges of entries of the partitions: those asked for, or one a step."""
        entries = self.tree.num_entries
        if self.steps is None:
            for start in range(0, entries, step_entries):
                yield start, min(start + step_entries, entries)
        else:
            for start, stop in self.steps:
                check_entries(self.tree, start, stop)
                if start < stop:
                    yield start, stop

    def partition(self, start: int, stop: int) -> Partition:
        """Give the partition with these entries."""
        object_path = object_path_of(self.tree) if isinstance(self.location, str) else None
        return Partition(self.location, object_path, start, stop, True)


def open_trees(files: Sequence[FileSteps], opener: Opener) -> list[OpenTree]:
    """Open the trees of files.

    Parameters
    ----------
    files : sequence of FileSteps
        What was asked for.
    opener : Opener
        Opens them.

    Returns
    -------
    list of OpenTree
        In order; files without the tree are left out, if the opener may do that.

    Raises
    ------
    ValueError
        If there are none.
    """
    opened = []
    for location, object_path, steps, _ in files:
        tree = opener.open(location, object_path)
        if tree is None:
            continue
        only = tree if isinstance(tree, TBranch) and not tree.branches else None
        if only is not None:
            tree = only.parent
        by_path = isinstance(location, str) and _leads_to_references(location, tree)
        opened.append(OpenTree(tree, location if by_path else tree, steps, only))
    if not opened:
        raise _none_found(files)
    return opened


def _leads_to_references(location: str, tree: Tree) -> bool:
    """Whether a task in another process finds the same references by a path.

    Not what was scanned in memory, or found by a catalog, which that process need not have.
    """
    beside_it = (beside(location, suffix) for suffix in SIDECAR_SUFFIXES)
    return tree.file.references.location in (location, *beside_it)


# --- what is read


@dataclass(frozen=True, eq=False)
class KeyFilter:
    """Which branches or fields are read, and how they are named.

    Parameters
    ----------
    name, typename, branch
        Filters, as in `vroot.HasBranches.iteritems`.
    recursive : bool
        Whether to descend into branches.
    full_paths : bool
        Whether the names of deeper branches have their path before them.
    """

    name: Filter
    typename: Filter
    branch: Callable[[Any], bool] | None
    recursive: bool
    full_paths: bool


def keys_of(tree: Tree, wanted: KeyFilter, only: TBranch | None = None) -> list[str]:
    """Give the names of what is read of a tree.

    As in uproot's `arrays`, and unlike in its `dask`, which raises, branches of which nothing is
    known are left out.

    Parameters
    ----------
    tree : TTree, TBranch or RNTuple
        The tree.
    wanted : KeyFilter
        What to take.
    only : TBranch, optional
        The only branch that is meant.

    Returns
    -------
    list of str
        Names of branches; full names of fields, those below chosen ones included.
    """
    if isinstance(tree, HasFields):
        # The form keeps how fields are nested, hence full names.
        matched = tree.keys(
            filter_name=wanted.name,
            filter_typename=wanted.typename,
            filter_field=wanted.branch,
            recursive=wanted.recursive,
            full_paths=True,
            ignore_duplicates=True,
        )
        return tree.with_subfields(matched)

    def accepts(branch: TBranch) -> bool:
        return (only is None or branch is only) and (
            wanted.branch is None or bool(wanted.branch(branch))
        )

    matched = tree.keys(
        filter_name=wanted.name,
        filter_typename=wanted.typename,
        filter_branch=accepts,
        recursive=wanted.recursive,
        full_paths=wanted.full_paths,
        ignore_duplicates=True,
    )
    return [key for key in matched if _has_form(tree[key])]


def _has_form(branch: TBranch) -> bool:
    interpretation = branch.spec.interpretation
    if isinstance(interpretation, AsGrouped):
        return all(_has_form(child) for child in branch.branches)
    return not isinstance(interpretation, Unsupported) or interpretation.in_arrays


def common_keys(trees: Sequence[OpenTree], wanted: KeyFilter) -> list[str]:
    """Give the names that all trees have.

    Parameters
    ----------
    trees : sequence of OpenTree
        The trees.
    wanted : KeyFilter
        What to take.

    Returns
    -------
    list of str
        See `keys_of`; in the order of the first tree.

    Raises
    ------
    ValueError
        If there are none.
    """
    found = [keys_of(each.tree, wanted, each.only) for each in trees]
    common = set(found[0]).intersection(*found[1:])
    # A field is read with all that is below it, which then has to be in all files, too.
    partly = {
        key[:position]
        for keys, each in zip(found, trees, strict=True)
        if isinstance(each.tree, HasFields)
        for key in set(keys) - common
        for position, letter in enumerate(key)
        if letter == "."
    }
    keys = [key for key in found[0] if key in common and key not in partly]
    if not keys or len({each.only is None for each in trees}) > 1:
        listed = "\n    ".join(
            f"{each.tree.file.file_path}: {object_path_of(each.tree)!r}" for each in trees
        )
        raise ValueError(f"the trees in\n\n    {listed}\n\nhave no branches in common")
    return keys


def without_doubles(tree: Tree, keys: list[str], *, full_paths: bool) -> list[str]:
    """Choose between groups and the branches that they are made of.

    Parameters
    ----------
    tree : TTree, TBranch or RNTuple
        The tree.
    keys : list of str
        Names of branches.
    full_paths : bool
        Whether the names of deeper branches have their path before them.

    Returns
    -------
    list of str
        The same, without the groups of which all branches are there, and without the branches of
        the other groups.
    """
    if isinstance(tree, HasFields):
        return keys
    there = set(keys)
    dropped: set[str] = set()
    for key in keys:
        branch = tree[key]
        if not isinstance(branch.spec.interpretation, AsGrouped):
            continue
        prefix = f"{key}/" if full_paths else ""
        below = {prefix + name for name in branch.keys(full_paths=full_paths)}
        dropped |= {key} if below and below <= there else below & there
    return [key for key in keys if key not in dropped]


# --- partitions


def partitions_of(
    trees: Sequence[OpenTree],
    keys: Sequence[str],
    step_size: int | str | None,
    steps_per_file: int,
) -> list[Partition]:
    """Divide opened trees into partitions.

    Parameters
    ----------
    trees : sequence of OpenTree
        The trees.
    keys : sequence of str
        Names of what is read, if `step_size` is a size of memory.
    step_size : int or str, optional
        Entries a step, or a size of memory; as in uproot, the steps of all files get the average
        number of entries of this size.
    steps_per_file : int
        If `step_size` is not given, how many steps an average file gets.

    Returns
    -------
    list of Partition
        In order; one without entries if there are none.
    """
    if step_size is None:
        total = sum(each.tree.num_entries for each in trees)
        step_size = max(1, math.ceil(total / (len(trees) * steps_per_file)))
    steps = [_step_entries(each.tree, keys, step_size) for each in trees]
    entries = round(sum(steps) / len(trees))
    return [each.partition(*part) for each in trees for part in each.ranges(entries)] or [
        trees[0].partition(0, 0)
    ]


def _step_entries(tree: Tree, keys: Sequence[str], step_size: int | str) -> int:
    return regularize_step(step_size, partial(_entries_for, tree, keys))


def _entries_for(tree: Tree, keys: Sequence[str], target_bytes: int) -> int:
    if isinstance(tree, HasFields):
        form, _ = tree.form_for(list(keys), False)
        total = tree.ntuple.form_bytes(form, (0, tree.num_entries))
        return max(1, round(target_bytes * tree.num_entries / total)) if total else 1
    tables = {tree[key].node_path: tree[key].spec.baskets for key in keys}
    return entries_of_step(tables.values(), target_bytes, 0, tree.num_entries)


def first_tree(files: Sequence[FileSteps], opener: Opener) -> Tree:
    """Open the tree of the first file that has it.

    Parameters
    ----------
    files : sequence of FileSteps
        What was asked for.
    opener : Opener
        Opens it.

    Returns
    -------
    TTree, TBranch or RNTuple
        The tree.

    Raises
    ------
    ValueError
        If there is none, or it is a single branch.
    """
    for location, object_path, _, _ in files:
        tree = opener.open(location, object_path)
        if isinstance(tree, TBranch) and not tree.branches:
            raise ValueError(
                f"{location}:{object_path} is a branch: with open_files=False give the tree, and "
                "the branch as filter_name"
            )
        if tree is not None:
            return tree
    raise _none_found(files)


def _none_found(files: Sequence[FileSteps]) -> ValueError:
    listed = "\n    ".join(f"{each.location}: {each.object_path!r}" for each in files)
    return ValueError(f"allow_missing=True and no trees were found in\n\n    {listed}")


def delayed_partitions(files: Sequence[FileSteps], steps_per_file: int) -> list[Partition]:
    """Divide files that are not opened yet into partitions.

    Parameters
    ----------
    files : sequence of FileSteps
        The files.
    steps_per_file : int
        How many steps each gets, where its entries are not given.

    Returns
    -------
    list of Partition
        In order.
    """
    partitions: list[Partition] = []
    for location, object_path, steps, _ in files:
        if steps is None:
            partitions += (
                Partition(location, object_path, step, steps_per_file, False)
                for step in range(steps_per_file)
            )
        else:
            partitions += (
                Partition(location, object_path, start, stop, True) for start, stop in steps
            )
    return partitions
