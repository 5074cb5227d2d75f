"""How ROOT packed the reals of a branch, as its title says."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import uproot

from vroot.decode.interpretation import MAX_MANTISSA_BITS
from vroot.exceptions import DeserializationError
from vroot.interpretations import AsDouble32, AsDtype, AsFloat16, AsJagged

__all__ = ["packed_interpretation", "packed_leaf", "parse_range"]

#: ``TVirtualStreamerInfo::kDouble32`` and ``kFloat16``; arrays have `OFFSET_L` more.
DOUBLE32_TYPE, FLOAT16_TYPE = 9, 19
OFFSET_L = 20

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


def packed_leaf(branch: uproot.TBranch) -> Any:
    """Give the leaf of a branch of nothing but packed reals.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.

    Returns
    -------
    uproot.Model or None
        None if the branch is of another kind.
    """
    leaves = branch.member("fLeaves")
    if len(leaves) != 1 or len(branch.branches):
        return None
    return leaves[0] if _is_float16(leaves[0]) is not None else None


def packed_interpretation(
    branch: uproot.TBranch, leaf: Any
) -> AsDtype | AsDouble32 | AsFloat16 | AsJagged:
    """Say how the packed reals of a branch are read.

    uproot takes the first bracket of a title for the range, which may be a dimension.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.
    leaf : uproot.Model
        What `packed_leaf` gives.

    Returns
    -------
    AsDtype, AsDouble32, AsFloat16 or AsJagged
        The interpretation.

    Raises
    ------
    ValueError
        If ROOT could not have written such reals.
    """
    own = leaf.classname in ("TLeafF16", "TLeafD32")
    streamer = None if own else branch.streamer
    title = leaf.member("fTitle") if own else "" if streamer is None else streamer.title
    dims = _dimensions(branch, leaf, own=own)
    content = _content(bool(_is_float16(leaf)), parse_range(title), dims)
    return content if leaf.member("fLeafCount") is None else AsJagged(content)


def _is_float16(leaf: Any) -> bool | None:
    """Whether a leaf has Float16_t, and not Double32_t; None if it has neither."""
    if leaf.classname == "TLeafElement":
        code = leaf.member("fType")
        kinds = {DOUBLE32_TYPE: False, FLOAT16_TYPE: True}
        return kinds.get(code - OFFSET_L if OFFSET_L < code < 2 * OFFSET_L else code)
    return {"TLeafD32": False, "TLeafF16": True}.get(leaf.classname)


def _dimensions(branch: uproot.TBranch, leaf: Any, *, own: bool) -> tuple[int, ...]:
    counter = branch.count_branch
    found = DIMENSION.findall(leaf.member("fTitle"))
    dims = tuple(int(size) for size in found if counter is None or size != counter.name)
    length = int(leaf.member("fLen"))
    if not dims and length > 1:
        return (length,)
    if own and math.prod(dims) != length:
        raise DeserializationError(
            f"its leaf {leaf.member('fTitle')!r} has {length} items, not {math.prod(dims)}"
        )
    return dims


def _content(
    is_float16: bool, packing: tuple[float, float, int], dims: tuple[int, ...]
) -> AsDtype | AsDouble32 | AsFloat16:
    low, high, bits = packing
    if low < high:
        return (AsFloat16 if is_float16 else AsDouble32)(low, high, bits, dims)
    if not bits and not is_float16:
        return AsDtype(np.dtype((">f4", dims)), np.dtype(("f8", dims)))
    bits = bits or DEFAULT_FLOAT16_BITS
    if not 0 < bits <= MAX_MANTISSA_BITS:
        raise ValueError(f"a mantissa of {bits} bits")
    return (AsFloat16 if is_float16 else AsDouble32)(0.0, 0.0, bits, dims)


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
