"""Python's grammar turned into functions of arrays, node by node.

What is not listed here is refused, and no text is ever executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any, Protocol, TypeAlias

import numpy as np

from vroot.exceptions import UnsupportedError

__all__ = ["Scope", "Step", "Translator", "Values"]

Values: TypeAlias = Mapping[str, Any]
Step: TypeAlias = Callable[[Values], Any]

MAX_BITS = 4096  # of whole numbers computed from whole numbers: more than a float can hold

#: Attributes of arrays other than records.
PLAIN_ATTRIBUTES = frozenset({"real", "imag", "T"})

OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
UNARY_OPERATORS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: The most bits that the result can have, of the operators that can make numbers of any size.
GROWTH: Mapping[Callable[[Any, Any], Any], Callable[[int, int], int]] = {
    operator.mul: lambda left, right: left.bit_length() + right.bit_length(),
    operator.pow: lambda left, right: left.bit_length() * max(right, 0),
    operator.lshift: lambda left, right: left.bit_length() + max(right, 0),
}


class Language(Protocol):
    """The functions that expressions may call."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Functions by name."""
        ...

    @property
    def getter(self) -> str:
        """Name of the function that gets a branch or alias by its name."""
        ...


class Scope(Protocol):
    """What the names in an expression mean, and what is said of those that mean nothing."""

    @property
    def language(self) -> Language:
        """The functions."""
        ...

    def __contains__(self, name: str) -> bool:
        """Whether this is the name of a branch or an alias."""
        ...

    def warn(self, message: str) -> None:
        """Warn of names that mean several things."""
        ...

    def missing(self, name: str) -> Exception:
        """Make the error for a name that means nothing."""
        ...

    def refused(self, what: str, text: str) -> UnsupportedError:
        """Make the error for something that is not supported."""
        ...


