"""The bits of TObjects, which are followed by two bytes more where they say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vroot.exceptions import CorruptBasketError

__all__ = ["decode_bits"]

#: Bit 4 is ``TObject::kIsReferenced``: the number of a TProcessID follows, a uint16. Where an item
#: begins depends on all before it, so that only a loop finds it; this one is compiled.
PROGRAM = """
input stream
output bits uint32
output starts int64
begin stream end invert while
    stream pos starts <- stack
    stream !I-> stack dup bits <- stack
    16 and if 2 stream skip then
repeat
stream pos starts <- stack
"""


def decode_bits(
    data: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Read the bits of objects that follow each other.

    Parameters
    ----------
    data : ndarray of uint8
        The bytes.

    Returns
    -------
    tuple of ndarray
        The bits of each object, and where each begins in `data`, with the end of the last.

    Raises
    ------
    CorruptBasketError
        If the bytes end within an object.
    """
    import awkward.forth  # opening and listing a store starts without it

    machine: Any = awkward.forth.ForthMachine64(PROGRAM)
    # The machine wants a buffer that it could write to.
    error = machine.run(
        {"stream": np.require(data, requirements="W")},
        raise_read_beyond=False,
        raise_skip_beyond=False,
    )
    if error is not None:
        raise CorruptBasketError(f"the basket's {data.size} bytes end within the bits of an object")
    return np.asarray(machine.output("bits")), np.asarray(machine.output("starts"))
