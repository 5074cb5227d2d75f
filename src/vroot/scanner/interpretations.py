"""uproot's interpretations as vroot's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import uproot
from uproot.interpretation.grouped import AsGrouped as UprootAsGrouped
from uproot.interpretation.identify import UnknownInterpretation
from uproot.interpretation.jagged import AsJagged as UprootAsJagged
from uproot.interpretation.numerical import AsDouble32 as UprootAsDouble32
from uproot.interpretation.numerical import AsDtype as UprootAsDtype
from uproot.interpretation.numerical import AsFloat16 as UprootAsFloat16
from uproot.interpretation.objects import AsObjects as UprootAsObjects
from uproot.interpretation.objects import AsStridedObjects as UprootAsStridedObjects
from uproot.interpretation.strings import AsStrings as UprootAsStrings
from uproot.model import classname_decode

from vroot.metadata.interpretations import (
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsGrouped,
    AsJagged,
    AsStridedObjects,
    AsStrings,
    Interpretation,
    Numerical,
    Unsupported,
)
from vroot.scanner.guard import UPROOT_ERRORS, describe, without_addresses

__all__ = ["interpretation_of", "is_bits", "is_objects"]

#: ``TStreamerInfo::kBits``, the type of ``TObject::fBits``.
BITS_TYPE = 15


def interpretation_of(branch: uproot.TBranch) -> Interpretation:
    """Translate the interpretation of a branch.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.

    Returns
    -------
    Interpretation
        `Unsupported`, with the reason, where there is no translation.
    """
    try:
        given = branch.interpretation
    except UPROOT_ERRORS as err:
        return Unsupported(f"uproot finds no interpretation: {describe(err)}", in_arrays=False)
    text = _text(given)
    if given is None or isinstance(given, UnknownInterpretation):
        reason = f"uproot has no interpretation for it: {_why_unknown(given)}"
        return Unsupported(reason, text, in_arrays=False)
    try:
        translated = _translate(given)
    except UPROOT_ERRORS as err:
        return Unsupported(f"its interpretation cannot be represented: {describe(err)}", text)
    if translated is None:
        kind = type(given).__name__
        return Unsupported(f"its interpretation, {kind}, is not supported", text)
    return translated


def is_bits(branch: uproot.TBranch) -> bool:
    """Whether a branch has the bits of ``TObject``s.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.

    Returns
    -------
    bool
        True if ROOT's type of it is ``kBits``.
    """
    return bool(branch.has_member("fStreamerType") and branch.member("fStreamerType") == BITS_TYPE)


def is_objects(branch: uproot.TBranch) -> bool:
    """Whether only the reading of entries shows how a branch is deserialized.

    Parameters
    ----------
    branch : uproot.TBranch
        The branch.

    Returns
    -------
    bool
        True if its interpretation is AsObjects.
    """
    try:
        return type(branch.interpretation) is UprootAsObjects
    except UPROOT_ERRORS:
        return False


def _why_unknown(given: UnknownInterpretation | None) -> str:
    """Say why uproot has no interpretation."""
    return "it has no leaves" if given is None else " ".join(given.reason.split())


def _text(given: Any) -> str:
    try:
        return without_addresses(repr(given))
    except UPROOT_ERRORS as err:
        return f"<{type(given).__name__}: {describe(err)}>"


def _translate(given: Any) -> Interpretation | None:
    # Subclasses mean something else (AsStridedObjects is an AsDtype), so that types must be exact.
    if type(given) is UprootAsJagged:
        content = _translate_numerical(given.content)
        return None if content is None else AsJagged(content, given.header_bytes)
    if type(given) is UprootAsStrings:
        return AsStrings(given.header_bytes, given.length_bytes)
    if type(given) is UprootAsGrouped:
        return AsGrouped()
    return _translate_numerical(given)


def _translate_numerical(given: Any) -> Numerical | None:
    if type(given) is UprootAsDtype:
        native = given.from_dtype.newbyteorder("=")
        return AsDtype(given.from_dtype, None if given.to_dtype == native else given.to_dtype)
    if type(given) is UprootAsStridedObjects:
        return AsStridedObjects(given.from_dtype, dict(_records(given, "")), text=repr(given))
    if type(given) is UprootAsDouble32:
        return AsDouble32(*_packing(given))
    if type(given) is UprootAsFloat16:
        return AsFloat16(*_packing(given))
    return None


def _records(given: UprootAsStridedObjects, path: str) -> Iterator[tuple[str, str]]:
    """C++ classes of an object and of the objects in it, by path."""
    yield path, classname_decode(given.model.__name__)[0]
    for name, member in given.members:
        if isinstance(member, UprootAsStridedObjects):
            yield from _records(member, f"{path}/{name}" if path else name)


def _packing(given: Any) -> tuple[float, float, int, tuple[int, ...]]:
    dims = tuple(int(size) for size in np.atleast_1d(given.to_dims)) if given.to_dims else ()
    return float(given.low), float(given.high), int(given.num_bits), dims
