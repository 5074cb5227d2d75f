"""`vroot.scan`: in this process, or in one of its own where uproot's name is taken by vroot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vroot.exceptions import MissingExtraError
from vroot.scanner.elsewhere import has_the_name, scan_elsewhere

__all__ = ["INLINE_LIMIT_BYTES", "scan"]

#: How many bytes of ready-made data a store holds of one branch, unless it is told otherwise.
INLINE_LIMIT_BYTES = 4 << 20


def scan(
    source: str | Path,
    out: str | Path | None = None,
    *,
    url: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    inline_limit_bytes: int = INLINE_LIMIT_BYTES,
    allow_truncated: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Scan a ROOT file into a reference store.

    Parameters
    ----------
    source : str or pathlib.Path
        Path or URL of a ROOT file, or "file:object" for one directory or tree of it.
    out : str or pathlib.Path, optional
        Where to write the store: ``.json``, or ``.json.zst`` for a compressed one. It is written
        whole or not at all. In the folder of the ROOT file it names that relatively, so that both
        can be moved together; elsewhere it has the absolute path.
    url : str, optional
        The address to publish, where the file will be read from, if that is not where it is
        scanned. A relative one starts from the folder of the store.
    storage_options : mapping, optional
        Options for fsspec, if the source is a URL.
    inline_limit_bytes : int
        How many bytes of ready-made data the store may hold of one branch, where no program of
        AwkwardForth reads it; and, if this is more than 4 MiB, of one object beside its large
        arrays, which stay in the ROOT file. What has more is recorded with the reason.
    allow_truncated : bool
        Whether to scan what can be read of a file that is shorter than its header says.
    progress : callable, optional
        Called with the path of an object, the number of branches that are done, and how many
        there are in that object.

    Returns
    -------
    dict
        The references, which `vroot.open` takes.

    Raises
    ------
    MissingExtraError
        If uproot is not installed.
    FileNotFoundError
        If there is no such file.
    OutputIsSourceError
        If the output is the source, by whatever name, or another ROOT file.
    DeserializationError
        If it is not a ROOT file, it is truncated, or its directories cannot be read.
    """
    options: dict[str, Any] = {
        "url": url,
        "storage_options": storage_options,
        "inline_limit_bytes": inline_limit_bytes,
        "allow_truncated": allow_truncated,
        "progress": progress,
    }
    if has_the_name():
        return scan_elsewhere(source, out, **options)
    try:
        from vroot.scanner.scan import scan_file  # noqa: PLC0415  # the reader works without uproot
    except ImportError as err:
        raise MissingExtraError("scanning a ROOT file", err.name or "uproot", "scan") from err
    return scan_file(source, out, **options)
