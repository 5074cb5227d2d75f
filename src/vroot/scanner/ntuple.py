"""RNTuples: their schema and the places of their pages; no page is read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import xxhash
from uproot.models.RNTuple import PageLink

from vroot.decode.compression import ALGORITHMS
from vroot.decode.pages import CHECKSUM_BYTES, COLUMN_TYPES, packed_bytes
from vroot.exceptions import DeserializationError
from vroot.format.interpretations import JSON
from vroot.format.nodes import Runs, encode_node, encode_runs
from vroot.format.ntuples import ColumnSpec, FieldSpec, NTupleData, NTupleSchema, Role, column_path
from vroot.format.zarr_arrays import group_document, page_items
from vroot.metadata.specs import BLOCK_HEADER_BYTES, MAX_BLOCK_BYTES, Manifest, NTupleSpec, Stored

__all__ = ["ntuple_items"]

ROLES: tuple[Role, ...] = ("leaf", "collection", "record", "variant", "streamer")
NAMES = {column_type.number: name for name, column_type in COLUMN_TYPES.items()}
REPETITIVE = 1  # flag of a field
MAX_OFFSET = 1 << 62

#: By ROOT's number of the algorithm.
STREAMS = {each.number: each.stored for each in ALGORITHMS if each.stored is not None}


@dataclass(frozen=True)
class _Page:
    """One page of a column."""

    elements: int
    offset: int
    length: int
    checked: bool
    settings: int


def ntuple_items(ntuple: Any, path: str, key: tuple[str, str, int]) -> list[tuple[str, JSON]]:
    """Give the documents and the references of an RNTuple.

    Parameters
    ----------
    ntuple : uproot.models.RNTuple.Model_ROOT_3a3a_RNTuple
        The RNTuple.
    path : str
        Where it is in the hierarchy.
    key : tuple
        Name, title and cycle number of its key.

    Returns
    -------
    list of (str, JSON)
        Keys and values of the reference file.

    Raises
    ------
    DeserializationError
        If its page lists are damaged or contradict themselves.
    """
    name, title, cycle = key
    summaries, page_lists = _page_lists(ntuple)
    first = 0
    for number, summary in enumerate(summaries):
        if summary.num_first_entry != first:
            raise DeserializationError(
                f"cluster {number} begins with entry {summary.num_first_entry}, not {first}"
            )
        first += summary.num_entries
    columns = list(_columns(ntuple, page_lists))
    data = NTupleData(
        [_field(record, number) for number, record in enumerate(ntuple.field_records)],
        [spec for spec, _ in columns],
        _runs([summary.num_entries for summary in summaries]),
        ntuple.description,
        "" if ntuple.name == name else ntuple.name,
    )
    plain = msgspec.to_builtins(data)
    # What is written must be readable: the reader's own checks.
    schema = NTupleSchema(plain)
    spec = NTupleSpec(name, title, "ROOT::RNTuple", cycle, first, plain)
    items = [(f"{path}/zarr.json", group_document(encode_node(spec)))]
    for number, (_, pages) in enumerate(columns):
        items += _column_items(schema, number, pages, column_path(path, number))
    return items


def _page_lists(ntuple: Any) -> tuple[list[Any], list[Any]]:
    """Read the summaries and the page lists of all clusters, with their checksums checked."""
    summaries: list[Any] = []
    page_lists: list[Any] = []
    for record in ntuple.footer.cluster_group_records:
        link = record.page_list_link
        chunk, cursor = ntuple.read_locator(link.locator, link.env_uncomp_size)
        content = np.asarray(chunk.raw_data)
        envelope = PageLink().read(chunk, cursor, {})
        if xxhash.xxh3_64_intdigest(content[:-CHECKSUM_BYTES]) != envelope.checksum:
            raise DeserializationError(
                f"the checksum of the page list at offset {link.locator.offset} is wrong"
            )
        if envelope.header_checksum != ntuple.header.checksum:
            raise DeserializationError(
                f"the page list at offset {link.locator.offset} is of another RNTuple"
            )
        summaries += envelope.cluster_summaries
        page_lists += envelope.pagelinklist
    if len(summaries) != len(page_lists):
        raise DeserializationError(
            f"{len(summaries)} clusters have {len(page_lists)} lists of pages"
        )
    return summaries, page_lists


def _field(record: Any, number: int) -> FieldSpec:
    return FieldSpec(
        record.field_name,
        record.type_name,
        record.field_desc,
        ROLES[int(record.struct_role)],
        None if record.parent_field_id == number else int(record.parent_field_id),
        int(record.repetition) if record.flags & REPETITIVE else None,
        None if record.source_field_id is None else int(record.source_field_id),
    )


def _columns(ntuple: Any, page_lists: list[Any]) -> Iterator[tuple[ColumnSpec, list[_Page]]]:
    for number, record in enumerate(ntuple.column_records):
        # Clusters from before a column was added to the schema do not list it.
        lists = [clusters[number] if number < len(clusters) else None for clusters in page_lists]
        pages = [list(_pages(each)) for each in lists]
        flat = [page for cluster in pages for page in cluster]
        first_element, later = _first_element(record)
        suppressed = [int(later if each is None else each.suppressed) for each in lists]
        unchecked = [int(not page.checked) for page in flat]
        type_name = NAMES.get(record.type, f"{record.type:#04x}")
        fixed = COLUMN_TYPES[type_name].bits if type_name in COLUMN_TYPES else 0
        value_range = None
        if record.min_value is not None:
            value_range = (float(record.min_value), float(record.max_value))
            if not all(map(math.isfinite, value_range)):
                raise DeserializationError(f"column {number} has the value range {value_range}")
        spec = ColumnSpec(
            type_name,
            int(record.field_id),
            0 if record.nbits == fixed else int(record.nbits),
            int(record.repr_idx),
            first_element,
            value_range,
            _how_stored(flat, int(record.nbits)),
            _runs([page.elements for page in flat]),
            None if all(len(each) == 1 for each in pages) else _runs([len(p) for p in pages]),
            _runs(suppressed) if any(suppressed) else None,
            _runs(unchecked) if any(unchecked) else None,
        )
        yield spec, flat


def _first_element(record: Any) -> tuple[int, bool]:
    """Index of the first element of a column, and whether it is suppressed before it exists.

    A negative index is that of another representation of a field that was there before (ROOT's
    specification: "suppressed deferred columns").
    """
    index = int(record.first_element_index)
    return (index, False) if index < 1 << 63 else ((1 << 64) - index, True)


def _pages(page_list: Any) -> Iterator[_Page]:
    """Pages of one column in one cluster; those without elements are left out."""
    if page_list is None:
        return
    for page in page_list.pages:
        locator = page.locator
        offset, length = int(locator.offset), int(locator.num_bytes)
        if not 0 <= offset <= MAX_OFFSET - length or length < 0:
            raise DeserializationError(f"a page has offset {offset} and {length} bytes")
        if page.num_elements:
            checked, settings = bool(page.has_checksum), page_list.compression_settings or 0
            yield _Page(int(page.num_elements), offset, length, checked, int(settings))


def _how_stored(pages: list[_Page], bits: int) -> Stored:
    """How the pages of a column are stored: the bare stream where each is one block of it.

    A page shorter than a block of the largest size is one block (ROOT:
    ``RNTupleCompressor::Zip``). Its algorithm is what the settings of the column say; the reader
    goes by the header of the block.
    """
    raw = [page.length == packed_bytes(page.elements, bits) for page in pages]
    if all(raw):
        return "raw"
    if any(raw):
        return "mixed"
    single = all(
        packed_bytes(page.elements, bits) <= MAX_BLOCK_BYTES and page.length > BLOCK_HEADER_BYTES
        for page in pages
    )
    algorithms = {STREAMS.get(page.settings // 100) for page in pages}
    stream = algorithms.pop() if single and len(algorithms) == 1 else None
    return stream or "blocks"


def _runs(values: list[int]) -> Runs:
    return encode_runs(np.array(values, np.int64))


def _column_items(
    schema: NTupleSchema, number: int, pages: list[_Page], path: str
) -> Iterator[tuple[str, JSON]]:
    spec = schema.chunks(number)
    header = schema.header_bytes(number)
    manifest = Manifest(
        spec.baskets,
        np.zeros(len(pages), np.int64),
        np.array([page.offset + header for page in pages], np.int64),
        np.array([page.length - header for page in pages], np.int64),
    )
    return page_items(path, spec, manifest)
