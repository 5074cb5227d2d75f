"""The ``vroot`` command: scan ROOT files, look into reference stores, run scripts of uproot."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence

import vroot
from vroot import (
    INLINE_LIMIT_BYTES,
)
from vroot.as_uproot import running
from vroot.cli.looking import head, ls, show
from vroot.cli.printing import (
    EXIT_ERROR,
    EXIT_OK,
    OutputClosedError,
    complain,
)
from vroot.cli.scanning import SIDECAR_SUFFIX, scan
from vroot.exceptions import (
    VrootError,
)

__all__ = ["main"]

EXIT_INTERRUPTED = 130

TRACEBACK = "--traceback"


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
        ("scan", scan, _add_scan, "scan ROOT files and write references to their baskets"),
        ("ls", ls, _add_ls, "list the objects of a directory, or the branches of a tree"),
        ("show", show, _add_show, "show the branches of a tree as uproot does"),
        ("head", head, _add_head, "print the first entries of branches"),
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


def _run(args: argparse.Namespace) -> int:
    return running.run([*args.kind, args.script, *args.arguments])
