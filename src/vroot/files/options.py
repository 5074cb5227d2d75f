"""The options that `uproot.open` takes, and what becomes of them here."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from vroot.exceptions import UnsupportedError

__all__ = ["DEFAULTS", "regularize_open_options", "separate_open_options"]

#: ``uproot.open.defaults``. They say how uproot gets the bytes of a ROOT file, and in how many
#: threads; vroot decides that by itself, so that they are accepted and change nothing.
DEFAULTS: dict[str, Any] = {
    "handler": None,
    "max_num_elements": None,
    "num_workers": 1,
    "use_threads": sys.platform != "emscripten",
    "num_fallback_workers": 10,
    "begin_chunk_size": 403,
    "minimal_ttree_metadata": True,
    "http_max_header_bytes": 21784,
}

#: Likewise; the names before the last were those of options of earlier versions of uproot.
WITHOUT_EFFECT = frozenset(DEFAULTS) | {
    "file_handler",
    "http_handler",
    "object_handler",
    "s3_handler",
    "xrootd_handler",
    "timeout",
}

#: What functions over several files pass on to `arrays` and `iterate`; all else is for opening.
OF_READING = frozenset(
    {
        "access_log", "ak_add_doc", "aliases", "array_cache", "backend", "decompression_executor",
        "entry_start", "entry_stop", "filter_branch", "filter_field", "filter_name",
        "filter_typename", "how", "interpretation_executor", "interpreter", "language", "virtual",
    }
)  # fmt: skip


def regularize_open_options(
    options: Mapping[str, Any],
    storage_options: Mapping[str, Any] | None = None,
    custom_classes: Any = None,
) -> Mapping[str, Any] | None:
    """Turn options of uproot for opening a file into those for fsspec.

    Parameters
    ----------
    options : mapping
        By name. As in uproot, those that are not its own are for fsspec.
    storage_options : mapping, optional
        Options for fsspec, given as such.
    custom_classes : mapping, optional
        Refused: the store has been made with uproot's own classes.

    Returns
    -------
    mapping or None
        Options for fsspec, if there are any.

    Raises
    ------
    UnsupportedError
        If there are classes of the user's.
    """
    if custom_classes is not None:
        raise UnsupportedError(
            "custom_classes are not supported: how objects are read is decided when the ROOT file "
            "is scanned"
        )
    for_fsspec = {name: value for name, value in options.items() if name not in WITHOUT_EFFECT}
    return {**for_fsspec, **(storage_options or {})} if for_fsspec else storage_options


def separate_open_options(
    options: Mapping[str, Any], storage_options: Mapping[str, Any] | None
) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Separate options for reading trees from those for opening their files.

    Parameters
    ----------
    options : mapping
        Of both kinds, by name.
    storage_options : mapping, optional
        Options for fsspec, given as such.

    Returns
    -------
    tuple of dict and (mapping or None)
        Options for reading, and options for fsspec.

    Raises
    ------
    UnsupportedError
        As in `regularize_open_options`.
    """
    opening = {name: value for name, value in options.items() if name not in OF_READING}
    custom_classes = opening.pop("custom_classes", None)
    reading = {name: value for name, value in options.items() if name in OF_READING}
    return reading, regularize_open_options(opening, storage_options, custom_classes)
