"""`vroot.dask`: what is to be read, and in which partitions, as a collection of dask."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from vroot.arrays.libraries import regularize_library
from vroot.datasets.dask.forms import Columns, FormMapping, FormMappingInfo, Parameters, record_form
from vroot.datasets.dask.partitions import (
    KeyFilter,
    common_keys,
    delayed_partitions,
    first_tree,
    keys_of,
    open_trees,
    partitions_of,
    without_doubles,
)
from vroot.datasets.dask.read import Executors, Opener, Partition, ReadAwkward, ReadNumpy
from vroot.datasets.locations import Files, FileSteps, Tree, regularize_file_steps
from vroot.exceptions import MissingExtraError, UnsupportedError
from vroot.files.options import regularize_open_options
from vroot.mapping.filters import Filter
from vroot.metadata.dtypes import split_dtype
from vroot.ntuples.has_fields import HasFields

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["dask"]


def dask(
    files: Files,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Any], bool] | None = None,
    recursive: bool = True,
    full_paths: bool = False,
    step_size: int | str | None = None,
    steps_per_file: int | None = None,
    library: Any = "ak",
    ak_add_doc: Parameters = False,
    custom_classes: Any = None,
    allow_missing: bool = False,
    open_files: bool = True,
    form_mapping: FormMapping | None = None,
    allow_read_errors_with_report: bool | tuple[type[BaseException], ...] = False,
    known_base_form: ak.forms.RecordForm | None = None,
    decompression_executor: Executor | None = None,
    interpretation_executor: Executor | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Make a collection of dask of the trees of several files, which is read when it is computed.

    Only the branches that a computation needs are read. A task holds the path of the references
    and its range of entries; trees that are open already, and what had to be scanned, travel with
    all of their references.

    Parameters
    ----------
    files : str, pathlib.Path, mapping, tree, or iterable of these
        See `vroot.datasets.locations.regularize_file_steps`; with steps, they are the partitions.
    filter_name, filter_typename, filter_branch, recursive, full_paths
        As in `vroot.HasBranches.iteritems`; what all files have is taken.
    step_size : int or str, optional
        Entries a partition, or a size of memory such as "100 MB".
    steps_per_file : int, optional
        Partitions a file, on an average; 1 if neither this nor `step_size` is given.
    library : "ak" or "np"
        An array of dask-awkward, or a dict of arrays of dask by the names of branches.
    ak_add_doc : bool or dict
        Whether titles become the parameter ``__doc__`` of the array and its fields; or attributes
        of branches, by the names of the parameters that they become.
    custom_classes : None
        Not supported.
    allow_missing : bool
        Whether files without the tree are passed over.
    open_files : bool
        Whether the files are opened now, so that the number of entries of each is known; if not,
        only the first is, for the names and types of the branches.
    form_mapping : callable, optional
        Gives, for the form of the branches, the form that is wanted, and a
        `vroot.datasets.dask.forms.FormMappingInfo`, which says how branches make its buffers.
    allow_read_errors_with_report : bool or tuple of exception types
        Whether a partition that raises an `OSError`, or one of these, is empty, and is reported.
        With Awkward only.
    known_base_form : ak.forms.RecordForm, optional
        The form of the branches, with which no file at all is opened now.
    decompression_executor, interpretation_executor : Executor, optional
        The first one that is given decodes the baskets.
    storage_options : mapping, optional
        Options for fsspec.
    **options
        As in `vroot.open`.

    Returns
    -------
    dask_awkward.Array, tuple of dask_awkward.Array, or dict of dask.array.Array
        As `library` says; and the report, if there is one.

    Raises
    ------
    TypeError
        If parameters contradict each other.
    ValueError
        If there is nothing to read, or steps are out of bounds.
    UnsupportedError
        For pandas, a mapping of forms with NumPy, classes of the user's, RNTuples with NumPy.
    MissingExtraError
        If dask-awkward is not installed.
    """
    storage_options = regularize_open_options(options, storage_options, custom_classes)
    step_size, steps_per_file = _without_mark(step_size), _without_mark(steps_per_file)
    named = regularize_file_steps(files, storage_options)
    name = regularize_library(library)
    _check_steps(named, step_size, steps_per_file, open_files=open_files)
    if known_base_form is not None and open_files:
        raise TypeError("known_base_form must be None if open_files is True")
    if name == "pd":
        raise UnsupportedError('dask has no library="pd": use "ak" or "np"')
    if name == "np" and form_mapping is not None:
        raise UnsupportedError('form_mapping is for library="ak"')
    opener = Opener(allow_missing, storage_options)
    executors = Executors(decompression_executor, interpretation_executor)
    per_file = 1 if steps_per_file is None else steps_per_file
    fields: list[str] | None = None
    if name == "ak" and known_base_form is not None:
        base, partitions = known_base_form, delayed_partitions(named, per_file)
    else:
        wanted = KeyFilter(filter_name, filter_typename, filter_branch, recursive, full_paths)
        if open_files:
            trees = open_trees(named, opener)
            tree, keys = trees[0].tree, common_keys(trees, wanted)
            keys = keys if name == "np" else without_doubles(tree, keys, full_paths=full_paths)
            partitions = partitions_of(trees, keys, step_size, per_file)
        else:
            tree = first_tree(named, opener)
            keys = keys_of(tree, wanted)
            keys = keys if name == "np" else without_doubles(tree, keys, full_paths=full_paths)
            partitions = delayed_partitions(named, per_file)
        if name == "np":
            return _numpy(tree, keys, partitions, opener, executors)
        base = record_form(tree, keys, ak_add_doc, typenames=form_mapping is not None)
        fields = keys if isinstance(tree, HasFields) else None
    mapped: ak.forms.Form | None = None
    mapping: FormMappingInfo
    if form_mapping is None:
        mapping = Columns(base, fields)
    else:
        mapped, mapping = form_mapping(base)
    errors = _errors(allow_read_errors_with_report)
    told = {"ak_add_doc": ak_add_doc}
    read = ReadAwkward(opener, frozenset(base.fields), mapping, mapped, told, executors, errors)
    return _awkward(read, partitions)


