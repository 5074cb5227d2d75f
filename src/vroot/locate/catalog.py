"""The catalog: where the references of ROOT files are, if not beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from vroot.exceptions import CatalogError, VrootError
from vroot.io.local import local_path
from vroot.io.remote import is_remote, read_file
from vroot.io.urls import join_url, without_query
from vroot.locate.paths import regularize_path

__all__ = [
    "CATALOG_VARIABLE",
    "SIDECAR_SUFFIXES",
    "Catalog",
    "CatalogSetting",
    "current_catalog",
    "load_catalog",
    "set_catalog",
]

#: The environment variable that names a catalog for the processes that set none.
CATALOG_VARIABLE = "VROOT_CATALOG"

#: What follows the name of a ROOT file in that of its references.
SIDECAR_SUFFIXES = (".refs.json", ".refs.json.zst")

#: An absolute path in which nothing is to be made plain: no "//", "/./" and "/../".
SETTLED = re.compile(r"(?!//)(?:/(?!\.{0,2}(?:/|$))[^/\\]+)+/?", re.DOTALL)

#: The URL of a local file, without a "%".
FILE_URL = re.compile(r"(?:file|local)://[^%]*$")


@dataclass(frozen=True)
class Catalog:
    """A mapping of ROOT files to stores of references.

    Parameters
    ----------
    entries : mapping of str to str
        From paths and URLs, absolute, to stores; those that end with "/" are prefixes.
    """

    entries: Mapping[str, str]
    _prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        prefixes = (key for key in self.entries if key.endswith("/"))
        object.__setattr__(self, "_prefixes", tuple(sorted(prefixes, key=len, reverse=True)))

    def stores(self, location: str) -> tuple[str, ...]:
        """Say where the references of a ROOT file should be.

        Parameters
        ----------
        location : str
            Path or URL of the ROOT file. A URL that is not listed is looked up without its query,
            too, which may be a signature.

        Returns
        -------
        tuple of str
            The one store that is listed for this file; or else, by the longest prefix, the two
            names that it may have; nothing if none fits.
        """
        whole = _absolute(location)
        name = without_query(whole)
        for exact in (whole, name):
            if exact in self.entries and not exact.endswith("/"):
                return (self.entries[exact],)
        for prefix in self._prefixes:
            if name.startswith(prefix):
                store = self.entries[prefix] + name[len(prefix) :]
                return tuple(store + suffix for suffix in SIDECAR_SUFFIXES)
        return ()


class CatalogSetting:
    """What `set_catalog` returns: a context manager that brings the former catalog back.

    Parameters
    ----------
    catalog : Catalog or None
        What was set.
    former : tuple of (Catalog or None)
        What was set before; empty if nothing was.
    """

    def __init__(self, catalog: Catalog | None, former: tuple[Catalog | None, ...]) -> None:
        self.catalog = catalog
        self._former = former

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _set[:] = self._former

    def __repr__(self) -> str:
        return f"<CatalogSetting {self.catalog!r}>"


#: The catalog that was set, if one was: the only state of the process that vroot has. It is that
#: of all threads, since those of a pool would not see a context variable.
_set: list[Catalog | None] = []


def set_catalog(
    catalog: Mapping[str | os.PathLike[str], str | os.PathLike[str]]
    | str
    | os.PathLike[str]
    | None,
) -> CatalogSetting:
    """Say where the references of ROOT files are, for `open` and for functions over several files.

    A ROOT file is looked up here if none are beside it. What is found is used if it describes the
    ROOT file that was named, which is where the data are read, whatever the store says. What is
    missing, damaged or outdated is not used, which a `StaleReferencesWarning` says; the file is
    scanned in memory then.

    The catalog holds for all threads of the process and for the processes that it forks. Others,
    such as those that `multiprocessing` spawns, have that of the environment variable
    ``VROOT_CATALOG``, which is a path or URL, read once, and used where no catalog is set.

    Parameters
    ----------
    catalog : mapping of str to str, str, pathlib.Path, or None
        From paths and URLs of ROOT files to those of their references; where both end with "/", it
        is all files that begin so, the longest such beginning counts, and the references have the
        rest of the name and ``.refs.json`` or ``.refs.json.zst``. Or the path or URL of a JSON
        file with such a mapping, in which relative paths begin at its folder. None for no
        catalog, not even that of the environment.

    Returns
    -------
    CatalogSetting
        A context manager; at its end, the catalog is the former one again.

    Raises
    ------
    CatalogError
        If it is malformed.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> with vroot.set_catalog({"root://host//store/": "https://example.org/refs/"}):
    ...     tree = vroot.open("root://host//store/a.root:Events")

    reads ``https://example.org/refs/a.root.refs.json``.
    """
    if catalog is None:
        chosen = None
    elif isinstance(catalog, Mapping):
        chosen = _of_mapping(catalog)
    else:
        chosen = load_catalog(regularize_path(catalog))
    former = tuple(_set)
    _set[:] = [chosen]
    return CatalogSetting(chosen, former)


def current_catalog() -> Catalog | None:
    """Give the catalog that was set, or else that of the environment.

    Returns
    -------
    Catalog or None
        None if there is none.

    Raises
    ------
    CatalogError
        If that of the environment is malformed.
    FileNotFoundError
        If it is not there.
    """
    # One look: another thread may set it meanwhile.
    chosen = tuple(_set)
    if chosen:
        return chosen[0]
    named = os.environ.get(CATALOG_VARIABLE)
    if not named:
        return None
    try:
        return _of_environment(regularize_path(named))
    except (OSError, VrootError) as err:
        err.add_note(f"when the catalog that {CATALOG_VARIABLE} names was read: {named}")
        raise


@lru_cache(maxsize=1)
def _of_environment(location: str) -> Catalog:
    return load_catalog(location)


def load_catalog(location: str) -> Catalog:
    """Read a catalog.

    Parameters
    ----------
    location : str
        Path or URL of a JSON file.

    Returns
    -------
    Catalog
        The catalog.

    Raises
    ------
    CatalogError
        If it is malformed.
    FileNotFoundError
        If it is not there.
    """
    path = local_path(location)
    content = path.read_bytes() if path is not None else read_file(location)
    try:
        entries = msgspec.json.decode(content, type=dict[str, str])
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise CatalogError(
            f"{location}: not a catalog, a JSON object of the stores of ROOT files: {err}"
        ) from err
    if path is None:
        join = partial(_within, location)
        for store in entries.values():
            # A relative one is joined, and therefore is where the catalog is.
            if join(store) == store and not is_remote(store):
                raise CatalogError(
                    f"{location}: this remote catalog names the store {store!r}, which is not "
                    "read for safety, since it is or may be local"
                )
    else:
        join = partial(_under, path.absolute().parent)
    return _checked(((join(key), join(store)) for key, store in entries.items()), location)


def _of_mapping(
    entries: Mapping[str | os.PathLike[str], str | os.PathLike[str]],
) -> Catalog:
    where = "the catalog"
    for item in entries.items():
        if not all(isinstance(each, str | os.PathLike) for each in item):
            raise CatalogError(f"{where}: {item!r}: expected two strings or paths")
    # Asked for once, since there may be many thousands of paths.
    folder = Path.cwd()
    pairs = (
        (_under(folder, regularize_path(key)), _under(folder, regularize_path(store)))
        for key, store in entries.items()
    )
    return _checked(pairs, where)


def _checked(entries: Iterable[tuple[str, str]], where: str) -> Catalog:
    checked: dict[str, str] = {}
    for key, store in entries:
        if key.endswith("/") != store.endswith("/"):
            raise CatalogError(
                f"{where}: {key!r}: {store!r}: either both end with '/', for all files that begin "
                "so, or none does, for one file"
            )
        checked[key] = store
    return Catalog(checked)


def _absolute(location: str) -> str:
    """Make a local path absolute, without following links, and keep the "/" at its end."""
    if SETTLED.fullmatch(location):
        return location
    return _under(Path.cwd(), location)


def _plain_path(location: str) -> str | None:
    """Give the path of a local file, or None; without pathlib, as there may be many thousands."""
    if "://" not in location and not location.startswith("file:"):
        return location
    if FILE_URL.match(location):
        # Nothing in it can be percent-encoded, so that no file needs to be looked for.
        return location[location.index("://") + 3 :]
    if "://" in location and not location.startswith(("file:", "local:")):
        return None
    path = local_path(location)
    return None if path is None else str(path)


def _under(folder: Path, location: str) -> str:
    """Make a local path that starts in a folder absolute, and take ".." away."""
    path = _plain_path(location)
    if path is None:
        return location
    if SETTLED.fullmatch(location):
        return location
    text = os.path.normpath(os.path.join(folder, path)).replace(os.sep, "/")  # noqa: PTH118
    return text + "/" if location.endswith("/") and text != "/" else text


def _within(base: str, location: str) -> str:
    """Make a path of a catalog from elsewhere a URL there; an absolute one stays local."""
    path = local_path(location)
    if path is None or path.is_absolute():
        return location
    try:
        return join_url(base, location)
    except ValueError as err:
        raise CatalogError(f"{base}: {err}") from err
