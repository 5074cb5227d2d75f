"""The names of an RNTuple's fields, and the Awkward forms that their columns make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from vroot.exceptions import ReferenceStoreError, UnsupportedError
from vroot.format.ntuples import NTupleSchema

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["FieldNames", "FieldSelection", "FormBuilder", "all_forms"]

TUPLE_ITEM = re.compile(r"_[0-9]+")
BASE_CLASS = re.compile(r":_[0-9]+")

#: What goes into the parameters of a field's form.
Parameters: TypeAlias = Callable[[int], dict[str, Any] | None]


class FieldNames:
    """What users call the fields of an RNTuple.

    As in uproot, the items of collections and variants and the base classes of records have no
    name of their own, items of tuples are "0", "1", …, and where two members of a class have the
    same name, the names of their base classes come before it.

    Parameters
    ----------
    schema : NTupleSchema
        The RNTuple.

    Raises
    ------
    UnsupportedError
        If even that does not tell two fields apart.
    """

    def __init__(self, schema: NTupleSchema) -> None:
        self.schema = schema
        self.names = [self._plain_name(i) for i in range(len(schema.fields))]
        self.anonymous = [self._is_anonymous(i) for i in range(len(schema.fields))]
        self.in_variant: list[bool] = []
        for field in schema.fields:
            parent = field.parent
            self.in_variant.append(
                parent is not None
                and (self.in_variant[parent] or schema.fields[parent].role == "variant")
            )
        self._tell_apart()

    def _plain_name(self, i: int) -> str:
        field = self.schema.fields[i]
        if field.parent is not None and self.schema.fields[field.parent].role == "record":
            return field.name[1:] if TUPLE_ITEM.fullmatch(field.name) else field.name
        return field.name

    def _is_anonymous(self, i: int) -> bool:
        field = self.schema.fields[i]
        if field.parent is None:
            return False
        parent = self.schema.fields[field.parent]
        return (
            parent.role in ("collection", "variant")
            or parent.repetition is not None
            or (parent.role == "leaf" and field.name == "_0")
            or (parent.role == "record" and BASE_CLASS.fullmatch(field.name) is not None)
        )

    def path(self, i: int) -> str | None:
        """Names from the top-level field down to this one, dots between; None without name."""
        if self.anonymous[i] or self.in_variant[i]:
            return None
        return ".".join(self.names[field] for field in self.named_ancestors(i))

    def named_ancestors(self, i: int) -> list[int]:
        """Numbers of the fields from the top level down to this one, those with names."""
        found = [i]
        parent = self.schema.fields[i].parent
        while parent is not None:
            if not self.anonymous[parent]:
                found.append(parent)
            parent = self.schema.fields[parent].parent
        return found[::-1]

    @cached_property
    def subfields(self) -> list[list[int]]:
        """Numbers of the fields below each field as users see them: without anonymous ones."""
        children = self.schema.children
        shown: list[list[int]] = [[] for _ in children]
        for i in reversed(range(len(children))):
            for child in children[i]:
                shown[i].extend(shown[child] if self.anonymous[child] else [child])
        return shown

    def members_of(self, i: int) -> list[int]:
        """Numbers of the members of a record, those of its base classes after its own."""
        found: list[int] = []
        # A stack: the order of the fields in uproot's records.
        stack = [i]
        while stack:
            for child in self.schema.children[stack.pop()]:
                (stack if self.anonymous[child] else found).append(child)
        return found

    # --- equal names

    def _tell_apart(self) -> None:
        def path(i: int) -> str:
            return self.path(i) or ""

        in_order = sorted(range(len(self.names)), key=path)
        for shared, group in groupby(in_order, key=path):
            members = list(group)
            if shared and len(members) > 1:
                self._rename(members)

    def _rename(self, members: list[int]) -> None:
        stacks = self._stacks(members)
        prefixes = [0] * len(members)
        names = [self._qualified(stack, 0) for stack in stacks]
        while len(counts := Counter(names)) != len(names):
            for which, name in enumerate(list(names)):
                if counts[name] == 1:
                    continue
                prefixes[which] += 1
                if prefixes[which] >= max(map(len, stacks)):
                    raise UnsupportedError(
                        f"{len(members)} fields have the path {self.path(members[0])!r}, and "
                        "the names of their classes do not tell them apart"
                    )
                names[which] = self._qualified(stacks[which], prefixes[which])
        for member, name in zip(members, names, strict=True):
            self.names[member] = name

    def _stacks(self, members: list[int]) -> list[list[int]]:
        """Each field and its ancestors, without the ones that all have in common."""
        stacks = []
        for member in members:
            stack = [member]
            while (parent := self.schema.fields[stack[-1]].parent) is not None:
                stack.append(parent)
            stacks.append(stack)
        while len({stack[-1] for stack in stacks}) == 1 and min(map(len, stacks)) > 1:
            for stack in stacks:
                stack.pop()
        return stacks

    def _qualified(self, stack: list[int], prefixes: int) -> str:
        """A name with some classes before it, the outermost first."""
        classes = [self.schema.fields[i].typename for i in stack[1:]]
        return "::".join([*classes[::-1][:prefixes], self.names[stack[0]]])


class FieldSelection:
    """The fields that were asked for, by their paths.

    Parameters
    ----------
    paths : iterable of str
        The paths.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: set[str] = set()
        for path in paths:
            position = len(path)
            while position > 0:
                self._paths.add(path[:position])
                position = path.rfind(".", 0, position)

    def __contains__(self, path: str | None) -> bool:
        """Whether a path is one of them or leads to one of them."""
        return path in self._paths


