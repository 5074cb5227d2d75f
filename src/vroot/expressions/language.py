"""Computed expressions, cuts and aliases, with the syntax of Python and uproot's meaning of names.

Text is parsed into Python's own grammar, which `vroot.expressions.translation` turns into
functions. The aliases of a tree come from its file, so what expressions cost is bounded.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from vroot.exceptions import (
    KeyInFileError,
    NameConflictWarning,
    UnsupportedError,
    VrootError,
)
from vroot.expressions.translation import Step, Translator, Values
from vroot.user_warnings import warn

__all__ = [
    "Computed",
    "ExpressionSyntaxError",
    "Expressions",
    "PythonLanguage",
    "RecursiveAliasError",
    "checked_aliases",
    "python_language",
    "regularize_language",
]

MAX_LENGTH = 10_000  # characters of an expression
MAX_OPERATION_DEPTH = 200  # of operations in operations, and so of calls of this module's functions
MAX_ALIASES = 100  # of aliases of aliases
MAX_DECIMALS = 1000


class Interpretable(Protocol):
    """What an expression is made of."""

    def interpreted(self, interpretation: Any) -> Self:
        """Give the branch read with another interpretation."""
        ...


B = TypeVar("B", bound=Interpretable)


class ExpressionSyntaxError(VrootError, SyntaxError):
    """An expression is no Python, or not a single expression."""


class RecursiveAliasError(VrootError, ValueError):
    """An alias is defined by itself."""


def _erf(values: Any) -> Any:
    """Abramowitz and Stegun's 7.1.26, as in uproot: absolute error below 1.5e-7."""
    t = 1.0 / (np.absolute(values) * 0.3275911 + 1)
    polynomial: Any = 1.061405429
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial = polynomial * t + coefficient
    y = 1.0 - polynomial * t * np.exp(np.negative(np.square(values)))
    return np.copysign(y, values)


def _erfc(values: Any) -> Any:
    return 1.0 - _erf(values)


def _lgamma(values: Any) -> Any:
    """Lanczos's approximation, as in uproot."""
    coefficients = (
        76.18009173, -86.50532033, 24.01409822, -1.231739516e0, 0.120858003e-2, -0.536382e-5
    )  # fmt: skip
    x = values - 1.0
    total: Any = 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        shifted = x + 5.5
        shifted = (x + 0.5) * np.log(shifted) - shifted
        for coefficient in coefficients:
            x = x + 1.0
            total = total + coefficient / x
        return shifted + np.log(2.50662827465 * total)


def _gamma(values: Any) -> Any:
    return np.exp(_lgamma(values))


def _factorial(values: Any) -> Any:
    return np.round(np.exp(_lgamma(np.round(values) + 1)))


def _round(values: Any, decimals: Any = 0) -> Any:
    # NumPy counts up to it.
    if isinstance(decimals, int | np.integer) and abs(int(decimals)) > MAX_DECIMALS:
        raise UnsupportedError(f"rounding to {decimals} decimals is not supported")
    return np.round(values, decimals)


def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


#: The names under which functions of NumPy are known, as in uproot.
UFUNCS = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "conj": "conjugate",
    "neg": "negative",
} | {
    name: name for name in (
        "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
        "cbrt", "ceil", "conjugate", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "fabs",
        "floor", "fmax", "fmin", "hypot", "isfinite", "isinf", "isnan", "log", "log10", "log1p",
        "log2", "logical_and", "logical_or", "nextafter", "rint", "signbit", "sin", "sinh", "sqrt",
        "tan", "tanh", "trunc",
    )
}  # fmt: skip
DEFAULT_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(np, of_numpy) for name, of_numpy in UFUNCS.items()},
    "erf": _erf,
    "erfc": _erfc,
    "factorial": _factorial,
    "gamma": _gamma,
    "imag": np.imag,
    "lgamma": _lgamma,
    "real": np.real,
    "round": _round,
    "tgamma": _gamma,
    "where": _where,
}


@dataclass(frozen=True)
class PythonLanguage:
    """The language of expressions: Python's syntax, with these functions.

    Parameters
    ----------
    functions : mapping of str to callable, optional
        Functions by name; uproot's if not given.
    getter : str
        Name of the function that gets a branch or alias whose name is no Python name.
    """

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=lambda: DEFAULT_FUNCTIONS)
    getter: str = "get"


python_language = PythonLanguage()