class Translator:
    """Turns the nodes of one expression into functions, and collects its names.

    Parameters
    ----------
    scope : Scope
        What names mean.
    text : str
        The expression, for errors.
    """

    def __init__(self, scope: Scope, text: str) -> None:
        self.symbols: dict[str, None] = {}  # a set that keeps the order
        self._scope = scope
        self._text = text
        self._functions = scope.language.functions
        self._getter = scope.language.getter

    def translate(self, node: ast.expr) -> Step:
        """Turn a node, and those below it, into a function.

        Parameters
        ----------
        node : ast.expr
            A node of the expression.

        Returns
        -------
        callable
            From the arrays, by name, to the result.

        Raises
        ------
        KeyInFileError
            If a name has no meaning.
        UnsupportedError
            If it is not on the list.
        TypeError
            If a function is called with a wrong number of arguments.
        """
        match node:
            case ast.Constant():
                return self._constant(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                operation = OPERATORS[type(node.op)]
                left, right = self.translate(node.left), self.translate(node.right)
                return lambda values: self._operate(operation, left(values), right(values))
            case ast.UnaryOp():
                unary, operand = UNARY_OPERATORS[type(node.op)], self.translate(node.operand)
                return lambda values: unary(operand(values))
            case ast.BoolOp():
                return self._boolean(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.Subscript():
                value, index = self.translate(node.value), self._index(node.slice)
                return lambda values: value(values)[index(values)]
            case ast.List():
                return self._list(node)
        raise self._refused(f"{type(node).__name__} in Python's grammar")

    def _refused(self, what: str) -> UnsupportedError:
        return self._scope.refused(what, self._text)

    def _constant(self, value: object) -> Step:
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise self._refused(f"a number of more than {MAX_BITS} bits")
        if not isinstance(value, int | float | complex | str | EllipsisType | None):
            raise self._refused(f"a constant of type {type(value).__name__}")
        return lambda _: value

    def _name(self, name: str) -> Step:
        if name in self._scope:
            self.symbols[name] = None
            return operator.itemgetter(name)
        if name in self._functions:
            raise self._refused(f"a function that is not called, {name!r},")
        raise self._scope.missing(name)

    def _attribute(self, node: ast.Attribute) -> Step:
        dotted = _dotted_name(node)
        if dotted is not None:  # names of branches may have dots
            return self._name(dotted)
        name = node.attr
        if name.startswith("_"):
            raise self._refused(f"the attribute {name!r}")
        value = self.translate(node.value)
        return lambda values: self._attribute_of(value(values), name)

    def _attribute_of(self, value: Any, name: str) -> Any:
        import awkward as ak  # opening and listing a store starts without it

        if isinstance(value, ak.Array | ak.Record):
            # Fields, and what behaviors add to records, but not the machinery of arrays.
            allowed = name in value.fields or not hasattr(ak.Array, name)
        else:
            allowed = name in PLAIN_ATTRIBUTES
        found = getattr(value, name) if allowed else None
        if not allowed or callable(found):
            raise self._refused(f"the attribute {name!r} of {type(value).__name__}")
        return found

    def _call(self, node: ast.Call) -> Step:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == self._getter:
            return self._got(node)
        if name is None or name not in self._functions:
            self.translate(node.func)  # says so if it is unknown
            raise self._refused("a call of anything but the functions of the language")
        if name in self._scope:
            self._scope.warn(f"{name!r} is both a branch name and a function: called, it is the "
                             "function")  # fmt: skip
        function = self._functions[name]
        arguments = [self.translate(argument) for argument in node.args]
        named = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._refused("an argument with **")
            named[keyword.arg] = self.translate(keyword.value)
        if isinstance(function, np.ufunc) and (named or len(arguments) != function.nin):
            # One more would be the array to write into.
            raise TypeError(f"{name} takes {function.nin} positional arguments: {self._text!r}")
        return lambda values: function(
            *[argument(values) for argument in arguments],
            **{key: argument(values) for key, argument in named.items()},
        )

    def _got(self, node: ast.Call) -> Step:
        match node:
            case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
                if name not in self._scope:
                    raise self._scope.missing(name)
                self.symbols[name] = None
                return operator.itemgetter(name)
        raise TypeError(
            f"expected a constant string as the only argument of {self._getter!r}: {self._text!r}"
        )

    def _operate(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        pair = (left, right)
        if any(isinstance(one, str) for one in pair):
            raise self._refused("arithmetic with strings")
        if any(isinstance(one, list) for one in pair) and not any(map(_is_array, pair)):
            raise self._refused("arithmetic with lists alone")
        if operation in GROWTH and isinstance(left, int) and isinstance(right, int):
            bits = GROWTH[operation](left, right)
            if bits > MAX_BITS:
                raise self._refused(f"a number of up to {bits} bits")
        return operation(left, right)

    def _boolean(self, node: ast.BoolOp) -> Step:
        steps = [self.translate(value) for value in node.values]
        ends_with = isinstance(node.op, ast.Or)

        def step(values: Values) -> Any:
            result = steps[0](values)
            for following in steps[1:]:
                if bool(result) is ends_with:
                    return result
                result = following(values)
            return result

        return step

    def _comparison(self, node: ast.Compare) -> Step:
        first = self.translate(node.left)
        others = [self.translate(other) for other in node.comparators]
        if not all(type(comparison) in COMPARISONS for comparison in node.ops):
            raise self._refused("in, not in, is, or is not")
        operations = [COMPARISONS[type(comparison)] for comparison in node.ops]

        def step(values: Values) -> Any:
            left, result = first(values), None
            for number, (operation, other) in enumerate(zip(operations, others, strict=True)):
                if number and not result:  # as in Python: no array has a truth value
                    return result
                right = other(values)
                result = operation(left, right)
                left = right
            return result

        return step

    def _index(self, node: ast.expr) -> Step:
        if isinstance(node, ast.Tuple):
            items = [self._index(item) for item in node.elts]
            return lambda values: tuple(item(values) for item in items)
        if isinstance(node, ast.Slice):
            parts = [
                self._constant(None) if part is None else self.translate(part)
                for part in (node.lower, node.upper, node.step)
            ]
            return lambda values: slice(*(part(values) for part in parts))
        return self.translate(node)

    def _list(self, node: ast.List) -> Step:
        # Of constants: lists of lists, through aliases, could be larger than any memory.
        for item in node.elts:
            inner = item.operand if isinstance(item, ast.UnaryOp) else item
            if not isinstance(inner, ast.Constant):
                raise self._refused("a list of anything but constants")
        items = [self.translate(item) for item in node.elts]
        return lambda values: [item(values) for item in items]


def _dotted_name(node: ast.expr) -> str | None:
    """The text of names that are joined with dots, or None if it is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array_ufunc__") and not isinstance(value, np.generic)
