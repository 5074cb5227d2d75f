"""The facade for trees."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from vroot.mapping.html import branches_html
from vroot.metadata.specs import TreeSpec
from vroot.read.opened import OpenedDirectory
from vroot.trees.branch import TBranch
from vroot.trees.has_branches import HasBranches

__all__ = ["TTree"]


class TTree(HasBranches[TBranch]):
    """A TTree, or TNtuple, of an opened store.

    Parameters
    ----------
    parent : Directory
        The directory that it is in.
    path : str
        Path of its node in the store.
    spec : TreeSpec
        What ROOT says of it.
    """

    def __init__(self, parent: OpenedDirectory, path: str, spec: TreeSpec) -> None:
        super().__init__(parent.file, path)
        self._parent = parent
        self.spec = spec

    def __repr__(self) -> str:
        branches = f" ({len(self)} branches)" if len(self) else ""
        return f"<TTree {self.name!r}{branches} at 0x{id(self):012x}>"

    def _repr_html_(self) -> str:
        return branches_html(self, self.spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return (TTree, (self._parent, self.node_path, self.spec))

    def _make_branch(self, text: str) -> TBranch:
        return TBranch(self, text)

    @property
    def parent(self) -> OpenedDirectory:
        """The directory that the tree is in."""
        return self._parent

    @property
    def tree(self) -> TTree:
        """The tree itself."""
        return self

    @cached_property
    def object_path(self) -> str:
        """Path in the ROOT file, with its cycle."""
        return f"{self._parent.object_path}{self.name};{self.spec.cycle}"

    @property
    def cache_key(self) -> str:
        """What names this among all files, as part of the keys of caches."""
        return f"{self.file.uuid}:{self.object_path}"

    @property
    def name(self) -> str:
        """Name of the tree."""
        return self.spec.name

    @property
    def title(self) -> str:
        """Title of the tree."""
        return self.spec.title

    @property
    def classname(self) -> str:
        """ROOT's class: TTree or one that is derived from it."""
        return self.spec.classname

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self.spec.num_entries

    @property
    def aliases(self) -> dict[str, str]:
        """Named expressions that the tree carries."""
        return dict(self.spec.aliases)

    @property
    def compressed_bytes(self) -> int:
        """Bytes on disk, keys included (``fZipBytes``)."""
        return self.spec.compressed_bytes

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes before compression, keys included (``fTotBytes``)."""
        return self.spec.uncompressed_bytes

    @property
    def compression_ratio(self) -> float:
        """Uncompressed over compressed bytes."""
        return float(self.uncompressed_bytes) / float(self.compressed_bytes)
