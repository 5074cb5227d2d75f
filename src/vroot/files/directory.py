"""The facade for directories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, assert_never

from vroot.exceptions import KeyInFileError, ReferenceStoreError, UnsupportedError
from vroot.format.nodes import Heading
from vroot.mapping.filters import Filter, no_filter, regularize_filter
from vroot.mapping.html import count_text, folding_table
from vroot.mapping.listing import Closes
from vroot.metadata.specs import BranchSpec, DirectorySpec, NTupleSpec, ObjectSpec, TreeSpec
from vroot.ntuples.has_fields import HasFields
from vroot.ntuples.ntuple import RNTuple
from vroot.objects.decoding import decode_object
from vroot.objects.payload import read_payload
from vroot.read.opened import OpenedFile
from vroot.trees.has_branches import HasBranches
from vroot.trees.tree import TTree

__all__ = ["Directory", "Unreadable"]


class _Key(NamedTuple):
    """An object in a directory, as its TKey names it."""

    path: str
    heading: Heading

    def name(self, *, cycle: bool) -> str:
        return f"{self.heading.name};{self.heading.cycle}" if cycle else self.heading.name


class Unreadable(NamedTuple):
    """What stands for an object that cannot be read, where one iterates over all.

    Parameters
    ----------
    name, classname, title : str
        ROOT's words.
    reason : str
        Why it cannot be read; looking it up raises this.
    """

    name: str
    classname: str
    title: str
    reason: str


class Directory(Closes, Mapping[str, Any]):
    """A TDirectory of an opened store: a mapping of names, paths and cycles to objects.

    Parameters
    ----------
    file : File, optional
        The opened store; the directory itself if not given.
    path : str
        Path of its node in the store.
    names : tuple of str
        Names of the directories from the file down to this one.
    """

    def __init__(self, file: OpenedFile | None, path: str, names: tuple[str, ...]) -> None:
        self._opened = file
        self.node_path = path
        self._names = names

    def __repr__(self) -> str:
        return f"<Directory {'/' + '/'.join(self._names)!r} at 0x{id(self):012x}>"

    def _repr_html_(self) -> str:
        return folding_table(
            self.object_path if self.path else self.file_path,
            [count_text(len(self._keys), "object")],
            ("name", "class", "title", "entries"),
            self._html_rows(),
        )

    def _html_rows(self) -> Iterator[tuple[object, ...]]:
        for name, directory, key in self._iterate(None, None, recursive=True, cycle=True):
            is_table = key.heading.node in ("tree", "ntuple")
            entries = directory.get_key(key).num_entries if is_table else None
            yield name, key.heading.classname, key.heading.title, entries

    def __reduce__(self) -> tuple[Any, ...]:
        return (Directory, (self._opened, self.node_path, self._names))

    @property
    def file(self) -> OpenedFile:
        """The opened store."""
        if self._opened is None:
            raise NotImplementedError
        return self._opened

    @property
    def path(self) -> tuple[str, ...]:
        """Names of the directories from the file down to this one."""
        return self._names

    @property
    def object_path(self) -> str:
        """Path in the ROOT file, with a slash at both ends."""
        return "/".join(("", *self._names, "")).replace("//", "/")

    @property
    def cache_key(self) -> str:
        """What is unique to this directory: the UUID of the file, and the path."""
        return f"{self.file.hex_uuid}:{self.object_path}"

    @property
    def file_path(self) -> str:
        """What was opened."""
        return self.file.file_path

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self.file.closed

    # --- keys

    @cached_property
    def _keys(self) -> list[_Key]:
        keys = []
        for text in self.file.references.children(self.node_path):
            path = f"{self.node_path}/{text}" if self.node_path else text
            heading = self.file.references.heading(path)
            if heading.node != "branch":
                keys.append(_Key(path, heading))
        return keys

    @cached_property
    def _keys_by_name(self) -> dict[str, list[_Key]]:
        found: dict[str, list[_Key]] = {}
        for key in self._keys:
            found.setdefault(key.heading.name, []).append(key)
        return found

    def get_key(self, key: _Key) -> Any:
        """Give the object of a key, from the cache if it is there."""
        cache = self.file.object_cache
        if cache is None:
            return self._make(key)
        name = f"{self.file.uuid}:{key.path}"
        found = cache.get(name)
        # A cache may have what belongs to the same file opened before.
        if found is None or getattr(found, "file", self.file) is not self.file:
            found = self._make(key)
            cache[name] = found
        return found

    def _make(self, key: _Key) -> Any:
        spec = self.file.references.spec(key.path)
        match spec:
            case TreeSpec():
                return TTree(self, key.path, spec)
            case DirectorySpec(name):
                return Directory(self.file, key.path, (*self._names, name))
            case NTupleSpec():
                return RNTuple(self, key.path, spec)
            case ObjectSpec():
                return self._make_object(key.path, spec)
            case BranchSpec():
                raise ReferenceStoreError(f"{key.path!r} is a branch, but in no tree")
        assert_never(spec)

    def _make_object(self, path: str, spec: ObjectSpec) -> Any:
        where = f"{self.object_path}{spec.name};{spec.cycle} ({spec.classname})"
        if spec.data is None:
            raise UnsupportedError(
                f"{where} cannot be read: {spec.reason}\nin file {self.file_path}"
            )
        payload = None if spec.payload is None else read_payload(self.file, path, spec.payload)
        try:
            return decode_object(spec.data, payload)
        except ReferenceStoreError as err:
            raise ReferenceStoreError(f"{where}: {err}\nin file {self.file_path}") from err

    def _iterate(
        self, filter_name: Filter, filter_classname: Filter, *, recursive: bool, cycle: bool
    ) -> Iterator[tuple[str, Directory, _Key]]:
        accepts_name = regularize_filter(filter_name)
        accepts_class = regularize_filter(filter_classname)
        seen: set[str] = set()
        for shown, plain, directory, key in self.walk(recursive=recursive, cycle=cycle):
            if (
                shown not in seen
                and (accepts_name is no_filter or accepts_name(plain))
                and (accepts_class is no_filter or accepts_class(key.heading.classname))
            ):
                seen.add(shown)
                yield shown, directory, key

    def walk(
        self, *, recursive: bool, cycle: bool, prefix: str = ""
    ) -> Iterator[tuple[str, str, Directory, _Key]]:
        """Iterate over shown names, names without cycles, directories and keys."""
        for key in self._keys:
            name = prefix + key.name(cycle=cycle)
            yield name, prefix + key.name(cycle=False), self, key
            if recursive and key.heading.node == "directory":
                below = f"{prefix}{key.name(cycle=False)}/"
                yield from self.get_key(key).walk(recursive=True, cycle=cycle, prefix=below)

    def iterkeys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[str]:
        """Iterate over the names of objects.

        Parameters
        ----------
        recursive : bool
            Whether to descend into directories.
        cycle : bool
            Whether names end in ``;cycle``.
        filter_name, filter_classname : None, str, callable, or iterable of these
            Which to take: see `vroot.mapping.filters.regularize_filter`.

        Yields
        ------
        str
            Names, with the path from here before them.
        """
        for name, _, _ in self._iterate(
            filter_name, filter_classname, recursive=recursive, cycle=cycle
        ):
            yield name

    def iteritems(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over names and objects; parameters as in `iterkeys`.

        An object that cannot be read comes as an `Unreadable`, so that the others do come.
        """
        for name, directory, key in self._iterate(
            filter_name, filter_classname, recursive=recursive, cycle=cycle
        ):
            try:
                found = directory.get_key(key)
            except (UnsupportedError, ReferenceStoreError) as err:
                found = Unreadable(
                    key.heading.name, key.heading.classname, key.heading.title, str(err)
                )
            yield name, found

    def itervalues(
        self,
        *,
        recursive: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[Any]:
        """Iterate over objects; parameters as in `iterkeys`."""
        for _, value in self.iteritems(
            recursive=recursive,
            cycle=False,
            filter_name=filter_name,
            filter_classname=filter_classname,
        ):
            yield value

    def iterclassnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, str]]:
        """Iterate over names and ROOT classes; parameters as in `iterkeys`."""
        for name, _, key in self._iterate(
            filter_name, filter_classname, recursive=recursive, cycle=cycle
        ):
            yield name, key.heading.classname

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names of the objects; parameters as in `iterkeys`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[Any]:  # type: ignore[override]
        """Objects; parameters as in `itervalues`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Names and objects; parameters as in `iterkeys`."""
        return list(self.iteritems(**filters))

    def classnames(self, **filters: Any) -> dict[str, str]:
        """Names and ROOT classes; parameters as in `iterkeys`."""
        return dict(self.iterclassnames(**filters))

    def __len__(self) -> int:
        directories = (key for key in self._keys if key.heading.node == "directory")
        return len(self._keys) + sum(len(self.get_key(key)) for key in directories)

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    # --- look-up

    def __contains__(self, where: object) -> bool:
        if not isinstance(where, str):
            return False
        try:
            self[where]
        except KeyError:
            return False
        except (UnsupportedError, ReferenceStoreError):
            return True  # it is there, though it cannot be read
        return True

    def has_key(self, where: str) -> bool:
        """Whether there is such a key, whatever it is of."""
        try:
            self.find_key(where)
        except KeyError:
            return False
        return True

    def __getitem__(self, where: str) -> Any:
        if not isinstance(where, str):
            raise TypeError(f"where must be a string, not {where!r}")
        if not where:
            raise self._not_found(where)
        step: Any = self
        pieces = where.split("/")
        for i, piece in enumerate(pieces):
            if not piece:
                continue
            if isinstance(step, HasBranches | HasFields):
                return step["/".join(pieces[i:])]
            if not isinstance(step, Directory):
                raise self._not_found(where, f"{'/'.join(pieces[:i])!r} has no parts")
            head, colon, tail = piece.partition(":")
            if colon and not step.has_key(piece):
                step = step.get_key(step.find_key(head))
                if isinstance(step, HasBranches | HasFields):
                    return step["/".join([tail, *pieces[i + 1 :]])]
                raise self._not_found(where, f"{head!r} is not a TTree or RNTuple")
            step = step.get_key(step.find_key(piece))
        return step

    def title_of(self, where: str) -> str:
        """Title of an object, without reading it."""
        return self.find_key(where).heading.title

    def classname_of(self, where: str) -> str:
        """ROOT class of an object, without reading it."""
        return self.find_key(where).heading.classname

    def find_key(self, where: str) -> _Key:
        """Give the key that a name, with or without a path and a cycle, means."""
        head, slash, item = where.strip("/").rpartition("/")
        if slash:
            directory = self[head]
            if not isinstance(directory, Directory):
                raise self._not_found(where, f"{head!r} is not a TDirectory")
            return directory.find_key(item)
        name, cycle = item, None
        match = re.fullmatch(r"(.*);(-?\d+)", item, re.DOTALL)
        if match is not None:
            name, cycle = match[1], int(match[2])
        candidates = self._keys_by_name.get(name, [])
        for key in candidates:
            if key.heading.cycle == cycle:
                return key
        if candidates and cycle is None:
            # Negative cycles count by their magnitude, as in ROOT; the first of equals wins.
            return max(candidates, key=lambda key: abs(key.heading.cycle))
        raise self._not_found(name, cycle="any" if cycle is None else cycle)

    def _not_found(
        self, where: str, because: str = "", cycle: int | str | None = None
    ) -> KeyInFileError:
        return KeyInFileError(
            where,
            keys=self.keys(),
            file_path=self.file_path,
            object_path=self.object_path,
            because=because,
            cycle=cycle,
        )
