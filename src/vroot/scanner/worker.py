"""The process in which uproot deserializes entries, see `vroot.scanner.discovery`."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any, BinaryIO, TypeVar

import awkward as ak
import msgspec
import numpy as np
import uproot
from uproot.interpretation.objects import CannotBeAwkward

from vroot.decode.basket import Basket
from vroot.decode.forth import run_program
from vroot.exceptions import UnsupportedError, VrootError
from vroot.metadata.interpretations import Program
from vroot.scanner.discovery import LENGTH_BYTES, Answer, Question, Settings
from vroot.scanner.guard import UPROOT_ERRORS, describe, without_addresses
from vroot.scanner.object_types import object_types
from vroot.scanner.objects import entry_data

__all__ = ["main"]

T = TypeVar("T")

#: uproot names outputs after hashes that differ in every process.
HASHED_NAME = re.compile(r"\b(node|var_)(\d+)")


def main() -> None:
    """Answer questions until there are no more."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    # Nothing that uproot may print gets between the answers.
    sys.stdout = sys.stderr
    settings = _receive(stdin, Settings)
    if settings is None:
        return
    _limit_memory(settings.memory_limit_bytes)
    try:
        file = uproot.open({settings.location: None}, **settings.storage_options)
    except UPROOT_ERRORS as err:
        _send(stdout, Answer("unsupported", reason=f"uproot cannot open the file: {describe(err)}"))
        return
    _send(stdout, Answer("ready"))
    while (question := _receive(stdin, Question)) is not None:
        _limit_time(settings.time_limit_s)
        try:
            branch: Any = file[question.tree.removeprefix("/")]
            for i in question.index:
                branch = branch.branches[i]
            answer = _find(branch, settings.inline_limit_bytes)
        except UPROOT_ERRORS as err:
            answer = Answer("unsupported", reason=f"uproot cannot read it: {describe(err)}")
        _limit_time(0)
        _send(stdout, answer)


def _receive(stream: BinaryIO, kind: type[T]) -> T | None:
    length = int.from_bytes(stream.read(LENGTH_BYTES), "big")
    return msgspec.msgpack.decode(stream.read(length), type=kind) if length else None


def _send(stream: BinaryIO, answer: Answer) -> None:
    content = msgspec.msgpack.encode(answer)
    stream.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
    stream.flush()


