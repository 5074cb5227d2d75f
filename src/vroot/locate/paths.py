"""Paths and URLs as users write them: objects named behind a colon, and joining."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from vroot.exceptions import OutputIsSourceError
from vroot.io.local import is_chain, local_path

__all__ = [
    "absolute_location",
    "beside",
    "check_outputs",
    "file_url",
    "is_in_folder_of",
    "join_url",
    "name_of",
    "regularize_path",
    "replace_link",
    "split_object_path",
    "without_query",
]

#: "file:object", where the name ends like a file of either kind. What follows a query is part of
#: it: a colon in a token is not told from one before an object. Uproot has the same rule.
OBJECT_IN_PATH = re.compile(
    r"(.+\.(?:root(?:\.\d+)?|json(?:\.zstd?|\.gz|\.bz2|\.xz)?)):(.*)$", re.IGNORECASE
)

#: Between the links of a chain of file systems; "::" is also part of the names of C++ classes.
CHAIN = re.compile(r"::(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
ARCHIVES = ("zip://", "tar://", "libarchive://")

#: Schemes behind which no host comes, but a path at once.
WITHOUT_HOST = ("file", "local", "memory", "zip", "tar", "libarchive", "reference", "dir")

#: Schemes of which the path is percent-encoded.
ENCODED = ("http", "https")
PLAIN = "/:@!$&'()*+,;=~"

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


def _links(url: str) -> tuple[str, str, str]:
    """Split a chain of URLs into what is before, is, and is behind the one that names the file."""
    if not is_chain(url):
        return "", url, ""
    links = url.split("::")
    first = next((i for i, link in enumerate(links) if "://" in link and link[-3:] != "://"), -1)
    first = len(links) - 1 if first < 0 else first
    before, after = links[:first], links[first + 1 :]
    return "".join(f"{each}::" for each in before), links[first], "".join(f"::{e}" for e in after)


def name_of(url: str) -> str:
    """Give the name of the file that a path or URL is of, in an archive too."""
    _, link, _ = _links(url)
    return without_query(link).rpartition("/")[2]


def replace_link(chain: str, link: str) -> str:
    """Give a chain of URLs in which another link names the file; a URL alone becomes that."""
    before, _, after = _links(chain)
    return f"{before}{link}{after}"


def absolute_location(location: str, folder: Path | None = None) -> str:
    """Make a path absolute, also the one of a ``file:`` URL, or at the end of a chain.

    Parameters
    ----------
    location : str
        A path or URL.
    folder : pathlib.Path, optional
        Where relative paths start; the current folder if not given.

    Returns
    -------
    str
        An absolute path, with its links and ".." kept, or the URL.
    """
    start = Path.cwd() if folder is None else folder
    path = local_path(location)
    if path is not None:
        return str(start / path)
    if not is_chain(location):
        return location
    *links, last = location.split("::")
    path = local_path(last)
    # With its scheme, without which fsspec does not know it in a chain of three.
    return location if path is None else "::".join((*links, f"file://{start / path}"))


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
    before, link, after = _links(url)
    name = without_query(link)
    return f"{before}{name}{suffix}{link[len(name) :]}{after}"


def join_url(base: str, relative: str) -> str:
    """Join a relative path to the URL of the file in which it stands.

    Parameters
    ----------
    base : str
        A URL with a scheme, or a chain of them: the path starts in the archive then.
    relative : str
        A path, with "/" between its parts, and not percent-encoded.

    Returns
    -------
    str
        The URL.

    Raises
    ------
    ValueError
        If the path would make a chain of the URL, which then might be of a local file.
    """
    before, link, after = _links(base)
    scheme, separator, rest = link.partition("://")
    if scheme in ENCODED:
        # A name may have any character in it, such as those that begin a query or a fragment.
        relative = quote(relative, safe=PLAIN, errors="surrogateescape").replace("::", "%3A%3A")
    if "::" in relative:
        raise ValueError(f"{relative!r} is no path to join to {base}, since it has '::' in it")
    if not separator or scheme in WITHOUT_HOST:
        path = rest if separator else link
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
        joined += "/" if relative.endswith("/") else ""
    else:
        # urljoin knows no other schemes than the web's, so that it joins under one of those. The
        # dot keeps a colon from being a scheme's.
        joined = urljoin("http://" + rest, "./" + relative).removeprefix("http://")
    return f"{before}{scheme}://{joined}{after}" if separator else f"{before}{joined}{after}"


def file_url(path: Path) -> str:
    """Give the URL of an absolute path.

    Not percent-encoded, as fsspec takes what follows the scheme for the path as it is, unless the
    name is not UTF-8, which no JSON holds.
    """
    text = path.as_posix()
    if text.isprintable() or _is_unicode(text):
        return f"file://{text}"
    return f"file://{quote(os.fsencode(text))}"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def is_in_folder_of(out: Path, source: Path) -> bool:
    """Whether a store and its source are in one folder, where the name of the source is enough.

    Not where the store will be found by a link to it, or where its JSON cannot hold the name.
    """
    here, there = out.absolute().parent, source.absolute().parent
    is_same = here == there or (here.is_dir() and here.samefile(there))
    return is_same and not out.is_symlink() and _is_unicode(source.name)


def check_outputs(outputs: Iterable[Path], sources: Iterable[str]) -> None:
    """Check that no output would replace a source, by whatever name, or another ROOT file.

    Parameters
    ----------
    outputs : iterable of pathlib.Path
        What is to be written.
    sources : iterable of str
        Paths and URLs of what is to be scanned.

    Raises
    ------
    OutputIsSourceError
        If one does.
    """
    existing = [path for path in outputs if os.path.exists(path)]  # noqa: PTH110  # of any length
    if not existing:
        return
    taken: dict[tuple[int, int], str] = {}
    for source in sources:
        path = local_path(source.split("::")[-1] if is_chain(source) else source)
        if path is not None and os.path.exists(path):  # noqa: PTH110
            taken[_identity(path)] = source
    for output in existing:
        replaced = taken.get(_identity(output))
        if replaced is not None:
            raise OutputIsSourceError(
                f"the output {str(output)!r} is the source {replaced!r}, which it would replace: "
                "give another output"
            )
        if output.is_file() and _begins_like_root(output):
            raise OutputIsSourceError(
                f"the output {str(output)!r} is a ROOT file, which it would replace: give another "
                "output, or remove it first"
            )


def _identity(path: Path) -> tuple[int, int]:
    """What is the same for all names and links of a file."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _begins_like_root(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"root"