def regularize_language(language: Any) -> PythonLanguage:
    """Turn what was given as a language into one.

    Parameters
    ----------
    language : None or PythonLanguage
        None is Python, with uproot's functions.

    Returns
    -------
    PythonLanguage
        The language.

    Raises
    ------
    UnsupportedError
        If it is another one.
    """
    if language is None:
        return python_language
    if isinstance(language, PythonLanguage):
        return language
    raise UnsupportedError(
        f"the language {language!r} is not supported: use vroot.language.PythonLanguage"
    )


def checked_aliases(aliases: Any) -> dict[str, str]:
    """Check what was given as aliases.

    Parameters
    ----------
    aliases : mapping of str to str, optional
        Expressions by name.

    Returns
    -------
    dict
        The same; empty if there are none.

    Raises
    ------
    TypeError
        If it is no mapping of names to expressions, with the alias that is wrong.
    """
    if aliases is None:
        return {}
    if not isinstance(aliases, Mapping):
        raise TypeError(f"aliases must be a mapping of names to expressions, not {aliases!r}")
    for name, text in aliases.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of an alias must be a string, not {name!r}")
        if not isinstance(text, str):
            raise TypeError(
                f"the alias {name!r} must be an expression in a string, not {text!r}: write "
                f"{str(text)!r}"
            )
    return dict(aliases)


@dataclass(frozen=True, eq=False)
class Computed(Generic[B]):
    """An expression that is ready to be evaluated.

    Parameters
    ----------
    text : str
        What it is.
    needs : mapping of str to TBranch or Computed
        By name, the branches and aliases that it is made of, also those that the aliases are made
        of: each after what it needs itself.
    step : callable
        From the arrays, by name, to the result.
    """

    text: str
    needs: Mapping[str, B | Computed[B]]
    step: Step

    @property
    def branches(self) -> list[B]:
        """The branches that are to be read."""
        return [need for need in self.needs.values() if not isinstance(need, Computed)]

    def evaluate(self, values: dict[str, Any], read: Callable[[B], Any]) -> Any:
        """Compute the result.

        Parameters
        ----------
        values : dict
            Arrays by name, to be kept for the other expressions of the same request.
        read : callable
            From a branch to its array.

        Returns
        -------
        array or scalar
            Whatever the operations give.

        Raises
        ------
        TypeError, ValueError, LookupError, ArithmeticError, AttributeError
            As the operations on the arrays do, with a note that says where.
        """
        for name, need in self.needs.items():
            if name not in values:
                values[name] = need.run(values) if isinstance(need, Computed) else read(need)
        return self.run(values)

    def run(self, values: Values) -> Any:
        """Compute the result from the arrays that are needed, by name."""
        try:
            return self.step(values)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as err:
            err.add_note(f"in the expression {self.text!r}")
            if "ambiguous" in str(err):
                err.add_note(
                    "for arrays, use & | ~ and parentheses in the place of and, or, not, and of "
                    "chains like a < b < c"
                )
            raise


