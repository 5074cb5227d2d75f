"""The kinds of branches that the census counts, and the classes that are trees or RNTuples."""

from __future__ import annotations

from typing import Any

from uproot.interpretation.grouped import AsGrouped
from uproot.interpretation.identify import UnknownInterpretation
from uproot.interpretation.jagged import AsJagged
from uproot.interpretation.numerical import AsDtype, TruncatedNumerical
from uproot.interpretation.objects import AsObjects, AsStridedObjects
from uproot.interpretation.strings import AsStrings

__all__ = ["is_ntuple", "is_tree", "kind_of"]


def is_tree(classname: str) -> bool:
    """Whether objects of a class are trees with branches."""
    return classname in ("TTree", "TNtuple", "TNtupleD")


def is_ntuple(classname: str) -> bool:
    """Whether objects of a class are RNTuples."""
    return classname == "ROOT::RNTuple"


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
