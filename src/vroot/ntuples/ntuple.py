"""The facade for RNTuples and their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vroot.arrays.libraries import regularize_library
from vroot.arrays.plain import member_of, to_plain
from vroot.exceptions import (
    DeserializationError,
    ReferenceStoreError,
    UnsupportedError,
)
from vroot.format.ntuples import NTupleSchema, column_path
from vroot.metadata.entry_ranges import regularize_entry_range
from vroot.metadata.specs import Manifest, NTupleSpec
from vroot.ntuples.buffers import NTupleBuffers, virtual_buffers
from vroot.ntuples.forms import FieldNames, FieldSelection, FormBuilder, all_forms
from vroot.ntuples.has_fields import HasFields
from vroot.read.opened import OpenedDirectory, OpenedFile
from vroot.read.step_cache import StepCache

if TYPE_CHECKING:
    import awkward as ak


__all__ = ["HasFields", "RField", "RNTuple"]


class RNTuple(HasFields["RField"]):
    """An RNTuple of an opened store: a mapping of names to fields.

    Parameters
    ----------
    parent : Directory
        The directory that it is in.
    path : str
        Path of its node in the store.
    spec : NTupleSpec
        What the store says of it.
    """

    def __init__(self, parent: OpenedDirectory, path: str, spec: NTupleSpec) -> None:
        self._parent = parent
        self.node_path = path
        self.spec = spec
        self._manifests: dict[int, Manifest] = {}

    def __repr__(self) -> str:
        fields = f" ({len(self)} fields)" if len(self) else ""
        return f"<{self.classname} {self.name!r}{fields} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (RNTuple, (self._parent, self.node_path, self.spec))

    # --- what it is

    @property
    def ntuple(self) -> RNTuple:
        """The RNTuple itself."""
        return self

    @property
    def parent(self) -> OpenedDirectory:
        """The directory that it is in."""
        return self._parent

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        return self._parent.file

    @property
    def name(self) -> str:
        """Name of the RNTuple."""
        return self.schema.data.name or self.spec.name

    @property
    def classname(self) -> str:
        """ROOT's class."""
        return self.spec.classname

    @property
    def description(self) -> str:
        """What its author wrote about it."""
        return self.schema.data.description

    @property
    def object_path(self) -> str:
        """Path in the ROOT file, with its cycle."""
        return f"{self._parent.object_path}{self.spec.name};{self.spec.cycle}"

    @property
    def cache_key(self) -> str:
        """What names this among all files, as part of the keys of caches."""
        return f"{self.file.uuid}:{self.object_path}"

    @property
    def path(self) -> str:
        """A dot: the beginning of the fields' paths."""
        return "."

    @cached_property
    def num_entries(self) -> int:
        """Number of entries."""
        return self.spec.num_entries

    @property
    def _headline(self) -> str:
        return f"{self.name} ({self.classname})"

    # --- fields

    @cached_property
    def schema(self) -> NTupleSchema:
        """Its fields and columns, checked."""
        with self.located():
            schema = NTupleSchema(self.spec.data)
            if schema.edges[-1] != self.spec.num_entries:
                raise ReferenceStoreError(
                    f"the clusters have {schema.edges[-1]} entries, the RNTuple "
                    f"{self.spec.num_entries}"
                )
            return schema

    @cached_property
    def names_of_fields(self) -> FieldNames:
        """Names and ancestors of its fields."""
        with self.located():
            return FieldNames(self.schema)

    @cached_property
    def all_fields(self) -> list[RField]:
        """All fields, nameless ones too, in the order of ROOT's field numbers."""
        return [RField(self, i) for i in range(len(self.names_of_fields.names))]

    @cached_property
    def fields(self) -> list[RField]:
        """The top-level fields, in the order of the ROOT file."""
        records = self.schema.fields
        return [field for field in self.all_fields if records[field.field_id].parent is None]

    # --- reading

    def form_builder(
        self, selection: FieldSelection, ak_add_doc: bool | dict[str, str]
    ) -> FormBuilder:
        """Make what builds the forms of a selection of fields."""

        def parameters(i: int) -> dict[str, Any] | None:
            return self.all_fields[i].form_parameters(ak_add_doc)

        return FormBuilder(self.schema, self.names_of_fields, selection, parameters)

    def form_for(
        self, keys: list[str], ak_add_doc: bool | dict[str, str]
    ) -> tuple[ak.forms.RecordForm, list[str] | None]:
        """Give the form of some fields, and the names that lead into it; see `to_akform`."""
        import awkward as ak

        selection = FieldSelection(keys)
        builder = self.form_builder(selection, ak_add_doc)
        fields = [field for field in self.fields if field.name in selection]
        with self.located():
            contents = [builder.form(field.field_id) for field in fields]
        documented = ak_add_doc is True and self.description
        parameters = {"__doc__": self.description} if documented else None
        names = [field.name for field in fields]
        form = ak.forms.RecordForm(contents, names, form_key="toplevel", parameters=parameters)
        return form, None

    def read(
        self,
        form: ak.forms.RecordForm,
        entries: tuple[int, int],
        *,
        executor: Executor | None = None,
        array_cache: MutableMapping[str, Any] | None = None,
        virtual: bool = False,
        access_log: Any = None,
        pages: StepCache[Any] | None = None,
    ) -> ak.Array:
        """Read what a form needs.

        Parameters
        ----------
        form : ak.forms.RecordForm
            As `to_akform` gives it.
        entries : tuple of int
            Half-open range of entries, within bounds.
        executor : Executor, optional
            Decodes the pages.
        array_cache : MutableMapping, optional
            NTupleBuffers that have been read.
        virtual : bool
            Whether each column is read only when it is touched.
        access_log : object with ``__iadd__``, optional
            Given an `vroot.ntuples.buffers.Accessed` for each buffer that is touched then.
        pages : StepCache, optional
            Pages that were decoded for the step before.

        Returns
        -------
        ak.Array
            One record an entry.

        Raises
        ------
        CorruptPageError
            If a page is damaged, with its field, column, number and offset.
        ReferenceStoreError
            If the store contradicts itself.
        """
        import awkward as ak

        begin, end = start, stop = entries
        if any(each.is_union for each in all_forms(form)):
            # As in uproot: the alternatives are those of whole clusters, whichever are used.
            begin, end = self.schema.whole_clusters(start, stop)
        buffers = NTupleBuffers(
            self, (begin, end), executor, array_cache, even_closed=virtual, pages=pages
        )
        container: Mapping[str, Any]
        if virtual:
            # What is read later needs the file to be open now.
            self.file.fetcher.check_open()
            first, last = self._clusters(entries)
            container = virtual_buffers(form, buffers, (first - 1, last), access_log)
        else:
            container = buffers.read(form.expected_from_buffers())
        with self.located():
            try:
                records = ak.from_buffers(form, end - begin, container)
            except (ValueError, TypeError, KeyError) as err:
                raise ReferenceStoreError(f"the columns do not fit together: {err}") from err
        return records[start - begin : stop - begin]

    def _clusters(self, entries: tuple[int, int]) -> tuple[int, int]:
        """How many clusters begin up to each end of a range of entries, as uproot counts them."""
        begins = self.schema.edges[:-1]
        first, last = (int(begins.searchsorted(entry, side="right")) for entry in entries)
        return first, last

    def form_bytes(self, form: ak.forms.RecordForm, entries: tuple[int, int]) -> int:
        """Say how large the buffers of a form are, for the clusters of a range of entries.

        Parameters
        ----------
        form : ak.forms.RecordForm
            As `to_akform` gives it.
        entries : tuple of int
            Half-open range of entries.

        Returns
        -------
        int
            Bytes, as uproot counts them.
        """
        schema = self.schema
        first, last = self._clusters(entries)
        keys = {each.form_key for each in all_forms(form)}
        total = 0
        for key in keys:
            if key is None or not key.startswith("column-"):
                continue
            column = int(key.split("-")[1])
            # What precedes the first page of a column that was added late takes no bytes.
            counts = schema.stored_counts(schema.slot(column))[max(first - 1, 0) : last]
            # Lists have one offset more than there are of them.
            elements = int(counts.sum()) + schema.column_type(column).is_index
            total += elements * schema.dtype(column).itemsize
        return total

    def manifest(self, column: int) -> Manifest:
        """Give where the pages of a column are."""
        if column not in self._manifests:
            path = column_path(self.node_path, column)
            self._manifests[column] = self.file.references.manifest(
                path, self.schema.chunks(column)
            )
        return self._manifests[column]

    @contextmanager
    def located(self) -> Iterator[None]:
        """Say in errors which RNTuple of which file they are about."""
        try:
            yield
        except (DeserializationError, ReferenceStoreError, UnsupportedError) as err:
            raise type(err)(
                f"{err}\nin RNTuple {self.object_path}\nin file {self.file.file_path}"
            ) from err


