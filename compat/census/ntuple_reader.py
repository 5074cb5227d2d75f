"""RNTuples as vroot reads them, compared with what uproot said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compat.census.records import BranchResult, FailureRecord, Status
from compat.census.verdict import NTUPLE, judge, result, tree_not_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compat.census.records import BranchRecord, RangeRecord, TreeRecord
    from compat.census.verdict import Reading

    Compare = Callable[[str, object, Callable[[], object]], list[str]]

__all__ = ["NTupleComparison"]


@dataclass(frozen=True)
class _Together:
    """All fields of an RNTuple, read together."""

    ntuple: Any

    def array(self, **options: Any) -> Any:
        return self.ntuple.arrays(**options)


@dataclass(frozen=True)
class NTupleComparison:
    """The comparison of RNTuples.

    Parameters
    ----------
    compare, compare_lists : callable
        Compare an attribute: its name, what is expected, and a function that gives it.
    read : callable
        Reads a range of entries of a field and compares it.
    failures : tuple of exception types
        What a defect of the reader could raise.
    """

    compare: Compare
    compare_lists: Compare
    read: Callable[[RangeRecord, Any], Reading]
    failures: tuple[type[Exception], ...]

    def compare_ntuple(self, record: TreeRecord, file: Any) -> Iterator[BranchResult]:
        """Compare one RNTuple, all of its fields together, and each field."""
        try:
            ntuple = file[record.key]
            items = list(ntuple.items())
        except self.failures as error:
            yield from tree_not_run(record, [f"the RNTuple raised {FailureRecord.of(error)}"])
            return
        differences = [
            *self.compare("num_entries", record.num_entries, lambda: ntuple.num_entries),
            *self.compare("number of fields", record.num_branches, lambda: len(ntuple.fields)),
            *self.compare("description", record.branches[0].title, lambda: ntuple.description),
            *self.compare_lists("keys", record.keys, ntuple.keys),
            *self.compare_lists(
                "typenames", record.typenames, lambda: list(ntuple.typenames().items())
            ),
        ]
        status = Status.DIFFERENT if differences else Status.IDENTICAL
        yield BranchResult(NTUPLE, status, record.key, details=tuple(differences))
        together, *fields = record.branches
        verdict = judge(together, [], [self.read(together.ranges[0], _Together(ntuple))])
        yield result(record, together, *verdict)
        for field in fields:
            (position,) = field.index_path
            if position >= len(items):
                yield result(record, field, Status.DIFFERENT, ("the field is missing",))
            else:
                yield result(record, field, *self._compare_field(field, *items[position]))

    def _compare_field(
        self, record: BranchRecord, path: str, field: Any
    ) -> tuple[Status, tuple[str, ...]]:
        differences = [
            *self.compare("path", record.name_path, lambda: path),
            *self.compare("name", record.name, lambda: field.name),
            *self.compare("typename", record.typename, lambda: field.typename),
            *self.compare("description", record.title, lambda: field.description),
            *self.compare("num_entries", record.num_entries, lambda: field.num_entries),
        ]
        whole = self.read(record.ranges[0], field)
        readings = [whole]
        if not (whole.refusal or whole.error or whole.crash):
            readings += [self.read(entries, field) for entries in record.ranges[1:]]
        return judge(record, differences, readings)
