"""What notebooks show of files, directories, trees and RNTuples: a small table that folds."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["branches_html", "count_text", "fields_html", "folding_table", "size_text"]

#: What is shown at most, so that a page stays small whatever is in the file.
MAX_ROWS = 100
MAX_CHARACTERS = 80

UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")

# The colors are those of the page, light or dark.
STYLE = "text-align:{};padding:0.1em 0.8em;border:none"


def size_text(size_bytes: int) -> str:
    """Give a number of bytes as a short text with a unit, such as "1.5 MB"."""
    size, unit = float(size_bytes), UNITS[0]
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            break
        size /= 1000
    return f"{size:.3g} {unit}" if unit != UNITS[0] else f"{size_bytes} B"


def count_text(count: int, what: str) -> str:
    """Give a number of things as text, such as "1 branch" or "1,500 branches"."""
    plurals = {"entry": "entries", "branch": "branches"}
    return f"{count:,} {what if count == 1 else plurals.get(what, what + 's')}"


def folding_table(
    title: str,
    facts: Sequence[str],
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    is_open: bool = True,
) -> str:
    """Make a table with a summary, on which a click folds and unfolds it.

    Parameters
    ----------
    title : str
        What it is of.
    facts : sequence of str
        What is said of the whole, beside the title.
    headings : sequence of str
        Names of the columns.
    rows : iterable of sequences of (str, int or None)
        Its rows; no more of them are taken than are shown.
    is_open : bool
        Whether the table is unfolded at first.

    Returns
    -------
    str
        HTML, in which all text is escaped.
    """
    shown = list(itertools.islice(rows, MAX_ROWS + 1))
    lines = [
        f"<details{' open' if is_open else ''}>",
        f"<summary><b>{_escape(title)}</b>",
        *(f" · {_escape(fact)}" for fact in facts),
        "</summary>",
        "<table>",
        f"<tr>{''.join(_cell('th', heading) for heading in headings)}</tr>",
        *(f"<tr>{''.join(_cell('td', value) for value in row)}</tr>" for row in shown[:MAX_ROWS]),
        "</table>",
    ]
    if len(shown) > MAX_ROWS:
        lines.append(f"<p>Only the first {MAX_ROWS} are shown: <code>keys()</code> has all.</p>")
    return "\n".join([*lines, "</details>"])


def branches_html(tree: Any, spec: Any) -> str:
    """Make the table of a tree or branch.

    Parameters
    ----------
    tree : HasBranches
        The tree or branch.
    spec : TreeSpec or BranchSpec
        What the store says of it.

    Returns
    -------
    str
        HTML.
    """
    facts = [count_text(tree.num_entries, "entry"), count_text(len(tree), "branch")]
    if spec.compressed_bytes:
        facts += [size_text(spec.compressed_bytes), f"compression {_ratio(spec)}"]
    members = tree.iteritems() if len(tree) else [(tree.name, tree)]
    rows = (
        (
            name,
            branch.typename,
            repr(branch.interpretation),
            branch.num_baskets,
            size_text(branch.compressed_bytes),
            _ratio(branch),
        )
        for name, branch in members
    )
    headings = ("name", "typename", "interpretation", "baskets", "size", "compression")
    return folding_table(tree.object_path, facts, headings, rows)


def _ratio(sizes: Any) -> str:
    packed = sizes.compressed_bytes
    return f"{sizes.uncompressed_bytes / packed:.2f}" if packed else ""


def fields_html(ntuple: Any, title: str) -> str:
    """Make the table of an RNTuple or field.

    Parameters
    ----------
    ntuple : HasFields
        The RNTuple or field.
    title : str
        Its name and type.

    Returns
    -------
    str
        HTML.
    """
    facts = [count_text(ntuple.num_entries, "entry"), count_text(len(ntuple), "field")]
    facts += [ntuple.description] if ntuple.description else []
    rows = ((name, field.typename, field.description) for name, field in ntuple.iteritems())
    return folding_table(title, facts, ("name", "typename", "description"), rows)


def _cell(tag: str, value: object) -> str:
    align = "right" if isinstance(value, int | float) else "left"
    text = "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return f'<{tag} style="{STYLE.format(align)}">{_escape(text)}</{tag}>'


def _escape(text: str) -> str:
    """Shorten a text, and escape what means something in HTML or is not Unicode."""
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1] + "…"
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"), quote=True)