class Expressions(Generic[B]):
    """What the names in the expressions of a tree or branch mean.

    Parameters
    ----------
    find : callable
        From a name, which may be a path, to the branch, or None.
    keys : callable
        Gives the names of the branches, for errors.
    aliases : mapping of str to str
        Expressions by name.
    language : PythonLanguage
        The functions.
    file_path, object_path : str
        Where this is, for errors.
    """

    def __init__(
        self,
        find: Callable[[str], B | None],
        keys: Callable[[], Iterable[str]],
        aliases: Mapping[str, str],
        language: PythonLanguage,
        file_path: str,
        object_path: str,
    ) -> None:
        self.language = language
        self._find = find
        self._keys = keys
        self._aliases = aliases
        self._where = f"\nin file {file_path}\nin object {object_path}"
        self._paths = {"file_path": file_path, "object_path": object_path}
        self._known: dict[str, Computed[B]] = {}

    def __contains__(self, name: str) -> bool:
        """Whether this is the name of a branch or an alias."""
        return name in self._aliases or self._find(name) is not None

    def choose(self, given: Any) -> list[tuple[str, B | Computed[B]]]:
        """Find out what several expressions mean.

        Parameters
        ----------
        given : str, iterable or mapping
            An expression; or several, alone or in pairs with the interpretation that a branch is
            to be read with, see `TBranch.interpreted`.

        Returns
        -------
        list of (str, TBranch or Computed)
            Each expression, and what `resolve` makes of it.

        Raises
        ------
        TypeError
            If it is anything else.
        UnsupportedError, DeserializationError
            If something cannot be read with the interpretation that is given for it.
        """
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, Iterable):
            raise TypeError(f"expressions must be strings or an iterable of them, not {given!r}")
        return [
            self._chosen(each) for each in (given.items() if isinstance(given, Mapping) else given)
        ]

    def _chosen(self, each: Any) -> tuple[str, B | Computed[B]]:
        text, interpretation = each if isinstance(each, tuple) and len(each) == 2 else (each, None)
        if not isinstance(text, str):
            raise TypeError(
                "expressions must be strings, or pairs of a string and an interpretation, not "
                f"{each!r}"
            )
        found = self.resolve(text)
        if interpretation is None:
            return text, found
        if isinstance(found, Computed):
            raise UnsupportedError(
                f"{text!r} is computed and cannot be read as {interpretation!r}{self._where}"
            )
        return text, found.interpreted(interpretation)

    def resolve(self, text: str) -> B | Computed[B]:
        """Find out what a name, path or expression means.

        Parameters
        ----------
        text : str
            A branch if there is one of this name or path; else an alias, or an expression.

        Returns
        -------
        TBranch or Computed
            The branch, or what computes it.

        Raises
        ------
        KeyInFileError
            If a name is neither that of a branch nor of an alias.
        ExpressionSyntaxError
            If it is no expression.
        RecursiveAliasError
            If an alias is defined by itself.
        UnsupportedError
            If it has something that is not supported in expressions, or is too large.
        TypeError
            If a function is called with a wrong number of arguments.
        """
        return self._resolve(text, ())

    def resolve_cut(self, cut: Any) -> B | Computed[B]:
        """Find out what a cut means: see `resolve`."""
        if not isinstance(cut, str):
            raise TypeError(f"cut must be an expression in a string, not {cut!r}")
        return self.resolve(cut)

    def _resolve(self, text: str, path: tuple[str, ...]) -> B | Computed[B]:
        branch = self._find(text)
        if branch is not None:
            if text in self._aliases:
                self.warn(f"{text!r} is both an alias and a branch name: it means the branch")
            return branch
        if text in self._known:
            return self._known[text]
        if len(path) > MAX_ALIASES:
            raise self.refused(f"more than {MAX_ALIASES} aliases of aliases", text)
        symbols, step = self._translate(self._aliases.get(text, text))
        needs: dict[str, B | Computed[B]] = {}
        for symbol in symbols:
            if symbol in path:
                raise RecursiveAliasError(
                    f"symbol {symbol!r} is recursively defined with aliases:\n\n    "
                    + "\n    ".join(f"{name}: {text}" for name, text in self._aliases.items())
                    + f"\n{self._where}"
                )
            need = self._resolve(symbol, (*path, symbol))
            if isinstance(need, Computed):
                needs.update(need.needs)
            needs[symbol] = need
        self._known[text] = Computed(text, needs, step)
        return self._known[text]

    def _translate(self, text: str) -> tuple[Iterable[str], Step]:
        """Names in an expression, and what computes it."""
        if self._find(text) is not None:  # an alias for a branch whose name is no Python name
            return [text], operator.itemgetter(text)
        translator = Translator(self, text)
        try:
            step = translator.translate(self._parse(text))
        except (RecursionError, MemoryError):
            raise self.refused("an expression that is so deeply nested", text) from None
        return translator.symbols, step

    def _parse(self, text: str) -> ast.expr:
        if len(text) > MAX_LENGTH:
            raise self.refused(f"an expression of more than {MAX_LENGTH} characters", text)
        try:
            module = ast.parse(text)
        except SyntaxError as err:
            raise ExpressionSyntaxError(f"{err.msg}{self._where}", *err.args[1:]) from err
        except ValueError as err:  # null bytes, surrogates
            raise ExpressionSyntaxError(f"{err}, in {text!r}{self._where}") from err
        if len(module.body) != 1 or not isinstance(module.body[0], ast.Expr):
            raise ExpressionSyntaxError(f"expected a single expression, not {text!r}{self._where}")
        level: Sequence[ast.AST] = [module.body[0].value]
        for _ in range(MAX_OPERATION_DEPTH):
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        if level:
            raise self.refused(f"an expression nested more than {MAX_OPERATION_DEPTH} deep", text)
        return module.body[0].value

    def warn(self, message: str) -> None:
        """Warn of names that mean several things."""
        warn(message + self._where, NameConflictWarning)

    def missing(self, name: str) -> KeyInFileError:
        """Make the error for a name that means nothing."""
        known = [*self._keys(), *self._aliases, *self.language.functions]
        return KeyInFileError(name, keys=known, **self._paths)

    def refused(self, what: str, text: str) -> UnsupportedError:
        """Make the error for something that is not supported."""
        shown = text if len(text) <= 200 else f"{text[:200]}..."
        return UnsupportedError(f"{what} is not supported in expressions: {shown!r}{self._where}")
