"""How ROOT packed the reals of a branch, as its title says."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import uproot
from uproot.interpretation.identify import UnknownInterpretation
from uproot.interpretation.jagged import AsJagged
from uproot.interpretation.numerical import AsDouble32, AsDtype, AsFloat16

from vroot.decode.interpretation import MAX_MANTISSA_BITS
from vroot.scanner.guard import UPROOT_ERRORS, describe

__all__ = ["PackedClasses", "identify_packed", "parse_range"]

#: ``TVirtualStreamerInfo::kDouble32`` and ``kFloat16``. Arrays have 20 more, pointers 40, and from
#: 60 on there are other types.
DOUBLE32_TYPE, FLOAT16_TYPE = 9, 19
OFFSET, LIMIT = 20, 60
POINTER_TYPES = (2 * OFFSET + DOUBLE32_TYPE, 2 * OFFSET + FLOAT16_TYPE)

#: ``ROOT::kSTLany`` and ``TVirtualStreamerInfo::kSTL``, of a branch or a member that is a vector.
VECTOR_TYPES = (300, 500)
VECTOR = re.compile(r"(?:std::)?vector<(Double32_t|Float16_t)>")
VECTOR_HEADER_BYTES = 10

DEFAULT_BITS = 32
DEFAULT_FLOAT16_BITS = 12
#: Without a range, a number of bits below this one is that of the mantissa (ROOT: ``GetRange``).
MANTISSA_LIMIT = 15

BRACKETS = re.compile(r"\[([^\]]*)\]")
DIMENSION = re.compile(r"\[([1-9][0-9]*)\]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
SPECIAL_NUMBER = re.compile(r"[+-]?(0x|inf|nan)")

#: Words for limits, in the order in which ROOT looks for them.
WORDS_OF_PI = (
    ("2pi", 2 * math.pi),
    ("2*pi", 2 * math.pi),
    ("twopi", 2 * math.pi),
    ("pi/2", math.pi / 2),
    ("pi/4", math.pi / 4),
    ("pi", math.pi),
)


def identify_packed(tree: uproot.TTree) -> None:
    """Set the interpretations of all branches of packed reals in a tree, as ROOT reads them.

    uproot takes the first bracket of a title for the range, which may be a dimension, fails where
    there is no comma in it, and with this branch fails the group that it is in.

    Parameters
    ----------
    tree : uproot.TTree
        The tree.
    """
    for branch in tree.itervalues(recursive=True):
        try:
            given = _interpretation(branch)
        except UPROOT_ERRORS as err:
            reason = f"its packed reals cannot be read: {describe(err)}"
            given = UnknownInterpretation(reason, branch.file.file_path, branch.object_path)
        if given is not None:
            branch._interpretation = given  # noqa: SLF001  # uproot's


def _interpretation(branch: uproot.TBranch) -> Any:
    """Give uproot's interpretation of packed reals, None for another kind of branch."""
    leaves = branch.member("fLeaves")
    if len(leaves) != 1 or len(branch.branches):
        return None
    (leaf,) = leaves
    jagged = leaf.member("fLeafCount") is not None
    code = leaf.member("fType") if leaf.classname == "TLeafElement" else None
    if code in VECTOR_TYPES and not jagged:
        vector = VECTOR.fullmatch(_typename(branch))
        if vector is None:
            return None
        content = _content(vector[1] == "Float16_t", (0.0, 0.0, 0), ())
        return AsJagged(content, header_bytes=VECTOR_HEADER_BYTES)
    is_float16 = _is_float16(leaf.classname, code)
    if is_float16 is None:
        return None
    own = code is None
    title = leaf.member("fTitle") if own else "" if not branch.streamer else branch.streamer.title
    content = _content(is_float16, parse_range(title), _dimensions(branch, leaf, own=own))
    if code in POINTER_TYPES:
        # A byte before the items of each entry says whether there are any.
        return AsJagged(content, header_bytes=1) if jagged else None
    return AsJagged(content) if jagged else content


def _typename(branch: uproot.TBranch) -> str:
    if branch.top_level:
        return str(branch.member("fClassName"))
    return str(branch.streamer.typename) if branch.streamer else ""


def _is_float16(classname: str, code: int | None) -> bool | None:
    """Whether a leaf has Float16_t, and not Double32_t; None if it has neither."""
    if code is None:
        return {"TLeafD32": False, "TLeafF16": True}.get(classname)
    base = code % OFFSET if 0 <= code < LIMIT else code
    return {DOUBLE32_TYPE: False, FLOAT16_TYPE: True}.get(base)


