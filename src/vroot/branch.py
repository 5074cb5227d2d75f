"""The facade for branches: `HasBranches`, which trees share, and `TBranch`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import numpy as np

from vroot.engine import Column
from vroot.exceptions import KeyInFileError, ReferenceStoreError, UnsupportedError
from vroot.filters import Filter, no_filter, regularize_filter
from vroot.library import How, group, regularize_library, to_library
from vroot.model import AsJagged, BranchSpec, Interpretation, Unsupported
from vroot.names import component_name
from vroot.plan import regularize_entry_range

if TYPE_CHECKING:
    from vroot.file import File
    from vroot.tree import TTree

__all__ = ["HasBranches", "TBranch"]

BranchFilter: TypeAlias = Callable[["TBranch"], bool] | None


class HasBranches(Mapping[str, "TBranch"]):
    """What trees and branches have in common: they are mappings of branches.

    Parameters
    ----------
    file : File
        The opened store.
    path : str
        Path of the node in the store.
    """

    def __init__(self, file: File, path: str) -> None:
        self._file = file
        self._path = path
        self._made: dict[str, TBranch] = {}

    # --- the node itself

    @property
    def file(self) -> File:
        """The opened store."""
        return self._file

    @property
    def tree(self) -> TTree:
        """The tree that this is or belongs to."""
        raise NotImplementedError

    @property
    def object_path(self) -> str:
        """Path in the ROOT file, with cycle and, after a colon, branch names."""
        raise NotImplementedError

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    # --- branches

    @cached_property
    def _components(self) -> list[str]:
        return self._file.references.children(self._path)

    @cached_property
    def _lookup(self) -> dict[str, str]:
        """From name to component, of the first branch with that name."""
        return {component_name(text): text for text in reversed(self._components)}

    def _branch(self, text: str) -> TBranch:
        branch = self._made.get(text)
        if branch is None:
            branch = self._made.setdefault(text, TBranch(self, text))
        return branch

    @property
    def branches(self) -> list[TBranch]:
        """The branches directly under this one, in the order of the ROOT file."""
        return [self._branch(text) for text in self._components]

    def __len__(self) -> int:
        return len(self._components)

    def __iter__(self) -> Iterator[Any]:
        # As in uproot: the values of this mapping, not its keys.
        return iter(self.branches)

    def __contains__(self, where: object) -> bool:
        try:
            self[where]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def __getitem__(self, where: str | int) -> TBranch:
        if isinstance(where, int | np.integer):
            return self.branches[where]
        if not isinstance(where, str):
            raise TypeError(f"where must be an integer or a string, not {where!r}")
        found = self._find(where.removeprefix("/"), recursive=not where.startswith("/"))
        if found is None:
            raise KeyInFileError(
                where,
                keys=self.keys(recursive=not where.startswith("/")),
                file_path=self._file.file_path,
                object_path=self.object_path,
            )
        return found

    def _find(self, where: str, *, recursive: bool) -> TBranch | None:
        text = self._lookup.get(where)
        if text is not None:
            return self._branch(text)
        if "/" in where:
            this: HasBranches | None = self
            for piece in where.split("/"):
                if piece and this is not None:
                    this = this._find(piece, recursive=True)
            return this if isinstance(this, TBranch) and this is not self else None
        return self._find_below(where) if recursive else None

    def _find_below(self, name: str) -> TBranch | None:
        for branch in self.branches:
            text = branch._lookup.get(name)
            found = branch._branch(text) if text is not None else branch._find_below(name)
            if found is not None:
                return found
        return None

    # --- listings

    def iteritems(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, TBranch]]:
        """Iterate over names and branches, in uproot's order.

        Parameters
        ----------
        filter_name, filter_typename : None, str, callable, or iterable of these
            Which names and C++ types to take: see `vroot.filters.regularize_filter`. A name is
            accepted alone, with its path, or with its path after a slash.
        filter_branch : callable, optional
            From a branch to whether to take it.
        recursive : bool
            Whether to descend into branches.
        full_paths : bool
            Whether the names of deeper branches have their path before them.
        ignore_duplicates : bool
            Whether to leave out a name that has been.

        Yields
        ------
        tuple of str and TBranch
            Name and branch.
        """
        if filter_branch is not None and not callable(filter_branch):
            raise TypeError(
                f"filter_branch must be None or a function: TBranch -> bool, not {filter_branch!r}"
            )
        accepts_name = regularize_filter(filter_name)
        accepts_type = regularize_filter(filter_typename)
        seen: set[str] = set()
        for path, branch in self._walk(recursive=recursive):
            name = branch.name
            if accepts_name is not no_filter and not (
                accepts_name(name)
                or (path != name and accepts_name(path))
                or accepts_name("/" + path)
            ):
                continue
            if accepts_type is not no_filter and not accepts_type(branch.typename):
                continue
            if filter_branch is not None and not filter_branch(branch):
                continue
            shown = path if full_paths else name
            if ignore_duplicates and shown in seen:
                continue
            seen.add(shown)
            yield shown, branch

    def _walk(self, *, recursive: bool, prefix: str = "") -> Iterator[tuple[str, TBranch]]:
        for branch in self.branches:
            path = prefix + branch.name
            yield path, branch
            if recursive:
                yield from branch._walk(recursive=True, prefix=path + "/")

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterate over the names of branches; parameters as in `iteritems`."""
        return (name for name, _ in self.iteritems(**filters))

    def itervalues(self, **filters: Any) -> Iterator[TBranch]:
        """Iterate over branches; parameters as in `iteritems`."""
        return (branch for _, branch in self.iteritems(**{"full_paths": False} | filters))

    def itertypenames(self, **filters: Any) -> Iterator[tuple[str, str]]:
        """Iterate over names and C++ types of branches; parameters as in `iteritems`."""
        return ((name, branch.typename) for name, branch in self.iteritems(**filters))

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names of the branches; parameters as in `iteritems`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[TBranch]:  # type: ignore[override]
        """Branches; parameters as in `iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, TBranch]]:  # type: ignore[override]
        """Names and branches; parameters as in `iteritems`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Names and C++ types of the branches; parameters as in `iteritems`."""
        return dict(self.itertypenames(**filters))

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def show(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        recursive: bool = True,
        full_paths: bool = True,
        name_width: int = 20,
        typename_width: int = 24,
        interpretation_width: int = 30,
        stream: TextIO | None = None,
    ) -> None:
        """Print a table of branches, their types and interpretations.

        Parameters
        ----------
        filter_name, filter_typename, filter_branch, recursive, full_paths
            As in `iteritems`.
        name_width, typename_width, interpretation_width : int
            Characters for each column, at least 3.
        stream : file-like, optional
            Where to print; standard output if not given.
        """
        widths = (name_width, typename_width, interpretation_width)
        for which, width in zip(("name", "typename", "interpretation"), widths, strict=True):
            if width < 3:
                raise ValueError(f"'{which}_width' must be at least 3")
        out = sys.stdout if stream is None else stream

        def line(cells: Sequence[str]) -> str:
            pairs = zip(cells, widths, strict=True)
            return " | ".join(f"{cell:{width}.{width}}" for cell, width in pairs)

        out.write(line(("name", "typename", "interpretation")) + "\n")
        out.write("-+-".join("-" * width for width in widths) + "\n")
        if isinstance(self, TBranch):
            out.write(line((self.name, self.typename, repr(self.interpretation))) + "\n")
        for name, branch in self.iteritems(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            recursive=recursive,
            full_paths=full_paths,
        ):
            cells = (name, branch.typename, repr(branch.interpretation))
            shortened = [
                cell if len(cell) <= width else cell[: width - 3] + "..."
                for cell, width in zip(cells, widths, strict=True)
            ]
            out.write(line(shortened).rstrip(" ") + "\n")

    # --- reading

    def arrays(
        self,
        expressions: str | Sequence[str] | None = None,
        cut: None = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        decompression_executor: Executor | None = None,
        interpretation_executor: Executor | None = None,
        library: Any = "ak",
        how: How = None,
    ) -> Any:
        """Read several branches together.

        Parameters
        ----------
        expressions : str or sequence of str, optional
            Names of branches; all that the filters accept if not given.
        cut : None
            Not supported yet.
        filter_name, filter_typename, filter_branch
            As in `iteritems`, without `expressions`.
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the baskets.
        library : "ak" or "np"
            Awkward or NumPy arrays.
        how : None, dict, tuple, list or "zip"
            See `vroot.library.group`.

        Returns
        -------
        ak.Array, dict, tuple or list
            One record an entry, unless `how` says otherwise.

        Raises
        ------
        KeyInFileError
            If there is no branch of a given name.
        UnsupportedError
            If a branch, or something that is asked for, is not supported.
        CorruptBasketError
            If a basket is damaged.
        """
        if cut is not None:
            raise UnsupportedError("cut is not supported yet: select entries after reading")
        if expressions is None and isinstance(self, TBranch) and not self._components:
            chosen = [(self.name, self)]
        else:
            chosen = self._choose(expressions, filter_name, filter_typename, filter_branch)
        name = regularize_library(library)
        start, stop = regularize_entry_range(self.tree.num_entries, entry_start, entry_stop)
        distinct = {branch._path: branch for _, branch in chosen}
        arrays = self._file.read(
            list(distinct.values()), start, stop, decompression_executor or interpretation_executor
        )
        by_path = {
            path: to_library(branch.interpretation, array, name)
            for (path, branch), array in zip(distinct.items(), arrays, strict=True)
        }
        named = [(shown, by_path[branch._path]) for shown, branch in chosen]
        jagged = [isinstance(branch.interpretation, AsJagged) for _, branch in chosen]
        return group(named, jagged, name, how)

    def _choose(
        self,
        expressions: str | Sequence[str] | None,
        filter_name: Filter,
        filter_typename: Filter,
        filter_branch: BranchFilter,
    ) -> list[tuple[str, TBranch]]:
        if isinstance(expressions, str):
            return [(expressions, self[expressions])]
        if expressions is not None:
            return [(name, self[name]) for name in expressions]
        chosen = []
        for name, branch in self.iteritems(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            full_paths=False,
        ):
            interpretation = branch.interpretation
            if not isinstance(interpretation, Unsupported) or interpretation.in_arrays:
                # As in uproot, a name that is not unique means the first branch that has it.
                chosen.append((name, self[name]))
        return chosen


class TBranch(HasBranches):
    """A branch of a tree, made by `HasBranches`.

    Parameters
    ----------
    parent : HasBranches
        The tree or branch that it is in.
    text : str
        Its component of the path.
    """

    def __init__(self, parent: HasBranches, text: str) -> None:
        super().__init__(parent.file, f"{parent._path}/{text}")
        self._parent = parent
        self._text = text
        self._name = component_name(text)

    def __repr__(self) -> str:
        branches = f" ({len(self)} subbranches)" if len(self) else ""
        return f"<{self.classname} {self.name!r}{branches} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (TBranch, (self._parent, self._text))

    @cached_property
    def _spec(self) -> BranchSpec:
        spec = self._file.references.spec(self._path)
        if not isinstance(spec, BranchSpec):
            raise ReferenceStoreError(f"{self._file.file_path}: {self._path!r} is no branch")
        return spec

    @cached_property
    def column(self) -> Column:
        """What the engine needs to read this branch."""
        manifest = self._file.references.manifest(self._path, self._spec)
        return Column(self.object_path, self._spec, manifest, self._counter())

    def _counter(self) -> Callable[[], Column] | None:
        counter = self.count_branch
        return None if counter is None else lambda: counter.column

    @property
    def parent(self) -> HasBranches:
        """The tree or branch that this is in."""
        return self._parent

    @property
    def tree(self) -> TTree:
        """The tree that this belongs to."""
        return self._parent.tree

    @property
    def top_level(self) -> bool:
        """Whether this is directly in the tree."""
        return not isinstance(self._parent, TBranch)

    @property
    def object_path(self) -> str:
        """Path in the ROOT file: that of the tree, a colon, and the names of the branches."""
        return f"{self._parent.object_path}{':' if self.top_level else '/'}{self.name}"

    @property
    def index(self) -> int:
        """Position among the branches of the parent."""
        return self._parent._components.index(self._text)

    @property
    def name(self) -> str:
        """Name of the branch."""
        return self._name

    @property
    def title(self) -> str:
        """Title of the branch."""
        return self._spec.title

    @property
    def typename(self) -> str:
        """C++ type of an entry."""
        return self._spec.typename

    @property
    def classname(self) -> str:
        """ROOT's class of the branch itself."""
        return self._spec.classname

    @property
    def interpretation(self) -> Interpretation:
        """How the baskets become arrays."""
        return self._spec.interpretation

    @property
    def num_entries(self) -> int:
        """Number of entries in the branch."""
        return self._spec.num_entries

    @property
    def num_baskets(self) -> int:
        """Number of baskets, embedded ones included."""
        return len(self._spec.baskets)

    @property
    def entry_offsets(self) -> list[int]:
        """Entry numbers where the baskets begin, and the number of entries."""
        offsets: list[int] = self._spec.baskets.edges.tolist()
        return offsets

    @property
    def compressed_bytes(self) -> int:
        """Bytes on disk, keys included (``fZipBytes``)."""
        return self._spec.compressed_bytes

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes before compression, keys included (``fTotBytes``)."""
        return self._spec.uncompressed_bytes

    @property
    def compression_ratio(self) -> float:
        """Uncompressed over compressed bytes."""
        return float(self.uncompressed_bytes) / float(self.compressed_bytes)

    @cached_property
    def count_branch(self) -> TBranch | None:
        """The branch that holds the number of items of each entry, if there is one."""
        relative = self._spec.count_branch
        if relative is None:
            return None
        this: HasBranches = self.tree
        for text in relative.split("/"):
            if text not in this._components:
                raise ReferenceStoreError(
                    f"{self._file.file_path}: the counter branch {relative!r} of "
                    f"{self.object_path!r} does not exist"
                )
            this = this._branch(text)
        return this if isinstance(this, TBranch) else None

    def array(
        self,
        interpretation: Interpretation | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        decompression_executor: Executor | None = None,
        interpretation_executor: Executor | None = None,
        library: Any = "ak",
    ) -> Any:
        """Read the branch.

        Parameters
        ----------
        interpretation : Interpretation, optional
            The branch's own; another one is not supported.
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the baskets.
        library : "ak" or "np"
            Awkward or NumPy array.

        Returns
        -------
        ak.Array or ndarray
            One item an entry.

        Raises
        ------
        UnsupportedError
            If the branch cannot be read, with the reason.
        CorruptBasketError
            If a basket is damaged.
        """
        if interpretation is not None and interpretation != self.interpretation:
            raise UnsupportedError(
                f"branch {self.object_path!r} is stored as {self.interpretation!r} and cannot be "
                f"read as {interpretation!r}"
            )
        name = regularize_library(library)
        start, stop = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        executor = decompression_executor or interpretation_executor
        (array,) = self._file.read([self], start, stop, executor)
        return to_library(self.interpretation, array, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.array(library="np")
        if dtype is None and copy is not True:
            return array
        return np.array(array, dtype=dtype, copy=bool(copy) or None)
