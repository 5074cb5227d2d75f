"""ROOT files as Zarr reference stores, read with uproot's API and without parsing ROOT."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vroot import exceptions
from vroot._version import __version__
from vroot.arrays.caches import LRUArrayCache, LRUCache
from vroot.as_uproot import names as uproot_names
from vroot.datasets.several_files import concatenate, iterate, num_entries
from vroot.exceptions import KeyInFileError, MissingExtraError, VrootError
from vroot.files.directory import Directory
from vroot.files.file import File
from vroot.files.file import open_file as open  # noqa: A004  # the name that uproot has
from vroot.locate.catalog import set_catalog
from vroot.metadata.interpretations import AsDouble32, AsDtype, AsFloat16, AsJagged, AsStrings
from vroot.ntuples.has_fields import HasFields
from vroot.ntuples.ntuple import RField, RNTuple
from vroot.registration import register_with_uproot
from vroot.trees.branch import TBranch
from vroot.trees.has_branches import HasBranches
from vroot.trees.tree import TTree

if TYPE_CHECKING:
    from pathlib import Path

    from vroot.datasets.dask.build import dask
else:

    def __getattr__(name: str) -> Any:
        """Find what uproot has under a name."""
        return uproot_names.look_up(__name__, name)


uproot_names.install()

__all__ = [
    "INLINE_LIMIT_BYTES",
    "AsDouble32",
    "AsDtype",
    "AsFloat16",
    "AsJagged",
    "AsStrings",
    "Directory",
    "File",
    "HasBranches",
    "HasFields",
    "KeyInFileError",
    "LRUArrayCache",
    "LRUCache",
    "RField",
    "RNTuple",
    "TBranch",
    "TTree",
    "VrootError",
    "__version__",
    "concatenate",
    "dask",
    "default_library",
    "exceptions",
    "iterate",
    "num_entries",
    "open",
    "register_with_uproot",
    "scan",
    "set_catalog",
]


#: The library of arrays, unless another one is asked for.
default_library = "ak"

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
    from vroot.as_uproot.running import has_the_name, scan_elsewhere  # noqa: PLC0415  # which imports this

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
        from vroot.scanner import scan_file  # noqa: PLC0415  # the reader works without uproot
    except ImportError as err:
        raise MissingExtraError("scanning a ROOT file", err.name or "uproot", "scan") from err
    return scan_file(source, out, **options)
