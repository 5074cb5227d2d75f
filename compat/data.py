"""The real ROOT files that the comparisons read.

They are those of the folder that the environment variable VROOT_ROOTFILES names; without it, those
of the package scikit-hep-testdata, if it is installed.
"""

from __future__ import annotations

import fnmatch
import importlib
import os
from pathlib import Path

__all__ = ["DataError", "data_files"]


class DataError(Exception):
    """There are no files to compare."""


def data_files(pattern: str) -> list[Path]:
    """Find the ROOT files whose names match a glob pattern.

    Raises
    ------
    DataError
        If there are none, or no place to look for them.
    """
    folder = os.environ.get("VROOT_ROOTFILES")
    if folder:
        if not Path(folder).is_dir():
            raise DataError(f"VROOT_ROOTFILES is not a folder: {folder}")
        names = sorted(path.name for path in Path(folder).glob("*.root"))
        paths = [Path(folder, name) for name in names if fnmatch.fnmatchcase(name, pattern)]
    else:
        try:
            skhep_testdata = importlib.import_module("skhep_testdata")
        except ImportError as error:
            raise DataError(
                "set VROOT_ROOTFILES to a folder of ROOT files, or install scikit-hep-testdata"
            ) from error
        names = sorted(name for name in skhep_testdata.known_files if name.endswith(".root"))
        paths = [
            Path(skhep_testdata.data_path(name))
            for name in names
            if fnmatch.fnmatchcase(name, pattern)
        ]
    if not paths:
        raise DataError(f"none of {len(names)} ROOT files matches {pattern!r}")
    return paths
