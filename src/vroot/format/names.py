"""Names of objects and branches as components of a Zarr path."""

from __future__ import annotations

from collections.abc import Container
from urllib.parse import quote, unquote

__all__ = ["RESERVED", "component", "component_name"]

#: Names of the arrays inside a column's group, and Zarr's own, which no branch may take.
RESERVED = frozenset({"values", "content", "counts", "raw", "zarr.json"})
LITERAL = " !\"#$&'()*+,:<=>?@[]^`{|}~"


def component(name: str, taken: Container[str] = (), cycle: int | None = None) -> str:
    """Turn a name into one component of a Zarr path.

    Parameters
    ----------
    name : str
        Any name of an object or a branch.
    taken : container of str
        The components that its siblings have already.
    cycle : int, optional
        The cycle number, which tells objects of one name apart.

    Returns
    -------
    str
        The name, percent-encoded where Zarr or this format need it, and, if that is taken (or
        empty), a suffix ``;cycle`` or ``;number``.
    """
    quoted = quote(name, safe=LITERAL, errors="surrogateescape")
    if quoted in RESERVED or quoted.startswith("__") or not quoted.strip("."):
        quoted = "".join(f"%{byte:02X}" for byte in quoted[:1].encode()) + quoted[1:]
    if quoted and quoted not in taken:
        return quoted
    candidate = f"{quoted};{2 if cycle is None else cycle}" if quoted else ";1"
    number = 2
    while candidate in taken:
        number += 1
        candidate = f"{quoted};{number}" if cycle is None else f"{quoted};{cycle};{number}"
    return candidate


def component_name(text: str) -> str:
    """Give the name that became this component of a path, the inverse of `component`."""
    return unquote(text.partition(";")[0], errors="surrogateescape")
