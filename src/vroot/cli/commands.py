"""The ``vroot`` command: scan ROOT files, look into reference stores, run scripts of uproot."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import itertools
import os
import re
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import vroot
from vroot import (
    INLINE_LIMIT_BYTES,
    Directory,
    HasBranches,
    HasFields,
    RField,
    RNTuple,
    TBranch,
    TTree,
)
from vroot.as_uproot import running
from vroot.cli.printing import (
    Column,
    OutputClosedError,
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
    OutputIsSourceError,
    UnsupportedError,
    VrootError,
)
from vroot.format.references import References, is_reference_name
from vroot.io.local import local_path
from vroot.io.urls import name_of
from vroot.locate.paths import regularize_path, split_object_path
from vroot.mapping.filters import regularize_filter
from vroot.metadata.interpretations import AsInstances, Unsupported
from vroot.metadata.specs import BranchSpec, DirectorySpec, ObjectSpec, Spec, TreeSpec
from vroot.scanner.outputs import check_outputs

__all__ = ["main"]

SIDECAR_SUFFIX = ".refs.json"
SUMMARY = (
    "{output}: trees {trees}, branches {branches}, baskets {baskets}, "
    "unsupported branches {unsupported_branches}, bytes {output_bytes}{left_out}\n"
)
WITH_ENTRIES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple")
MAX_CELL_CHARACTERS = 32
TRACEBACK = "--traceback"

#: What makes a glob or a regular expression of a name.
PATTERN = re.compile(r"[*?\[]|^/.*/i?$")
EXIT_OK, EXIT_ERROR, EXIT_INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code: 0, 1 after an error, 130 after an interrupt.

    Raises
    ------
    SystemExit
        With code 2 for wrong usage, and with code 0 after ``--help`` and ``--version``.
    """
    args = _parse(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: complain("warning:", message)
            return int(args.run(args))
    except OutputClosedError:
        return EXIT_OK
    except KeyboardInterrupt:
        complain("interrupted")
        return EXIT_INTERRUPTED
    except (VrootError, OSError) as error:
        if args.traceback:
            raise
        complain("error:", error)
        return EXIT_ERROR


# --- arguments ------------------------------------------------------------------------------------


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments, those of a command in any order."""
    parser, commands = _parsers()
    for i, argument in enumerate(argv):
        command = commands.get(argument)
        if command is None:
            if argument == TRACEBACK:
                continue
            break
        args = argparse.Namespace(traceback=i > 0)
        if command.get_default("run") is _run:  # what follows the script is the script's
            return command.parse_args(argv[i + 1 :], args)
        return command.parse_intermixed_args(argv[i + 1 :], args)
    return parser.parse_args(argv)


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Make the parser of the program, and those of its commands by name."""
    summary = "Scan ROOT files into reference stores, look into them, run scripts on them."
    parser = argparse.ArgumentParser(prog="vroot", description=summary)
    parser.add_argument("--version", action="version", version=f"vroot {vroot.__version__}")
    _add_traceback(parser, default=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    by_name: dict[str, argparse.ArgumentParser] = {}
    for name, run, add_arguments, summary in (
        ("scan", _scan, _add_scan, "scan ROOT files and write references to their baskets"),
        ("ls", _ls, _add_ls, "list the objects of a directory, or the branches of a tree"),
        ("show", _show, _add_show, "show the branches of a tree as uproot does"),
        ("head", _head, _add_head, "print the first entries of branches"),
        ("run", _run, _add_run, "run a script of uproot with vroot in its place"),
    ):
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(run=run, parser=command)
        add_arguments(command)
        # Without a default, which would overwrite what the main parser has seen.
        _add_traceback(command, default=argparse.SUPPRESS)
        by_name[name] = command
    return parser, by_name


def _add_traceback(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument(
        TRACEBACK, action="store_true", default=default, help="show the traceback of an error"
    )


def _add_scan(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("sources", nargs="+", metavar="FILE.root", help="a path or URL")
    add("-o", "--output", metavar="REFS", help="a .json or .json.zst file, or a folder (DIR/)")
    add("--url", help="the address to publish in place of the one scanned")
    add(
        "--inline-limit",
        type=_at_least(0),
        default=INLINE_LIMIT_BYTES,
        metavar="BYTES",
        help="ready-made data in the store of one branch or object (default: %(default)s)",
    )
    add("--allow-truncated", action="store_true", help="scan what can be read of a file cut short")
    add("-q", "--quiet", action="store_true", help="show no progress bar")
    add("--json", action="store_true", help="print the summary as JSON")
    parser.epilog = f"Without -o, the references go to FILE.root{SIDECAR_SUFFIX}, beside the file. "
    parser.epilog += (
        "In the folder of the file they name it relatively, so that both can be moved together; "
        "elsewhere they have its absolute path, or what --url says."
    )


def _add_ls(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("refs", metavar="REFS[:path]", help="references or a ROOT file, a path or URL")
    add("-r", "--recursive", action="store_true", help="descend into all levels")
    add("--json", action="store_true", help="print JSON")


def _add_show(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("refs", metavar="REFS:TREE", help="a tree of references or of a ROOT file")
    for column, width in (("name", 20), ("typename", 24), ("interpretation", 30)):
        about = "characters of this column (default: %(default)s)"
        add(f"--{column}-width", type=_at_least(3), default=width, metavar="N", help=about)
    about = 'show only such branches: a name, glob or "/regex/i"; may be repeated'
    add("--filter-name", action="append", metavar="PATTERN", help=about)


def _add_head(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("refs", metavar="REFS:TREE", help="a tree of references or of a ROOT file")
    about = 'a name, expression, glob or "/regex/i"; default: all that can be read'
    add("branches", nargs="*", metavar="branch", help=about)
    add("-n", type=_at_least(0), default=5, metavar="N", help="entries (default: %(default)s)")
    add("--start", type=int, default=0, metavar="N", help="first entry; negative: from the end")
    add("--json", action="store_true", help="print a JSON list of records")


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    kind = parser.add_mutually_exclusive_group()
    for option, about in (("-m", "run a module"), ("-c", "run a text of Python")):
        kind.add_argument(
            option,
            dest="kind",
            action="store_const",
            const=[option],
            default=[],
            help=f"{about}, as python {option} does",
        )
    add("script", metavar="SCRIPT", help="a script; after -m a module, after -c a text of Python")
    add("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script")


def _at_least(minimum: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < minimum:
            raise argparse.ArgumentTypeError(f"{text} is less than {minimum}")
        return int(text)

    return number


# --- scan -----------------------------------------------------------------------------------------


def _scan(args: argparse.Namespace) -> int:
    code, summaries = EXIT_OK, []
    for source, output in zip(args.sources, _outputs(args), strict=True):
        try:
            with _progress_bar(Path(source).name, quiet=args.quiet) as progress:
                vroot.scan(
                    source,
                    output,
                    url=args.url,
                    inline_limit_bytes=args.inline_limit,
                    allow_truncated=args.allow_truncated,
                    progress=progress,
                )
            summary = _summary(source, output)
        except (VrootError, OSError) as error:
            if args.traceback:
                raise
            # One file that cannot be scanned does not keep the others from it.
            complain("error:", error)
            code = EXIT_ERROR
            continue
        summaries.append(summary)
        if not args.json:
            # Nor does a reader of the report who has gone away.
            with contextlib.suppress(OutputClosedError):
                shown = {"output": printable(output), "left_out": _left_out(summary)}
                write(SUMMARY.format(**summary | shown))
    if args.json:
        write_json(summaries)
    return code


def _outputs(args: argparse.Namespace) -> list[str]:
    """Decide where the references of each source go; wrong usage exits."""
    sources: list[str] = args.sources
    usage_error: Callable[[str], NoReturn] = args.parser.error
    if len(sources) > 1 and args.url is not None:
        usage_error(f"--url goes with one file, not with {len(sources)}")
    if args.output is None:
        outputs = []
        for source in sources:
            name, object_path = split_object_path(regularize_path(source))
            path = local_path(name)
            if path is None or object_path is not None or (":" in name and not path.exists()):
                usage_error(f"{source!r} is not a local file: say with -o where to write")
            outputs.append(f"{path}{SIDECAR_SUFFIX}")
    else:
        outputs = _given_outputs(args.output, sources, usage_error)
    twice = [output for output, times in Counter(outputs).items() if times > 1]
    if twice:
        usage_error(f"{twice[0]!r} would hold the references of several files")
    try:
        # Of all files before the first is scanned: the output of one may be another.
        check_outputs(
            map(Path, outputs), [split_object_path(regularize_path(each))[0] for each in sources]
        )
    except OutputIsSourceError as error:
        usage_error(printable(str(error)))
    return outputs


def _given_outputs(
    given: str, sources: Sequence[str], usage_error: Callable[[str], NoReturn]
) -> list[str]:
    """Decide where the references of each source go, from what -o says."""
    path = local_path(regularize_path(given))
    if path is None:
        usage_error(f"references are written to local files, not to {given!r}")
    if given.endswith(("/", os.sep)) or path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        names = [name_of(split_object_path(regularize_path(each))[0]) for each in sources]
        return [str(path / (name + SIDECAR_SUFFIX)) for name in names]
    if len(sources) > 1:
        usage_error(f"-o must be a folder (DIR/) for {len(sources)} files")
    if not is_reference_name(path.name):
        usage_error(f"{given!r} must end in .json or .json.zst, or be a folder (DIR/)")
    return [str(path)]


@contextlib.contextmanager
def _progress_bar(name: str, *, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a bar on a terminal, if rich is there; else give nothing to call."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich import console, markup, progress
    except ImportError:
        yield None
        return
    with progress.Progress(console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(markup.escape(printable(name)), total=None)

        def update(object_path: str, done: int, total: int) -> None:
            description = markup.escape(printable(f"{name}: {object_path}"))
            bar.update(task, description=description, completed=done, total=total)

        yield update


def _summary(source: str, output: str) -> dict[str, Any]:
    """Count what the references in `output` hold, and what they leave out."""
    specs = list(_specs(vroot.open(output).references))
    branches = [spec for spec in specs if isinstance(spec, BranchSpec)]
    objects = [spec for spec in specs if isinstance(spec, ObjectSpec)]
    return {
        "source": source,
        "output": output,
        "trees": sum(isinstance(spec, TreeSpec) for spec in specs),
        "branches": len(branches),
        "baskets": sum(len(branch.baskets) for branch in branches),
        "unsupported_branches": sum(
            isinstance(b.interpretation, Unsupported)
            and not isinstance(b.interpretation, AsInstances)
            for b in branches
        ),
        "objects": len(objects),
        "unsupported_objects": sum(spec.data is None for spec in objects),
        "output_bytes": Path(output).stat().st_size,
    }


def _specs(references: References, path: str = "") -> Iterator[Spec]:
    """Say what the nodes below a node are, to any depth."""
    for text in references.children(path):
        below = f"{path}/{text}" if path else text
        spec = references.spec(below)
        yield spec
        if isinstance(spec, DirectorySpec | TreeSpec | BranchSpec):
            yield from _specs(references, below)


def _left_out(summary: dict[str, Any]) -> str:
    """Say what is not in the store, if anything is not."""
    counts = {kind: summary[f"unsupported_{kind}"] for kind in ("branches", "objects")}
    words = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
    return f"; not in the store: {words}" if words else ""


# --- ls, show, head -------------------------------------------------------------------------------


def _ls(args: argparse.Namespace) -> int:
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


def _show(args: argparse.Namespace) -> int:
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


def _head(args: argparse.Namespace) -> int:
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


def _blocks(entry: Column, columns: Sequence[Column]) -> Iterator[list[Column]]:
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


# --- run ------------------------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    return running.run([*args.kind, args.script, *args.arguments])
