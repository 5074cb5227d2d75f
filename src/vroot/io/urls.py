"""URLs, chains of them, and what is beside or relative to them."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from urllib.parse import quote, urljoin

from vroot.io.local import is_chain, local_path

__all__ = [
    "absolute_location",
    "beside",
    "file_url",
    "is_unicode",
    "join_url",
    "name_of",
    "replace_link",
    "without_query",
]

#: Schemes that are followed by a path, without a host.
WITHOUT_HOST = ("file", "local", "memory", "zip", "tar", "libarchive", "reference", "dir")

#: Schemes of which the path is percent-encoded.
ENCODED = ("http", "https")

PLAIN = "/:@!$&'()*+,;=~"


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
    """Split a chain of URLs: what is before the link that names the file, it, and the rest."""
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
    """Give the URL of a file whose name is that of another with a suffix.

    Parameters
    ----------
    url : str
        Of the other file; a query stays, as it may hold a token.
    suffix : str
        What follows the name.

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
    if text.isprintable() or is_unicode(text):
        return f"file://{text}"
    return f"file://{quote(os.fsencode(text))}"


def is_unicode(text: str) -> bool:
    """Whether JSON can hold a text: a name on disk may have bytes that are not characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
