"""The reading of partitions, by objects that are small enough to travel with every task."""

from __future__ import annotations

import dataclasses
import functools
import math
import socket
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from vroot.datasets.dask.forms import Columns, FormMappingInfo
from vroot.datasets.locations import Tree, open_tree
from vroot.exceptions import UnsupportedError
from vroot.io.sources import PerformanceCounters
from vroot.metadata.dtypes import split_dtype
from vroot.ntuples.has_fields import HasFields
from vroot.ntuples.ntuple import RField

if TYPE_CHECKING:
    import awkward as ak

__all__ = [
    "Executors",
    "Opener",
    "Partition",
    "ReadAwkward",
    "ReadNumpy",
    "check_entries",
    "object_path_of",
]

#: Trees that are kept open between the partitions of one process.
KEPT_TREES = 16


class Partition(NamedTuple):
    """What one task reads.

    Parameters
    ----------
    location : str or tree
        A path or URL, or the tree itself where no path leads to its references.
    object_path : str, optional
        The tree in the file.
    start, stop : int
        Half-open range of entries, or the number of a step and how many there are.
    are_entries : bool
        Which of the two it is.
    """

    location: str | Tree
    object_path: str | None
    start: int
    stop: int
    are_entries: bool


class Opener:
    """Opens the trees of partitions, and keeps some for the partitions that come next.

    What is kept belongs to this object, and is not pickled.

    Parameters
    ----------
    allow_missing : bool
        Whether a file without the tree gives no entries.
    storage_options : mapping, optional
        Options for fsspec.
    """

    def __init__(self, allow_missing: bool, storage_options: Mapping[str, Any] | None) -> None:
        self._arguments = (allow_missing, storage_options)
        self._kept = functools.lru_cache(KEPT_TREES)(self._open)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Opener, self._arguments)

    def _open(self, location: str | Tree, object_path: str | None) -> Tree | None:
        allow_missing, storage_options = self._arguments
        tree = open_tree(
            location, object_path, allow_missing=allow_missing, storage_options=storage_options
        )
        if isinstance(tree, RField):
            raise UnsupportedError(
                f"{location}:{object_path} is a field: give the RNTuple, and the field as "
                "filter_name"
            )
        return tree

    def open(self, location: str | Tree, object_path: str | None) -> Tree | None:
        """Open a tree; parameters as in `vroot.datasets.locations.open_tree`.

        Returns
        -------
        TTree, TBranch, RNTuple or None
            None if it is missing and may be.
        """
        return self._kept(location, object_path)

    def entries(self, partition: Partition) -> tuple[Tree | None, int, int]:
        """Open the tree of a partition.

        Parameters
        ----------
        partition : Partition
            What is read.

        Returns
        -------
        tuple
            The tree, and the half-open range of entries; None, 0, 0 for a missing tree.

        Raises
        ------
        ValueError
            If the entries are not in the tree.
        """
        location, object_path, start, stop, are_entries = partition
        tree = self.open(location, object_path)
        if tree is None:
            return None, 0, 0
        if are_entries:
            check_entries(tree, start, stop)
            return tree, start, stop
        length = math.ceil(tree.num_entries / stop)
        begin = min(start * length, tree.num_entries)
        return tree, begin, min(begin + length, tree.num_entries)


def object_path_of(tree: Tree) -> str:
    """Path of a tree in its file, with its cycle."""
    return tree.ntuple.object_path if isinstance(tree, HasFields) else tree.object_path


def check_entries(tree: Tree, start: int, stop: int) -> None:
    """Check that a range of entries is in a tree.

    Raises
    ------
    ValueError
        If it is not.
    """
    entries = tree.num_entries
    if not (0 <= start <= entries and 0 <= stop <= entries):
        raise ValueError(
            f"the step from {start} to {stop} in 'files' is out of bounds of "
            f"{object_path_of(tree)}, which has {entries} entries\nin file {tree.file.file_path}"
        )


