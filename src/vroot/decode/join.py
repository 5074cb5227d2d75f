"""PartBuffers of an Awkward form from several baskets, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.exceptions import ReferenceStoreError
from vroot.metadata.interpretations import Program

__all__ = ["join_buffers"]

PartBuffers = dict[str, npt.NDArray[Any]]
#: PartBuffers, and the half-open range of items that is wanted of them.
Part = tuple[PartBuffers, int, int]


def join_buffers(program: Program, parts: Sequence[Part]) -> dict[str, npt.NDArray[Any]]:
    """Put the outputs of a program for several baskets together.

    Parameters
    ----------
    program : Program
        The program, whose form has been checked.
    parts : sequence of (buffers, start, stop)
        What it has filled for each basket, and which entries are wanted. The buffers are taken out
        as they are joined, so that not all of them are in memory twice.

    Returns
    -------
    dict of str to ndarray
        PartBuffers of the form, for the wanted entries alone.

    Raises
    ------
    ReferenceStoreError
        If the program has filled less than its form needs.
    """
    joined: dict[str, npt.NDArray[Any]] = {}
    _join(msgspec.json.decode(program.form_json), list(parts), joined)
    return joined


def _join(form: Any, parts: list[Part], joined: dict[str, npt.NDArray[Any]]) -> None:
    key = form.get("form_key")
    if form["class"] == "NumpyArray":
        name = f"{key}-data"
        _check(name not in joined, name)
        slices = [each.pop(name)[start:stop] for each, start, stop in parts]
        for part, (_, start, stop) in zip(slices, parts, strict=True):
            _check(part.size == stop - start, name)
        joined[name] = np.concatenate(slices)
    elif form["class"] == "ListOffsetArray":
        name = f"{key}-offsets"
        _check(name not in joined, name)
        offsets = [each.pop(name)[start : stop + 1] for each, start, stop in parts]
        for own, (_, start, stop) in zip(offsets, parts, strict=True):
            _check(own.size == stop + 1 - start and not (own[1:] < own[:-1]).any(), name)
        joined[name] = _join_offsets(offsets)
        inside = [
            (each, int(own[0]), int(own[-1]))
            for (each, _, _), own in zip(parts, offsets, strict=True)
        ]
        _join(form["content"], inside, joined)
    elif form["class"] == "RegularArray":
        size = form["size"]
        inside = [(each, size * start, size * stop) for each, start, stop in parts]
        _join(form["content"], inside, joined)
    else:
        for content in form["contents"]:
            _join(content, parts, joined)


def _check(good: bool, name: str) -> None:
    # A false program may fill anything; what one basket lacks must not come from the next.
    if not good:
        raise ReferenceStoreError(f"a program has not filled {name!r} as its form needs it")


def _join_offsets(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    joined = np.zeros(1 + sum(part.size - 1 for part in parts), np.int64)
    position = total = 0
    for part in parts:
        stop = position + part.size
        np.add(part, total - part[0], out=joined[position:stop])
        position, total = stop - 1, int(joined[stop - 1])
    return joined
