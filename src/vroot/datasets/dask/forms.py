"""Awkward forms of what is to be read, known without reading, and the columns they are made of."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from vroot.datasets.locations import Tree
from vroot.exceptions import DeserializationError, UnsupportedError
from vroot.ntuples.has_fields import HasFields

if TYPE_CHECKING:
    import awkward as ak

    from vroot.ntuples.ntuple import RField
    from vroot.trees.branch import TBranch
    from vroot.trees.tree import TTree

__all__ = ["Columns", "FormMapping", "FormMappingInfo", "Parameters", "branch_form", "record_form"]

#: Whether titles become parameters of forms; or attributes, by the parameters that they become.
Parameters: TypeAlias = bool | dict[str, str]


class FormMappingInfo(Protocol):
    """How the buffers of a form are filled from columns; the protocol that uproot has.

    It may also have ``buffer_replacements``, with the parameters of `load_buffers`, which gives
    buffers that are not to be loaded.
    """

    buffer_key: Any

    @property
    def behavior(self) -> Any:
        """Behavior of the arrays, for Awkward."""
        ...

    def parse_buffer_key(self, buffer_key: str) -> tuple[str, str]:
        """Split the name of a buffer into the key of its form and an attribute."""
        ...

    def keys_for_buffer_keys(self, buffer_keys: frozenset[str]) -> Iterable[str]:
        """Give the columns from which buffers are made."""
        ...

    def load_buffers(
        self,
        tree: Any,
        keys: frozenset[str],
        start: int,
        stop: int,
        decompression_executor: Executor | None,
        interpretation_executor: Executor | None,
        options: Any,
    ) -> Any:
        """Read columns, and give the buffers that are made of them, by name."""
        ...


#: From the form of the columns to the form that is wanted, and how to fill it.
FormMapping: TypeAlias = Callable[["ak.forms.Form"], tuple["ak.forms.Form", FormMappingInfo]]


def branch_form(branch: TBranch) -> ak.forms.Form:
    """Give the form of the array that a branch is read as.

    Parameters
    ----------
    branch : TBranch
        The branch.

    Returns
    -------
    ak.forms.Form
        Of an unknown type, in lists, if it cannot be read: asking for it raises the reason, as
        long as nobody does it spoils nothing.
    """
    import awkward as ak

    try:
        return branch.interpretation.awkward_form()
    except UnsupportedError:
        return ak.forms.ListOffsetForm("i64", ak.forms.EmptyForm())


def record_form(
    tree: Tree, keys: list[str], ak_add_doc: Parameters, *, typenames: bool
) -> ak.forms.RecordForm:
    """Give the form of one record an entry.

    Parameters
    ----------
    tree : TTree, TBranch or RNTuple
        What is read.
    keys : list of str
        Names of branches, or full names of fields, those below them included.
    ak_add_doc : bool or dict
        Whether titles become the parameter ``__doc__``; or attributes of branches by the names of
        the parameters that they become.
    typenames : bool
        Whether the C++ types become the parameter ``typenames`` of the record, for form mappings.

    Returns
    -------
    ak.forms.RecordForm
        Of the branches, or of the top-level fields.
    """
    import awkward as ak

    names = {"__doc__": "title"} if ak_add_doc is True else dict(ak_add_doc or {})
    if isinstance(tree, HasFields):
        form, _ = tree.form_for(keys, ak_add_doc=False)
        forms = [_with_parameters(form.content(name), tree[name], names) for name in form.fields]
        keys, title = form.fields, tree.description
    else:
        branches = [(key, tree[key]) for key in keys]
        forms = [_with_parameters(branch_form(branch), branch, names) for _, branch in branches]
        title = cast("TTree | TBranch", tree).title
    parameters: dict[str, Any] = {"__doc__": title} if "__doc__" in names else {}
    if typenames:
        parameters["typenames"] = tree.typenames()
    return ak.forms.RecordForm(forms, keys, parameters=parameters or None)


def _with_parameters(
    form: ak.forms.Form, what: TBranch | RField, names: Mapping[str, str]
) -> ak.forms.Form:
    """Add attributes to the parameters of a form.

    In uproot's function they replace what is there, so that strings turn into lists of characters.
    """
    if not names:
        return form
    renamed = {"title": "description"} if isinstance(what, HasFields) else {}
    added = {key: getattr(what, renamed.get(name, name)) for key, name in names.items()}
    return form.copy(parameters={**form.parameters, **added})


class Columns:
    """The mapping of a record of columns to itself.

    Parameters
    ----------
    form : ak.forms.RecordForm
        Of the columns.
    fields : list of str, optional
        Of an RNTuple, the full names of the fields that are read; all if not given.
    """

    behavior = None
    buffer_key = "{form_key}-{attribute}"

    def __init__(self, form: ak.forms.RecordForm, fields: list[str] | None = None) -> None:
        import awkward as ak

        self._given = form
        self.form = ak.forms.form_with_unique_keys(form, ("<root>",))
        self.fields = fields
        self._columns = {
            buffer: column
            for column in self.form.fields
            for buffer in self.form.content(column).expected_from_buffers(self.buffer_key)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # Every task has a copy: a form of 1000 branches takes 190 kB as it is, and 7 kB like this.
        return (_columns, (zlib.compress(self._given.to_json().encode()), self.fields))

    def parse_buffer_key(self, buffer_key: str) -> tuple[str, str]:
        """Split the name of a buffer into the key of its form and an attribute."""
        form_key, _, attribute = buffer_key.rpartition("-")
        return form_key, attribute

    def keys_for_buffer_keys(self, buffer_keys: frozenset[str]) -> frozenset[str]:
        """Give the columns that buffers are of."""
        return frozenset(self._columns[buffer_key] for buffer_key in buffer_keys)

    def load_buffers(
        self,
        tree: Tree,
        keys: frozenset[str],
        start: int,
        stop: int,
        decompression_executor: Executor | None,
        interpretation_executor: Executor | None,
        options: Any,  # noqa: ARG002  # of the protocol; the form has the parameters already
    ) -> dict[str, Any]:
        """Read columns.

        Parameters
        ----------
        tree : TTree, TBranch or RNTuple
            Where they are.
        keys : frozenset of str
            Their names.
        start, stop : int
            Half-open range of entries, within bounds.
        decompression_executor, interpretation_executor : Executor, optional
            The first one that is given decodes.
        options : mapping
            Not used.

        Returns
        -------
        dict
            Buffers by their names.

        Raises
        ------
        DeserializationError
            If a column has another type than the form says.
        """
        import awkward as ak

        columns = [name for name in self.form.fields if name in keys]
        if not columns:
            return {}
        if isinstance(tree, HasFields):
            executor = decompression_executor or interpretation_executor
            arrays = self._read_fields(tree, columns, (start, stop), executor)
        else:
            arrays = tree.arrays(
                columns,
                entry_start=start,
                entry_stop=stop,
                decompression_executor=decompression_executor,
                interpretation_executor=interpretation_executor,
            )
        buffers: dict[str, Any] = {}
        for name in columns:
            form, _, found = ak.to_buffers(arrays[name])
            there = form.expected_from_buffers()
            wanted = self.form.content(name).expected_from_buffers(self.buffer_key)
            if list(there.values()) != list(wanted.values()):
                raise DeserializationError(
                    f"{name!r} is {form.type} here, but {self.form.content(name).type} in the "
                    f"first of the files\nin file {tree.file.file_path}"
                )
            buffers.update((new, found[old]) for old, new in zip(there, wanted, strict=True))
        return buffers

    def _read_fields(
        self, tree: HasFields[Any], columns: list[str], entries: tuple[int, int], executor: Any
    ) -> ak.Array:
        fields = tree.keys() if self.fields is None else self.fields
        wanted = set(columns)
        form, _ = tree.form_for([key for key in fields if key.partition(".")[0] in wanted], False)
        return tree.ntuple.read(form, entries, executor=executor)


def _columns(compressed: bytes, fields: list[str] | None) -> Columns:
    import awkward as ak

    return Columns(ak.forms.from_json(zlib.decompress(compressed).decode()), fields)
