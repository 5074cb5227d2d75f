"""What an RNTuple is made of: fields, columns, clusters and pages, as a store holds them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.compression import STREAMS
from vroot.decode.pages import COLUMN_TYPES, ColumnType
from vroot.exceptions import ReferenceStoreError, UnsupportedError
from vroot.format.nodes import Runs, decode_runs
from vroot.metadata.interpretations import AsDtype
from vroot.metadata.specs import BLOCK_HEADER_BYTES, BasketTable, BranchSpec, IndexArray, Stored

__all__ = [
    "ColumnSpec",
    "FieldSpec",
    "NTupleData",
    "NTupleSchema",
    "Pages",
    "Role",
    "Slot",
    "column_path",
]

Role: TypeAlias = Literal["leaf", "collection", "record", "variant", "streamer"]

#: Deeper nesting than any C++ type that somebody writes; what walks the fields is recursive.
MAX_FIELD_DEPTH = 64
MAX_COUNT = 1 << 48
MAX_CLUSTERS = 1 << 20
#: Zeros that no page has, of a field that was added late: no bytes in the file vouch for them.
MAX_PADDING = 1 << 32


class FieldSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field, at any depth.

    Parameters
    ----------
    name, typename, description : str
        ROOT's words.
    role : str
        What it is structurally (ROOT: ``ENTupleStructure``); a "streamer" is a serialized object.
    parent : int, optional
        Number of the field that it is in; none for a top-level field. It comes before this one.
    repetition : int, optional
        How often a fixed-size array repeats its item.
    source : int, optional
        Number of the field whose columns a projected field shows.
    """

    name: str
    typename: str
    description: str = ""
    role: Role = "leaf"
    parent: int | None = None
    repetition: int | None = None
    source: int | None = None


class ColumnSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column on disk, and what its pages hold.

    Parameters
    ----------
    type : str
        A name in `vroot.decode.pages.COLUMN_TYPES`.
    field : int
        Number of the field that it belongs to.
    bits : int
        Of an element, where the type does not tell.
    representation : int
        Which of the alternative encodings of the field it belongs to.
    first_element : int
        Elements that were before the field was added to the schema: zeros without pages.
    value_range : tuple of float, optional
        Lowest and highest value of quantized reals.
    stored : str
        How the chunks are stored, see `vroot.metadata.specs.Stored`.
    elements : list of int or (int, int)
        Elements in each page, run-length encoded.
    pages : list, optional
        Pages in each cluster, run-length encoded; one if not given.
    suppressed : list, optional
        1 for each cluster in which another representation has the data, run-length encoded.
    unchecked : list, optional
        1 for each page that has no checksum, run-length encoded.
    """

    type: str
    field: int
    bits: int = 0
    representation: int = 0
    first_element: int = 0
    value_range: tuple[float, float] | None = None
    stored: Stored = "raw"
    elements: Runs = []
    pages: Runs | None = None
    suppressed: Runs | None = None
    unchecked: Runs | None = None


class NTupleData(msgspec.Struct, frozen=True, omit_defaults=True):
    """An RNTuple as attributes of its node.

    Parameters
    ----------
    fields : list of FieldSpec
        All of them, in the order of ROOT's field numbers.
    columns : list of ColumnSpec
        All of them, in the order of ROOT's column numbers.
    clusters : list of int or (int, int)
        Entries in each cluster, run-length encoded.
    description : str
        ROOT's words.
    name : str
        The name in its own header, if that is not the name of its key.
    """

    fields: list[FieldSpec]
    columns: list[ColumnSpec]
    clusters: Runs
    description: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class Pages:
    """The pages of one column.

    Parameters
    ----------
    elements : ndarray of int64, shape (pages,)
        Elements in each.
    checked : ndarray of bool, shape (pages,)
        Whether a checksum follows the page.
    bounds : ndarray of int64, shape (clusters + 1,)
        The pages of a cluster are those between its bounds.
    suppressed : ndarray of bool, shape (clusters,)
        Whether another representation has the data of a cluster.
    """

    elements: IndexArray
    checked: npt.NDArray[np.bool_]
    bounds: IndexArray
    suppressed: npt.NDArray[np.bool_]

    @cached_property
    def counts(self) -> IndexArray:
        """Elements in each cluster, shape (clusters,)."""
        edges = np.zeros(self.elements.size + 1, np.int64)
        np.cumsum(self.elements, out=edges[1:])
        return np.diff(edges[self.bounds])


class Slot(NamedTuple):
    """What the columns of all representations of a field stand for.

    Parameters
    ----------
    field : int
        Number of the field.
    ordinal : int
        Which column of the field: 0, or 1 for the characters of a string.
    """

    field: int
    ordinal: int


class NTupleSchema:
    """Fields and columns, checked, and how their elements belong together.

    Parameters
    ----------
    data : dict
        `NTupleData` as plain data.

    Raises
    ------
    ReferenceStoreError
        If the data are malformed or contradict themselves.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        try:
            self.data = msgspec.convert(data, NTupleData)
            entries = decode_runs(self.data.clusters)
            _check_counts("entries of a cluster", entries, MAX_CLUSTERS)
            self._check_fields()
        except (ValueError, OverflowError) as err:
            raise ReferenceStoreError(f"the schema of the RNTuple: {err}") from err
        self.fields = self.data.fields
        self.columns = self.data.columns
        #: Entry numbers where the clusters begin and end.
        self.edges = np.zeros(entries.size + 1, np.int64)
        np.cumsum(entries, out=self.edges[1:])
        self._pages: dict[int, Pages] = {}
        self._counts: dict[Slot, IndexArray] = {}

    def _check_fields(self) -> None:
        depths: list[int] = []
        for i, field in enumerate(self.data.fields):
            if field.parent is not None and not 0 <= field.parent < i:
                raise ValueError(f"field {i} is in field {field.parent}, which does not precede it")
            if field.source is not None:
                self._check_projected(i, field)
            if field.repetition is not None and not 0 <= field.repetition < MAX_COUNT:
                raise ValueError(f"field {i} repeats its item {field.repetition} times")
            depths.append(0 if field.parent is None else depths[field.parent] + 1)
            if depths[i] > MAX_FIELD_DEPTH:
                raise ValueError(f"field {i} is more than {MAX_FIELD_DEPTH} fields deep")
        for i, column in enumerate(self.data.columns):
            if not 0 <= column.field < len(self.data.fields):
                raise ValueError(f"column {i} is of field {column.field}, which does not exist")
            if not 0 <= column.first_element < MAX_COUNT:
                raise ValueError(f"column {i} begins with element {column.first_element}")

    def _check_projected(self, i: int, field: FieldSpec) -> None:
        fields, source, parent = self.data.fields, field.source, field.parent
        if source is None or not 0 <= source < len(fields) or fields[source].source is not None:
            raise ValueError(f"field {i} shows field {source}, which is not a field with columns")
        if parent is not None and fields[parent].source is None:
            raise ValueError(f"field {i} shows field {source}, but is in field {parent}")

    # --- fields

    @cached_property
    def children(self) -> list[list[int]]:
        """Numbers of the fields in each field."""
        children: list[list[int]] = [[] for _ in self.fields]
        for i, field in enumerate(self.fields):
            if field.parent is not None:
                children[field.parent].append(i)
        return children

    @cached_property
    def _representations(self) -> dict[int, dict[int, list[int]]]:
        """Numbers of the columns of each field, by representation."""
        found: dict[int, dict[int, list[int]]] = {}
        for i, column in enumerate(self.columns):
            found.setdefault(column.field, {}).setdefault(column.representation, []).append(i)
        return found

    def physical(self, field: int) -> int:
        """Number of the field whose columns a field shows: its own unless it is projected."""
        source = self.fields[field].source
        return field if source is None else source

    def columns_of(self, field: int) -> list[int]:
        """Numbers of the columns of a physical field in its first representation."""
        return self._representations.get(field, {}).get(0, [])

    def slot(self, column: int) -> Slot:
        """Which slot a column of the first representation stands for."""
        field = self.columns[column].field
        return Slot(field, self._representations[field][0].index(column))

    def alternatives(self, slot: Slot) -> list[int]:
        """Numbers of the columns of a slot, one a representation."""
        representations = self._representations.get(slot.field, {})
        return [
            columns[slot.ordinal]
            for _, columns in sorted(representations.items())
            if slot.ordinal < len(columns)
        ]

    # --- columns

    def column_type(self, column: int) -> ColumnType:
        """How the elements of a column are packed.

        Raises
        ------
        UnsupportedError
            If this version does not know the type.
        """
        name = self.columns[column].type
        if name not in COLUMN_TYPES:
            raise UnsupportedError(f"column {column} has the unknown type {name!r}")
        return COLUMN_TYPES[name]

    def bits(self, column: int) -> int:
        """Bits of an element of a column."""
        spec = self.columns[column]
        known = COLUMN_TYPES.get(spec.type)
        bits = spec.bits or (known.bits if known is not None else 0)
        if not 0 < bits <= 128:
            raise ReferenceStoreError(f"column {column} has elements of {bits} bits")
        return bits

    def dtype(self, column: int) -> np.dtype[Any]:
        """Type of the elements of a column's slot: holds those of all representations."""
        slot = self.slot(column)
        dtypes = [self.column_type(each).dtype for each in self.alternatives(slot)]
        if len(set(dtypes)) == 1:
            return dtypes[0]
        try:
            return np.result_type(*dtypes)
        except TypeError as err:
            raise ReferenceStoreError(f"the representations of column {column}: {err}") from err

    def pages(self, column: int) -> Pages:
        """The pages of a column.

        Raises
        ------
        ReferenceStoreError
            If they are malformed or contradict each other.
        """
        if column not in self._pages:
            try:
                self._pages[column] = self._decode_pages(self.columns[column])
            except (ValueError, OverflowError) as err:
                raise ReferenceStoreError(f"the pages of column {column}: {err}") from err
        return self._pages[column]

    def _decode_pages(self, spec: ColumnSpec) -> Pages:
        clusters = self.edges.size - 1
        elements = decode_runs(spec.elements)
        pages = np.ones(clusters, np.int64) if spec.pages is None else decode_runs(spec.pages)
        suppressed = _flags(spec.suppressed, clusters)
        unchecked = _flags(spec.unchecked, elements.size)
        _check_counts("elements of a page", elements)
        _check_counts("pages of a cluster", pages)
        if elements.size and elements.min() == 0:
            raise ValueError(f"page {int(elements.argmin())} has no elements")
        if pages.size != clusters or pages.sum() != elements.size:
            raise ValueError(
                f"{pages.size} clusters have {pages.sum()} pages; there are {clusters} and "
                f"{elements.size}"
            )
        bounds = np.zeros(clusters + 1, np.int64)
        np.cumsum(pages, out=bounds[1:])
        return Pages(elements, ~unchecked, bounds, suppressed)

    def chunks(self, column: int) -> BranchSpec:
        """The pages of a column as what they are in the store: baskets of a branch of bytes."""
        spec = self.columns[column]
        sizes = (self.pages(column).elements * self.bits(column) + 7) // 8
        table = BasketTable(sizes, sizes, sizes, spec.stored)
        total = int(sizes.sum())
        return BranchSpec(spec.type, "", "", "", total, AsDtype(np.dtype(np.uint8)), table)

    def header_bytes(self, column: int) -> int:
        """Length of the block header that is before each reference of a column, but not in it."""
        return BLOCK_HEADER_BYTES if self.columns[column].stored in STREAMS else 0

    # --- elements

    def whole_clusters(self, start: int, stop: int) -> tuple[int, int]:
        """Range of entries of the clusters that hold a range of entries, if only its beginning."""
        first = max(int(self.edges.searchsorted(start, side="right")) - 1, 0)
        last = max(int(self.edges.searchsorted(stop, side="left")), first)
        if last == first and last < self.edges.size - 1:
            last += 1
        return int(self.edges[first]), int(self.edges[last])

    def per_entry(self, slot: Slot) -> int | None:
        """Elements of a slot in an entry; None if it is in a collection or variant."""
        if slot.ordinal > 0:
            return None
        product = 1
        field: int | None = slot.field
        while field is not None:
            spec = self.fields[field]
            if field != slot.field and spec.role in ("collection", "variant"):
                return None
            product *= 1 if spec.repetition is None else spec.repetition
            field = spec.parent
        return product

    def active(self, slot: Slot) -> IndexArray:
        """Number of the column that has the data of each cluster, shape (clusters,)."""
        alternatives = self.alternatives(slot)
        first = np.full(self.edges.size - 1, -1, np.int64)
        for column in reversed(alternatives):
            first[~self.pages(column).suppressed] = column
        if (first < 0).any():
            raise ReferenceStoreError(
                f"all representations {alternatives} of field {slot.field} are suppressed in "
                f"cluster {int((first < 0).argmax())}"
            )
        return first

    def counts(self, slot: Slot) -> IndexArray:
        """Elements of a slot in each cluster, zeros before the first page included.

        Raises
        ------
        ReferenceStoreError
            If there are more or fewer than the entries need.
        """
        if slot not in self._counts:
            self._counts[slot] = self._count(slot)
        return self._counts[slot]

    def stored_counts(self, slot: Slot) -> IndexArray:
        """Elements of a slot in the pages of each cluster, shape (clusters,)."""
        active = self.active(slot)
        counts = np.zeros(active.size, np.int64)
        for column in np.unique(active).tolist():
            here = active == column
            counts[here] = self.pages(column).counts[here]
        return counts

    def _count(self, slot: Slot) -> IndexArray:
        counts = self.stored_counts(slot)
        per_entry = self.per_entry(slot)
        deferred = min(self.columns[each].first_element for each in self.alternatives(slot))
        if per_entry is None:
            if deferred:
                raise ReferenceStoreError(
                    f"field {slot.field} is in a collection, but begins with element {deferred}"
                )
            return counts
        if int(self.edges[-1]) * per_entry > MAX_COUNT:
            raise ReferenceStoreError(f"field {slot.field} has {per_entry} elements in an entry")
        edges = self.edges * per_entry
        wanted = np.diff(edges)
        if not np.array_equal(counts, wanted - np.clip(deferred - edges[:-1], 0, wanted)):
            raise ReferenceStoreError(
                f"field {slot.field} has {shorten(counts)} elements in the clusters, which have "
                f"{shorten(wanted)}, and begins with element {deferred}"
            )
        if (wanted - counts).sum() > MAX_PADDING:
            raise ReferenceStoreError(
                f"field {slot.field} begins with {deferred} elements without pages"
            )
        return wanted

    def field_counts(self, field: int) -> IndexArray | None:
        """Values of a field in each cluster; None if nothing tells, as for an empty struct."""
        physical = self.physical(field)
        repetition = self.fields[physical].repetition
        counts: IndexArray | None = None
        if self.columns_of(physical):
            counts = self.counts(Slot(physical, 0))
        else:
            below = (self.field_counts(child) for child in self.children[physical])
            counts = next((each for each in below if each is not None), None)
        if counts is None or repetition is None:
            return counts
        if repetition == 0 or (counts % repetition).any():
            return None
        return counts // repetition


def column_path(path: str, column: int) -> str:
    """Path of a column in the store, for an RNTuple at `path`."""
    return f"{path}/column-{column}"


def shorten(counts: IndexArray, most: int = 8) -> str:
    """Show numbers, but not too many."""
    listed = ", ".join(map(str, counts[:most].tolist()))
    return listed if counts.size <= most else f"{listed}, …"


def _flags(runs: Runs | None, size: int) -> npt.NDArray[np.bool_]:
    if runs is None:
        return np.zeros(size, np.bool_)
    flags = decode_runs(runs)
    if flags.size != size:
        raise ValueError(f"{flags.size} marks for {size}")
    marked: npt.NDArray[np.bool_] = flags != 0
    return marked


def _check_counts(what: str, counts: IndexArray, most: int | None = None) -> None:
    if most is not None and counts.size > most:
        raise ValueError(f"{what}: {counts.size} numbers, more than {most}")
    # As floats: the sum of huge integers could come out small.
    if counts.size and (counts.min() < 0 or counts.sum(dtype=np.float64) > MAX_COUNT):
        raise ValueError(
            f"{what}: {counts.min()} to {counts.max()}, {counts.sum(dtype=np.float64):g} in all"
        )
