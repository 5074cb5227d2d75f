"""What is expected to fail, and where uproot itself is known to be wrong.

A mark is an expected failure: it holds for a kind of branch and a reason, never for a single
branch, and it skips nothing. Once a branch that it covers is read, the comparison fails until
the mark is removed or narrowed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compat.census.records import BranchRecord

__all__ = [
    "CORRECTIONS",
    "MARKS",
    "NESTED_GROUPS",
    "Correction",
    "Mark",
    "find_correction",
    "find_mark",
]


@dataclass(frozen=True, slots=True)
class Mark:
    """A kind of branch that vroot does not read yet.

    Parameters
    ----------
    kind : str
        The kind, as the census names it.
    reason : str
        A regular expression to be found in the message of the UnsupportedError.
    typename : str
        A regular expression that the whole typename matches, where not all of a kind is meant.
    """

    kind: str
    reason: str
    typename: str = ".*"

    def covers(self, branch: BranchRecord) -> bool:
        """Whether a branch is of the kind, and of the types, that are marked."""
        return branch.kind == self.kind and (
            re.fullmatch(self.typename, str(branch.typename), re.DOTALL) is not None
        )


#: Nothing at present.
MARKS: tuple[Mark, ...] = ()


def find_mark(
    branch: BranchRecord, reason: str | None = None, marks: Sequence[Mark] = MARKS
) -> Mark | None:
    """Find the mark that covers a branch.

    Parameters
    ----------
    branch : BranchRecord
        The branch.
    reason : str, optional
        The message of an error, which the mark must then expect too.
    marks : sequence of Mark
        Where to look.

    Returns
    -------
    Mark or None
        The first one that fits.
    """
    for mark in marks:
        if mark.covers(branch) and (reason is None or re.search(mark.reason, reason)):
            return mark
    return None


@dataclass(frozen=True, slots=True)
class Correction:
    """A branch that uproot 5.7.7 reads wrongly or not at all, and what to expect instead.

    One of `source`, `byteswap`, `bits` and `scaled` says where the right array is from.

    Parameters
    ----------
    file : str
        Name of the file.
    branch : str
        A regular expression that the whole path of the branch, "a/b/c", matches.
    reason : str
        What uproot does wrong.
    source : str
        Name of a file with the same content, of which uproot reads this branch right.
    byteswap : str
        A regular expression for the fields whose numbers uproot leaves in the file's byte order.
    bits : bool
        Whether these are the bits of TObjects, to be read from the bytes of uproot's baskets.
    scaled : str
        The name of the branch, or of the one in a group, whose integers of 32 bits are to be
        scaled by the largest of them.
    """

    file: str
    branch: str
    reason: str
    source: str = ""
    byteswap: str = ""
    bits: bool = False
    scaled: str = ""


HEADERS = "strided objects with a header for each entry are left in the file's byte order"

SCALE = "integers of 32 bits are scaled by 2^32, and not by the largest of them"

#: Why uproot raises KeyError for groups that contain groups, whose branches it reads all the same.
NESTED_GROUPS = "groups within groups are looked up among the wrong arrays"

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "uproot-small-dy-nooffsets.root",
        "Jet_(pt|jetId)",
        "counts are taken from the counter's basket of the same number, not of the same entries",
        source="uproot-small-dy-withoffsets.root",
    ),
    Correction(
        "uproot-issue513.root",
        r"(Particle|Track|EFlowTrack|EFlowPhoton|EFlowNeutralHadron)/\1\.fBits",
        "the two bytes that follow the bits of each referenced TObject are taken for data",
        bits=True,
    ),
    Correction("uproot-issue-513.root", "demc/_opos", HEADERS, byteswap=".*"),
    Correction("uproot-issue-513.root", "demc(ent|mid|xit)/_(mom|pos)", HEADERS, byteswap=".*"),
    Correction("uproot-issue-513.root", "demc", HEADERS, byteswap="_opos"),
    Correction("uproot-issue-513.root", "demc(ent|mid|xit)", HEADERS, byteswap="_mom|_pos"),
    Correction("uproot-issue433-splitlevel2.root", ".*/timeslice_start", HEADERS, byteswap=".*"),
    Correction(
        "uproot-issue433-splitlevel2.root",
        ".*/KM3NETDAQ::JDAQTimesliceHeader(/KM3NETDAQ::JDAQHeader(/KM3NETDAQ::JDAQChronometer)?)?",
        HEADERS,
        byteswap="timeslice_start",
    ),
    Correction("uproot-demo-double32.root", "d(/fI32)?", SCALE, scaled="fI32"),
    Correction("uproot-double32-float16.root", "double32_32", SCALE, scaled="double32_32"),
)


def find_correction(file: str, branch: str) -> Correction | None:
    """Find the correction for a branch of a file, if it needs one."""
    for correction in CORRECTIONS:
        if correction.file == file and re.fullmatch(correction.branch, branch):
            return correction
    return None