def _limit_time(limit_s: float) -> None:
    """End this process after a time, unless it is 0: an alarm that nobody handles does that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limit_s)


def _limit_memory(limit_bytes: int) -> None:
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit_bytes = min(limit_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, hard))


def _find(branch: uproot.TBranch, inline_limit_bytes: int) -> Answer:
    """Find out how a branch is read: as an Awkward Array, or else as objects."""
    try:
        return _find_awkward(branch, inline_limit_bytes)
    except UPROOT_ERRORS as err:
        cause = err if isinstance(err, CannotBeAwkward) else err.__cause__
        if not isinstance(cause, CannotBeAwkward):
            raise
        because = without_addresses(" ".join(str(cause.because).split()))
        return _instances(branch, because, inline_limit_bytes)


def _find_awkward(branch: uproot.TBranch, inline_limit_bytes: int) -> Answer:
    """Read basket after basket until uproot has a program."""
    interpretation = branch.interpretation
    offsets = branch.entry_offsets
    for number in range(branch.num_baskets):
        if interpretation._complete_forth_code is not None or not interpretation._forth:  # noqa: SLF001  # uproot's
            break
        branch.array(entry_start=offsets[number], entry_stop=offsets[number + 1])
    if interpretation._complete_forth_code is not None and interpretation._forth:  # noqa: SLF001  # uproot's
        program = _renumber(interpretation._complete_forth_code, interpretation._form)  # noqa: SLF001  # uproot's
        reason = _try(program, branch)
        if not reason:
            objects_json = object_types(branch, program.form_json)
            return Answer("program", program.source, program.form_json, objects_json=objects_json)
    else:
        reason = "no program of AwkwardForth reads it"
    return _inline(branch, reason, inline_limit_bytes)


def _renumber(source: str, form: dict[str, Any]) -> Program:
    """Give the outputs and the nodes of the form numbers that are the same in every process."""
    numbers: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        # The shorter the better: they are most of a program.
        return f"{match[1][0]}{numbers.setdefault(match[0], len(numbers))}"

    def renamed(name: str) -> str:
        return HASHED_NAME.sub(rename, name)

    source = " ".join(renamed(source).split())
    return Program(source, _form_json(ak.forms.from_dict(form), renamed))


def _form_json(form: Any, renamed: Callable[[str], str] = str) -> str:
    """A form as JSON, its keys renamed, without what is empty, which is the default."""
    empty: dict[str, Any] = {"parameters": {}, "inner_shape": [], "form_key": None}

    def shorten(value: Any) -> Any:
        if isinstance(value, list):
            return [shorten(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            # Members of C++ classes may be called like anything: only keys are renamed.
            name: renamed(each) if name == "form_key" else shorten(each)
            for name, each in value.items()
            if name not in empty or each != empty[name]
        }

    return msgspec.json.encode(shorten(form.to_dict())).decode("utf-8")


def _try(program: Program, branch: uproot.TBranch) -> str:
    """Say why the program is not used, if it cannot read the first basket that has entries."""
    for number in range(branch.num_baskets):
        basket = branch.basket(number)
        if basket.num_entries and basket.byte_offsets is not None:
            offsets = np.asarray(basket.byte_offsets, np.int64)
            try:
                run_program(program, Basket(basket.data, basket.num_entries, offsets))
            except VrootError as err:
                return str(err)
            return ""
    return ""


def _misread(branch: uproot.TBranch) -> str:
    """Say which entry uproot does not read up to its end, for which it does not look itself."""
    model, file = branch.interpretation.model, branch.file
    for number in range(branch.num_baskets):
        basket = branch.basket(number)
        if basket.byte_offsets is None:
            continue
        for entry, (start, stop) in enumerate(pairwise(basket.byte_offsets.tolist())):
            chunk = uproot.source.chunk.Chunk.wrap(file.source, basket.data[start:stop])
            cursor = uproot.source.cursor.Cursor(0, origin=-start)
            context = {"breadcrumbs": (), "TKey": None, "reading": True, "forth": None}
            model.read(chunk, cursor, context, file, file.detached, branch)
            if cursor.index != stop - start:
                return (
                    f"uproot reads {cursor.index} of the {stop - start} bytes of entry {entry} "
                    f"of basket {number}"
                )
    return ""


def _inline(branch: uproot.TBranch, reason: str, limit_bytes: int) -> Answer:
    wrong = _misread(branch)
    if wrong:
        return Answer("unsupported", reason=f"{reason}, and {wrong}")
    packed = ak.to_packed(branch.array())
    form, _, buffers = ak.to_buffers(packed)
    content = {name: np.asarray(buffer).tobytes() for name, buffer in buffers.items()}
    size = sum(map(len, content.values()))
    if size > limit_bytes:
        return Answer(
            "unsupported",
            reason=f"{reason}, and its {size} bytes of data are more than the limit of "
            f"{limit_bytes} for what the store itself holds",
        )
    form_json = _form_json(form)
    objects_json = object_types(branch, form_json)
    return Answer("inline", form_json=form_json, buffers=content, objects_json=objects_json)


def _instances(branch: uproot.TBranch, because: str, limit_bytes: int) -> Answer:
    """Keep objects that are not an Awkward Array as they are."""
    try:
        entries = [entry_data(entry) for entry in branch.array(library="np")]
        size = len(msgspec.json.encode(entries))
    except UnsupportedError as err:
        reason = f"it has no Awkward Array ({because}), and as objects, {err}"
        return Answer("unsupported", reason=reason)
    if size > limit_bytes:
        return Answer(
            "unsupported",
            reason=f"it has no Awkward Array ({because}), and its {size} bytes as objects are more "
            f"than the limit of {limit_bytes} for what the store itself holds",
        )
    return Answer("instances", reason=because, entries=entries)
