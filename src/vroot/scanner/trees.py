"""From a tree of uproot to the nodes of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
import numpy as np
import uproot

from vroot.exceptions import CorruptBasketError, DeserializationError
from vroot.format.interpretations import JSON, Programs
from vroot.format.names import component
from vroot.format.nodes import encode_node
from vroot.format.zarr_arrays import branch_items, group_document, is_stock
from vroot.metadata.interpretations import (
    AsBits,
    AsDtype,
    AsJagged,
    AsStridedObjects,
    Interpretation,
    Unsupported,
)
from vroot.metadata.specs import BasketTable, BranchSpec, Manifest, TreeSpec, no_manifest
from vroot.scanner.baskets import BasketList, BasketReader, Located
from vroot.scanner.discovery import Discovery
from vroot.scanner.guard import UPROOT_ERRORS, describe
from vroot.scanner.headers import HeaderError, check_class, is_strided, with_headers
from vroot.scanner.interpretations import interpretation_of, is_bits, is_objects
from vroot.scanner.packing import PackedClasses, identify_packed

__all__ = ["Progress", "TreeScanner"]

BITS_DTYPE = np.dtype(">u4")

Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class _Found:
    """A branch on its way into the store."""

    path: str
    index: tuple[int, ...]
    branch: uproot.TBranch
    interpretation: Interpretation
    baskets: BasketList

    @property
    def text(self) -> str:
        """The interpretation as uproot shows it."""
        return repr(self.interpretation)

    @property
    def split(self) -> bool:
        """Whether it has branches of its own."""
        return len(self.branch.branches) > 0

    @property
    def typename(self) -> str:
        """C++ type of an entry, as far as uproot knows it."""
        try:
            return str(self.branch.typename)
        except UPROOT_ERRORS:
            return "unknown"


class TreeScanner:
    """Scans trees.

    Parameters
    ----------
    reader : BasketReader
        Reads the keys of the baskets.
    discovery : Discovery
        Finds out how objects are deserialized.
    programs : Programs
        Where the programs go.
    packed : PackedClasses
        Classes that uproot misreads where they are not split.
    progress : callable, optional
        Called with a tree's path, branches done, and branches in it.
    """

    def __init__(
        self,
        reader: BasketReader,
        discovery: Discovery,
        programs: Programs,
        packed: PackedClasses,
        progress: Progress | None = None,
    ) -> None:
        self._packed = packed
        self._reader = reader
        self._discovery = discovery
        self._programs = programs
        self._progress = progress

    def items(
        self, tree: uproot.TTree, path: str, shown: str, cycle: int
    ) -> Iterator[tuple[str, JSON]]:
        """Yield the keys and values of a tree.

        Parameters
        ----------
        tree : uproot.TTree
            The tree.
        path : str
            Its path in the store.
        shown : str
            Its path in the ROOT file, with its cycle.
        cycle : int
            The cycle number of its key.

        Yields
        ------
        tuple of str and JSON
            Keys and values of the reference file.
        """
        try:
            aliases = {str(name): str(text) for name, text in tree.aliases.items()}
        except UPROOT_ERRORS:
            # They are expressions for the user's convenience; the branches are there without them.
            aliases = {}
        spec = TreeSpec(
            tree.name,
            tree.title,
            tree.classname,
            cycle,
            int(tree.num_entries),
            aliases,
            int(tree.compressed_bytes),
            int(tree.uncompressed_bytes),
        )
        yield f"{path}/zarr.json", group_document(encode_node(spec))
        identify_packed(tree)
        found = list(_branches_of(tree, path, ()))
        by_branch = {id(one.branch): one for one in found}
        manifests = self._reader.manifests([one.baskets for one in found])
        for done, (one, located) in enumerate(zip(found, manifests, strict=True)):
            if self._progress is not None:
                self._progress(shown, done, len(found))
            counter = _counter_of(one.branch, by_branch)
            relative = None if counter is None else counter.path.removeprefix(f"{path}/")
            branch, manifest = self._located(one, located, relative, shown)
            yield from branch_items(one.path, branch, manifest, self._programs)
        if self._progress is not None:
            self._progress(shown, len(found), len(found))

    def _located(
        self, one: _Found, located: Located | DeserializationError, counter: str | None, tree: str
    ) -> tuple[BranchSpec, Manifest]:
        """A branch, which is recorded as unsupported if its baskets are amiss."""
        if isinstance(located, DeserializationError):
            return _spec(one, no_manifest(), counter, Unsupported(str(located), one.text)), (
                no_manifest()
            )
        manifest, interpretation = located.manifest, one.interpretation
        if is_bits(one.branch):
            interpretation = _with_process_numbers(interpretation, manifest.table)
        if _has_objects(one) and self._packed.are_in(one.typename):
            reason = f"uproot misreads the packed reals of class {one.typename}, or of one in it"
            interpretation = Unsupported(reason, one.text)
        elif is_objects(one.branch):
            interpretation = self._discovery.find(tree, one.index, one.text)
        interpretation = self._checked(one, interpretation, located)
        try:
            spec = _spec(one, manifest, counter, interpretation)
            if is_stock(spec):
                manifest = located.bare()
                spec = msgspec.structs.replace(spec, baskets=manifest.table)
        except ValueError as err:
            spec = _spec(one, manifest, counter, Unsupported(str(err), one.text))
        return spec, manifest

    def _checked(
        self, one: _Found, interpretation: Interpretation, located: Located
    ) -> Interpretation:
        """With the headers of objects, if the data are what the file says of their class."""
        try:
            check_class(one.branch, interpretation)
            if not isinstance(interpretation, AsStridedObjects | AsJagged) or not is_strided(
                interpretation
            ):
                return interpretation
            basket = self._reader.first_basket(located, interpretation.header_bytes)
            if basket is None:
                return interpretation
            return with_headers(one.branch, interpretation, basket)
        except (HeaderError, CorruptBasketError) as err:
            return Unsupported(str(err), one.text)
        except UPROOT_ERRORS as err:
            return Unsupported(f"its class cannot be looked up: {describe(err)}", one.text)


def _has_objects(one: _Found) -> bool:
    """Whether the entries of a branch are whole objects, or lists of them."""
    content = one.interpretation
    content = content.content if isinstance(content, AsJagged) else content
    return is_objects(one.branch) or isinstance(content, AsStridedObjects)


def _with_process_numbers(interpretation: Interpretation, table: BasketTable) -> Interpretation:
    """Bits of objects that are referenced have two bytes more, for which uproot does not look."""
    match interpretation:
        case AsJagged(AsDtype(from_dtype), 0) if from_dtype == BITS_DTYPE:
            return AsBits(jagged=True)
        case AsDtype(from_dtype) if from_dtype == BITS_DTYPE:
            plain = np.array_equal(table.border_bytes, BITS_DTYPE.itemsize * table.entries)
            return interpretation if plain else AsBits()
    return interpretation


def _branches_of(parent: Any, path: str, index: tuple[int, ...]) -> Iterator[_Found]:
    """All branches below a tree or branch, depth first."""
    taken: set[str] = set()
    for i, branch in enumerate(parent.branches):
        text = component(branch.name, taken)
        taken.add(text)
        where = f"{path}/{text}"
        interpretation = interpretation_of(branch)
        try:
            baskets = BasketList.of_branch(branch)
        except UPROOT_ERRORS as err:
            reason = f"uproot cannot list its baskets: {describe(err)}"
            interpretation = Unsupported(reason, repr(interpretation))
            baskets = BasketList.empty()
        yield _Found(where, (*index, i), branch, interpretation, baskets)
        yield from _branches_of(branch, where, (*index, i))


def _counter_of(branch: uproot.TBranch, known: dict[int, _Found]) -> _Found | None:
    """The counter branch, if it can be read."""
    try:
        counter = branch.count_branch
    except UPROOT_ERRORS:
        return None
    found = known.get(id(counter))
    if found is None or not isinstance(found.interpretation, AsDtype):
        return None
    dtype = found.interpretation.from_dtype
    return found if dtype.kind in "iu" and dtype.shape == () else None


def _spec(
    one: _Found, manifest: Manifest, counter: str | None, interpretation: Interpretation
) -> BranchSpec:
    branch = one.branch
    return BranchSpec(
        branch.name,
        branch.title,
        one.typename,
        branch.classname,
        int(branch.num_entries),
        interpretation,
        manifest.table,
        counter,
        int(branch.compressed_bytes),
        int(branch.uncompressed_bytes),
        one.split,
    )
