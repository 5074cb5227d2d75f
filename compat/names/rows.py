"""uproot's public names, and where vroot stands: ``python -m compat.names`` writes names.tsv."""

from __future__ import annotations

import fnmatch
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import uproot

import vroot.metadata.interpretations
from compat.names.reasons import ABSENT, DIFFERENT, INTERNAL
from vroot.as_uproot import stand_ins

TABLE = Path(__file__).with_name("names.tsv")
HEADER = ("uproot", "vroot", "remark")
UNEXPLAINED = "?"

#: What the facade makes of a stored interpretation, and of what uproot makes of a tree or branch
#: in a file: by the identity of uproot's class, whose attributes are compared with those of ours.
COUNTERPARTS: Mapping[int, type] = {
    id(uproot.AsGrouped): vroot.metadata.interpretations.AsGroup,
    id(uproot.models.TTree.Model_TTree_v20): vroot.TTree,
    id(uproot.models.TBranch.Model_TBranchElement_v10): vroot.TBranch,
}


class Row(NamedTuple):
    """One name of uproot.

    Parameters
    ----------
    name : str
        With its module or class before it; all of a module that has no counterpart, with a star.
    standing : str
        "same", "alias" (of a class of another name), "differs", "absent", "no effect" (accepted),
        or "writing" (raises NotImplementedError).
    remark : str
        What differs, or why it is absent.
    """

    name: str
    standing: str
    remark: str = ""


def rows() -> list[Row]:
    """Compare all public names.

    Returns
    -------
    list of Row
        One for each function, class, value, and attribute of a class that vroot has too; what
        classes inherit is listed once, where it is first met.
    """
    found: list[Row] = []
    compared: set[tuple[str, int, int]] = set()
    for module in _modules():
        members = _members(module)
        names = {name: _look_up(module, name) for name in members}
        counterparts = {name: COUNTERPARTS.get(id(members[name]), names[name]) for name in names}
        if members and all(each is None for each in counterparts.values()):
            found.append(_absent(f"{module}.*"))
            continue
        for name, theirs in members.items():
            full, ours = f"{module}.{name}", counterparts[name]
            found.append(_compare(full, theirs, names[name]))
            if (
                inspect.isclass(theirs)
                and not issubclass(theirs, BaseException)
                and inspect.isclass(ours)
                and not issubclass(ours, stand_ins.Writer | stand_ins.Handler)
            ):
                found.extend(_attributes(full, theirs, ours, compared))
    return found


def _modules() -> Iterator[str]:
    yield "uproot"
    for module in pkgutil.walk_packages(uproot.__path__, "uproot."):
        # What uproot.dynamic has are the classes of the files that were opened.
        if module.name == "uproot.dynamic":
            continue
        if not any(part.startswith("_") for part in module.name.split(".")):
            yield module.name


def _members(module_name: str) -> dict[str, Any]:
    """What a module has of its own; the package has what it imports from its modules too."""
    module = importlib.import_module(module_name)
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and name != "annotations"
        and not inspect.ismodule(value)
        and (module_name == "uproot" or getattr(value, "__module__", module_name) == module_name)
    }


def _look_up(module: str, name: str) -> Any:
    """Give what vroot has under a name of uproot, or None."""
    try:
        return getattr(importlib.import_module(module.replace("uproot", "vroot", 1)), name, None)
    except ModuleNotFoundError:
        return None


def _absent(full: str) -> Row:
    return Row(full, "absent", _reason(full, ABSENT))


def _compare(full: str, theirs: Any, ours: Any) -> Row:
    if ours is None:
        return _absent(full)
    if _writes(ours):
        return Row(full, "writing", "NotImplementedError")
    if inspect.isclass(ours) and issubclass(ours, stand_ins.Handler):
        return Row(full, "no effect", "accepted as handler=")
    if inspect.isclass(theirs):
        name = getattr(ours, "__name__", "several classes")
        return Row(full, "same") if name == theirs.__name__ else Row(full, "alias", name)
    if callable(theirs):
        return _callable(full, theirs, ours)
    same = type(ours) is type(theirs) and ours == theirs
    return Row(full, "same") if same else Row(full, "differs", _reason(full, DIFFERENT))


def _writes(ours: Any) -> bool:
    if inspect.isclass(ours):
        return issubclass(ours, stand_ins.Writer)
    return inspect.isfunction(ours) and ours in stand_ins.WRITING


def _attributes(
    full: str, theirs: type, ours: type, compared: set[tuple[str, int, int]]
) -> Iterator[Row]:
    """Compare the public attributes of two classes, but those that have been compared."""
    fields = {name for base in ours.__mro__ for name in inspect.get_annotations(base)}
    for name, value in inspect.getmembers_static(theirs):
        where = f"{full}.{name}"
        if name.startswith("_") or any(fnmatch.fnmatchcase(name, each) for each in INTERNAL):
            continue
        pair = (name, id(value), id(inspect.getattr_static(ours, name, None)))
        if pair in compared:
            continue
        compared.add(pair)
        if name not in fields and not hasattr(ours, name):
            yield _absent(where)
        elif inspect.isfunction(value) and callable(getattr(ours, name, None)):
            yield _callable(where, value, inspect.getattr_static(ours, name))
        elif _reason(where, DIFFERENT) != UNEXPLAINED:
            yield Row(where, "differs", _reason(where, DIFFERENT))
        else:
            yield Row(where, "same")


def _callable(full: str, theirs: Any, ours: Any) -> Row:
    """Compare the parameters of two functions."""
    expected, there = (
        inspect.signature(getattr(each, "__func__", each)).parameters for each in (theirs, ours)
    )
    takes_any = any(each.kind is each.VAR_KEYWORD for each in there.values())
    differences = []
    for name, parameter in expected.items():
        if name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if name not in there:
            differences += [] if takes_any else [f"no {name}"]
        elif _shown(there[name].default) != _shown(parameter.default):
            differences.append(f"{name}={_shown(there[name].default)}")
    order, wanted = (
        [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
        for parameters in (there, expected)
    )
    if not differences and order[: len(wanted)] != wanted:
        differences.append(f"by position: {', '.join(order[1:])}")
    if not differences:
        return Row(full, "same")
    return Row(full, "differs", f"{'; '.join(differences)}: {_reason(full, DIFFERENT)}")


def _shown(default: Any) -> str:
    """Show a default, alike where it means the same."""
    if default is inspect.Parameter.empty:
        return "(required)"
    # What None means to vroot.
    if (
        getattr(default, "__name__", "") == "no_filter"
        or default is uproot.language.python.python_language
    ):
        return "None"
    return "None" if default is sys.stdout else str(default)


def _reason(full: str, reasons: Mapping[str, str]) -> str:
    for pattern, reason in reasons.items():
        if fnmatch.fnmatchcase(full, pattern):
            return reason
    return UNEXPLAINED


def table() -> str:
    """Write the rows as tab-separated text.

    Returns
    -------
    str
        A comment that says which uproot it is about, a line of headers, and the rows.
    """
    lines = [f"# uproot {uproot.__version__}", "\t".join(HEADER)]
    lines += ["\t".join(row).rstrip() for row in rows()]
    return "\n".join(lines) + "\n"
