"""What uproot says: the side of the comparison that knows the right answers.

It runs in a process of its own, under a limit on memory and one on the time for each branch:
some files lead uproot to allocate many gigabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import uproot

from compat.census.kinds import is_ntuple, is_tree, kind_of
from compat.census.limits import BRANCH_SECONDS, ORACLE_ERRORS, observe, time_limit
from compat.census.marks import NESTED_GROUPS, find_correction
from compat.census.ntuple_oracle import record_ntuple
from compat.census.ranges import RangeRecorder
from compat.census.records import BUFFERS, RECORD, BranchRecord, FileRecord, TreeRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["record_file"]


class Recorder:
    """Records one file.

    Parameters
    ----------
    path : Path
        The file.
    buffers : binary file
        Where the arrays' buffers go.
    """

    def __init__(self, path: Path, buffers: BinaryIO) -> None:
        self.path = path
        self.ranges = RangeRecorder(buffers)

    def record(self) -> FileRecord:
        """Record the file, all of its trees and all of their branches."""
        with open_alone(self.path) as file:
            classnames = list(file.iterclassnames(recursive=True, cycle=True))
            return FileRecord(
                name=self.path.name,
                keys=file.keys(recursive=True, cycle=True),
                classnames=classnames,
                trees=[
                    self.record_tree(key, file[key])
                    for key, classname in dict(classnames).items()
                    if is_tree(classname)
                ],
                ntuples=[
                    record_ntuple(self.ranges, key, file[key])
                    for key, classname in dict(classnames).items()
                    if is_ntuple(classname)
                ],
            )

    def record_tree(self, key: str, tree: Any) -> TreeRecord:
        """Record one tree and all of its branches."""
        return TreeRecord(
            key=key,
            num_entries=int(tree.num_entries),
            num_branches=len(tree.branches),
            keys=observe(tree.keys),
            typenames=observe(lambda: list(tree.typenames().items())),
            branches=list(self.record_branches(key, tree, (), ())),
        )

    def record_branches(
        self, tree_key: str, parent: Any, index_path: tuple[int, ...], names: tuple[str, ...]
    ) -> Iterator[BranchRecord]:
        """Record the branches below a tree or a branch, depth first."""
        for index, branch in enumerate(parent.branches):
            here, path = (*index_path, index), (*names, branch.name)
            yield self.record_branch(tree_key, branch, here, "/".join(path))
            yield from self.record_branches(tree_key, branch, here, path)

    def record_branch(
        self, tree_key: str, branch: Any, index_path: tuple[int, ...], name_path: str
    ) -> BranchRecord:
        """Record what one branch says about itself, and its arrays."""
        correction = find_correction(self.path.name, name_path)
        num_entries = int(branch.num_entries)
        interpretation = branch.interpretation
        entry_offsets = observe(lambda: [int(x) for x in branch.entry_offsets])
        # The attributes first: reading can change what an interpretation says of itself.
        record = BranchRecord(
            index_path=index_path,
            name=str(branch.name),
            name_path=name_path,
            kind=kind_of(interpretation),
            interpretation_class=type(interpretation).__name__,
            typename=observe(lambda: str(branch.typename)),
            interpretation=observe(lambda: repr(interpretation)),
            title=observe(lambda: str(branch.title)),
            num_entries=num_entries,
            num_baskets=observe(lambda: int(branch.num_baskets)),
            entry_offsets=entry_offsets,
            num_branches=len(branch.branches),
            ranges=[],
            correction=correction.reason if correction else "",
        )
        if correction is not None and correction.source:
            with open_alone(self.path.with_name(correction.source)) as other:
                ranges = self.ranges.record_ranges(
                    other[tree_key][name_path], num_entries, entry_offsets, None
                )
        else:
            ranges = self.ranges.record_ranges(branch, num_entries, entry_offsets, correction)
        if not record.correction and is_lost_group(branch):
            record = msgspec.structs.replace(record, correction=NESTED_GROUPS)
        return msgspec.structs.replace(record, ranges=ranges)


def open_alone(path: Path) -> Any:
    """Open a file as a fresh process would, without the classes of files that were open before."""
    return uproot.open(path, custom_classes=dict(uproot.classes))


def is_lost_group(branch: Any) -> bool:
    """Whether uproot loses track of the groups in a group, though it reads all their branches."""
    if type(branch.interpretation).__name__ != "AsGrouped":
        return False
    try:
        with time_limit(BRANCH_SECONDS):
            branch.array(entry_stop=0)
    except KeyError:
        return True
    except ORACLE_ERRORS:
        return False
    return False


def record_file(path: Path, folder: Path) -> FileRecord:
    """Record a file, with its arrays, in a folder.

    Parameters
    ----------
    path : Path
        The ROOT file.
    folder : Path
        An empty folder.

    Returns
    -------
    FileRecord
        What was written.
    """
    with (folder / BUFFERS).open("wb") as buffers:
        record = Recorder(path, buffers).record()
    (folder / RECORD).write_bytes(msgspec.msgpack.encode(record))
    return record
