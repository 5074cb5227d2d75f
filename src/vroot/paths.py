"""Paths and URLs as users write them: objects named behind a colon, and joining."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import urljoin

from vroot.store.local import local_path

__all__ = ["beside", "join_url", "regularize_path", "split_object_path", "without_query"]

#: "file:object", where the name ends like a file of either kind. What follows a query is part of
#: it: a colon in a token is not told from one before an object. Uproot has the same rule.
OBJECT_IN_PATH = re.compile(r"(.+\.(?:root(?:\.\d+)?|json(?:\.zstd?)?)):(.*)$", re.IGNORECASE)

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
        A path or URL, possibly with a colon and the path of an object behind it.

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


def without_query(url: str) -> str:
    """Give a URL without its query, which often is a signature; a path as it is.

    Parameters
    ----------
    url : str
        A path or a URL.

    Returns
    -------
    str
        What names the file.
    """
    return url.partition("?")[0] if "://" in url else url


def beside(url: str, suffix: str) -> str:
    """Give the URL of a file whose name is that of another with something behind it.

    Parameters
    ----------
    url : str
        Of the other file; a query stays, as it may hold a token.
    suffix : str
        What the name has behind.

    Returns
    -------
    str
        The URL.
    """
    name = without_query(url)
    head, separator, tail = name.partition("::") if name.startswith(ARCHIVES) else (name, "", "")
    return f"{head}{suffix}{separator}{tail}{url[len(name) :]}"


def join_url(base: str, relative: str) -> str:
    """Join a relative URL to the one of the file in which it stands.

    Parameters
    ----------
    base : str
        A URL with a scheme.
    relative : str
        A path, with "/" between its parts.

    Returns
    -------
    str
        The URL.
    """
    # urljoin knows no other schemes than the web's, so that it joins under one of those.
    scheme, _, rest = base.partition("://")
    # The dot keeps a colon from being a scheme's.
    joined = urljoin("http://" + rest, "./" + relative)
    return f"{scheme}://{joined.removeprefix('http://')}"
