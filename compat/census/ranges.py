"""What uproot reads of ranges of entries, with the arrays' buffers."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import awkward as ak
import numpy as np
import uproot

from compat.census.arrays import take_apart
from compat.census.limits import BRANCH_SECONDS, ORACLE_ERRORS, time_limit
from compat.census.records import ArrayRecord, BufferRecord, FailureRecord, RangeRecord

if TYPE_CHECKING:
    from compat.census.marks import Correction

__all__ = ["RangeRecorder", "byteswapped", "sub_ranges"]

REFERENCED = 1 << 4  # TObject::kIsReferenced


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


def rescaled(array: Any, branch: Any, name: str, start: int, stop: int) -> Any:
    """Scale the 32-bit integers of a Double32_t as ROOT does.

    Parameters
    ----------
    array : ak.Array
        What uproot gives for the branch.
    branch : uproot.TBranch
        The branch, or a group that has it.
    name : str
        The name of the branch with the integers.
    start, stop : int
        The entries.

    Returns
    -------
    ak.Array
        The array with the right numbers.
    """
    packed = branch if branch.name == name else branch[name]
    low, high = packed.interpretation.low, packed.interpretation.high
    integers = packed.array(uproot.AsDtype(">u4"), entry_start=start, entry_stop=stop, library="np")
    right = integers / (0xFFFFFFFF / (high - low)) + low
    if packed is branch:
        return ak.Array(right)
    layout = array.layout
    contents = [
        ak.contents.NumpyArray(right) if field == name else content
        for field, content in zip(layout.fields, layout.contents, strict=True)
    ]
    return ak.Array(ak.contents.RecordArray(contents, layout.fields, parameters=layout.parameters))


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


class RangeRecorder:
    """Records ranges of entries of branches and fields.

    Parameters
    ----------
    buffers : binary file
        Where the arrays' buffers go.
    """

    def __init__(self, buffers: BinaryIO) -> None:
        self.buffers = buffers

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
                if correction is not None and correction.scaled:
                    array = rescaled(array, branch, correction.scaled, start, stop)
                if correction is not None and correction.byteswap:
                    array = byteswapped(array, correction.byteswap)
                parts = take_apart(array)
        except ORACLE_ERRORS as error:
            return RangeRecord(start, stop, FailureRecord.of(error))
        buffers = [self._dump(name, buffer) for name, buffer in parts.buffers.items()]
        return RangeRecord(start, stop, ArrayRecord(parts.type, parts.form, parts.length, buffers))

    def _dump(self, name: str, buffer: Any) -> BufferRecord:
        """Append one buffer to the dump, on a border of 16 bytes."""
        self.buffers.write(bytes(-self.buffers.tell() % 16))
        offset_bytes = self.buffers.tell()
        self.buffers.write(np.ascontiguousarray(buffer).tobytes())
        return BufferRecord(name, buffer.dtype.str, offset_bytes, buffer.size)


def read(branch: Any, start: int, stop: int) -> Any:
    """Read a range of entries; a group that uproot loses track of is put together here."""
    try:
        return branch.array(entry_start=start, entry_stop=stop, library="ak")
    except KeyError:
        if type(branch.interpretation).__name__ != "AsGrouped":
            raise
    children = {child.name: branch[child.name] for child in branch.branches}
    return ak.Array({name: read(child, start, stop) for name, child in children.items()})
