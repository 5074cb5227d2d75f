"""What the command line prints: tables, JSON and complaints, safe for terminals and pipes."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = [
    "EXIT_ERROR",
    "EXIT_OK",
    "OutputClosedError",
    "TableColumn",
    "complain",
    "make_column",
    "printable",
    "write",
    "write_json",
    "write_table",
]

EXIT_OK, EXIT_ERROR = 0, 1

COLUMN_MARGIN = 3


class OutputClosedError(Exception):
    """Whoever read standard output has gone away."""


class TableColumn(NamedTuple):
    """A column of a table."""

    heading: str
    cells: Sequence[str]
    justify: Literal["left", "right"]

    @property
    def width(self) -> int:
        """Characters that it takes, with its margins."""
        return max(map(len, (self.heading, *self.cells))) + COLUMN_MARGIN


def make_column(heading: str, values: Sequence[object], limit: int = sys.maxsize) -> TableColumn:
    """Make a column of values, of which no more than `limit` characters are shown."""
    texts = ["" if value is None else printable(_brief(value, limit)) for value in values]
    cells = [text if len(text) <= limit else text[: limit - 1] + "…" for text in texts]
    is_number = all(isinstance(value, int | float | None) for value in values)
    return TableColumn(printable(heading), cells, "right" if is_number else "left")


def _brief(value: object, limit: int) -> str:
    """Write a value for people, though not much more of it than `limit` characters."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str | bytes):
        return str(value[: limit + 1])
    if isinstance(value, Mapping):
        pairs = itertools.islice(value.items(), limit)
        return "{" + ", ".join(f"{key}: {_brief(item, limit)}" for key, item in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_brief(item, limit) for item in value[:limit]) + "]"
    return str(value)


def write_table(columns: Sequence[TableColumn]) -> None:
    """Print a table: drawn by rich on a terminal, else plain and never shortened."""
    drawn = _rich_table(columns) if sys.stdout.isatty() else None
    if drawn is not None:
        write(drawn)
        return
    lines = [""] * (len(columns[0].cells) + 2)
    for column in columns:
        width = column.width - COLUMN_MARGIN
        for i, cell in enumerate((column.heading, "-" * width, *column.cells)):
            padded = cell.rjust(width) if column.justify == "right" else cell.ljust(width)
            lines[i] += padded + " " * COLUMN_MARGIN
    write("".join(f"{line.rstrip()}\n" for line in lines))


def _rich_table(columns: Sequence[TableColumn]) -> str | None:
    """Draw a table for the terminal; None if rich is not installed."""
    try:
        from rich import box, console, table, text
    except ImportError:
        return None
    drawn = table.Table(box=box.SIMPLE_HEAD)
    # As Text, names such as "[nJet]" are not taken for markup.
    for column in columns:
        drawn.add_column(text.Text(column.heading), justify=column.justify, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*map(text.Text, row))
    terminal = console.Console()
    with terminal.capture() as capture:
        terminal.print(drawn)
    return capture.get()


def printable(text: str) -> str:
    """Escape what would not stay in its cell, or would steer the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def complain(what: str, why: object = "") -> None:
    """Print one line to standard error."""
    reason = " ".join(str(why).split()) or (type(why).__name__ if why else "")
    print(printable(f"vroot: {what} {reason}".rstrip()), file=sys.stderr)


def write_json(items: Sequence[object]) -> None:
    """Print a JSON list, one item a line."""
    lines = ",\n".join(json.dumps(_jsonable(item), allow_nan=False) for item in items)
    write(f"[\n{lines}\n]\n" if items else "[]\n")


def _jsonable(value: Any) -> Any:
    """Replace what JSON has no notation for: NaN and infinities by null, bytes by text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_jsonable(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value


def write(text: str) -> None:
    """Print to standard output at once, whatever characters its encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # Otherwise the interpreter, on its way out, tries to write the rest and complains.
        with contextlib.suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputClosedError from error
        raise
