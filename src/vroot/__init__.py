"""ROOT files as Zarr reference stores, read with uproot's API and without parsing ROOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vroot import exceptions
from vroot._version import __version__
from vroot.arrays.caches import LRUArrayCache, LRUCache
from vroot.as_uproot import names as uproot_names
from vroot.datasets.several_files import concatenate, iterate, num_entries
from vroot.exceptions import KeyInFileError, MissingExtraError, VrootError
from vroot.files.directory import Directory
from vroot.files.file import File
from vroot.files.opening import open_file as open  # noqa: A004  # the name that uproot has
from vroot.locate.catalog import set_catalog
from vroot.metadata.interpretations import AsDouble32, AsDtype, AsFloat16, AsJagged, AsStrings
from vroot.ntuples.has_fields import HasFields
from vroot.ntuples.ntuple import RField, RNTuple
from vroot.registration import register_with_uproot
from vroot.scanner.front import INLINE_LIMIT_BYTES, scan
from vroot.trees.branch import TBranch
from vroot.trees.has_branches import HasBranches
from vroot.trees.tree import TTree

if TYPE_CHECKING:
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
    "MissingExtraError",
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
