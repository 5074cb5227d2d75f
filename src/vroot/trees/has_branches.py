"""What the facades for trees and for branches have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, TextIO, TypeVar

from vroot.arrays.caches import ArrayCache, regularize_array_cache
from vroot.arrays.libraries import How, regularize_library
from vroot.arrays.virtual import check_virtual
from vroot.format.names import component_name
from vroot.mapping.filters import Filter
from vroot.mapping.listing import Listing
from vroot.metadata.entry_ranges import regularize_entry_range
from vroot.read.opened import OpenedFile
from vroot.read.steps import bytes_of_size
from vroot.trees.protocols import Branch
from vroot.trees.reading import AddDoc, Options, read_together
from vroot.trees.selection import BranchFilter, entries_for, select, steps
from vroot.trees.virtual import virtual_branches

__all__ = ["HasBranches"]


#: The class of the branches.
B = TypeVar("B", bound=Branch)


class HasBranches(Listing[B]):
    """What trees and branches have in common: they are mappings of branches.

    Parameters
    ----------
    file : File
        The opened store.
    path : str
        Path of the node in the store.
    """

    _separator = "/"

    def __init__(self, file: OpenedFile, path: str) -> None:
        self._file = file
        self.node_path = path
        self._made: dict[str, B] = {}

    # --- the node itself

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        return self._file

    @property
    def tree(self) -> Any:
        """The tree that this is or belongs to."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """Title in the ROOT file."""
        raise NotImplementedError

    @property
    def cache_key(self) -> str:
        """What names this among all files, as part of the keys of caches."""
        raise NotImplementedError

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    # --- branches

    @cached_property
    def components(self) -> list[str]:
        """Components of the nodes of the branches, in the order of the ROOT file."""
        return self._file.references.children(self.node_path)

    @cached_property
    def _lookup(self) -> dict[str, str]:
        """From name to component, of the first branch with that name."""
        return {component_name(text): text for text in reversed(self.components)}

    def branch_at(self, text: str) -> B:
        """Give the branch of a component."""
        branch = self._made.get(text)
        if branch is None:
            branch = self._made.setdefault(text, self._make_branch(text))
        return branch

    def _make_branch(self, text: str) -> B:
        raise NotImplementedError

    @property
    def itself(self) -> list[tuple[str, B]]:
        """Name and branch, if this is one."""
        return []

    @property
    def branches(self) -> list[B]:
        """The branches directly under this one, in the order of the ROOT file."""
        return [self.branch_at(text) for text in self.components]

    @property
    def direct_members(self) -> list[B]:
        """The branches directly under this one."""
        return self.branches

    def __len__(self) -> int:
        return len(self.components)

    def directly(self, name: str) -> B | None:
        """Give the first branch of a name."""
        text = self._lookup.get(name)
        return None if text is None else self.branch_at(text)

    # --- listings

    def iteritems(  # type: ignore[override]
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, B]]:
        """Iterate over names and branches, in uproot's order.

        Parameters
        ----------
        filter_name, filter_typename : None, str, callable, or iterable of these
            Which names and C++ types to take: see `vroot.mapping.filters.regularize_filter`. A name
            is accepted alone, with its path, or with its path after a slash.
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
        return self._filtered(
            filter_name,
            filter_typename,
            filter_branch,
            recursive=recursive,
            full_paths=full_paths,
            ignore_duplicates=ignore_duplicates,
        )

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
        for name, branch in self.itself:
            out.write(line((name, branch.typename, repr(branch.interpretation))) + "\n")
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
        expressions: str | Iterable[Any] | None = None,
        cut: str | None = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        aliases: Mapping[str, str] | None = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        decompression_executor: Executor | None = None,
        interpretation_executor: Executor | None = None,
        array_cache: ArrayCache = "inherit",
        library: Any = "ak",
        ak_add_doc: AddDoc = False,
        how: How = None,
        virtual: bool = False,
        access_log: Any = None,
    ) -> Any:
        """Read several branches together, and compute with them.

        Only the branches that are needed are read, in one plan.

        Parameters
        ----------
        expressions : str or iterable of str, optional
            Names or paths of branches, names of aliases, or expressions of them such as
            ``"sqrt(px**2 + py**2)"``; all branches that the filters accept if not given. A pair
            ``(name, interpretation)``, or an item of a mapping, reads a branch as something else,
            see `TBranch.interpreted`.
            Expressions have the syntax of Python: arithmetic, comparisons, ``& | ~`` for arrays
            of booleans, subscripts, and calls of the functions of `language`. A name may have
            dots; ``get("a name")`` is for those that are not names in Python. In an expression,
            ``/`` divides: only a text that is the path of a branch as a whole is a path.
        cut : str, optional
            An expression: entries where it is zero or false are left out; if it is jagged, items
            of entries, of branches with the same numbers of items.
        filter_name, filter_typename, filter_branch
            As in `iteritems`, without `expressions`.
        aliases : mapping of str to str, optional
            Expressions by name, which may use each other, besides those that the tree has; a name
            that is also that of a branch means the branch.
        language : PythonLanguage, optional
            The functions that expressions may call: ``vroot.language.python_language``, with the
            functions that uproot has, if not given.
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the baskets; any object with `submit` or `map`.
        array_cache : "inherit", None, MutableMapping, int or str
            Where the arrays of branches are looked up before they are read, and kept: "inherit"
            is the cache of the file, which by default has none; an int or a text such as
            "100 MB" is the size of a new one.
        library : "ak", "np" or "pd"
            Awkward or NumPy arrays, or pandas.
        ak_add_doc : bool or dict
            Whether titles become the parameter ``__doc__`` of Awkward Arrays; or, for the records,
            attributes of the tree by the names of the parameters that they become.
        how : None, dict, tuple, list or "zip"
            See `vroot.arrays.grouping.group`.
        virtual : bool
            Whether to make Awkward Arrays of which each column is read when it is first touched.
            They need all other parameters that say what to compute or to make to be left out.
        access_log : list or other object with ``__iadd__``, optional
            Given a `vroot.arrays.virtual.Accessed` for each buffer of virtual arrays when it is
            first touched.

        Returns
        -------
        ak.Array, dict, tuple or list
            One record an entry, unless `how` says otherwise.

        Raises
        ------
        KeyInFileError
            If a name is neither that of a branch nor of an alias.
        ExpressionSyntaxError
            If something is no expression.
        RecursiveAliasError
            If an alias is defined by itself.
        UnsupportedError
            If a branch, or something that is asked for, is not supported.
        CorruptBasketError
            If a basket is damaged.
        """
        check_virtual(
            virtual=virtual,
            access_log=access_log,
            library=library,
            how=how,
            expressions=expressions,
            cut=cut,
            aliases=aliases,
        )
        filters = (filter_name, filter_typename, filter_branch)
        selection = select(self, expressions, cut, filters, aliases, language)
        entries = regularize_entry_range(self.tree.num_entries, entry_start, entry_stop)
        options = Options(
            regularize_library(library),
            how,
            decompression_executor or interpretation_executor,
            ak_add_doc,
            regularize_array_cache(array_cache, self._file),
        )
        if virtual:
            return virtual_branches(selection, entries, options, access_log)
        return read_together(selection, entries, options)

    def iterate(
        self,
        expressions: str | Iterable[Any] | None = None,
        cut: str | None = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        aliases: Mapping[str, str] | None = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        decompression_executor: Executor | None = None,
        interpretation_executor: Executor | None = None,
        library: Any = "ak",
        ak_add_doc: AddDoc = False,
        how: How = None,
        report: bool = False,
    ) -> Iterator[Any]:
        """Read some entries at a time; parameters not named here are as in `arrays`.

        A basket that reaches over the end of a step is decoded once, and kept for the next.

        Parameters
        ----------
        step_size : int or str
            Entries a step, or a size of memory such as "100 MB", of which the metadata alone tell
            how many entries it is.
        report : bool
            Whether each array comes with a `vroot.read.steps.Report`.

        Yields
        ------
        arrays, or tuple of arrays and Report
            One step.
        """
        selection = select(
            self, expressions, cut, (filter_name, filter_typename, filter_branch), aliases, language
        )
        entries = regularize_entry_range(self.tree.num_entries, entry_start, entry_stop)
        executor = decompression_executor or interpretation_executor
        options = Options(regularize_library(library), how, executor, ak_add_doc)
        for arrays, step in steps(self, selection, entries, step_size, options):
            yield (arrays, step) if report else arrays

    def num_entries_for(
        self,
        memory_size: int | str,
        expressions: str | Iterable[Any] | None = None,
        cut: str | None = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        aliases: Mapping[str, str] | None = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
    ) -> int:
        """Say how many entries fit a size of memory; other parameters as in `arrays`.

        Parameters
        ----------
        memory_size : int or str
            Bytes, or a size such as "100 MB".

        Returns
        -------
        int
            Entries, at least 1.
        """
        selection = select(
            self, expressions, cut, (filter_name, filter_typename, filter_branch), aliases, language
        )
        entries = regularize_entry_range(self.tree.num_entries, entry_start, entry_stop)
        return entries_for(bytes_of_size(memory_size), selection, entries)

    def common_entry_offsets(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: BranchFilter = None,
        recursive: bool = True,
    ) -> list[int]:
        """Give the entry numbers where a basket of every branch begins.

        Parameters
        ----------
        filter_name, filter_typename, filter_branch, recursive
            As in `iteritems`.

        Returns
        -------
        list of int
            In ascending order; ``[0]`` if no branch has baskets.
        """
        branches = [branch for _, branch in self.itself]
        branches += self.itervalues(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            recursive=recursive,
        )
        offsets = [set(branch.entry_offsets) for branch in branches if branch.num_baskets]
        return sorted(set.intersection(*offsets)) if offsets else [0]
