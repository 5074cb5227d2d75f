"""Filters of names, as uproot takes them: None, glob, "/regex/i", callable, or several of these."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

__all__ = ["Filter", "no_filter", "one_of", "regularize_filter"]

Filter: TypeAlias = str | Callable[[str], bool] | Iterable[Any] | None

REGEX = re.compile(r"^/(.*)/([iLmsux]*)$")
FLAGS = {
    "i": re.IGNORECASE,
    "L": re.LOCALE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "u": re.UNICODE,
    "x": re.VERBOSE,
}


def no_filter(_: Any) -> bool:
    """Accept everything."""
    return True


def regularize_filter(given: Filter) -> Callable[[str], bool]:
    """Turn any form of filter into a function.

    Parameters
    ----------
    given : None, str, callable, or iterable of these
        None accepts all; a string is a regular expression between slashes, with flags, matched at
        the beginning, or a glob pattern if it has one of ``*?[``, or else a name; several accept
        what any of them accepts.

    Returns
    -------
    callable
        From a name to whether it is accepted.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if given is None:
        return no_filter
    if callable(given):
        return given
    if isinstance(given, str):
        return _string_filter(given)
    if isinstance(given, Iterable):
        filters = [regularize_filter(one) for one in given]
        return lambda name: any(one(name) for one in filters)
    raise TypeError(
        "filter must be None, callable, a regex string between slashes, or a glob pattern, "
        f"not {given!r}"
    )


def _string_filter(given: str) -> Callable[[str], bool]:
    regex = REGEX.match(given)
    if regex is not None:
        flags = re.RegexFlag(0)
        for letter in regex[2]:
            flags |= FLAGS[letter]
        pattern = re.compile(regex[1], flags)
        return lambda name: pattern.match(name) is not None
    if any(wildcard in given for wildcard in "*?["):
        return lambda name: fnmatch.fnmatchcase(name, given)
    return lambda name: name == given


def one_of(expressions: str | Sequence[str] | None, filter_name: Filter) -> Filter:
    """Give the names that are asked for, by either of two parameters."""
    if expressions is None:
        return filter_name
    if filter_name is not None and filter_name is not no_filter:
        raise ValueError("expressions are the same as filter_name: give only one of them")
    return expressions
