"""What uproot says: the side of the comparison that knows the right answers.

It runs in a process of its own, under a limit on memory and one on the time for each branch:
some files lead uproot to allocate many gigabytes.
"""

from __future__ import annotations

import itertools
import re
import signal
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import awkward as ak
import msgspec
import numpy as np
import uproot
from uproot.deserialization import DeserializationError
from uproot.interpretation.grouped import AsGrouped
from uproot.interpretation.identify import UnknownInterpretation
from uproot.interpretation.jagged import AsJagged
from uproot.interpretation.numerical import AsDtype, TruncatedNumerical
from uproot.interpretation.objects import (
    AsObjects,
    AsStridedObjects,
    CannotBeAwkward,
    CannotBeForth,
    CannotBeStrided,
)
from uproot.interpretation.strings import AsStrings

from compat.census.arrays import take_apart
from compat.census.marks import NESTED_GROUPS, Correction, find_correction
from compat.census.ntuple_oracle import is_ntuple, record_ntuple
from compat.census.records import (
    BUFFERS,
    RECORD,
    ArrayRecord,
    BranchRecord,
    BufferRecord,
    FailureRecord,
    FileRecord,
    RangeRecord,
    TreeRecord,
)

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["record_file"]

BRANCH_SECONDS = 20.0
REFERENCED = 1 << 4  # TObject::kIsReferenced

T = TypeVar("T")


class TimeLimitError(BaseException):
    """Reading a branch took too long.

    Not an Exception, so that nothing on its way through uproot handles it.
    """


# uproot has no base class for its errors, and on files that it misreads nearly anything can
# come out of numpy, struct or its own code. Whatever is not in this list fails the whole file.
ORACLE_ERRORS: tuple[type[BaseException], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    CannotBeAwkward,
    CannotBeForth,
    CannotBeStrided,
    DeserializationError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TimeLimitError,
    TypeError,
    UnknownInterpretation,
    ValueError,
    struct.error,
    zlib.error,
)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitError when the block takes longer than this."""

    def expire(_signal: int, _frame: types.FrameType | None) -> None:
        raise TimeLimitError(f"more than {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def is_tree(classname: str) -> bool:
    """Whether objects of a class are trees with branches."""
    return classname in ("TTree", "TNtuple", "TNtupleD")


def kind_of(interpretation: Any) -> str:
    """Name the kind of an interpretation, as the census lists it."""
    match interpretation:
        case UnknownInterpretation():
            return "Unknown"
        case AsGrouped():
            return "AsGrouped"
        case AsObjects():
            return "AsObjects"
        case AsStrings():
            if interpretation.length_bytes != "1-5":
                return f"AsStrings, length_bytes={interpretation.length_bytes}"
            return f"AsStrings{header_suffix(interpretation)}"
        case TruncatedNumerical():
            return "AsDouble32/AsFloat16"
        case AsStridedObjects():
            return "AsStridedObjects"
        case AsDtype():
            if interpretation.from_dtype.base.names is not None:
                return "AsDtype struct"
            return "AsDtype array" if interpretation.inner_shape else "AsDtype scalar"
        case AsJagged():
            return jagged_kind(interpretation)
    return type(interpretation).__name__


def jagged_kind(interpretation: Any) -> str:
    """Name the kind of a jagged interpretation."""
    content = kind_of(interpretation.content)
    if content == "AsDouble32/AsFloat16":
        return content
    if content == "AsStridedObjects":
        return "AsJagged(AsStridedObjects)"
    if content == "AsDtype scalar":
        content = "AsDtype"
    return f"AsJagged({content}){header_suffix(interpretation)}"


def header_suffix(interpretation: Any) -> str:
    """Say how many bytes stand before each entry's items, if any do."""
    size = interpretation.header_bytes
    return f", header_bytes={size}" if size else ""


