"""What the facades for RNTuples and for their fields have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, TypeVar

from vroot.arrays.caches import ArrayCache, regularize_array_cache
from vroot.arrays.libraries import How, regularize_library
from vroot.arrays.plain import in_library
from vroot.arrays.virtual import check_virtual
from vroot.exceptions import UnsupportedError
from vroot.expressions.language import python_language
from vroot.mapping.filters import Filter, one_of
from vroot.mapping.html import fields_html
from vroot.mapping.listing import Listing
from vroot.metadata.entry_ranges import regularize_entry_range
from vroot.ntuples.protocols import Field, NTuple
from vroot.read.opened import OpenedFile
from vroot.read.step_cache import StepCache
from vroot.read.steps import Report, bytes_of_size, regularize_step
from vroot.user_warnings import warn

if TYPE_CHECKING:
    import awkward as ak


__all__ = ["HasFields"]

FieldFilter: TypeAlias = Callable[[Field], bool] | None


#: The class of the fields.
F = TypeVar("F", bound=Field)


class HasFields(Listing[F]):
    """What RNTuples and fields have in common: they are mappings of fields."""

    _separator = "."

    @property
    def ntuple(self) -> NTuple:
        """The RNTuple that this is or belongs to."""
        raise NotImplementedError

    @property
    def fields(self) -> list[F]:
        """The fields directly under this one, in the order of the ROOT file."""
        raise NotImplementedError

    @property
    def path(self) -> str | None:
        """Names of the fields from the top down to this one, with dots; "." for the RNTuple."""
        raise NotImplementedError

    @property
    def description(self) -> str:
        """What its author wrote about it."""
        raise NotImplementedError

    @property
    def _headline(self) -> str:
        """Name and type, as `show` prints them."""
        raise NotImplementedError

    @property
    def num_entries(self) -> int:
        """Number of entries of the RNTuple."""
        return self.ntuple.num_entries

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        return self.ntuple.file

    # --- fields

    @property
    def object_path(self) -> str:
        """Path of the RNTuple in the ROOT file, with its cycle."""
        return self.ntuple.object_path

    @property
    def direct_members(self) -> list[F]:
        """The fields directly in this one."""
        return self.fields

    @property
    def listed(self) -> list[F]:
        """The members that listings name."""
        # What is in a variant has no name of its own: it is read with the variant.
        return [field for field in self.fields if not field.in_variant]

    @cached_property
    def _lookup(self) -> dict[str, F]:
        return {field.name: field for field in self.fields}

    def directly(self, name: str) -> F | None:
        """Give the first field of a name."""
        return self._lookup.get(name)

    def _path_of(self, where: str) -> str:
        return where.replace("/", ".").replace("\\", ".")

    # --- listings

    def iteritems(  # type: ignore[override]
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
        filter_branch: FieldFilter = None,
    ) -> Iterator[tuple[str, F]]:
        """Iterate over names and fields, in uproot's order.

        Parameters
        ----------
        filter_name, filter_typename : None, str, callable, or iterable of these
            Which names and C++ types to take: see `vroot.mapping.filters.regularize_filter`. A name
            is accepted alone, with its path, or with its path after a dot.
        filter_field : callable, optional
            From a field to whether to take it.
        recursive : bool
            Whether to descend into fields.
        full_paths : bool
            Whether the names of deeper fields have their path before them.
        ignore_duplicates : bool
            Whether to leave out a name that has been.
        filter_branch : callable, optional
            The deprecated name of `filter_field`, which scripts for trees have.

        Yields
        ------
        tuple of str and RField
            Name and field.
        """
        if filter_branch is not None:
            warn(
                "filter_branch should not be used for RNTuples, but filter_field",
                DeprecationWarning,
            )
            filter_field = filter_branch
        if filter_field is not None and not callable(filter_field):
            raise TypeError(
                f"filter_field must be None or a function: RField -> bool, not {filter_field!r}"
            )
        return self._filtered(
            filter_name,
            filter_typename,
            filter_field,
            recursive=recursive,
            full_paths=full_paths,
            ignore_duplicates=ignore_duplicates,
        )

    def show(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        recursive: bool = True,
        max_width: int = 80,
        stream: TextIO | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Print the fields, their types and descriptions as a tree.

        Parameters
        ----------
        filter_name, filter_typename, filter_field, recursive
            As in `iteritems`.
        max_width : int
            Characters of a line, at most.
        stream : file-like, optional
            Where to print; standard output if not given.
        **kwargs
            As in uproot, what else the `show` of trees takes is not used.
        """
        filters = {
            "filter_name": filter_name,
            "filter_typename": filter_typename,
            "filter_field": filter_field,
        }
        out = sys.stdout if stream is None else stream
        for line in self.lines("", "", filters, recursive=recursive):
            out.write(line[:max_width] + "\n")

    def lines(
        self, first: str, others: str, filters: Mapping[str, Any], *, recursive: bool
    ) -> Iterator[str]:
        """Lines of `show`, with what stands before the first and before the others."""
        yield first + self._headline
        if self.description:
            yield f"{others}Description: {self.description}"
        below = list(self.itervalues(recursive=False, **filters))
        if others and not recursive:
            return
        for i, field in enumerate(below):
            elbow, blank = ("└─ ", "   ") if i == len(below) - 1 else ("├─ ", "│  ")
            yield from field.lines(others + elbow, others + blank, filters, recursive=recursive)

    def _repr_html_(self) -> str:
        return fields_html(self, self._headline)

    # --- reading

    def to_akform(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        ak_add_doc: bool | dict[str, str] = False,
        filter_branch: FieldFilter = None,
    ) -> tuple[ak.forms.RecordForm, list[str] | None]:
        """Give the Awkward form of some fields.

        Parameters
        ----------
        filter_name, filter_typename, filter_field, filter_branch
            As in `iteritems`.
        ak_add_doc : bool or dict
            Whether descriptions become the parameter ``__doc__`` of the forms; or attributes of
            fields by the names of the parameters that they become.

        Returns
        -------
        tuple
            The form of one record an entry; and, for a field, the names that lead to it within
            that record, since the lists that a field is in belong to its form.

        Raises
        ------
        UnsupportedError
            If a field cannot be read.
        """
        matched = self.keys(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_field=filter_field,
            filter_branch=filter_branch,
        )
        return self.form_for(self.with_subfields(matched), ak_add_doc)

    def with_subfields(self, matched: Sequence[str]) -> list[str]:
        """Add the fields below the ones that were matched."""
        selected = set(matched)
        return [
            key
            for key in self.keys()
            if key in selected
            or any(key[:i] in selected for i, letter in enumerate(key) if letter == ".")
        ]

    def form_for(
        self, keys: list[str], ak_add_doc: bool | dict[str, str]
    ) -> tuple[ak.forms.RecordForm, list[str] | None]:
        """Give the form of some fields, and the names that lead into it; see `to_akform`."""
        raise NotImplementedError

    def arrays(
        self,
        expressions: str | Sequence[str] | None = None,
        cut: Any = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        aliases: Any = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        decompression_executor: Executor | None = None,
        array_cache: ArrayCache = "inherit",
        library: Any = "ak",
        backend: str = "cpu",
        interpreter: str = "cpu",
        ak_add_doc: bool | dict[str, str] = False,
        how: How = None,
        virtual: bool = False,
        access_log: Any = None,
        interpretation_executor: Executor | None = None,
        filter_branch: FieldFilter = None,
    ) -> Any:
        """Read several fields together.

        Parameters
        ----------
        expressions : str or sequence of str, optional
            The same as `filter_name`, as in uproot.
        cut, aliases, language, backend, interpreter
            Not supported, other than with their defaults.
        filter_name, filter_typename, filter_field, filter_branch
            As in `iteritems`. A field comes with all fields below it.
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the pages; any object with `submit` or `map`.
        array_cache : "inherit", None, MutableMapping, int or str
            Where columns are looked up before they are read, and kept: as in
            `vroot.HasBranches.arrays`.
        library : "ak", "np" or "pd"
            Awkward arrays, NumPy arrays or pandas Series.
        ak_add_doc : bool or dict
            As in `to_akform`.
        how : None, dict, tuple or list
            None makes records in Awkward, a dict in NumPy and a DataFrame in pandas.
        virtual : bool
            Whether to make Awkward Arrays of which each column is read when it is first touched.
        access_log : list or other object with ``__iadd__``, optional
            Given a `vroot.ntuples.buffers.Accessed` for each buffer of them that is touched.

        Returns
        -------
        ak.Array, dict, DataFrame, tuple or list
            One record an entry, unless `how` says otherwise.

        Raises
        ------
        UnsupportedError
            If a field, or something that is asked for, is not supported.
        CorruptPageError
            If a page is damaged.
        ReferenceStoreError
            If the store contradicts itself.
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
        refuse(
            cut=cut, aliases=aliases, language=language, backend=backend, interpreter=interpreter
        )
        filter_name = one_of(expressions, filter_name)
        name = regularize_library(library)
        start, stop = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        form, path = self.to_akform(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_field=filter_field,
            ak_add_doc=ak_add_doc,
            filter_branch=filter_branch,
        )
        records = self.ntuple.read(
            form,
            (start, stop),
            executor=decompression_executor or interpretation_executor,
            array_cache=regularize_array_cache(array_cache, self.file),
            virtual=virtual,
            access_log=access_log,
        )
        return in_library(records, path, name, how, start)

    def iterate(
        self,
        expressions: str | Sequence[str] | None = None,
        cut: Any = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        aliases: Any = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        decompression_executor: Executor | None = None,
        library: Any = "ak",
        backend: str = "cpu",
        interpreter: str = "cpu",
        ak_add_doc: bool | dict[str, str] = False,
        how: How = None,
        report: bool = False,
        interpretation_executor: Executor | None = None,
        filter_branch: FieldFilter = None,
    ) -> Iterator[Any]:
        """Read some entries at a time; parameters not named here are as in `arrays`.

        Parameters
        ----------
        step_size : int or str
            Entries a step, or a size of memory such as "100 MB".
        report : bool
            Whether each array comes with a `vroot.read.steps.Report`.

        Yields
        ------
        arrays, or tuple of arrays and Report
            One step.
        """
        refuse(
            cut=cut, aliases=aliases, language=language, backend=backend, interpreter=interpreter
        )
        name = regularize_library(library)
        filters: dict[str, Any] = {
            "filter_name": one_of(expressions, filter_name),
            "filter_typename": filter_typename,
            "filter_field": filter_field,
            "filter_branch": filter_branch,
        }
        start, stop = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        step = regularize_step(
            step_size,
            lambda size: self.num_entries_for(size, entry_start=start, entry_stop=stop, **filters),
        )
        form, path = self.to_akform(ak_add_doc=ak_add_doc, **filters)
        pages: StepCache[Any] = StepCache()
        for first in range(start, stop, step):
            last = min(first + step, stop)
            records = self.ntuple.read(
                form,
                (first, last),
                executor=decompression_executor or interpretation_executor,
                pages=pages,
            )
            arrays = in_library(records, path, name, how, first)
            yield (arrays, Report(self, first, last)) if report else arrays

    def num_entries_for(
        self,
        memory_size: int | str,
        expressions: str | Sequence[str] | None = None,
        cut: Any = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_field: FieldFilter = None,
        aliases: Any = None,
        language: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        filter_branch: FieldFilter = None,
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
        refuse(cut=cut, aliases=aliases, language=language)
        entries = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        form, _ = self.to_akform(
            filter_name=one_of(expressions, filter_name),
            filter_typename=filter_typename,
            filter_field=filter_field,
            filter_branch=filter_branch,
        )
        total = self.ntuple.form_bytes(form, entries)
        if total == 0:
            return 1
        return max(1, round(bytes_of_size(memory_size) * (entries[1] - entries[0]) / total))


def refuse(**options: Any) -> None:
    """Check that options of uproot that are not supported have their defaults.

    Raises
    ------
    UnsupportedError
        If one of them has not its default.
    """
    for name, value in options.items():
        is_default = value == "cpu" if name in ("backend", "interpreter") else value is None
        if not is_default and value is not python_language:
            raise UnsupportedError(f"{name}={value!r} is not supported for RNTuples")
