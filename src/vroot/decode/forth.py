"""AwkwardForth programs that deserialize objects: checked as untrusted code, then run.

A program reads the entries of one basket from ``stream`` and appends to its outputs, which are the
buffers of an Awkward form. uproot derives such programs from ROOT's streamer information; only the
words and the shapes of code that occur in them are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from vroot.decode.basket import Basket
from vroot.exceptions import CorruptBasketError, ReferenceStoreError
from vroot.metadata.interpretations import Program

__all__ = ["CheckedProgram", "check_program", "run_program"]

MAX_SOURCE_LENGTH = 1 << 20
MAX_LOOP_DEPTH = 32
MAX_LITERAL = 1 << 20

#: A program writes at most so many bytes, and executes at most so many words, for each byte that
#: it reads: no small basket becomes a huge array or a long wait. An 8-byte offset, and two dozen
#: words, for a 1-byte length are the worst that is needed.
MAX_EFFECT_PER_BYTE = 64

#: Bytes that the offsets of a basket take for each entry, which an entry that is empty has too.
ENTRY_BYTES = 4

PROLOGUE = ["byteoffsets", "I->", "stack", "stream", "seek"]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(-[a-z]+)?")
READ = re.compile(r"(#?)!?([?bBhHiIqQfd])->")
DTYPES = {
    "?": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "q": "int64", "Q": "uint64", "f": "float32", "d": "float64",
}  # fmt: skip
#: Letters whose values fit a stack of signed 64-bit integers and are not negative.
UNSIGNED = "BHI"


@dataclass(frozen=True, eq=False)
class CheckedProgram:
    """A program that keeps to the rules, ready to run.

    Parameters
    ----------
    source : str
        The program, with a check at the end of each entry.
    outputs : mapping of str to str
        The dtypes of its outputs.
    """

    source: str
    outputs: Mapping[str, str]


@dataclass
class _Effect:
    """What a piece of code does at least and at most.

    Parameters
    ----------
    read_bytes : int
        Bytes that it consumes of the stream at least.
    written_bytes : int
        Bytes that it appends to outputs at most, without what `read_bytes` of inner loops pay for.
    words : int
        Words that it executes at most, likewise.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    words: int = 0


