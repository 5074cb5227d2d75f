"""Trees in several files, read one after the other or together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vroot.arrays.grouping import join, shift_index
from vroot.arrays.libraries import regularize_library
from vroot.datasets.locations import Files, FileSteps, Tree, open_tree, regularize_files
from vroot.exceptions import KeyInFileError
from vroot.files.options import separate_open_options
from vroot.metadata.entry_ranges import regularize_entry_range

__all__ = ["concatenate", "iterate", "num_entries"]


def iterate(
    files: Files,
    expressions: Any = None,
    cut: str | None = None,
    *,
    step_size: int | str = "100 MB",
    library: Any = "ak",
    report: bool = False,
    allow_missing: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Read the trees of several files, some entries at a time.

    Parameters
    ----------
    files : str, pathlib.Path, mapping, tree, or iterable of these
        See `vroot.datasets.locations.regularize_files`.
    expressions, cut
        As in `vroot.HasBranches.arrays`.
    step_size : int or str
        Entries a step, or a size of memory such as "100 MB"; no step goes over the end of a file.
    library : "ak", "np" or "pd"
        What to make of the data; the index of pandas goes on from file to file.
    report : bool
        Whether each array comes with a `vroot.trees.has_branches.Report`.
    allow_missing : bool
        Whether files without the tree, or without a branch that is asked for, are passed over.
    storage_options : mapping, optional
        Options for fsspec.
    **options
        As in `vroot.HasBranches.iterate` and `vroot.open`.

    Yields
    ------
    arrays, or tuple of arrays and Report
        One step.

    Raises
    ------
    TypeError
        If a range of entries is given, which uproot ignores without a word.
    """
    if "entry_start" in options or "entry_stop" in options:
        raise TypeError(
            "iterate over files has no 'entry_start' and 'entry_stop': use the iterate of a tree, "
            "or concatenate"
        )
    name = regularize_library(library)
    options, storage_options = separate_open_options(options, storage_options)
    # Now, and not when the first is asked for: the current folder may be another one then.
    named = regularize_files(files, storage_options)
    trees = _trees(named, allow_missing=allow_missing, storage_options=storage_options)
    options |= {"step_size": step_size, "library": name, "report": report}
    return _steps(trees, expressions, cut, allow_missing=allow_missing, options=options)


def _steps(
    trees: Iterator[Tree],
    expressions: Any,
    cut: str | None,
    *,
    allow_missing: bool,
    options: dict[str, Any],
) -> Iterator[Any]:
    name, offset = options["library"], 0
    for tree in trees:
        steps = tree.iterate(expressions, cut, **options)
        try:
            for step in steps:
                if options["report"]:
                    arrays, where = step
                    yield shift_index(arrays, offset, name), where.to_global(offset)
                else:
                    yield shift_index(step, offset, name)
        except KeyInFileError:
            if not allow_missing:
                raise
            continue
        offset += tree.num_entries


def concatenate(
    files: Files,
    expressions: Any = None,
    cut: str | None = None,
    *,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    library: Any = "ak",
    allow_missing: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Read the trees of several files into one array.

    Parameters
    ----------
    files : str, pathlib.Path, mapping, tree, or iterable of these
        See `vroot.datasets.locations.regularize_files`.
    expressions, cut
        As in `vroot.HasBranches.arrays`.
    entry_start, entry_stop : int, optional
        Half-open range of entries, counted over all files; negative ones count from the end.
    library : "ak", "np" or "pd"
        What to make of the data.
    allow_missing : bool
        Whether files without the tree, or without a branch that is asked for, are passed over.
    storage_options : mapping, optional
        Options for fsspec.
    **options
        As in `vroot.HasBranches.arrays` and `vroot.open`.

    Returns
    -------
    ak.Array, dict, tuple, list or DataFrame
        As one call of `arrays` would give it.
    """
    name = regularize_library(library)
    options, storage_options = separate_open_options(options, storage_options)
    named = regularize_files(files, storage_options)
    trees = list(_trees(named, allow_missing=allow_missing, storage_options=storage_options))
    total = sum(tree.num_entries for tree in trees)
    start, stop = regularize_entry_range(total, entry_start, entry_stop)
    parts: list[tuple[Tree, Any]] = []
    offset = 0
    for tree in trees:
        end = offset + tree.num_entries
        # As in uproot, an empty range has its type from a tree that it touches.
        touches = offset < end and start == stop and start in (offset, end)
        if touches or (start < end and offset < stop):
            try:
                arrays = tree.arrays(
                    expressions,
                    cut,
                    entry_start=max(0, start - offset),
                    entry_stop=min(stop, end) - offset,
                    library=name,
                    **options,
                )
            except KeyInFileError:
                if not allow_missing:
                    raise
            else:
                parts.append((tree, shift_index(arrays, offset, name)))
        offset += tree.num_entries
    if expressions is None and options.get("how") in (tuple, list, dict):
        _check_columns([tree for tree, _ in parts], options)
    return join([arrays for _, arrays in parts], name)


def _check_columns(trees: list[Tree], options: Mapping[str, Any]) -> None:
    """Check that the columns of several trees are the same, where they are joined one by one.

    Raises
    ------
    ValueError
        If they are not, with the file and the columns.
    """
    filters = {name: given for name, given in options.items() if name.startswith("filter_")}
    columns = [tree.keys(**filters) for tree in trees]
    for tree, found in zip(trees[1:], columns[1:], strict=True):
        if found != columns[0]:
            differ = sorted(set(found) ^ set(columns[0])) or "in their order"
            raise ValueError(
                f"the columns of {tree.object_path} differ from those of the files before: "
                f"{differ}; name the columns to join them with how={options['how'].__name__}"
                f"\nin file {tree.file.file_path}\nfirst file {trees[0].file.file_path}"
            )


def num_entries(
    paths: Files, *, storage_options: Mapping[str, Any] | None = None, **options: Any
) -> Iterator[tuple[str, str | None, int]]:
    """Count the entries of the trees in several files, without reading any.

    Parameters
    ----------
    paths : str, pathlib.Path, mapping, or iterable of these
        See `vroot.datasets.locations.regularize_files`.
    storage_options : mapping, optional
        Options for fsspec.
    **options
        As in `vroot.open`.

    Yields
    ------
    tuple of str, str and int
        Path of the file, path of the object in it, number of entries.
    """
    _, storage_options = separate_open_options(options, storage_options)
    # Now, and not when the first is asked for: the current folder may be another one then.
    return _count(regularize_files(paths, storage_options), storage_options)


def _count(
    files: list[FileSteps], storage_options: Mapping[str, Any] | None
) -> Iterator[tuple[str, str | None, int]]:
    for each in files:
        (tree,) = _trees([each], allow_missing=False, storage_options=storage_options)
        yield each.given or tree.file.file_path, each.object_path, tree.num_entries


def _trees(
    files: list[FileSteps], *, allow_missing: bool, storage_options: Mapping[str, Any] | None
) -> Iterator[Tree]:
    for location, object_path, _, given in files:
        tree = open_tree(
            location,
            object_path,
            allow_missing=allow_missing,
            storage_options=storage_options,
            given=given,
        )
        if tree is not None:
            yield tree