def _dimensions(branch: uproot.TBranch, leaf: Any, *, own: bool) -> tuple[int, ...]:
    counter = branch.count_branch
    found = DIMENSION.findall(leaf.member("fTitle"))
    dims = tuple(int(size) for size in found if counter is None or size != counter.name)
    length = int(leaf.member("fLen"))
    if not dims and length > 1:
        return (length,)
    if own and math.prod(dims) != length:
        raise ValueError(
            f"its leaf {leaf.member('fTitle')!r} has {length} items, not {math.prod(dims)}"
        )
    return dims


def _content(is_float16: bool, packing: tuple[float, float, int], dims: tuple[int, ...]) -> Any:
    low, high, bits = packing
    if low < high:
        return (AsFloat16 if is_float16 else AsDouble32)(low, high, bits, dims)
    if not bits and not is_float16:
        return AsDtype(np.dtype((">f4", dims)), np.dtype(("f8", dims)))
    bits = bits or DEFAULT_FLOAT16_BITS
    if not 2 <= bits <= MAX_MANTISSA_BITS:
        raise ValueError(f"a mantissa of {bits} bits")
    return (AsFloat16 if is_float16 else AsDouble32)(0.0, 0.0, bits, dims)


class PackedClasses:
    """Classes whose packed reals uproot misreads where they are not a branch of their own.

    It takes each Double32_t for a float and each Float16_t for one of 12 bits, whatever their
    title says; the number of bytes may be the same.

    Parameters
    ----------
    file : uproot.ReadOnlyFile
        The file that describes the classes.
    """

    def __init__(self, file: uproot.ReadOnlyFile) -> None:
        try:
            described = {
                name: [element for info in versions.values() for element in info.elements]
                for name, versions in file.streamers.items()
            }
        except UPROOT_ERRORS:
            described = {}  # then uproot reads no classes at all
        self.names = {
            name
            for name, elements in described.items()
            if any(_is_packed(element) for element in elements)
        }
        self._holding = set(self.names)
        while grown := {
            name
            for name in described.keys() - self._holding
            # The name of a base class is that of its element.
            if any(self.are_in(f"{each.typename} {each.name}") for each in described[name])
        }:
            self._holding |= grown

    def are_in(self, typename: str) -> bool:
        """Whether one of them is in the values of a C++ type, at any depth."""
        return any(
            re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:<])", typename) for name in self._holding
        )


def _is_packed(element: Any) -> bool:
    """Whether a member is of packed reals with a range or a number of bits."""
    if not re.search(r"\b(Double32_t|Float16_t)\b", element.typename or ""):
        return False
    try:
        return parse_range(element.title) != (0.0, 0.0, 0)
    except ValueError:
        return True


def parse_range(title: str) -> tuple[float, float, int]:
    """Read the range of packed reals in a title, as ROOT does (``TStreamerElement``: ``GetRange``).

    Parameters
    ----------
    title : str
        Of a leaf or a member, such as ``x[3]/d[0,10,16]`` or ``[-pi,pi,10] the angle``.

    Returns
    -------
    tuple
        The limits and the number of bits; without a range, both limits are 0, and the number is
        that of the bits of a truncated mantissa, or 0 if there is none either.

    Raises
    ------
    ValueError
        If a limit is a number that is not supported here.
    """
    # Brackets without a comma are dimensions.
    for match in BRACKETS.finditer(title):
        low, comma, rest = match[1].partition(",")
        if comma:
            break
    else:
        return 0.0, 0.0, 0
    high, comma, bits_text = rest.partition(",")
    bits = DEFAULT_BITS
    if comma:
        number = re.match(r"\s*([+-]?\d+)", bits_text)
        bits = int(number[1]) if number else DEFAULT_BITS
        bits = bits if 2 <= bits <= DEFAULT_BITS else DEFAULT_BITS
    limits = _limit(low), _limit(high)
    if limits[0] < limits[1]:
        return *limits, bits
    # Without a range, ROOT keeps the number of bits in place of the lower limit, if it is small.
    return 0.0, 0.0, bits if bits < MANTISSA_LIMIT else int(limits[0])


def _limit(text: str) -> float:
    text = text.lower().replace(" ", "")
    for word, value in WORDS_OF_PI:
        if word in text:
            return -value if "-" in text else value
    if SPECIAL_NUMBER.match(text):
        raise ValueError(f"its range has the limit {text!r}, which is not supported")
    number = NUMBER.match(text)
    return float(number[0]) if number else 0.0
