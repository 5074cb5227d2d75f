"""`vroot ls`, `vroot show` and `vroot head`."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import itertools
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import vroot
from vroot import (
    Directory,
    HasBranches,
    HasFields,
    RField,
    RNTuple,
    TBranch,
    TTree,
)
from vroot.cli.printing import (
    EXIT_OK,
    TableColumn,
    complain,
    make_column,
    printable,
    write,
    write_json,
    write_table,
)
from vroot.exceptions import (
    DeserializationError,
    KeyInFileError,
    UnsupportedError,
)
from vroot.mapping.filters import regularize_filter
from vroot.metadata.interpretations import Unsupported

__all__ = ["head", "ls", "show"]

WITH_ENTRIES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple")
MAX_CELL_CHARACTERS = 32

#: What makes a glob or a regular expression of a name.
PATTERN = re.compile(r"[*?\[]|^/.*/i?$")


def ls(args: argparse.Namespace) -> int:
    """List the objects of a directory, or the branches of a tree."""
    item = vroot.open(args.refs)
    table: list[tuple[object, ...]]
    if isinstance(item, Directory):
        table = [("name", "classname", "title", "num_entries")]
        for path, classname, title, found in _objects(item, recursive=args.recursive):
            num_entries = found.num_entries if isinstance(found, TTree | RNTuple) else None
            table.append((path, classname, title, num_entries))
    else:
        table = [("name", "typename", "title")]
        for path, column in _columns(_tree(item, args.refs), recursive=args.recursive):
            title = column.title if isinstance(column, TBranch) else column.description
            table.append((path, column.typename, title))
    if args.json:
        write_json([dict(zip(table[0], row, strict=True)) for row in table[1:]])
    else:
        write_table([make_column(str(name), cells) for name, *cells in zip(*table, strict=True)])
    return EXIT_OK


def _objects(
    directory: Directory, *, recursive: bool
) -> Iterator[tuple[str, str, str | None, object]]:
    """Give path, class name, title and, if it is a tree or RNTuple, the object itself."""
    for path, classname in directory.iterclassnames(recursive=recursive):
        title: str | None = None
        item: object = None
        # Not every object can be read, and a name with a slash in it is no path to look up.
        with contextlib.suppress(KeyInFileError, UnsupportedError):
            title = directory.title_of(path)
            item = directory[path] if classname in WITH_ENTRIES else None
        yield path, classname, title, item


def _columns(
    tree: HasBranches[Any] | HasFields[Any], *, recursive: bool
) -> Iterator[tuple[str, TBranch | RField]]:
    """Give the branches or fields of something; one that has none stands for itself."""
    if isinstance(tree, TBranch | RField) and not len(tree):
        yield tree.name, tree
    else:
        yield from tree.iteritems(recursive=recursive)


def _tree(item: object, refs: str) -> HasBranches[Any] | HasFields[Any]:
    if not isinstance(item, HasBranches | HasFields):
        raise UnsupportedError(
            f"{refs} is a {type(item).__name__}, not a tree or branch, nor an RNTuple or field"
        )
    return item


def show(args: argparse.Namespace) -> int:
    """Show the branches of a tree as uproot does."""
    try:
        accepts = regularize_filter(args.filter_name)
    except (re.error, ValueError) as error:
        args.parser.error(f"argument --filter-name: {error}")
    table = io.StringIO()
    tree = _tree(vroot.open(args.refs), args.refs)
    if isinstance(tree, HasFields):
        tree.show(filter_name=accepts, stream=table)
    else:
        tree.show(
            filter_name=accepts,
            name_width=args.name_width,
            typename_width=args.typename_width,
            interpretation_width=args.interpretation_width,
            stream=table,
        )
    write("\n".join(map(printable, table.getvalue().split("\n"))))
    return EXIT_OK


def head(args: argparse.Namespace) -> int:
    """Print the first entries of branches."""
    tree = _tree(vroot.open(args.refs), args.refs)
    total = tree.num_entries
    start = min(args.start, total) if args.start >= 0 else max(args.start + total, 0)
    entries = range(start, min(start + args.n, total))
    names = _names(tree, args)
    values = _read_all(tree, entries) if names is None else _read(tree, names, entries)
    # A branch can have fewer entries than its tree.
    rows = list(itertools.zip_longest(entries, *values.values()))
    if args.json:
        write_json([dict(zip(values, row[1:], strict=True)) for row in rows])
        return EXIT_OK
    entry, *columns = (
        make_column(name, cells, MAX_CELL_CHARACTERS)
        for name, *cells in zip(("entry", *values), *rows, strict=True)
    )
    for block in _blocks(entry, columns):
        write_table(block)
    return EXIT_OK


def _names(tree: HasBranches[Any] | HasFields[Any], args: argparse.Namespace) -> list[str] | None:
    """Give the names that were asked for, or that a pattern accepts; None for all."""
    if not args.branches:
        return None
    names: dict[str, None] = {}  # a set that keeps the order
    for given in args.branches:
        # As a path, "/a/b" is one of names; an expression may have the characters of a glob.
        is_pattern = PATTERN.search(given) is not None and given not in tree
        try:
            matched = tree.keys(filter_name=given) if is_pattern else []
        except (re.error, ValueError) as error:
            args.parser.error(f"{given!r}: {error}")
        if is_pattern and not matched and not _is_expression(given):
            raise KeyInFileError(
                given, keys=tree.keys(), file_path=tree.file.file_path, object_path=tree.object_path
            )
        names |= dict.fromkeys(matched or [given])
    return list(names)


def _is_expression(text: str) -> bool:
    """Whether a text that may be a pattern is one of Python."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _read(
    tree: HasBranches[Any] | HasFields[Any], names: Sequence[str], entries: range
) -> dict[str, list[Any]]:
    """Read entries of the named branches, in one call."""
    arrays = tree.arrays(names, entry_start=entries.start, entry_stop=entries.stop, how=dict)
    return {name: array.tolist() for name, array in arrays.items()}


