"""What the processes of the comparison tell one another."""

from __future__ import annotations

import enum

import msgspec

__all__ = [
    "BUFFERS",
    "RECORD",
    "ArrayRecord",
    "BranchRecord",
    "BranchResult",
    "BufferRecord",
    "FailureRecord",
    "FileRecord",
    "FileResult",
    "RangeRecord",
    "Status",
    "TreeRecord",
]

# The two files of a record: a FileRecord as msgpack, and the buffers that it refers to.
RECORD = "record.msgpack"
BUFFERS = "buffers.bin"


class Status(enum.StrEnum):
    """What became of one branch, tree or file."""

    IDENTICAL = "identical"
    UPROOT_WRONG = "uproot wrong"
    NOT_YET = "not yet"
    UPROOT_CANNOT = "uproot cannot"
    DIFFERENT = "different"
    REFUSED = "refused"
    ONLY_VROOT = "only vroot"
    UNEXPECTED = "unexpected pass"
    NOT_RUN = "not run"

    @property
    def passed(self) -> bool:
        """Whether this is a result that the comparison accepts."""
        return self in PASSING


PASSING = frozenset({Status.IDENTICAL, Status.UPROOT_WRONG, Status.NOT_YET, Status.UPROOT_CANNOT})


class FailureRecord(msgspec.Struct, frozen=True, tag_field="is", tag="failure"):
    """An exception, by its type and the first line of its message."""

    type: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> FailureRecord:
        """Describe an exception."""
        lines = str(error).strip().splitlines()
        return cls(type(error).__name__, lines[0][:500] if lines else "")

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class BufferRecord(msgspec.Struct, frozen=True, array_like=True):
    """Where one buffer of a packed array is in the dump."""

    name: str
    dtype: str
    offset_bytes: int
    num_items: int


class ArrayRecord(msgspec.Struct, frozen=True, tag_field="is", tag="array"):
    """An Awkward Array: its type and form as they were, its buffers after packing."""

    type: str
    form: str
    length: int
    buffers: list[BufferRecord]


class RangeRecord(msgspec.Struct, frozen=True):
    """What one read of a branch gave, from entry `start` up to `stop`."""

    start: int
    stop: int
    outcome: ArrayRecord | FailureRecord


class BranchRecord(msgspec.Struct, frozen=True):
    """One branch as uproot sees it.

    `index_path` leads to it from the tree, since names are not unique. `correction` says why
    the expected arrays are not what uproot returned, and is empty where they are.
    """

    index_path: tuple[int, ...]
    name: str
    name_path: str
    kind: str
    interpretation_class: str
    typename: str | FailureRecord
    interpretation: str | FailureRecord
    title: str | FailureRecord
    num_entries: int
    num_baskets: int | FailureRecord
    entry_offsets: list[int] | FailureRecord
    num_branches: int
    ranges: list[RangeRecord]
    correction: str = ""


class TreeRecord(msgspec.Struct, frozen=True):
    """One tree as uproot sees it; its branches depth first."""

    key: str
    num_entries: int
    num_branches: int
    keys: list[str] | FailureRecord
    typenames: list[tuple[str, str]] | FailureRecord
    branches: list[BranchRecord]


class FileRecord(msgspec.Struct, frozen=True):
    """One file as uproot sees it; RNTuples are recorded like trees, fields like branches."""

    name: str
    keys: list[str]
    classnames: list[tuple[str, str]]
    trees: list[TreeRecord]
    ntuples: list[TreeRecord] = []


class BranchResult(msgspec.Struct, frozen=True):
    """The verdict on one branch; `tree` or `branch` is empty for a whole file or tree."""

    kind: str
    status: Status
    tree: str = ""
    branch: str = ""
    index_path: tuple[int, ...] = ()
    details: tuple[str, ...] = ()
    correction: str = ""


class FileResult(msgspec.Struct, frozen=True):
    """The verdicts on one file, and how long each of its steps took."""

    name: str
    results: list[BranchResult]
    seconds: dict[str, float]
