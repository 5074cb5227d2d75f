"""What uproot says of RNTuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compat.census.records import BranchRecord, RangeRecord, TreeRecord

if TYPE_CHECKING:
    from compat.census.ranges import RangeRecorder

__all__ = ["FIELD_KIND", "record_ntuple"]

FIELD_KIND = "RNTuple field"
MAX_TOGETHER_ENTRIES = 100_000


@dataclass(frozen=True)
class Together:
    """All fields of an RNTuple, read together; what a field has, as far as it is recorded."""

    ntuple: Any

    def array(self, **options: Any) -> Any:
        """Read all fields."""
        return self.ntuple.arrays(**options)


def record_ntuple(recorder: RangeRecorder, key: str, ntuple: Any) -> TreeRecord:
    """Record an RNTuple: what it says of itself, all fields together, and each field.

    Parameters
    ----------
    recorder : RangeRecorder
        Records ranges of entries.
    key : str
        The key of the RNTuple in the file.
    ntuple : RNTuple
        The RNTuple.

    Returns
    -------
    TreeRecord
        All fields, and those in them, in the order of its keys; the first stands for all.
    """
    num_entries = int(ntuple.num_entries)
    clusters = [int(summary.num_first_entry) for summary in ntuple.cluster_summaries]
    borders = [*clusters, num_entries]
    stop = min(num_entries, MAX_TOGETHER_ENTRIES)
    together = recorder.record_range(Together(ntuple), 0, stop, None)
    fields = [_field("", ntuple.description, "", num_entries, (), [together])]
    for position, (path, field) in enumerate(ntuple.items()):
        ranges = recorder.record_ranges(field, num_entries, borders, None)
        fields.append(
            _field(path, field.description, field.typename, num_entries, (position,), ranges)
        )
    return TreeRecord(
        key=key,
        num_entries=num_entries,
        num_branches=len(ntuple.fields),
        keys=ntuple.keys(),
        typenames=list(ntuple.typenames().items()),
        branches=fields,
    )


def _field(
    path: str,
    description: str,
    typename: str,
    num_entries: int,
    index_path: tuple[int, ...],
    ranges: list[RangeRecord],
) -> BranchRecord:
    return BranchRecord(
        index_path=index_path,
        name=path.rpartition(".")[2],
        name_path=path,
        kind=FIELD_KIND,
        interpretation_class="",
        typename=typename,
        interpretation="",
        title=description,
        num_entries=num_entries,
        num_baskets=0,
        entry_offsets=[],
        num_branches=0,
        ranges=ranges,
    )
