"""Expressions, cuts and aliases give what uproot gives, and nothing else."""

from __future__ import annotations

import ast
import copy
import pickle
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot
from hypothesis import example, given, settings
from hypothesis import strategies as st
from uproot.language.python import PythonLanguage as PythonLanguageOfUproot

import vroot
from vroot.exceptions import KeyInFileError, UnsupportedError, VrootError
from vroot.language import (
    DEFAULT_FUNCTIONS,
    Expressions,
    ExpressionSyntaxError,
    NameConflictWarning,
    PythonLanguage,
    RecursiveAliasError,
    python_language,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
    # awkward-pandas has no keyword that NumPy 2 would pass.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

UFUNCS_OF_ONE = [
    name
    for name, function in DEFAULT_FUNCTIONS.items()
    if not isinstance(function, np.ufunc) or function.nin == 1
]
EXPRESSIONS = [
    *(f"{name}(weight)" for name in UFUNCS_OF_ONE if name not in ("where", "round")),
    *(f"{name}(abs(met) / 5)" for name in ("acos", "log", "sqrt", "erfc", "lgamma", "factorial")),
    *(f"{name}(Muon_pt * Muon_charge)" for name in ("abs", "sqrt", "exp", "erf", "sin", "isnan")),
    *(
        f"{name}(met, weight)"
        for name, function in DEFAULT_FUNCTIONS.items()
        if isinstance(function, np.ufunc) and function.nin == 2
    ),
    "sqrt(met**2 + weight**2)", "run / 2", "run // 7", "run % 7", "run * 2", "run - 2000", "-met",
    "+met", "~good", "met + weight * 2 - 1", "2**run % 5", "met**2", "met**0.5", "met**-1",
    "2.5 * met", "(met + 1j * weight)", "real(met + 1j)", "imag(met + 1j)", "(met * 1j).imag",
    "run & 3", "run | 1", "run ^ 5", "run << 1", "run >> 2", "True + run", "met @ weight",
    "run == 3", "run != 3", "(met > 0) & (weight < 0)", "(met > 0) | good", "(0 < met) & ~good",
    "0 < met < 1", "met and good", "not good", "met or 2", "1 + 1", "1 < 2 < 3", "3 > 2 > 5 > 1",
    "0 or 7", "2 and 3", "not 0", "run[0]", "run[::2]", "run[:2]", "run[-1:]", "matrix[:, 0, 1:]",
    "matrix[..., 1]", "matrix[:, 0] + met[:, None]", "run[run > 302]", "Muon_pt[:, :1]",
    "Muon_pt[Muon_pt > 20]", "Muon_pt[[0, 1]]", "Muon_pt * 2", "Muon_pt / Muon_charge",
    "Muon_pt > nMuon", "nMuon + Muon_pt", "Muon_pt * met", "abs(Muon_charge) == 1",
    "where(met > 0, met, weight)", "where(good, 1, -1)", "round(met)", "round(met, 1)",
    "round(met, decimals=1)", "round(run, -2)", "weight < 10**300",
    "label == 'event 301 x'", "label", 'get("met") + get("run")',
    "  met", "met ", "met # comment", "(met\n + 1)", "[1, 2, 3]", "met + 0x10 + 1e1 + 1_0",
    "met +", "met; run", "", "x = met", "import os", "zzz", "met.zzz", "zzz.met", "foo(met)",
    "get('zzz')", "get('met + 1')", "get", "sqrt(zzz)", "met / zzz", "met/run",
    "met // 0", "run / 0", "1 / 0", "1 +\n 1", "run[::0]", "run[5000]", "run['x']",
    "sqrt()", "hypot(met)", "get()", "get(met)", "get('met', 'run')", "/met",
]  # fmt: skip
CUTS = [
    "good", "met > 0", "(run > 301) & (met < 0.5)", "nMuon > 2", "nMuon", "met * 0", "run % 3",
    "twice > 605", "where(good, 1, 0)", "Muon_pt > 20", "Muon_charge", "True", "zzz > 3", "met >",
    "label == 'event 301 x'", "sqrt(weight)",
]  # fmt: skip
ALIASES = {"twice": "run * 2", "four": "twice + twice", "a.b": "Muon_pt / 2", "m": "met"}


def outcome(tree: Any, *args: Any, **options: Any) -> Any:
    """What `arrays` returns or raises."""
    try:
        return tree.arrays(*args, **options)
    except Exception as err:  # noqa: BLE001
        return err


def check(ours: Any, theirs: Any) -> None:
    """Same type and values, or an error of the same kind."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), ours
        kind = KeyError if type(theirs) is uproot.KeyInFileError else type(theirs)
        assert isinstance(ours, kind), (ours, theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    assert type(ours) is type(theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for name in theirs:
            check(ours[name], theirs[name])
    elif isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            check(one, other)
    elif isinstance(theirs, ak.Array):
        assert ours.type == theirs.type
        assert ours.layout.form == theirs.layout.form
        assert ak.array_equal(ours, theirs, equal_nan=True)
    elif isinstance(theirs, pd.DataFrame):
        assert list(ours.columns) == list(theirs.columns)
        for number in range(ours.shape[1]):
            check(ours.iloc[:, number], theirs.iloc[:, number])
    elif isinstance(theirs, pd.Series):
        assert ours.index.equals(theirs.index)
        assert ours.dtype == theirs.dtype
        np.testing.assert_equal(ours.tolist(), theirs.tolist())
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_equal(ours.tolist(), theirs.tolist())
    else:
        np.testing.assert_equal(ours, theirs)


@pytest.fixture(scope="module")
def trees(refs: Path, zlib_file: Path) -> Any:
    """The same tree, in vroot and in uproot."""
    with uproot.open(zlib_file) as file:
        yield vroot.open(refs)["Events"], file["Events"]


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(trees: Any, expression: str, library: str) -> None:
    options = {"library": library, "entry_start": 295, "entry_stop": 310}
    ours, theirs = (outcome(tree, [expression, "run"], **options) for tree in trees)
    check(ours, theirs)
    ours, theirs = (outcome(tree, expression, **options, how=dict) for tree in trees)
    check(ours, theirs)


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(
    "names",
    [["run", "four"], ["Muon_pt", "Muon_charge + 1", "a.b"], ["met", "Muon_pt"], "label",
     ["twice", "m", "a.b * four"], []],
    ids=str,
)  # fmt: skip
def test_cuts(trees: Any, names: Any, cut: str, library: str) -> None:
    options = {"library": library, "entry_start": 295, "entry_stop": 330, "aliases": ALIASES}
    ours, theirs = (outcome(tree, names, cut, **options) for tree in trees)
    if isinstance(theirs, AttributeError):  # uproot's own, for cuts that have no index
        assert library == "pd"
        assert cut in {"True", "where(good, 1, 0)"}
    else:
        check(ours, theirs)


@pytest.mark.parametrize(("start", "stop"), [(None, None), (0, 0), (299, 302), (-20, None)])
@pytest.mark.parametrize("how", [None, dict, list, tuple, "zip"])
@pytest.mark.parametrize("cut", [None, "nMuon > 1", "Muon_pt > 20", "good"])
@pytest.mark.parametrize(
    "names",
    [["Muon_pt", "Muon_pt**2", "Muon_charge"], ["run", "Muon_pt[:, :1]", "Muon_charge + 1"],
     ["nMuon + 0", "run"], ["a.b", "four", "Muon_pt"], ["Muon_pt", "Muon_charge * met"], None],
    ids=str,
)  # fmt: skip
def test_ways_to_group(trees: Any, names: Any, cut: Any, how: Any, start: Any, stop: Any) -> None:
    options = {"entry_start": start, "entry_stop": stop, "how": how, "aliases": ALIASES}
    if names is None:
        options["filter_name"] = "Muon_*"
    ours, theirs = (outcome(tree, names, cut, **options) for tree in trees)
    check(ours, theirs)


def test_forms_of_expressions(trees: Any) -> None:
    forms: list[Any] = [
        "met + 1",
        ("met", "run"),
        {"met": None, "run + 1": None},
        [("met", None), "run"],
        3,
        [3],
        [("met", None, None)],
    ]
    for names in forms:
        check(*(outcome(tree, names) for tree in trees))
    check(*(outcome(tree, (name for name in ["met", "run + 1"])) for tree in trees))
    ours, theirs = trees
    own = ours["met"].interpretation
    check(ours.arrays({"met": own}), theirs.arrays(["met"]))
    bits = (tree.arrays({"met": tree["run"].interpretation}) for tree in trees)
    check(*bits)
    with pytest.raises(UnsupportedError, match="cannot be read as"):
        ours.arrays({"met + 1": ours["run"].interpretation})


@pytest.mark.parametrize("how", [None, dict, list, tuple])
def test_names_given_twice(trees: Any, how: Any) -> None:
    names = ["twice", "met", "twice", "met + 1", "met + 1", "met"]
    for library in ("ak", "np"):
        options = {"library": library, "aliases": ALIASES, "how": how}
        check(*(outcome(tree, names, "good", **options) for tree in trees))


def test_branches_have_expressions_too(trees: Any) -> None:
    ours, theirs = (tree["met"] for tree in trees)
    check(ours.arrays(cut="run > 990"), theirs.arrays(cut="run > 990"))
    check(outcome(ours, "met + 1"), outcome(theirs, "met + 1"))


ALIAS_TABLES = [
    {"x": "y + 1", "y": "z * 2", "z": "met"},
    {"x": "y", "y": "x"},
    {"x": "x"},
    {"x": "y + 1", "y": "z", "z": "w", "w": "y"},
    {"x": "zzz"},
    {"x": "met +"},
    {"x": "get('y')", "y": "run"},
    {"x": "get('a b')", "a b": "run - 1"},
    {"x": "met", "unused": "unused"},
    {"x": "sqrt(y) + y", "y": "abs(met)"},
    {"x": "get('x')"},
    {"x.y": "met", "x": "get('x.y') + x.y"},
    {"x": "2"},
    {"sqrt": "met", "x": "sqrt + 1"},
    {"x": ""},
]


@pytest.mark.parametrize("aliases", ALIAS_TABLES, ids=str)
def test_aliases(trees: Any, aliases: dict[str, str]) -> None:
    for names in (["x", "run"], ["x + 1"], "x"):
        for library in ("ak", "np"):
            options = {"aliases": aliases, "entry_stop": 7, "library": library}
            ours, theirs = (outcome(tree, names, **options) for tree in trees)
            check(ours, theirs)


@pytest.mark.parametrize("aliases", ALIAS_TABLES, ids=str)
def test_aliases_of_the_tree(zlib_file: Path, trees: Any, aliases: dict[str, str]) -> None:
    store = copy.deepcopy(vroot.scan(zlib_file))
    own = {name: text for name, text in aliases.items() if len(text) % 2}
    given = {name: text for name, text in aliases.items() if name not in own}
    store["refs"]["Events/zarr.json"]["attributes"]["root"]["aliases"] = own | {"x": "'other'"}
    tree = vroot.open(store)["Events"]
    assert tree.aliases == own | {"x": "'other'"}
    options = {"entry_stop": 7, "library": "np"}
    ours = outcome(tree, ["x", "run"], aliases=given | {"x": aliases.get("x", "")}, **options)
    check(ours, outcome(trees[1], ["x", "run"], aliases=aliases, **options))


def test_names_that_mean_two_things(trees: Any) -> None:
    for tree, kind in zip(
        trees, (NameConflictWarning, uproot.exceptions.NameConflictWarning), strict=True
    ):
        with pytest.warns(kind, match="'met' is both an alias and a branch name"):
            array = tree.arrays("met + 1", aliases={"met": "run"}, entry_stop=3, library="np")
        assert (
            array["met + 1"].tolist()
            == trees[0]["met"].array(entry_stop=3, library="np").__add__(1).tolist()
        )
        with pytest.warns(kind, match="'sqrt' is both a branch name and a function"):
            array = tree.arrays(["sqrt(sqrt)"], aliases={"sqrt": "run"}, entry_stop=3, library="np")
        assert array["sqrt(sqrt)"].tolist() == np.sqrt(range(3)).tolist()


def test_near_misses(trees: Any) -> None:
    tree = trees[0]
    with pytest.raises(KeyInFileError, match=r"'Muon_pz'[\s\S]*Did you mean: 'Muon_pt'"):
        tree.arrays("sqrt(Muon_pz)")
    with pytest.raises(KeyInFileError, match=r"'sqr'[\s\S]*Did you mean: 'sqrt'"):
        tree.arrays("sqr(Muon_pt)")
    with pytest.raises(KeyInFileError, match=r"'doubled'[\s\S]*Did you mean: 'double'") as raised:
        tree.arrays("doubled", aliases={"double": "met * 2"})
    assert raised.value.object_path == "/Events;1"
    with pytest.raises(ValueError, match="ambiguous") as ambiguous:
        tree.arrays("0 < met < 1")
    assert "in the expression '0 < met < 1'" in ambiguous.value.__notes__
    with pytest.raises(IndexError) as cut:
        tree.arrays(["Muon_pt", "met"], "Muon_pt > 3")
    assert cut.value.__notes__[-1] == "when the cut was applied to 'met'"


def test_only_what_is_needed_is_read_at_once(trees: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = vroot.file.File.read

    def spy(self: Any, branches: Any, *args: Any, **options: Any) -> Any:
        asked.append([branch.name for branch in branches])
        return read(self, branches, *args, **options)

    monkeypatch.setattr(vroot.file.File, "read", spy)
    tree = trees[0]
    tree.arrays(["x", "run + met"], "good & (y > 3)", aliases={"x": "y", "y": "run", "z": "label"})
    assert [sorted(names) for names in asked] == [["good", "met", "run"]]


ATTACKS = [
    "lambda: met", "lambda x: x", "[x for x in met]", "(x for x in met)", "{x for x in met}",
    "{1: 2}", "{1, 2}", "f'{met}'", "(x := met)", "__import__('os')", "open('/etc/passwd')",
    "eval('1')", "exec('1')", "getattr(met, 'x')", "met.__class__", "get('met').__class__",
    "get('met').layout", "get('met').tolist", "get('met').tolist()", "get('met').tofile('x')",
    "(met + 1).__array__()", "'{0.__class__}'.format(met)", "'a'.join", "sqrt.__call__(met)",
    "(1).__class__.__mro__", "().__class__", "get.__globals__", "await met", "yield met",
    "sqrt(*met)", "sqrt(**met)", "sqrt(met, met)", "sqrt(met, out=met)", "sqrt(met, where=good)",
    "add(met, met, met)", "round(met, 1, met)", "met if good else run", "b'bytes'", "met in run",
    "met is run", "met, run", "sqrt", "get", "where(met)", "where(met, 1)", "sqrt(met)(met)",
    "9**9**9", "9**9**9**9", "1 << 10**9", "1 << (1 << 1000)", "10**900 * 10**900",
    "(10**300)**300", "round(met, -10**9)",
    "(-9)**9999999", "'a' * 10**9", "10**9 * 'a'", "'%99999999999d' % 1",
    "[0] * 10**10", "[0] + [1]", "[[0, 1], [2]]", "[met, run]", "met * 'a'", "0x" + "f" * 5000,
    "1" * 5000, "-" * 1000 + "1", "(" * 500 + "met" + ")" * 500, "[" * 300 + "]" * 300,
    "met" + "+met" * 250, "met" + "[0]" * 250, "met" + "+met" * 5000, "~" * 9000 + "run",
    "met" + ".x" * 4000, "met" + " and met" * 4000, "sqrt(" * 300 + "met" + ")" * 300,
    "get('met')" + ".x" * 900, "met\ud800", "met\x00", "met(run)", "True = 1", "del met", "pass",
    "raise met", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", ATTACKS, ids=[text[:30] for text in ATTACKS])
@pytest.mark.parametrize("library", ["ak", "np"])
def test_attacks(trees: Any, text: str, library: str) -> None:
    started = time.perf_counter()
    for options in (
        {"expressions": text},
        {"expressions": "met", "cut": text},
        {"expressions": "x", "aliases": {"x": text}},
        {"expressions": "x + x", "aliases": {"x": text}},
    ):
        with pytest.raises((VrootError, TypeError)):
            trees[0].arrays(entry_stop=5, library=library, **options)
    assert time.perf_counter() - started < 5


def test_attacks_change_nothing(trees: Any) -> None:
    tree = trees[0]
    before = tree["met"].array(library="np")
    for text in ("sqrt(met, met)", "hypot(met, run, met)", "sqrt(met, out=met)"):
        with pytest.raises(TypeError, match="positional arguments"):
            tree.arrays(["met", text], library="np")
    assert tree["met"].array(library="np").tolist() == before.tolist()


def test_aliases_that_grow(trees: Any) -> None:
    tree = trees[0]
    doubling = {"a0": "met"} | {f"a{i}": f"a{i - 1} + a{i - 1}" for i in range(1, 90)}
    array = tree.arrays("a80", aliases=doubling, library="np")["a80"]
    assert np.array_equal(array, tree["met"].array(library="np") * np.float32(2**80))
    squares = {"a0": "7"} | {f"a{i}": f"a{i - 1} * a{i - 1}" for i in range(1, 90)}
    with pytest.raises(UnsupportedError, match="bits"):
        tree.arrays("met + a80", aliases=squares)
    long = {"a0": "met"} | {f"a{i}": f"a{i - 1}" for i in range(1, 2000)}
    with pytest.raises(UnsupportedError, match="aliases of aliases"):
        tree.arrays("a1999", aliases=long)


def test_long_sums(trees: Any) -> None:
    for text in ("+".join(["met"] * 190), "sqrt(" * 60 + "abs(met)" + ")" * 60,
                 " & ".join(f"(run != {i})" for i in range(150))):  # fmt: skip
        ours, theirs = (outcome(tree, text, library="np") for tree in trees)
        check(ours, theirs)


def test_languages(trees: Any) -> None:
    tree = trees[0]
    functions: dict[str, Any] = {"double": lambda x, times=2: x * times}
    mine, theirs = PythonLanguage(functions), PythonLanguageOfUproot(functions)
    text = "double(get('run')) + double(met, times=3)"
    check(tree.arrays(text, language=mine), trees[1].arrays(text, language=theirs))
    check(
        tree.arrays("of('run') + 1", language=PythonLanguage(getter="of"), library="np", how=tuple),
        trees[1].arrays("run + 1", library="np", how=tuple),
    )
    check(tree.arrays("sqrt(run)", language=python_language), trees[1].arrays("sqrt(run)"))
    with pytest.raises(KeyInFileError, match="sqrt"):
        tree.arrays("sqrt(run)", language=mine)
    with pytest.raises(UnsupportedError, match="language"):
        tree.arrays("run", language=theirs)
    assert pickle.loads(pickle.dumps(python_language)) == python_language  # noqa: S301
    assert set(DEFAULT_FUNCTIONS) == set(PythonLanguageOfUproot.default_functions)


def nest(trees: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Larger expressions from smaller ones."""
    binary = st.sampled_from(
        ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^"]
    )
    return st.one_of(
        st.builds("({} {} {})".format, trees, binary, trees),
        st.builds(
            "{}({})".format, st.sampled_from(["-", "+", "abs", "sqrt", "cos", "log1p"]), trees
        ),
        st.builds("hypot({}, {})".format, trees, trees),
        st.builds("where({}, {}, {})".format, trees, trees, trees),
    )


LEAVES = ["a", "b", "n", "k", "t", "1", "2", "0", "3.5", "1e3", "-2", "True"]
COLUMNS: dict[str, Any] = {
    "a": np.array([0.0, -1.5, 2.0, np.nan, 1e30]),
    "b": np.array([3, 0.25, -7, 9, np.inf], dtype=np.float32),
    "n": np.array([0, 1, -2, 3, 120], dtype=np.int8),
    "k": np.array([0, 1, 5, 2**31, 2**32 - 1], dtype=np.uint32),
    "t": np.array([True, False, True, True, False]),
}


def columns() -> Expressions:
    """Names that mean COLUMNS."""
    find: Any = lambda name: name if name in COLUMNS else None  # noqa: E731
    return Expressions(find, lambda: COLUMNS, {}, python_language, "file", "object")


@settings(deadline=None, max_examples=300)
@given(st.recursive(st.sampled_from(LEAVES), nest, max_leaves=12))
def test_random_expressions(text: str) -> None:
    scope = columns()
    names = {
        "abs": np.absolute, "sqrt": np.sqrt, "cos": np.cos, "log1p": np.log1p, "hypot": np.hypot,
        "where": np.where,
    }  # fmt: skip
    results: list[Any] = []
    for ours in (True, False):  # if Python takes very long, this has been refused before
        with np.errstate(all="ignore"):
            try:
                expected = None if ours else eval(text, names | COLUMNS)  # noqa: S307
                results.append(evaluate(scope, text) if ours else expected)
            except UnsupportedError as err:
                assert "bits" in str(err)  # noqa: PT017
                return
            except Exception as err:  # noqa: BLE001
                results.append(type(err))
    check(*results)


def evaluate(scope: Expressions, text: str) -> Any:
    computed: Any = scope.resolve(text)
    read: Any = COLUMNS.__getitem__
    return read(computed) if isinstance(computed, str) else computed.evaluate({}, read)


TOKENS = [
    "a", "b", "n", "k", "t", "1", "0", "2.5", "1e3", "+", "-", "*", "/", "//", "%", "**", "<", ">",
    "==", "!=", "&", "|", "~", "@", "(", ")", "[", "]", ":", ",", ".", " ", "#", ";", "'", "not ",
    " and ", " or ", " if ", "sqrt(", "where(", "get(", "\n", "\\", "=", "{", "}", "!",
]  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(
    st.text(alphabet="abnkt01.+-*/()[]:,'\"& |~<>=_{}@!;#\n\\ sqrtgewh", max_size=40)
    | st.lists(st.sampled_from(TOKENS), max_size=7).map("".join)
)
@example("a+b*2.5")
@example("n[1:4:2] ** 2")
@example("get('a') + 1;")
@example("where(t, ~n, k) # b")
@example("sqrt(a)[::-1] < b")
@example(" (n,\nk)")
def test_random_text(text: str) -> None:
    scope = columns()
    errors = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
    with np.errstate(all="ignore"):
        try:
            found = evaluate(scope, text)
        except (*errors, VrootError):
            return
        # A statement that is one expression; what follows it may be a semicolon.
        (statement,) = ast.parse(text.strip()).body
        assert isinstance(statement, ast.Expr)
        code = compile(ast.Expression(statement.value), "text", "eval")
        names = {"get": COLUMNS.__getitem__, **DEFAULT_FUNCTIONS, **COLUMNS}
        expected = eval(code, names)  # noqa: S307
    check(found, expected)


def test_kinds_of_errors(trees: Any) -> None:
    with pytest.raises(
        RecursiveAliasError, match=r"'y' is recursively defined[\s\S]*x: y[\s\S]*y: x"
    ):
        trees[0].arrays("x", aliases={"x": "y", "y": "x"})
    assert issubclass(RecursiveAliasError, ValueError)
    with pytest.raises(ExpressionSyntaxError, match=r"single expression[\s\S]*in object /Events;1"):
        trees[0].arrays("met; run")
    assert issubclass(ExpressionSyntaxError, SyntaxError)
    with pytest.raises(TypeError, match="cut must be"):
        trees[0].arrays("met", 3)