@dataclass(frozen=True, eq=False)
class Executors:
    """What decodes the baskets or pages, if not threads that each read starts.

    Parameters
    ----------
    decompression, interpretation : Executor, optional
        The first one that is given is used.
    """

    decompression: Executor | None = None
    interpretation: Executor | None = None


@dataclass(frozen=True, eq=False)
class ReadNumpy:
    """Reads one branch of a partition.

    Parameters
    ----------
    opener : Opener
        Opens the tree.
    key : str
        The branch.
    dtype : numpy.dtype
        Of its items.
    executors : Executors
        See there.
    """

    opener: Opener
    key: str
    dtype: np.dtype[Any]
    executors: Executors

    def __call__(self, partition: Partition) -> Any:
        """Read a partition.

        Parameters
        ----------
        partition : Partition
            Which one.

        Returns
        -------
        ndarray
            One item an entry.
        """
        tree, start, stop = self.opener.entries(partition)
        if tree is None:
            base, shape = split_dtype(self.dtype)
            return np.zeros((0, *shape), base)
        branch: Any = tree[self.key]
        return branch.array(
            entry_start=start,
            entry_stop=stop,
            decompression_executor=self.executors.decompression,
            interpretation_executor=self.executors.interpretation,
            library="np",
        )


@dataclass(frozen=True, eq=False)
class ReadAwkward:
    """Reads some columns of a partition; what dask-awkward calls an IO function with projection.

    Parameters
    ----------
    opener : Opener
        Opens the tree.
    keys : frozenset of str
        The columns.
    mapping : FormMappingInfo
        How buffers are made of columns.
    mapped : ak.forms.Form, optional
        The form of the whole array, whose other columns are there but cannot be touched; that of
        `mapping`, which then is `vroot.datasets.dask.forms.Columns`, if not given.
    options : dict
        What the mapping is told: ``ak_add_doc``.
    executors : Executors
        See there.
    errors : tuple of exception types, optional
        What makes a partition empty, and is reported; there are no reports if not given.
    """

    opener: Opener
    keys: frozenset[str]
    mapping: FormMappingInfo | Columns
    mapped: ak.forms.Form | None
    options: dict[str, Any]
    executors: Executors
    errors: tuple[type[BaseException], ...] | None

    @property
    def form(self) -> ak.forms.Form:
        """The form of the whole array."""
        return self.mapping.form if isinstance(self.mapping, Columns) else self.mapped

    def __call__(self, partition: Partition) -> Any:
        """Read a partition.

        Parameters
        ----------
        partition : Partition
            Which one.

        Returns
        -------
        ak.Array, or tuple of ak.Array and ak.Array
            One record an entry; and a report of one record, if there are reports.
        """
        if self.errors is None:
            return self._read(partition)[0]
        call_time, begin = time.time_ns(), time.monotonic()
        try:
            array, counters = self._read(partition)
        except self.errors as err:
            failure = {
                "call_time": call_time,
                "exception": type(err).__name__,
                "message": str(err),
                "fqdn": socket.getfqdn(),
                "hostname": socket.gethostname(),
            }
            return self.mock_empty(), _report(partition, failure)
        duration = time.monotonic() - begin
        return array, _report(partition, {"duration": duration, "performance_counters": counters})

    def _read(self, partition: Partition) -> tuple[ak.Array, dict[str, int]]:
        tree, start, stop = self.opener.entries(partition)
        if tree is None:
            return self.mock_empty(), dataclasses.asdict(PerformanceCounters())
        array = self._fill(tree, start, stop)
        return array, dataclasses.asdict(tree.file.fetcher.counters)

    def _fill(self, tree: Tree, start: int, stop: int) -> ak.Array:
        """Make the array of buffers: loaded ones, replaced ones, and ones that are not there."""
        import awkward as ak

        executors = (self.executors.decompression, self.executors.interpretation)
        loaded = self.mapping.load_buffers(tree, self.keys, start, stop, *executors, self.options)
        replacements = getattr(self.mapping, "buffer_replacements", None)
        nplike = ak.contents.EmptyArray().backend.nplike
        buffers: dict[str, Any] = {}
        expected = self.form.expected_from_buffers(buffer_key=self.mapping.buffer_key)
        for name, dtype in expected.items():
            columns = frozenset(self.mapping.keys_for_buffer_keys(frozenset({name})))
            if columns <= self.keys:
                buffers[name] = loaded[name]
            elif replacements is not None:
                buffers[name] = replacements(tree, columns, start, stop, *executors, self.options)[
                    name
                ]
            else:
                buffers[name] = ak.typetracer.PlaceholderArray(
                    nplike=nplike, shape=(ak.typetracer.unknown_length,), dtype=dtype
                )
        return ak.from_buffers(
            self.form,
            stop - start,
            buffers,
            buffer_key=self.mapping.buffer_key,
            behavior=self.mapping.behavior,
        )

    # --- what dask-awkward asks for

    @property
    def return_report(self) -> bool:
        """Whether calls give a report too."""
        return self.errors is not None

    def mock(self) -> ak.Array:
        """Give an array that has a type and no data."""
        import awkward as ak

        return ak.typetracer.typetracer_from_form(
            self.form, highlevel=True, behavior=self.mapping.behavior
        )

    def mock_empty(self, backend: str = "cpu") -> ak.Array:
        """Give an array without entries."""
        import awkward as ak

        return ak.to_backend(
            self.form.length_zero_array(highlevel=False),
            backend=backend,
            highlevel=True,
            behavior=self.mapping.behavior,
        )

    def prepare_for_projection(self) -> tuple[ak.Array, Any, Any]:
        """Give an array without data that notes what is touched, its notes, and the form's parts.

        Returns
        -------
        tuple
            Array, report, and the state that `necessary_columns` is handed.
        """
        import awkward as ak
        from dask_awkward.lib.utils import trace_form_structure

        buffer_key = self.mapping.buffer_key
        meta, report = ak.typetracer.typetracer_with_report(
            self.form, highlevel=True, behavior=self.mapping.behavior, buffer_key=buffer_key
        )
        return meta, report, trace_form_structure(self.form, buffer_key=buffer_key)

    def necessary_columns(self, *, report: Any, state: Any) -> frozenset[str]:
        """Say which columns are needed for what was touched.

        Parameters
        ----------
        report, state
            What `prepare_for_projection` gave.

        Returns
        -------
        frozenset of str
            Names of branches, or of top-level fields.
        """
        from dask_awkward.lib.utils import buffer_keys_required_to_compute_shapes

        touched = {
            *report.data_touched,
            *buffer_keys_required_to_compute_shapes(
                self.mapping.parse_buffer_key,
                report.shape_touched,
                state["form_key_to_parent_form_key"],
                state["form_key_to_buffer_keys"],
            ),
        }
        return frozenset(self.mapping.keys_for_buffer_keys(frozenset(touched))) & self.keys

    def project(self, *, report: Any, state: Any) -> Self:
        """Leave out the columns that were not touched; parameters as in `necessary_columns`."""
        return self.project_manually(self.necessary_columns(report=report, state=state))

    def project_manually(self, columns: frozenset[str]) -> Self:
        """Read these columns only."""
        return dataclasses.replace(self, keys=frozenset(columns))


def _report(partition: Partition, outcome: Mapping[str, Any]) -> ak.Array:
    """One record, with the fields that uproot has."""
    import awkward as ak

    record = {
        "call_time": None,
        "duration": None,
        "performance_counters": None,
        "args": [repr(argument) for argument in partition],
        "kwargs": [],
        "exception": None,
        "message": None,
        "fqdn": None,
        "hostname": None,
    }
    return ak.Array([record | dict(outcome)])
