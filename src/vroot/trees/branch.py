"""The facade for branches."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.arrays.caches import ArrayCache, regularize_array_cache
from vroot.arrays.libraries import regularize_library
from vroot.exceptions import (
    CorruptBasketError,
    DeserializationError,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.format.names import component_name
from vroot.mapping.html import branches_html
from vroot.metadata.entry_ranges import regularize_entry_range
from vroot.metadata.interpretation_base import Base
from vroot.metadata.interpretations import (
    AsDtype,
    AsGroup,
    AsGrouped,
    AsInline,
    Interpretation,
    Unsupported,
)
from vroot.metadata.specs import BranchSpec
from vroot.read.columns import Column
from vroot.trees.has_branches import HasBranches
from vroot.trees.reading import AddDoc, Options, read_one

__all__ = ["TBranch"]


class TBranch(HasBranches["TBranch"]):
    """A branch of a tree, made by `HasBranches`.

    Parameters
    ----------
    parent : HasBranches
        The tree or branch that it is in.
    text : str
        Its component of the path.
    """

    def __init__(self, parent: HasBranches[Any], text: str) -> None:
        super().__init__(parent.file, f"{parent.node_path}/{text}")
        self._parent = parent
        self._text = text
        self._name = component_name(text)

    def __repr__(self) -> str:
        branches = f" ({len(self)} subbranches)" if len(self) else ""
        return f"<{self.classname} {self.name!r}{branches} at 0x{id(self):012x}>"

    def _repr_html_(self) -> str:
        return branches_html(self, self.spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return (TBranch, (self._parent, self._text))

    def _make_branch(self, text: str) -> TBranch:
        return TBranch(self, text)

    @property
    def itself(self) -> list[tuple[str, TBranch]]:
        """Name and branch."""
        return [(self.name, self)]

    @cached_property
    def spec(self) -> BranchSpec:
        """What the store says of it."""
        spec = self._file.references.spec(self.node_path)
        if not isinstance(spec, BranchSpec):
            raise ReferenceStoreError(f"{self._file.file_path}: {self.node_path!r} is not a branch")
        return spec

    @cached_property
    def column(self) -> Column:
        """What the engine needs to read this branch."""
        manifest = self._file.references.manifest(self.node_path, self.spec)
        return Column(self.object_path, self.spec, manifest, self._counter())

    def _counter(self) -> Callable[[], Column] | None:
        counter = self.count_branch
        return None if counter is None else lambda: counter.column

    @property
    def parent(self) -> HasBranches[Any]:
        """The tree or branch that this is in."""
        return self._parent

    @property
    def tree(self) -> Any:
        """The tree that this belongs to."""
        return self._parent.tree

    @property
    def top_level(self) -> bool:
        """Whether this is directly in the tree."""
        return not isinstance(self._parent, TBranch)

    @property
    def aliases(self) -> dict[str, str]:
        """Named expressions that the tree carries."""
        aliases: dict[str, str] = self.tree.aliases
        return aliases

    @property
    def object_path(self) -> str:
        """Path in the ROOT file: that of the tree, a colon, and the names of the branches."""
        return f"{self._parent.object_path}{':' if self.top_level else '/'}{self.name}"

    @property
    def cache_key(self) -> str:
        """What names this among all files, as part of the keys of caches."""
        separator = ":" if self.top_level else "/"
        return f"{self._parent.cache_key}{separator}{self.name}({self.index})"

    @property
    def index(self) -> int:
        """Position among the branches of the parent."""
        return self._parent.components.index(self._text)

    @property
    def name(self) -> str:
        """Name of the branch."""
        return self._name

    @property
    def title(self) -> str:
        """Title of the branch."""
        return self.spec.title

    @property
    def typename(self) -> str:
        """C++ type of an entry."""
        return self.spec.typename

    @property
    def classname(self) -> str:
        """ROOT's class of the branch itself."""
        return self.spec.classname

    @property
    def interpretation(self) -> Interpretation:
        """How the baskets become arrays."""
        interpretation = self.spec.interpretation
        if isinstance(interpretation, AsGrouped):
            below = {branch.name: branch.interpretation for branch in self.branches}
            return AsGroup(f"AsGroup({self!r}, {below!r})", below)
        return interpretation

    @property
    def num_entries(self) -> int:
        """Number of entries in the branch."""
        return self.spec.num_entries

    @property
    def num_baskets(self) -> int:
        """Number of baskets, embedded ones included."""
        return len(self.spec.baskets)

    @property
    def entry_offsets(self) -> list[int]:
        """Entry numbers where the baskets begin, and the number of entries."""
        offsets: list[int] = self.spec.baskets.edges.tolist()
        return offsets

    def basket_entry_start_stop(self, basket_num: int) -> tuple[int, int]:
        """Give the entry numbers where a basket begins and ends.

        Parameters
        ----------
        basket_num : int
            Number of the basket, from 0.

        Returns
        -------
        tuple of int
            Half-open range of entries.

        Raises
        ------
        IndexError
            If there is no such basket.
        """
        self._check_basket(basket_num)
        start, stop = self.entry_offsets[basket_num : basket_num + 2]
        return start, stop

    def basket_uncompressed_bytes(self, basket_num: int) -> int:
        """Give the size of a basket before compression, in bytes, its key included.

        Parameters
        ----------
        basket_num : int
            Number of the basket, from 0.

        Returns
        -------
        int
            Bytes.

        Raises
        ------
        IndexError
            If there is no such basket.
        UnsupportedError
            If the store does not tell how long the keys are.
        """
        self._check_basket(basket_num)
        table = self.spec.baskets
        if table.key_bytes is None:
            raise UnsupportedError(
                f"{self._file.file_path}: how long the keys of the baskets of "
                f"{self.object_path!r} are is not in the store: scan the file again"
            )
        return int(table.uncompressed_bytes[basket_num] + table.key_bytes[basket_num])

    def _check_basket(self, basket_num: int) -> None:
        if not 0 <= basket_num < self.num_baskets:
            raise IndexError(
                f"branch {self.name!r} has {self.num_baskets} baskets, no basket {basket_num}\n"
                f"in file {self._file.file_path}"
            )

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

    @cached_property
    def count_branch(self) -> TBranch | None:
        """The branch that holds the number of items of each entry, if there is one."""
        relative = self.spec.count_branch
        if relative is None:
            return None
        this: HasBranches[Any] = self.tree
        for text in relative.split("/"):
            if text not in this.components:
                raise ReferenceStoreError(
                    f"{self._file.file_path}: the counter branch {relative!r} of "
                    f"{self.object_path!r} does not exist"
                )
            this = this.branch_at(text)
        return this if isinstance(this, TBranch) else None

    def interpreted(self, given: Interpretation | npt.DTypeLike) -> TBranch:
        """Give this branch with another interpretation, which decodes the same bytes.

        Parameters
        ----------
        given : Interpretation or dtype
            What the bytes mean; as in uproot, a dtype is taken as big-endian.

        Returns
        -------
        TBranch
            The branch itself if that is its interpretation.

        Raises
        ------
        UnsupportedError
            If there are no bytes to be decoded in the store, or nothing that decodes them.
        DeserializationError
            If the sizes of the baskets do not fit.
        """
        if not isinstance(given, Base):
            given = AsDtype(np.dtype(given).newbyteorder(">"))
        if given == self.interpretation:
            return self
        without_bytes = Unsupported | AsGrouped | AsInline
        if isinstance(given, without_bytes) or isinstance(self.interpretation, without_bytes):
            raise UnsupportedError(
                f"branch {self.object_path!r} is stored as {self.interpretation!r} and cannot be "
                f"read as {given!r}"
            )
        other = TBranch(self._parent, self._text)
        try:
            other.spec = msgspec.structs.replace(self.spec, interpretation=given)
        except ValueError as err:
            raise DeserializationError(
                f"branch {self.object_path!r}: {err}\nin file {self._file.file_path}"
            ) from err
        # Where the baskets are is found by the interpretation that the store has.
        other.column = Column(self.object_path, other.spec, self.column.manifest, self._counter())
        return other

    def array(
        self,
        interpretation: Interpretation | npt.DTypeLike | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        decompression_executor: Executor | None = None,
        interpretation_executor: Executor | None = None,
        array_cache: ArrayCache = "inherit",
        library: Any = "ak",
        ak_add_doc: AddDoc = False,
    ) -> Any:
        """Read the branch.

        Parameters
        ----------
        interpretation : Interpretation or dtype, optional
            What the bytes mean, instead of what the branch says, see `interpreted`.
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the baskets; any object with `submit` or `map`.
        array_cache : "inherit", None, MutableMapping, int or str
            As in `arrays`.
        library : "ak", "np" or "pd"
            Awkward or NumPy array, or pandas Series.
        ak_add_doc : bool or dict
            Whether the title becomes the parameter ``__doc__`` of an Awkward Array; for a branch
            that groups others, also as in `arrays`.

        Returns
        -------
        ak.Array or ndarray
            One item an entry.

        Raises
        ------
        UnsupportedError
            If the branch cannot be read, with the reason.
        DeserializationError
            If the bytes do not fit the interpretation.
        CorruptBasketError
            If a basket is damaged.
        """
        branch = self if interpretation is None else self.interpreted(interpretation)
        start, stop = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        options = Options(
            regularize_library(library),
            executor=decompression_executor or interpretation_executor,
            ak_add_doc=ak_add_doc,
            array_cache=regularize_array_cache(array_cache, self._file),
        )
        try:
            return read_one(branch, (start, stop), options)
        except CorruptBasketError as err:
            if branch is not self:
                err.add_note(f"read as {interpretation!r}; it is stored as {self.interpretation!r}")
            raise

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.array(library="np")
        if dtype is None and copy is not True:
            return array
        return np.array(array, dtype=dtype, copy=bool(copy) or None)