class RField(HasFields["RField"]):
    """A field of an RNTuple: a mapping of names to the fields in it.

    Parameters
    ----------
    ntuple : RNTuple
        The RNTuple.
    field_id : int
        ROOT's number of the field.
    """

    def __init__(self, ntuple: RNTuple, field_id: int) -> None:
        self._ntuple = ntuple
        self._id = field_id

    def __repr__(self) -> str:
        fields = f" ({len(self)} subfields)" if len(self) else ""
        return (
            f"<RField {self.name!r}{fields} in RNTuple {self._ntuple.name!r} at 0x{id(self):012x}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (RField, (self._ntuple, self._id))

    # --- what it is

    @property
    def ntuple(self) -> RNTuple:
        """The RNTuple that it belongs to."""
        return self._ntuple

    @property
    def field_id(self) -> int:
        """ROOT's number of the field."""
        return self._id

    @property
    def name(self) -> str:
        """Name of the field."""
        return self._ntuple.names_of_fields.names[self._id]

    @property
    def typename(self) -> str:
        """Its C++ type."""
        return self._ntuple.schema.fields[self._id].typename

    @property
    def description(self) -> str:
        """What its author wrote about it."""
        return self._ntuple.schema.fields[self._id].description

    @cached_property
    def path(self) -> str | None:
        """Names of the fields from the top down to this one, with dots; None without a name."""
        return self._ntuple.names_of_fields.path(self._id)

    @property
    def is_anonymous(self) -> bool:
        """Whether users do not see it: the item of a collection or variant, or a base class."""
        return self._ntuple.names_of_fields.anonymous[self._id]

    @property
    def in_variant(self) -> bool:
        """Whether it is in a variant, with which alone it can be read."""
        return self._ntuple.names_of_fields.in_variant[self._id]

    @property
    def parent(self) -> HasFields[Any]:
        """The field that it is in, or the RNTuple."""
        parent = self._ntuple.schema.fields[self._id].parent
        return self._ntuple if parent is None else self._ntuple.all_fields[parent]

    @property
    def top_level(self) -> bool:
        """Whether it is directly in the RNTuple."""
        return self.parent is self._ntuple

    @property
    def index(self) -> int:
        """Its position among the fields of its parent."""
        return [field.field_id for field in self.parent.fields].index(self._id)

    @cached_property
    def fields(self) -> list[RField]:
        """The fields directly in this one, in the order of the ROOT file."""
        return [
            self._ntuple.all_fields[i] for i in self._ntuple.names_of_fields.subfields[self._id]
        ]

    @property
    def _headline(self) -> str:
        return f"{self.name} ({self.typename})"

    def form_parameters(self, ak_add_doc: bool | dict[str, str]) -> dict[str, Any] | None:
        """Give the parameters of its form, see `to_akform`."""
        if isinstance(ak_add_doc, dict):
            return {key: getattr(self, attribute) for key, attribute in ak_add_doc.items()}
        return {"__doc__": self.description} if ak_add_doc and self.description else None

    # --- reading

    def form_for(
        self, keys: list[str], ak_add_doc: bool | dict[str, str]
    ) -> tuple[ak.forms.RecordForm, list[str] | None]:
        """Give the form of some fields, and the names that lead into it; see `to_akform`."""
        import awkward as ak

        if self.path is None:
            raise UnsupportedError(
                f"field {self.name!r} of type {self.typename!r} has no path: read the field that "
                "it is in"
            )
        ntuple = self._ntuple
        steps = [ntuple.all_fields[i] for i in ntuple.names_of_fields.named_ancestors(self._id)]
        # The outermost list, whose lengths belong to the form.
        records = ntuple.schema.fields
        outer = next(
            (
                i
                for i, step in enumerate(steps)
                if records[step.field_id].role == "collection"
                or records[step.field_id].repetition is not None
            ),
            len(steps) - 1,
        )
        selection = FieldSelection([self.path, *(f"{self.path}.{key}" for key in keys)])
        builder = ntuple.form_builder(selection, ak_add_doc)
        with ntuple.located():
            content = builder.form(steps[outer].field_id)
        form = ak.forms.RecordForm(
            [content],
            [steps[outer].name],
            form_key="toplevel",
            parameters=self.form_parameters(ak_add_doc),
        )
        return form, [step.name for step in steps[outer:]]

    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        decompression_executor: Executor | None = None,
        array_cache: Any = "inherit",
        library: Any = "ak",
        interpreter: str = "cpu",
        backend: str = "cpu",
        ak_add_doc: bool | dict[str, str] = False,
        virtual: bool = False,
        access_log: Any = None,
        interpretation: None = None,  # noqa: ARG002  # uproot's: not used there either
        interpretation_executor: Executor | None = None,
    ) -> Any:
        """Read the field.

        Parameters
        ----------
        entry_start, entry_stop : int, optional
            Half-open range of entries; negative ones count from the end.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes the pages; any object with `submit` or `map`.
        interpretation : optional
            Not used.
        backend, interpreter
            Not supported, other than with their defaults.
        array_cache, virtual, access_log
            As in `arrays`; a virtual array becomes one of NumPy or pandas by being read.
        library : "ak", "np" or "pd"
            An Awkward array, a NumPy array or a pandas Series.
        ak_add_doc : bool or dict
            As in `to_akform`.

        Returns
        -------
        ak.Array, ndarray or Series
            One item an entry.

        Raises
        ------
        UnsupportedError
            If the field cannot be read.
        CorruptPageError
            If a page is damaged.
        ReferenceStoreError
            If the store contradicts itself.
        """
        name = regularize_library(library)
        records = self.arrays(
            entry_start=entry_start,
            entry_stop=entry_stop,
            decompression_executor=decompression_executor or interpretation_executor,
            array_cache=array_cache,
            interpreter=interpreter,
            backend=backend,
            virtual=virtual,
            access_log=access_log,
            ak_add_doc=ak_add_doc,
        )
        start, _ = regularize_entry_range(self.num_entries, entry_start, entry_stop)
        return to_plain(member_of(records, self.name), self.name, name, start)
