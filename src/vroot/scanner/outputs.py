"""Where references are written, which is never where a ROOT file is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from vroot.exceptions import OutputIsSourceError
from vroot.io.local import is_chain, local_path
from vroot.io.urls import is_unicode

__all__ = ["check_outputs", "is_in_folder_of"]


def is_in_folder_of(out: Path, source: Path) -> bool:
    """Whether a store and its source are in one folder, where the name of the source is enough.

    Not where the store will be found by a link to it, or where its JSON cannot hold the name.
    """
    here, there = out.absolute().parent, source.absolute().parent
    is_same = here == there or (here.is_dir() and here.samefile(there))
    return is_same and not out.is_symlink() and is_unicode(source.name)


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
