"""Paths and URLs as users write them: objects named after a colon."""

from __future__ import annotations

import os
import re
from typing import Any

from vroot.io.local import local_path

__all__ = ["regularize_path", "split_object_path"]

#: "file:object", where the name ends like a file of either kind. What follows a query is part of
#: it: a colon in a token is not told from one before an object. Uproot has the same rule.
OBJECT_IN_PATH = re.compile(
    r"(.+\.(?:root(?:\.\d+)?|json(?:\.zstd?|\.gz|\.bz2|\.xz)?)):(.*)$", re.IGNORECASE
)

#: Between the links of a chain of file systems; "::" is also part of the names of C++ classes.
CHAIN = re.compile(r"::(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
ARCHIVES = ("zip://", "tar://", "libarchive://")


#: What pathlib makes of the beginning of a URL.
SQUEEZED = re.compile(r"^(https?|root):/([^/])", re.IGNORECASE)


def regularize_path(path: Any) -> str:
    """Give a path or URL as a string, one that went through pathlib with both its slashes.

    Parameters
    ----------
    path : str or path-like
        A path or URL.

    Returns
    -------
    str
        The same; "~" is the home of the user, if it is local.

    Raises
    ------
    ValueError
        If it is neither, as in uproot.
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise ValueError(  # noqa: TRY004  # as in uproot
            f"path must be a string, a path, or a mapping, not {path!r}: references point into a "
            "file that has a name, so that what is open already has to be written to one"
        )
    if not isinstance(path, str):
        text = SQUEEZED.sub(r"\1://\2", text)
    if text.startswith("~") and not os.path.exists(text):  # noqa: PTH110
        return os.path.expanduser(text)  # noqa: PTH111  # pathlib's raises for unknown users
    return text


def split_object_path(path: str) -> tuple[str, str | None]:
    """Split "file:object" into its parts.

    Parameters
    ----------
    path : str
        A path or URL, possibly followed by a colon and the path of an object.

    Returns
    -------
    tuple of str and (str or None)
        The file and the object; None where no colon follows a name that ends like a ROOT file or
        a store of references, nor that of a local file.
    """
    path = path.strip()
    if ":" not in path or _is_local_file(path):
        return path, None
    is_archive = path.startswith(ARCHIVES)
    links = path.split("::") if is_archive else CHAIN.split(path)
    for i in reversed(range(len(links))):
        match = OBJECT_IN_PATH.match(links[i])
        if match is not None:
            links[i], object_path = match.groups()
            return "::".join(links), _object_path(object_path)
    position = path.rfind(":")
    while position > 0:
        if _is_local_file(path[:position]):
            return path[:position], _object_path(path[position + 1 :])
        position = path.rfind(":", 0, position)
    return path, None


def _object_path(text: str) -> str:
    return re.sub("/+", "/", text.strip()).strip("/")


def _is_local_file(location: str) -> bool:
    path = local_path(location)
    # Unlike pathlib's, this test takes any string, however long.
    return path is not None and os.path.isfile(path)  # noqa: PTH113
