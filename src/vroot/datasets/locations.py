"""What functions over several files take for files: paths, globs, mappings, opened trees."""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from vroot.exceptions import KeyInFileError
from vroot.files.opening import open_location
from vroot.io.local import local_path
from vroot.io.remote import filesystem
from vroot.io.urls import absolute_location, replace_link
from vroot.locate.paths import regularize_path, split_object_path
from vroot.ntuples.has_fields import HasFields
from vroot.trees.has_branches import HasBranches

__all__ = ["FileSteps", "Files", "Tree", "open_tree", "regularize_file_steps", "regularize_files"]

Tree: TypeAlias = HasBranches[Any] | HasFields[Any]
Files: TypeAlias = Any  # str, Path, mapping, tree, or an iterable of these, as uproot takes them

GLOB = re.compile(r"[*?\[\]{}]")
BRACES = re.compile(r"{([^}]*,)*([^}]*)}")
TREE_CLASSES = "TTree"


def regularize_files(
    files: Files, storage_options: Mapping[str, Any] | None = None
) -> list[FileSteps]:
    """List the files, and the objects in them, that are meant.

    Parameters
    ----------
    files : str, pathlib.Path, mapping, tree, or iterable of these
        Paths or URLs of references or ROOT files, perhaps with a glob pattern or braces, perhaps
        with ":object" after them; ``{path: object}``; or trees that are open already.
    storage_options : mapping, optional
        Options for fsspec, which expands patterns in URLs.

    Returns
    -------
    list of FileSteps
        In order, without steps. As in uproot, what is named twice comes twice, but what two
        patterns in one string match comes once.

    Raises
    ------
    FileNotFoundError
        If there are none.
    TypeError
        If it is nothing of this kind, or names steps, which are for `vroot.dask`.
    """
    found = regularize_file_steps(files, storage_options)
    if any(each.steps is not None for each in found):
        raise TypeError("'steps' in 'files' are for vroot.dask only")
    return found


class FileSteps(NamedTuple):
    """A file, the object in it that is meant, and the ranges of entries that are to be read.

    Parameters
    ----------
    location : str or tree
        An absolute path or a URL, or the tree itself.
    object_path : str, optional
        The object in it.
    steps : list of (int, int), optional
        Half-open ranges of entries.
    given : str
        The path or URL as it was given.
    """

    location: str | Tree
    object_path: str | None
    steps: list[tuple[int, int]] | None = None
    given: str = ""


def regularize_file_steps(
    files: Files, storage_options: Mapping[str, Any] | None = None
) -> list[FileSteps]:
    """List files, as `regularize_files` does, some of which may say in which steps to read them.

    Parameters
    ----------
    files, storage_options
        As in `regularize_files`; a mapping may also be ``{path: {"object_path": object, "steps":
        steps}}``, the steps being pairs of entries, or the edges between them.

    Returns
    -------
    list of FileSteps
        In order.

    Raises
    ------
    FileNotFoundError
        If there are none.
    TypeError
        If it is nothing of this kind.
    ValueError
        If steps run backwards.
    """
    found = list(_walk(files, storage_options, parse_colon=True))
    if not found:
        raise FileNotFoundError(2, "no file matches", str(files))
    return found


def _regularize_steps(steps: Any) -> list[tuple[int, int]]:
    array = np.array([] if isinstance(steps, Mapping) else steps)
    if not np.issubdtype(array.dtype, np.integer) or array.ndim not in (1, 2):
        raise TypeError(
            "the steps of a file must be integers: the edges between them or pairs of first entry "
            f"and end, not {steps!r}"
        )
    if array.ndim == 1:
        if len(array) == 0 or np.any(array[1:] < array[:-1]):
            raise ValueError(f"the edges of the steps of a file must ascend: {steps!r}")
        array = np.stack((array[:-1], array[1:]), axis=1)
    elif array.shape[1] != 2 or np.any(array[:, 1] < array[:, 0]):
        raise ValueError(f"a step of a file must end at or after its first entry: {steps!r}")
    return [(start, stop) for start, stop in array.tolist()]


