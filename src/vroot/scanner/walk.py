"""From an open ROOT file to the nodes of a store, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
import uproot

from vroot.exceptions import DeserializationError
from vroot.interpretations import AsDtype, Interpretation, Unsupported
from vroot.layout import branch_items, group_document, is_stock
from vroot.model import BranchSpec, DirectorySpec, Manifest, ObjectSpec, TreeSpec, no_manifest
from vroot.names import component
from vroot.scanner.baskets import BasketList, BasketReader, Located
from vroot.scanner.guard import UPROOT_ERRORS, describe
from vroot.scanner.interpretations import interpretation_of
from vroot.schema import JSON, encode_node

__all__ = ["Progress", "Walker"]

Progress: TypeAlias = Callable[[str, int, int], None]

DIRECTORIES = ("TDirectory", "TDirectoryFile")
TREES = ("TTree", "TNtuple", "TNtupleD")


@dataclass(frozen=True, eq=False)
class _Found:
    """A branch on its way into the store."""

    path: str
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


class Walker:
    """Walks a ROOT file.

    Parameters
    ----------
    reader : BasketReader
        Reads the keys of the baskets.
    only : str, optional
        The path of the one directory or object that is wanted, without cycle or with it.
    progress : callable, optional
        Called with an object's path, branches done, and branches in it.
    """

    def __init__(
        self, reader: BasketReader, only: str | None = None, progress: Progress | None = None
    ) -> None:
        self._reader = reader
        self._only = only
        self._progress = progress
        self.matched = False

    def directory(
        self, directory: uproot.ReadOnlyDirectory, path: str = "", names: str = ""
    ) -> Iterator[tuple[str, JSON]]:
        """Yield the keys and values of everything in a directory.

        Parameters
        ----------
        directory : uproot.ReadOnlyDirectory
            The directory.
        path : str
            Its path in the store, with a slash at its end unless it is the file.
        names : str
            Its path in the ROOT file, likewise.

        Yields
        ------
        tuple of str and JSON
            Keys and values of the reference file.
        """
        taken: set[str] = set()
        # The highest cycle, which is what a name without one means, gets the plain component.
        keys = list(_keys_of(directory))
        highest: dict[str, int] = {}
        for name, cycle, _, _ in keys:
            highest[name] = max(highest.get(name, cycle), cycle, key=abs)
        plain = {component(name) for name in highest}
        for name, cycle, classname, title in keys:
            if not self._wanted(f"{names}{name}", cycle):
                continue
            latest = cycle == highest[name]
            text = component(name, taken if latest else taken | plain, cycle)
            taken.add(text)
            yield from self._object(
                directory, f"{path}{text}", names, (name, cycle, classname, title)
            )

    def _wanted(self, name: str, cycle: int) -> bool:
        if self._only is None:
            return True
        wanted = self._only
        if wanted in (name, f"{name};{cycle}") or name.startswith(wanted + "/"):
            self.matched = True
            return True
        return wanted.startswith(name + "/")

    def _object(
        self,
        directory: uproot.ReadOnlyDirectory,
        path: str,
        names: str,
        key: tuple[str, int, str, str],
    ) -> Iterator[tuple[str, JSON]]:
        name, cycle, classname, title = key
        reason = f"objects of class {classname} are not supported yet"
        if classname in DIRECTORIES or classname in TREES:
            try:
                found = directory.key(f"{name};{cycle}").get()
            except UPROOT_ERRORS as err:
                reason = f"uproot cannot open it: {describe(err)}"
            else:
                if isinstance(found, uproot.ReadOnlyDirectory):
                    spec = DirectorySpec(name, title, classname, cycle)
                    yield f"{path}/zarr.json", group_document(encode_node(spec))
                    yield from self.directory(found, f"{path}/", f"{names}{name}/")
                    return
                if isinstance(found, uproot.TTree):
                    yield from self._tree(found, path, f"/{names}{name};{cycle}", cycle)
                    return
        unread = ObjectSpec(name, title, classname, cycle, reason=reason)
        yield f"{path}/zarr.json", group_document(encode_node(unread))

    # --- trees

    def _tree(
        self, tree: uproot.TTree, path: str, shown: str, cycle: int
    ) -> Iterator[tuple[str, JSON]]:
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
        found = list(_branches_of(tree, path))
        interpretations = {id(one.branch): one for one in found}
        manifests = self._reader.manifests([one.baskets for one in found])
        for done, (one, manifest) in enumerate(zip(found, manifests, strict=True)):
            if self._progress is not None:
                self._progress(shown, done, len(found))
            counter = _counter_of(one.branch, interpretations)
            relative = None if counter is None else counter.path.removeprefix(f"{path}/")
            yield from _branch_items(one, manifest, relative)
        if self._progress is not None:
            self._progress(shown, len(found), len(found))


def _keys_of(directory: uproot.ReadOnlyDirectory) -> Iterator[tuple[str, int, str, str]]:
    """Names, cycles, classes and titles of what is in a directory."""
    for shown, classname in directory.iterclassnames(recursive=False, cycle=True):
        name, _, cycle = shown.rpartition(";")
        try:
            title = directory.key(shown).title()
        except UPROOT_ERRORS:
            # uproot finds no key whose name has a slash in it.
            title = ""
        yield name, int(cycle), classname, title


def _branches_of(parent: Any, path: str) -> Iterator[_Found]:
    """All branches below a tree or branch, depth first."""
    taken: set[str] = set()
    for branch in parent.branches:
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
        yield _Found(where, branch, interpretation, baskets)
        yield from _branches_of(branch, where)


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


def _branch_items(
    one: _Found, located: Located | DeserializationError, counter: str | None
) -> Iterator[tuple[str, JSON]]:
    """Keys and values of a branch, which is recorded as unsupported if its baskets are amiss."""
    if isinstance(located, DeserializationError):
        spec = _spec(one, no_manifest(), counter, Unsupported(str(located), one.text))
        yield from branch_items(one.path, spec, no_manifest())
        return
    manifest = located.manifest
    try:
        spec = _spec(one, manifest, counter, one.interpretation)
        if is_stock(spec):
            manifest = located.bare()
            spec = msgspec.structs.replace(spec, baskets=manifest.table)
    except ValueError as err:
        spec = _spec(one, manifest, counter, Unsupported(str(err), one.text))
    yield from branch_items(one.path, spec, manifest)


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
