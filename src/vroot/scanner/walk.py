"""From an open ROOT file to the nodes of a store, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator

import uproot

from vroot.format.interpretations import JSON
from vroot.format.names import component
from vroot.format.nodes import encode_node
from vroot.format.zarr_arrays import group_document
from vroot.metadata.specs import DirectorySpec, ObjectSpec
from vroot.scanner.guard import UPROOT_ERRORS, describe
from vroot.scanner.ntuple import ntuple_items
from vroot.scanner.objects import ObjectScanner
from vroot.scanner.trees import TreeScanner

__all__ = ["Walker"]


DIRECTORIES = ("TDirectory", "TDirectoryFile")
NTUPLE = "ROOT::RNTuple"
TREES = ("TTree", "TNtuple", "TNtupleD")


class Walker:
    """Walks a ROOT file.

    Parameters
    ----------
    trees : TreeScanner
        Scans the trees.
    objects : ObjectScanner
        Scans what is neither tree nor directory.
    only : str, optional
        The path of the one directory or object that is wanted, without cycle or with it.
    """

    def __init__(self, trees: TreeScanner, objects: ObjectScanner, only: str | None = None) -> None:
        self._trees = trees
        self._objects = objects
        self._only = only
        self._within: list[int] = []
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
        """Yield the keys and values of one object, which is recorded if it cannot be opened."""
        name, cycle, classname, title = key
        if classname not in (*DIRECTORIES, *TREES, NTUPLE):
            yield from self._objects.items(directory, key, path)
            return
        reason = ""
        try:
            found = directory.key(f"{name};{cycle}").get()
            if classname == NTUPLE:
                # All or nothing: an error in the middle must not leave a part.
                items = list(ntuple_items(found, path, (name, title, cycle)))
        except UPROOT_ERRORS as err:
            reason = f"uproot cannot open it: {describe(err)}"
        if not reason and classname in DIRECTORIES and found.fSeekDir in self._within:
            reason = "it is one of the directories that it is in"
        if reason:
            unread = ObjectSpec(name, title, classname, cycle, reason=reason)
            yield f"{path}/zarr.json", group_document(encode_node(unread))
        elif classname == NTUPLE:
            yield from items
        elif classname in TREES:
            yield from self._trees.items(found, path, f"/{names}{name};{cycle}", cycle)
        else:
            spec = DirectorySpec(name, title, classname, cycle)
            yield f"{path}/zarr.json", group_document(encode_node(spec))
            self._within.append(found.fSeekDir)
            yield from self.directory(found, f"{path}/", f"{names}{name}/")
            self._within.pop()


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