class FormBuilder:
    """Makes Awkward forms whose keys are the ones that uproot's have.

    Parameters
    ----------
    schema : NTupleSchema
        The RNTuple.
    names : FieldNames
        The names of its fields.
    selection : FieldSelection
        Which fields to take.
    parameters : callable
        From the number of a field to the parameters of its form.
    """

    def __init__(
        self,
        schema: NTupleSchema,
        names: FieldNames,
        selection: FieldSelection,
        parameters: Parameters,
    ) -> None:
        self.schema = schema
        self.names_of_fields = names
        self._selection = selection
        self._parameters = parameters

    def form(self, i: int) -> ak.forms.Form:
        """Make the form of a field.

        Parameters
        ----------
        i : int
            Number of the field.

        Returns
        -------
        ak.forms.Form
            One item a value of the field.

        Raises
        ------
        UnsupportedError
            If the field, or one in it, cannot be read.
        ReferenceStoreError
            If it lacks the columns that it needs.
        """
        field = self.schema.fields[i]
        if field.role == "collection":
            return self._collection(i)
        if field.role == "record":
            return self._record(i, self.names_of_fields.members_of(i))
        if field.role == "variant":
            return self._variant(i)
        if field.role == "streamer":
            raise UnsupportedError(
                f"field {field.name!r} of type {field.typename!r} is stored as a serialized "
                "object: only split fields are supported"
            )
        return self._leaf(i) if field.repetition is None else self._array(i, field.repetition)

    def _leaf(self, i: int) -> ak.forms.Form:
        schema, parameters = self.schema, self._parameters(i)
        cardinality = "RNTupleCardinality" in schema.fields[i].typename
        physical = schema.physical(i)
        if not schema.columns_of(physical) and len(schema.children[physical]) == 1:
            # std::atomic has no column, but one subfield that has it.
            (physical,) = schema.children[physical]
        return self._columns(physical, parameters, cardinality=cardinality)

    def _array(self, i: int, repetition: int) -> ak.forms.Form:
        import awkward as ak

        below = self.schema.children[i]
        # A std::array has a subfield, a std::bitset a column of its own.
        inner = self.form(below[0]) if below else self._columns(self.schema.physical(i), None)
        key = f"RegularForm-{i}"
        parameters = self._parameters(i)
        return ak.forms.RegularForm(inner, repetition, form_key=key, parameters=parameters)

    def _collection(self, i: int) -> ak.forms.Form:
        import awkward as ak

        schema, parameters, below = self.schema, self._parameters(i), self.schema.children[i]
        if len(below) != 1:
            raise UnsupportedError(
                f"field {schema.fields[i].name!r} is a collection of {len(below)} fields"
            )
        physical = schema.physical(i)
        column = self._index_column(physical)
        inner = self.form(below[0])
        width = self._index_width(column)
        key = f"column-{column}"
        if schema.fields[physical].typename.startswith("std::optional"):
            key += "-optional"
            return ak.forms.IndexedOptionForm(width, inner, form_key=key, parameters=parameters)
        return ak.forms.ListOffsetForm(width, inner, form_key=key, parameters=parameters)

    def _record(self, i: int, members: list[int]) -> ak.forms.Form:
        import awkward as ak

        taken = [
            member
            for member in members
            if self.names_of_fields.in_variant[member]
            or self.names_of_fields.path(member) in self._selection
        ]
        contents = [self.form(member) for member in taken]
        names: list[str] | None = [self.names_of_fields.names[member] for member in taken]
        if all(TUPLE_ITEM.fullmatch(self.schema.fields[member].name) for member in taken):
            names = None
        parameters = self._parameters(i)
        return ak.forms.RecordForm(contents, names, form_key="whatever", parameters=parameters)

    def _variant(self, i: int) -> ak.forms.Form:
        import awkward as ak

        columns = self.schema.columns_of(self.schema.physical(i))
        if len(columns) != 1 or self.schema.columns[columns[0]].type != "Switch":
            raise ReferenceStoreError(f"variant {i} has the columns {columns}, not a Switch")
        # The first alternative is that of a variant without value.
        nothing = ak.forms.EmptyForm(form_key="nones")
        contents: list[Any] = [ak.forms.IndexedOptionForm("i64", nothing, form_key="nones")]
        for child in self.schema.children[i]:
            form = self.form(child)
            if not form.is_option and not form.is_union:
                form = ak.forms.UnmaskedForm(form, form_key="")
            contents.append(form)
        return ak.forms.UnionForm("i8", "i64", contents, form_key=f"column-{columns[0]}")

    # --- columns

    def _columns(
        self, field: int, parameters: dict[str, Any] | None, *, cardinality: bool = False
    ) -> ak.forms.Form:
        """Make the form of a field's own columns: one, or an index and characters."""
        import awkward as ak

        schema = self.schema
        columns = schema.columns_of(field)
        if len(columns) == 2 and schema.columns[columns[1]].type == "Char":
            index = self._index_column(field)
            characters = ak.forms.NumpyForm(
                "uint8", form_key=f"column-{columns[1]}", parameters={"__array__": "char"}
            )
            return ak.forms.ListOffsetForm(
                self._index_width(index),
                characters,
                form_key=f"column-{index}",
                parameters={"__array__": "string"} | (parameters or {}),
            )
        if len(columns) != 1:
            raise ReferenceStoreError(f"field {field} has {len(columns)} columns, expected one")
        column_type = schema.column_type(columns[0])
        if column_type.dtype.names is not None or column_type.is_index != cardinality:
            raise ReferenceStoreError(
                f"column {columns[0]} of type {schema.columns[columns[0]].type!r} holds no numbers"
            )
        key = f"column-{columns[0]}" + ("-cardinality" if cardinality else "")
        dtype = schema.dtype(columns[0]).name
        return ak.forms.NumpyForm(dtype, form_key=key, parameters=parameters)

    def _index_column(self, field: int) -> int:
        columns = self.schema.columns_of(field)
        if not columns or not self.schema.column_type(columns[0]).is_index:
            raise ReferenceStoreError(f"field {field} has no column that says where lists end")
        return columns[0]

    def _index_width(self, column: int) -> str:
        return "i32" if self.schema.dtype(column).itemsize == 4 else "i64"


def all_forms(form: Any) -> Iterator[Any]:
    """A form and all in it."""
    yield form
    below: list[Any] = []
    if form.is_record or form.is_union:
        below = form.contents
    elif form.is_list or form.is_option:
        below = [form.content]
    for content in below:
        yield from all_forms(content)
