"""Awkward Arrays to buffers, and their exact comparison."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import awkward as ak
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Parts", "compare_buffers", "compare_forms", "take_apart"]

Buffer: TypeAlias = npt.NDArray[Any]

MAX_SHOWN_CHARACTERS = 300


class Parts(NamedTuple):
    """An array, taken apart.

    The type and the form are those of the array as it was returned. The buffers are those of
    the packed array: what no list reaches is gone from them, and offsets begin with zero.
    """

    type: str
    form: str
    length: int
    buffers: dict[str, Buffer]


def take_apart(array: Any) -> Parts:
    """Take an Awkward Array apart, with nothing lost that can be seen through it.

    Parameters
    ----------
    array : ak.Array
        Any array.

    Returns
    -------
    Parts
        Its type, form (JSON with sorted keys) and packed buffers.
    """
    layout = array.layout
    _, length, buffers = ak.to_buffers(layout.to_packed())
    form = json.dumps(json.loads(layout.form.to_json()), sort_keys=True)
    return Parts(str(array.type), form, length, {k: np.asarray(v) for k, v in buffers.items()})


def shorten(value: object) -> str:
    """Show a value in a bounded number of characters."""
    text = str(value)
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[:MAX_SHOWN_CHARACTERS]}... ({len(text)} characters)"


def compare_forms(expected: str, got: str) -> list[str]:
    """Compare two forms, parameters included.

    Parameters
    ----------
    expected, got : str
        Forms as JSON with sorted keys.

    Returns
    -------
    list of str
        The first difference and where it is; empty if there is none.
    """
    if expected == got:
        return []
    return [first_difference(json.loads(expected), json.loads(got), "form")]


def first_difference(expected: Any, got: Any, path: str) -> str:
    """Say where two JSON values first differ."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            if key not in expected or key not in got or expected[key] != got[key]:
                return first_difference(expected.get(key), got.get(key), f"{path}.{key}")
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (left, right) in enumerate(zip(expected, got, strict=True)):
            if left != right:
                return first_difference(left, right, f"{path}[{index}]")
    return f"{path}: expected {shorten(json.dumps(expected))}, got {shorten(json.dumps(got))}"


def compare_buffers(expected: Mapping[str, Buffer], got: Mapping[str, Buffer]) -> list[str]:
    """Compare packed buffers: bits, save that any NaN equals any other.

    Parameters
    ----------
    expected, got : mapping of str to numpy.ndarray
        Buffers by the names that Awkward gives them.

    Returns
    -------
    list of str
        One line for each buffer that differs.
    """
    if expected.keys() != got.keys():
        return [f"buffers: expected {shorten(sorted(expected))}, got {shorten(sorted(got))}"]
    differences = []
    for name, left in expected.items():
        right = got[name]
        if left.dtype != right.dtype or left.shape != right.shape:
            differences.append(
                f"{name}: expected {left.dtype} of shape {left.shape}, "
                f"got {right.dtype} of shape {right.shape}"
            )
            continue
        unequal = unequal_items(left, right)
        if len(unequal) > 0:
            first = unequal[0]
            differences.append(
                f"{name}: {len(unequal)} of {left.size} items differ, the first at {first}: "
                f"expected {left.reshape(-1)[first]!r}, got {right.reshape(-1)[first]!r}"
            )
    return differences


def unequal_items(left: Buffer, right: Buffer) -> npt.NDArray[np.intp]:
    """Find the flat positions at which two buffers of one dtype differ."""
    left, right = np.ascontiguousarray(left).reshape(-1), np.ascontiguousarray(right).reshape(-1)
    # Bits and not values: -0.0 is not 0.0 here.
    unequal_bytes = left.view(np.uint8) != right.view(np.uint8)
    unequal = unequal_bytes.reshape(left.size, left.dtype.itemsize).any(axis=1)
    if unequal.any() and left.dtype.kind in "fc":
        unequal &= ~(np.isnan(left) & np.isnan(right))
    return np.flatnonzero(unequal)