def sub_ranges(entry_offsets: list[int]) -> list[tuple[int, int]]:
    """Choose two entry ranges that cut baskets.

    Parameters
    ----------
    entry_offsets : list of int
        Borders of the baskets, in entries.

    Returns
    -------
    list of (int, int)
        One range that begins inside the first basket and ends inside the last, and a short
        one across a border of baskets or, if there is none, inside the basket. Ranges that would be
        the same as another, or as all entries, are left out.
    """
    borders = sorted(set(entry_offsets))
    if len(borders) < 2:
        return []
    first_size, last_size = borders[1] - borders[0], borders[-1] - borders[-2]
    ranges = {(borders[0] + (first_size + 1) // 3, borders[-1] - last_size // 3)}
    if len(borders) > 2:
        middle = borders[len(borders) // 2]
        ranges.add((middle - 1, middle + 1))
    else:
        middle = (borders[0] + borders[1]) // 2
        ranges.add((middle, middle + 1))
    return sorted(ranges - {(borders[0], borders[-1])})


def observe(look: Callable[[], T]) -> T | FailureRecord:
    """Return what a look at something gives, or a record of why it cannot be had."""
    try:
        return look()
    except ORACLE_ERRORS as error:
        return FailureRecord.of(error)


def byteswapped(array: Any, fields: str) -> Any:
    """Swap the bytes of the numbers in the fields whose names match, to any depth.

    Parameters
    ----------
    array : ak.Array
        An array of records.
    fields : str
        A regular expression for whole names of fields, at any depth.

    Returns
    -------
    ak.Array
        The array with those numbers swapped; its form is the same.
    """

    def swap(layout: Any, **_: object) -> Any:
        if not layout.is_numpy:
            return None
        return ak.contents.NumpyArray(layout.data.byteswap(), parameters=layout.parameters)

    def choose(layout: Any, **_: object) -> Any:
        if not layout.is_record:
            return None
        contents = [
            ak.transform(swap if re.fullmatch(fields, name) else choose, content, highlevel=False)
            for name, content in zip(layout.fields, layout.contents, strict=True)
        ]
        return ak.contents.RecordArray(
            contents, layout.fields, length=layout.length, parameters=layout.parameters
        )

    return ak.transform(choose, array)


def object_bits(branch: Any) -> Any:
    """Read the bits of TObjects, and skip the process number that follows some of them.

    Parameters
    ----------
    branch : uproot.TBranch
        A branch that has any number of them an entry.

    Returns
    -------
    ak.Array
        The bits of all entries.
    """
    entries = []
    for number in range(branch.num_baskets):
        basket = branch.basket(number)
        data = basket.data.tobytes()
        for begin, end in itertools.pairwise(basket.byte_offsets.tolist()):
            bits, position = [], begin
            while position < end:
                bits.append(int.from_bytes(data[position : position + 4], "big"))
                position += 6 if bits[-1] & REFERENCED else 4
            entries.append(bits)
    flat = np.array([bit for bits in entries for bit in bits], np.uint32)
    return ak.unflatten(flat, [len(bits) for bits in entries])


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
        self.buffers = buffers

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
                    record_ntuple(self, key, file[key])
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
                ranges = self.record_ranges(
                    other[tree_key][name_path], num_entries, entry_offsets, None
                )
        else:
            ranges = self.record_ranges(branch, num_entries, entry_offsets, correction)
        if not record.correction and is_lost_group(branch):
            record = msgspec.structs.replace(record, correction=NESTED_GROUPS)
        return msgspec.structs.replace(record, ranges=ranges)

    def record_ranges(
        self,
        branch: Any,
        num_entries: int,
        entry_offsets: list[int] | FailureRecord,
        correction: Correction | None,
    ) -> list[RangeRecord]:
        """Record a branch's arrays: all entries and, if uproot can read those, two parts."""
        whole = self.record_range(branch, 0, num_entries, correction)
        ranges = [whole]
        if isinstance(whole.outcome, ArrayRecord) and isinstance(entry_offsets, list):
            ranges += [
                self.record_range(branch, start, stop, correction)
                for start, stop in sub_ranges(entry_offsets)
            ]
        return ranges

    def record_range(
        self, branch: Any, start: int, stop: int, correction: Correction | None
    ) -> RangeRecord:
        """Read one range of entries and dump the array."""
        try:
            with time_limit(BRANCH_SECONDS):
                if correction is not None and correction.bits:
                    array = object_bits(branch)[start:stop]
                else:
                    array = read(branch, start, stop)
                if correction is not None and correction.byteswap:
                    array = byteswapped(array, correction.byteswap)
                parts = take_apart(array)
        except ORACLE_ERRORS as error:
            return RangeRecord(start, stop, FailureRecord.of(error))
        buffers = [self.dump(name, buffer) for name, buffer in parts.buffers.items()]
        return RangeRecord(start, stop, ArrayRecord(parts.type, parts.form, parts.length, buffers))

    def dump(self, name: str, buffer: Any) -> BufferRecord:
        """Append one buffer to the dump, on a border of 16 bytes."""
        self.buffers.write(bytes(-self.buffers.tell() % 16))
        offset_bytes = self.buffers.tell()
        self.buffers.write(np.ascontiguousarray(buffer).tobytes())
        return BufferRecord(name, buffer.dtype.str, offset_bytes, buffer.size)


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


def read(branch: Any, start: int, stop: int) -> Any:
    """Read a range of entries; a group that uproot loses track of is put together here."""
    try:
        return branch.array(entry_start=start, entry_stop=stop, library="ak")
    except KeyError:
        if type(branch.interpretation).__name__ != "AsGrouped":
            raise
    children = {child.name: branch[child.name] for child in branch.branches}
    return ak.Array({name: read(child, start, stop) for name, child in children.items()})


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