def _without_mark(value: Any) -> Any:
    # coffea hands on uproot's mark for what was not given.
    return None if type(value).__qualname__ == "_Unset" else value


def _check_steps(
    files: Sequence[FileSteps],
    step_size: int | str | None,
    steps_per_file: int | None,
    *,
    open_files: bool,
) -> None:
    """Check that only one argument says how to divide files."""
    given = [each.steps is not None for each in files]
    if any(given):
        if not all(given):
            raise TypeError("partition sizes for some but not all 'files' have been assigned")
        for name, value in (("step_size", step_size), ("steps_per_file", steps_per_file)):
            if value is not None:
                raise TypeError(f"partition sizes for 'files' is incompatible with '{name}'")
    if step_size is not None and steps_per_file is not None:
        raise TypeError(
            "only 'step_size' or 'steps_per_file' should be set, not both; got "
            f"{step_size=} and {steps_per_file=}"
        )
    if step_size is not None and not open_files:
        raise TypeError(
            f"'step_size' should not be set when 'open_files' is False; got {step_size!r}"
        )


def _errors(
    allowed: bool | tuple[type[BaseException], ...],
) -> tuple[type[BaseException], ...] | None:
    if not allowed:
        return None
    return allowed if isinstance(allowed, tuple) else (OSError,)


def _awkward(read: ReadAwkward, partitions: list[Partition]) -> Any:
    try:
        import dask_awkward
    except ImportError as err:
        raise MissingExtraError("vroot.dask", err.name or "dask-awkward", "dask") from err
    divisions = None
    if all(partition.are_entries for partition in partitions):
        divisions = (0, *accumulate(each.stop - each.start for each in partitions))
    result = dask_awkward.from_map(read, partitions, divisions=divisions, label="from-vroot")
    if read.return_report:
        # A partition that could not be read is empty.
        result[0].clear_divisions()
    return result


def _numpy(
    tree: Tree, keys: list[str], partitions: list[Partition], opener: Opener, executors: Executors
) -> dict[str, Any]:
    try:
        import dask.array
        from dask.base import tokenize
    except ImportError as err:
        raise MissingExtraError("vroot.dask", err.name or "dask", "dask") from err
    if isinstance(tree, HasFields):
        raise UnsupportedError('RNTuples have no library="np" in dask: use "ak"')
    lengths = tuple(each.stop - each.start if each.are_entries else math.nan for each in partitions)
    arrays = {}
    for key in keys:
        dtype = tree[key].interpretation.numpy_dtype
        base, shape = split_dtype(dtype)
        read = ReadNumpy(opener, key, dtype, executors)
        name = f"{key}-from-vroot-{tokenize(read, partitions)}"
        inner = (0,) * len(shape)
        graph = {(name, i, *inner): (read, each) for i, each in enumerate(partitions)}
        # uproot says nothing of the fixed dimensions that the data have, so that they cannot be
        # indexed before they are computed.
        chunks = (lengths, *((size,) for size in shape))
        arrays[key] = dask.array.Array(graph, name, chunks, dtype=base)
    return arrays