class _Checker:
    """A parser of the allowed programs, which keeps count of the depth of the stack."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_SOURCE_LENGTH:
            raise ValueError(f"it has {len(source)} characters, more than {MAX_SOURCE_LENGTH}")
        self.tokens = source.split()
        self.at = 0
        self.outputs: dict[str, str] = {}
        self.variables: set[str] = set()
        self.end_of_entry = 0

    def check(self) -> None:
        for name in ("stream", "byteoffsets", "bytestops"):
            self._expect("input", name)
        self._declarations()
        self._expect("0", "do", *PROLOGUE)
        effect, depth = self._code(frozenset({"loop"}), 0, 1)
        if depth:
            raise ValueError(f"each entry leaves {depth} numbers on the stack")
        self._check_ratio(effect, effect.read_bytes + ENTRY_BYTES)
        self.end_of_entry = self.at - 1
        if self.at != len(self.tokens):
            raise ValueError(f"{self._peek()!r} follows the end")

    def _peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise ValueError("it is not complete")
        self.at += 1
        return token

    def _expect(self, *wanted: str) -> None:
        for each in wanted:
            token = self._next()
            if token != each:
                raise ValueError(f"word {self.at} is {token!r}, expected {each!r}")

    def _declarations(self) -> None:
        while True:
            if self._peek() == "output":
                self._next()
                name, dtype = self._declared_name(), self._next()
                if dtype not in DTYPES.values():
                    raise ValueError(f"output {name!r} has dtype {dtype!r}")
                self.outputs[name] = dtype
            elif self._peek() == "variable":
                self._next()
                self.variables.add(self._declared_name())
            elif self._peek() == "0" and self._peek(1) in self.outputs:
                self._next()
                self._output("int64")
                self._expect("<-", "stack")
            else:
                return

    def _declared_name(self) -> str:
        name = self._next()
        taken = name in self.outputs or name in self.variables or name in INPUTS
        if not NAME.fullmatch(name) or taken or name in WORDS:
            raise ValueError(f"{name!r} cannot be declared")
        return name

    def _output(self, dtype: str) -> str:
        name = self._next()
        if self.outputs.get(name) != dtype:
            raise ValueError(f"{name!r} is no output of {dtype}")
        return name

    def _code(self, ends: frozenset[str], depth: int, level: int) -> tuple[_Effect, int]:
        """Check code up to one of the words `ends`; give its effect and the depth after it."""
        if level > MAX_LOOP_DEPTH:
            raise ValueError(f"it is nested more than {MAX_LOOP_DEPTH} deep")
        effect = _Effect()
        while True:
            word = self._next()
            effect.words += 1
            if word in ends:
                return effect, depth
            depth = self._word(word, depth, effect, level)

    def _word(self, word: str, depth: int, effect: _Effect, level: int) -> int:
        """Check what begins with `word`; give the depth of the stack after it."""
        if word.isdecimal():
            return self._literal(int(word), depth, effect, level)
        if word == "stream":
            return self._stream(depth, effect)
        if word == "bytestops":
            self._expect("I->", "stack")
            return depth + 1
        if word == "+" and not self.tokens[self.at - 2].isdecimal():
            # Sums of what was read could exceed any bound, and be taken for a count.
            raise ValueError("only a written number may be added")
        if word in STACK_WORDS:
            needs, change = STACK_WORDS[word]
            self._need(needs, depth, word)
            return depth + change
        if word in self.variables:
            action = self._next()
            if action == "@":
                return depth + 1
            if action != "!":
                raise ValueError(f"{action!r} follows the variable {word!r}")
            self._need(1, depth, action)
            return depth - 1
        if word in self.outputs:
            if self._next() not in ("<-", "+<-"):
                raise ValueError(f"nothing is written to {word!r}")
            self._expect("stack")
            self._need(1, depth, word)
            effect.written_bytes += np.dtype(self.outputs[word]).itemsize
            return depth - 1
        if word == "if":
            return self._condition(depth, effect, level)
        if word == "begin":
            return self._while(depth, effect, level)
        raise ValueError(f"the word {word!r} is not allowed here")

    def _need(self, needs: int, depth: int, word: str) -> None:
        if depth < needs:
            raise ValueError(f"{word!r} needs {needs} numbers on the stack and finds {depth}")

    def _literal(self, value: int, depth: int, effect: _Effect, level: int) -> int:
        if value > MAX_LITERAL:
            raise ValueError(f"the number {value} is larger than {MAX_LITERAL}")
        if self._peek() == "stream" and self._peek(1) == "skip":
            self._expect("stream", "skip")
            effect.read_bytes += value
            return depth
        if value == 0 and self._peek() == "do":
            self._next()
            self._need(1, depth, "do")
            self._loop(frozenset({"loop"}), depth - 1, level)
            return depth - 1
        return depth + 1

    def _loop(self, ends: frozenset[str], depth: int, level: int) -> None:
        """Check the body of a loop, which must get on in the stream each time."""
        body, after = self._code(ends, depth, level + 1)
        if after != depth:
            raise ValueError(f"a loop changes the stack by {after - depth}")
        if body.read_bytes < 1:
            raise ValueError("a loop does not read in each round")
        self._check_ratio(body, body.read_bytes)

    def _while(self, depth: int, effect: _Effect, level: int) -> int:
        condition, after = self._code(frozenset({"while"}), depth, level + 1)
        if after != depth + 1 or condition.written_bytes:
            raise ValueError("a condition must leave one number, and write nothing")
        self._loop(frozenset({"repeat"}), depth, level)
        effect.read_bytes += condition.read_bytes
        effect.words += condition.words
        return depth

    def _condition(self, depth: int, effect: _Effect, level: int) -> int:
        self._need(1, depth, "if")
        body, after = self._code(frozenset({"then"}), depth - 1, level + 1)
        if after != depth - 1:
            raise ValueError(f"a condition changes the stack by {after - depth + 1}")
        effect.written_bytes += body.written_bytes
        effect.words += body.words
        return after

    def _stream(self, depth: int, effect: _Effect) -> int:
        action = self._next()
        if action == "pos":
            return depth + 1
        match = READ.fullmatch(action)
        if match is None:
            raise ValueError(f"{action!r} is not allowed of the stream")
        many, letter = match.groups()
        dtype = DTYPES[letter]
        if self._peek() == "stack":
            self._next()
            if many or letter not in UNSIGNED:
                raise ValueError(f"{action!r} does not give the stack one unsigned number")
            effect.read_bytes += np.dtype(dtype).itemsize
            return depth + 1
        self._output(dtype)
        if many:
            # As many bytes are written as are read: the count itself may be 0.
            self._need(1, depth, action)
            return depth - 1
        effect.read_bytes += np.dtype(dtype).itemsize
        effect.written_bytes += np.dtype(dtype).itemsize
        return depth

    @staticmethod
    def _check_ratio(effect: _Effect, read_bytes: int) -> None:
        for what, number in (
            ("write bytes", effect.written_bytes),
            ("execute words", effect.words),
        ):
            if number > MAX_EFFECT_PER_BYTE * read_bytes:
                raise ValueError(
                    f"it may {what}, {number} for {read_bytes} bytes that it reads, more than "
                    f"{MAX_EFFECT_PER_BYTE} for each"
                )


INPUTS = ("stream", "byteoffsets", "bytestops", "entryends", "stack")
#: How many numbers a word needs, and how many more there are after it.
STACK_WORDS = {
    "dup": (1, 1), "drop": (1, -1), "swap": (2, 0), "+": (2, -1), "=": (2, -1), "<>": (2, -1),
}  # fmt: skip
WORDS = frozenset(
    {"input", "output", "variable", "do", "loop", "begin", "while", "repeat", "if", "then", "skip",
     "seek", "pos", "halt", *STACK_WORDS}
)  # fmt: skip


def _check_form(form: Any, outputs: Mapping[str, str], level: int) -> None:
    """Check that a form asks for nothing but the outputs of its program."""
    if level > MAX_LOOP_DEPTH:
        raise ValueError(f"its form is nested more than {MAX_LOOP_DEPTH} deep")
    kind, key = form["class"], form.get("form_key")
    if kind == "NumpyArray":
        wanted = {f"{key}-data": form["primitive"]}
        if form.get("inner_shape"):
            raise ValueError("a NumpyArray has an inner shape")
    elif kind == "ListOffsetArray":
        wanted = {f"{key}-offsets": "int64"}
        if form["offsets"] != "i64":
            raise ValueError(f"offsets are {form['offsets']!r}, expected 'i64'")
        _check_form(form["content"], outputs, level + 1)
    elif kind == "RegularArray":
        wanted = {}
        if not 0 < form["size"] <= MAX_LITERAL:
            raise ValueError(f"a RegularArray has size {form['size']}")
        _check_form(form["content"], outputs, level + 1)
    elif kind == "RecordArray":
        wanted = {}
        for content in form["contents"]:
            _check_form(content, outputs, level + 1)
    else:
        raise ValueError(f"its form has a {kind}")
    for name, dtype in wanted.items():
        if outputs.get(name) != dtype:
            raise ValueError(f"its form wants an output {name!r} of {dtype}")


def check_program(program: Program) -> CheckedProgram:
    """Check that a program keeps to the rules, and that its form fits its outputs.

    Parameters
    ----------
    program : Program
        Source and form.

    Returns
    -------
    CheckedProgram
        The program, with a check at the end of each entry that all of it was read.

    Raises
    ------
    ReferenceStoreError
        If a word, a loop or the form is not allowed, with the reason.
    """
    return _check(program.source, program.form_json)


# A pure function, whose results are remembered: every basket of a column asks for the same.
@lru_cache(maxsize=256)
def _check(source: str, form_json: str) -> CheckedProgram:
    checker = _Checker(source)
    try:
        checker.check()
        _check_form(msgspec.json.decode(form_json), checker.outputs, 0)
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise ReferenceStoreError(f"the program is refused: {err}") from err
    tokens = checker.tokens
    ending = "stream pos entryends I-> stack <> if halt then"
    body = " ".join([*tokens[6 : checker.end_of_entry], ending, "loop"])
    inputs = " ".join(f"input {name}" for name in INPUTS[:4])
    return CheckedProgram(f"{inputs} {body}", checker.outputs)


def run_program(program: Program, basket: Basket) -> dict[str, npt.NDArray[Any]]:
    """Deserialize the entries of one basket.

    Parameters
    ----------
    program : Program
        Source and form.
    basket : Basket
        The bytes, and where the entries begin and end.

    Returns
    -------
    dict of str to ndarray
        The buffers of the form, for as many entries as the basket has.

    Raises
    ------
    ReferenceStoreError
        If the program is not allowed.
    CorruptBasketError
        If it reads beyond the basket, or not exactly up to the end of an entry.
    """
    import awkward.forth  # opening and listing a store starts without it

    checked = check_program(program)
    if basket.offsets is None:
        raise CorruptBasketError("a basket of objects stores no offsets")
    machine = awkward.forth.ForthMachine64(checked.source)
    stops = basket.offsets[1:].astype(np.uint32)
    machine.begin(
        {
            # The machine wants a buffer that it could write to.
            "stream": np.require(basket.data, requirements="W"),
            "byteoffsets": basket.offsets[:-1].astype(np.uint32),
            "bytestops": stops,
            "entryends": stops,
        }
    )
    machine.stack_push(basket.entries)
    error = machine.resume(
        raise_user_halt=False,
        raise_stack_overflow=False,
        raise_read_beyond=False,
        raise_seek_beyond=False,
        raise_skip_beyond=False,
    )
    if error is not None:
        # The end of an entry is looked up only when its code is through.
        entry = machine.input_position("entryends") // stops.itemsize
        what = "reads past the end of the basket"
        if error == "user halt":
            entry -= 1
            what = f"reads up to byte {machine.input_position('stream')}"
        elif error not in ("read beyond", "skip beyond"):
            what = f"stops with the error {error!r}"
        raise CorruptBasketError(
            f"entry {entry} of the basket has bytes {basket.offsets[entry]} to "
            f"{basket.offsets[entry + 1]}, but its program {what}"
        )
    return {name: np.asarray(machine.output(name)) for name in checked.outputs}
