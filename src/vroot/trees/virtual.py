"""Records of branches that are read when they are first touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vroot.arrays.virtual import Accessed, BuffersByKey, LazyBuffers
from vroot.exceptions import DeserializationError
from vroot.expressions.language import Computed
from vroot.metadata.interpretations import AsDtype, AsGrouped, AsJagged
from vroot.trees.protocols import Branch, Branches
from vroot.trees.reading import Options, Selection, ak_doc, read_columns_of, read_one

if TYPE_CHECKING:
    import awkward as ak


__all__ = ["virtual_branches"]


@dataclass(frozen=True, eq=False)
class _Column:
    """A field of virtual records.

    Parameters
    ----------
    name : str
        Name of the field.
    branch : TBranch
        Its branch.
    form : ak.forms.Form
        Its form, with unique keys.
    known : dict of str to ndarray
        The offsets of lists that have been read, by the path of the branch that counts their
        items: columns that one branch counts share them.
    """

    name: str
    branch: Branch
    form: ak.forms.Form
    known: dict[str, npt.NDArray[Any]]

    @cached_property
    def counter(self) -> str | None:
        """Path of the branch that counts the items of its lists, if there is a plain one."""
        branch = self.branch
        if not isinstance(branch.spec.interpretation, AsJagged):
            return None
        counter = branch.count_branch
        kind = None if counter is None else counter.spec.interpretation
        if counter is None or not isinstance(kind, AsDtype) or kind.inner_shape:
            return None
        return counter.object_path if kind.numpy_dtype.kind in "iu" else None

    def read(self, entries: tuple[int, int], options: Options) -> BuffersByKey:
        """Read the branch, and give its buffers by the keys of the form."""
        import awkward as ak

        array = read_one(self.branch, entries, options)
        length = entries[1] - entries[0]
        if len(array) != length:
            raise DeserializationError(
                f"the branch {self.branch.object_path!r} has {len(array)} of the {length} entries"
            )
        form, _, container = ak.to_buffers(array)
        sources, targets = form.expected_from_buffers(), self.form.expected_from_buffers()
        if list(sources.values()) != list(targets.values()):
            raise DeserializationError(
                f"the branch {self.branch.object_path!r} has the form {form}, not {self.form}"
            )
        buffers = {
            target: container[source] for target, source in zip(targets, sources, strict=True)
        }
        if self.counter is not None:
            key = next(iter(buffers))
            offsets = self.known.setdefault(self.counter, buffers[key])
            # Only what is equal is shared: one of the columns may be damaged.
            if np.array_equal(offsets, buffers[key]):
                buffers[key] = offsets
        return buffers

    def functions(self, lazy: LazyBuffers) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Give the functions that read the buffers, by their keys."""
        for key in self.form.expected_from_buffers():
            yield key, partial(lazy.touch, key, Accessed(self.name, key))


def virtual_branches(
    selection: Selection, entries: tuple[int, int], options: Options, access_log: Any
) -> ak.Array:
    """Make records of branches that are read when they are touched.

    Parameters
    ----------
    selection : Selection
        The branches.
    entries : tuple of int
        Half-open range of entries, within bounds.
    options : Options
        How to read them.
    access_log : object with ``__iadd__``, optional
        Given an `Accessed` for each buffer that is touched.

    Returns
    -------
    ak.Array
        One record an entry.
    """
    import awkward as ak

    branches = _in_order(selection)
    form = ak.forms.form_with_unique_keys(_form(selection.of, branches, options), ("<root>",))
    # What is read later needs the file to be open now.
    options = replace(options, even_closed=True)
    known: dict[str, npt.NDArray[Any]] = {}
    container: dict[str, Callable[[], Any]] = {}
    for (name, branch), content in zip(branches.items(), form.contents, strict=True):
        column = _Column(name, branch, content, known)
        what = f"branch {branch.object_path!r} of {branch.file.file_path}"
        lazy = LazyBuffers(partial(column.read, entries, options), what, access_log)
        container.update(column.functions(lazy))
    return ak.from_buffers(form, entries[1] - entries[0], container)


def _in_order(selection: Selection) -> dict[str, Branch]:
    """The branches by name; those that group others do not come after the others, as in uproot."""
    branches = {name: each for name, each in selection.chosen if not isinstance(each, Computed)}
    if not any(isinstance(each.spec.interpretation, AsGrouped) for each in branches.values()):
        return branches
    return {
        name: branches[name] for name in selection.of.iterkeys(full_paths=False) if name in branches
    }


def _form(of: Branches, branches: Mapping[str, Branch], options: Options) -> Any:
    """Form of the records: that of a read without entries, which fetches nothing."""
    import awkward as ak

    add_doc = options.ak_add_doc
    named = add_doc if isinstance(add_doc, Mapping) else {}
    empty = replace(options, ak_add_doc=add_doc is True, array_cache=None)
    arrays = read_columns_of(of.file, list(branches.values()), (0, 0), empty)
    forms = []
    for branch in branches.values():
        form = arrays(branch).layout.form
        forms.append(form.copy(parameters=form.parameters | ak_doc(branch, named)))
    parameters = {"__doc__": of.title} if add_doc is True or "__doc__" in named else None
    return ak.forms.RecordForm(forms, list(branches), parameters=parameters)