def _read_all(tree: HasBranches[Any] | HasFields[Any], entries: range) -> dict[str, list[Any]]:
    """Read entries of all branches that can be read, and tell of those that cannot."""
    if isinstance(tree, HasFields):
        return _read(tree, [name for name, _ in _columns(tree, recursive=False)], entries)
    readable: dict[str, TBranch] = {}
    for path, branch in _columns(tree, recursive=True):
        if not isinstance(branch, TBranch):
            continue
        interpretation = branch.interpretation
        if branch.branches:
            continue  # what it holds is in those
        if isinstance(interpretation, Unsupported):
            complain(f"left out {path}:", interpretation.reason)
        elif path in readable:
            complain(f"left out another {path}:", "an earlier branch has that name")
        else:
            readable[path] = branch
    values: dict[str, list[Any]] = {}
    # All together they take the fewest requests, but one that fails spoils the call.
    with contextlib.suppress(DeserializationError, UnsupportedError):
        values = _read(tree, list(readable), entries) if tree.branches else {}
    for path, branch in readable.items() if not values else ():
        try:
            values[path] = branch.array(entry_start=entries.start, entry_stop=entries.stop).tolist()
        except (DeserializationError, UnsupportedError) as error:
            complain(f"left out {path}:", error)
    if not values:
        raise UnsupportedError(f"{tree.object_path} has no branch that can be read")
    return values


def _blocks(entry: TableColumn, columns: Sequence[TableColumn]) -> Iterator[list[TableColumn]]:
    """Share columns out over tables that fit the terminal, each beginning with the entry."""
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    block, used = [entry], entry.width
    for column in columns:
        if len(block) > 1 and used + column.width > limit:
            yield block
            block, used = [entry], entry.width
        block.append(column)
        used += column.width
    yield block