def _walk(
    files: Files, storage_options: Mapping[str, Any] | None, *, parse_colon: bool
) -> Iterator[FileSteps]:
    if isinstance(files, HasBranches | HasFields):
        yield FileSteps(files, None)
    elif isinstance(files, os.PathLike):
        for given, location in _expand(regularize_path(files), storage_options):
            yield FileSteps(location, None, given=given)
    elif isinstance(files, str):
        name, object_path = split_object_path(files) if parse_colon else (files, None)
        for given, location in _expand(name, storage_options):
            yield FileSteps(location, object_path, given=given)
    elif isinstance(files, Mapping):
        for key, value in files.items():
            details = value if isinstance(value, Mapping) else {"object_path": value}
            object_path, steps = details.get("object_path"), details.get("steps")
            if not isinstance(object_path, str | None):
                raise TypeError(f"the object of {key!r} must be a string or None, not {value!r}")
            ranges = None if steps is None else _regularize_steps(steps)
            for each in _walk(key, storage_options, parse_colon=False):
                yield each._replace(object_path=object_path, steps=ranges)
    elif isinstance(files, Iterable):
        for each in files:
            yield from _walk(each, storage_options, parse_colon=parse_colon)
    else:
        raise TypeError(
            "'files' must be a path or URL, possibly with a glob pattern, a mapping of paths to "
            f"objects, opened trees, or an iterable of these, not {files!r}"
        )


def _expand(given: str, storage_options: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Give the files that a pattern matches, or the one of the path: as given, and absolute."""
    location = absolute_location(regularize_path(given))
    if GLOB.search(given) is None:
        yield given, location
    elif local_path(given) is None:
        fs, path = filesystem(location, storage_options or {})
        for match in fs.glob(path):
            found = replace_link(location, fs.unstrip_protocol(match))
            yield found, found
    elif os.path.exists(location):  # noqa: PTH110  # a name with brackets in it
        yield given, location
    else:
        # Those of a relative pattern are relative, as in uproot.
        pattern = str(local_path(regularize_path(given)))
        matches = (sorted(glob.glob(each)) for each in _without_braces(pattern))  # noqa: PTH207
        for match in dict.fromkeys(itertools.chain.from_iterable(matches)):
            yield match, absolute_location(match)


def _without_braces(pattern: str) -> Iterator[str]:
    """Give a pattern once for each combination of what its braces offer."""
    matches = list(BRACES.finditer(pattern))
    choices = [match[0][1:-1].split(",") for match in matches]
    for combination in itertools.product(*choices):
        result = pattern
        for choice, match in reversed(list(zip(combination, matches, strict=True))):
            result = result[: match.start()] + choice + result[match.end() :]
        yield result


def open_tree(
    location: str | Tree,
    object_path: str | None,
    *,
    allow_missing: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    given: str = "",
) -> Tree | None:
    """Open the tree that is meant in a file.

    Parameters
    ----------
    location : str or tree
        An absolute path or a URL, or the tree itself.
    object_path : str, optional
        Where it is in the file; the only tree of the file if not given.
    allow_missing : bool
        Whether a file without it is passed over.
    storage_options : mapping, optional
        Options for fsspec.
    given : str
        What the file shows as its path, if not `location`.

    Returns
    -------
    TTree, RNTuple or None
        The tree; None if it is missing and may be.

    Raises
    ------
    KeyInFileError
        If there is no such object.
    ValueError
        If no object is named and the file has none or several trees.
    """
    if not isinstance(location, str):
        return location
    given = given or location
    file = open_location(location, given, storage_options)
    if object_path is None:
        names = file.keys(filter_classname=TREE_CLASSES, cycle=False)
        if not names and allow_missing:
            return None
        if len(names) != 1:
            listed = ", ".join(map(repr, names)) or "none"
            raise ValueError(
                f"the tree must be named, as in {{file: tree}}, where a file does not have exactly "
                f"one; trees: {listed}\nin file {given}"
            )
        object_path = names[0]
    elif allow_missing and object_path not in file:
        return None
    return _checked(file[object_path], f"{given}:{object_path}")


def _checked(found: Any, where: str) -> Tree:
    if not isinstance(found, HasBranches | HasFields):
        raise KeyInFileError(where, because=f"it is a {type(found).__name__}, not a tree")
    return found
