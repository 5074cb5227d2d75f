"""Arguments that cannot be right: the error names the argument, and what it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import vroot

BAD: list[tuple[dict[str, Any], str]] = [
    ({"aliases": {"PI": 3.14}, "expressions": "met * PI"}, r"alias 'PI' .* not 3\.14"),
    ({"aliases": {3: "met"}}, "name of an alias must be a string, not 3"),
    ({"aliases": 3}, "aliases must be a mapping"),
    ({"aliases": "met"}, "aliases must be a mapping"),
    ({"cut": "True"}, "cut 'True' gives a single value"),
    ({"cut": "True", "library": "pd"}, "cut 'True' gives a single value"),
    ({"cut": "1 + 1", "library": "pd"}, r"cut '1 \+ 1' gives a single value"),
    ({"cut": 1}, "cut must be an expression in a string, not 1"),
    ({"entry_start": "a"}, "entry_start must be an integer or None, not 'a'"),
    ({"entry_stop": [1]}, r"entry_stop must be an integer or None, not \[1\]"),
    ({"expressions": 3}, "expressions must be strings"),
    ({"expressions": [3]}, "expressions must be strings"),
    ({"filter_name": 3}, "filter must be None, callable"),
    ({"filter_typename": 3}, "filter must be None, callable"),
    ({"filter_branch": 3}, "filter_branch must be None or a function"),
    ({"how": 3}, "how must be"),
    ({"array_cache": 3.5}, "array_cache must be"),
    ({"decompression_executor": 3}, "executor must have a method submit or map"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[str(each) for each, _ in BAD])
def test_arrays(refs: Path, arguments: dict[str, Any], message: str) -> None:
    tree = vroot.open(refs)["Events"]
    names = {} if {"expressions", "cut"} & arguments.keys() else {"expressions": ["met"]}
    if "filter_name" in arguments or "filter_typename" in arguments or "filter_branch" in arguments:
        names = {}
    if "cut" in arguments:
        names = {"expressions": ["met"]}
    with pytest.raises(TypeError, match=message):
        tree.arrays(**{**names, **arguments})


@pytest.mark.parametrize("how", [tuple, list, dict])
def test_files_whose_columns_differ(folder: Path, how: type) -> None:
    paths = [folder / f"file{i}.json" for i in range(3)]
    with pytest.raises(ValueError, match=r"columns of /Events;1 differ .*\['met'\]") as raised:
        vroot.concatenate([{str(path): "Events"} for path in paths], how=how)
    assert str(paths[0]) in str(raised.value)
    assert str(paths[1]) in str(raised.value)
    joined = vroot.concatenate([{str(path): "Events"} for path in paths], ["run"], how=how)
    assert len(joined) == 1
