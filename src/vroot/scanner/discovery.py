"""How objects are deserialized: found out by uproot, in a process that may be given up.

Only uproot's reading of entries shows which AwkwardForth program reads a branch, and misread bytes
can make it ask for any amount of memory or time. Therefore it runs in a process of its own, with a
limit of both; a branch that exceeds one is recorded with that reason.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from vroot.exceptions import DeserializationError
from vroot.metadata.interpretations import AsInline, AsInstances, AsObjects, Program, Unsupported

__all__ = ["Answer", "Discovery", "Question", "Settings"]

MEMORY_LIMIT_BYTES = 4 << 30
TIME_LIMIT_S = 60.0
START_LIMIT_S = 120.0
GRACE_S = 5.0
LENGTH_BYTES = 8


class Settings(msgspec.Struct, frozen=True):
    """What the process is told first.

    Parameters
    ----------
    location : str
        The ROOT file.
    storage_options : dict
        Options for fsspec.
    inline_limit_bytes : int
        Largest size of ready-made buffers of one branch.
    memory_limit_bytes : int
        Address space that the process may use.
    time_limit_s : float
        After this time for one branch the process ends itself, should nobody be left to end it.
    """

    location: str
    storage_options: dict[str, Any]
    inline_limit_bytes: int
    memory_limit_bytes: int
    time_limit_s: float


class Question(msgspec.Struct, frozen=True):
    """A branch.

    Parameters
    ----------
    tree : str
        Path of its tree in the file, with cycle.
    index : tuple of int
        Its place among the branches of the tree, among the branches of that branch, and so on.
    """

    tree: str
    index: tuple[int, ...]


class Answer(msgspec.Struct, frozen=True):
    """How a branch is read.

    Parameters
    ----------
    kind : str
        "ready" is what the process says when it has opened the file; a branch has a "program", or
        its data are "inline", as Awkward Array or as "instances", or it is "unsupported".
    source : str
        The program.
    form_json : str
        The Awkward form, of the program or of the buffers.
    buffers : dict of str to bytes
        The buffers.
    reason : str
        Why it is unsupported, or has no Awkward Array.
    objects_json : str
        What the entries of the form are in Python, see `vroot.objects.instances.ObjectTypes`.
    entries : list
        The instances, see `vroot.metadata.interpretations.AsInstances`.
    """

    kind: Literal["ready", "program", "inline", "instances", "unsupported"]
    source: str = ""
    form_json: str = ""
    buffers: dict[str, bytes] = {}
    reason: str = ""
    objects_json: str = ""
    entries: list[Any] = []


class Discovery:
    """Asks a process of its own about branches; the process is started at the first question.

    Parameters
    ----------
    location : str
        The ROOT file.
    storage_options : mapping, optional
        Options for fsspec.
    inline_limit_bytes : int
        Largest size of ready-made buffers of one branch.
    time_limit_s : float
        Longest time for one branch, in seconds.
    memory_limit_bytes : int
        Address space of the process.
    """

    def __init__(
        self,
        location: str,
        storage_options: Mapping[str, Any] | None = None,
        *,
        inline_limit_bytes: int = 4 << 20,
        time_limit_s: float = TIME_LIMIT_S,
        memory_limit_bytes: int = MEMORY_LIMIT_BYTES,
    ) -> None:
        self._settings = Settings(
            location,
            dict(storage_options or {}),
            inline_limit_bytes,
            memory_limit_bytes,
            time_limit_s + GRACE_S,
        )
        self._time_limit_s = time_limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def find(
        self, tree: str, index: tuple[int, ...], text: str
    ) -> AsObjects | AsInline | AsInstances | Unsupported:
        """Find out how a branch is read.

        Parameters
        ----------
        tree : str
            Path of its tree in the file, with cycle.
        index : tuple of int
            Where the branch is in the tree, see `Question`.
        text : str
            What uproot shows as its interpretation.

        Returns
        -------
        AsObjects, AsInline, AsInstances or Unsupported
            The interpretation.
        """
        answer = self._ask(Question(tree, index))
        if answer.kind == "program":
            program = Program(answer.source, answer.form_json, answer.objects_json)
            return AsObjects(program, text)
        if answer.kind == "inline":
            return AsInline(answer.form_json, answer.buffers, text, answer.objects_json)
        if answer.kind == "instances":
            return AsInstances(answer.reason, text, entries=answer.entries)
        return Unsupported(answer.reason, text)

    def _ask(self, question: Question) -> Answer:
        if self._process is None:
            self._start()
        return self._exchange(question, self._time_limit_s)

    def _start(self) -> None:
        # This package is found last, so that nothing beside it hides a module of Python's; and
        # nothing in the current folder is ever imported (-P).
        code = "import sys; sys.path.append({!r}); import vroot.scanner.worker as w; w.main()"
        self._process = subprocess.Popen(  # noqa: S603  # this Python and this package
            [sys.executable, "-P", "-c", code.format(str(Path(__file__).parents[2]))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        answer = self._exchange(self._settings, START_LIMIT_S)
        if answer.kind != "ready":
            self._stop()
            raise DeserializationError(
                f"the process in which uproot deserializes objects of {self._settings.location} "
                f"did not start: {answer.reason}"
            )

    def _exchange(self, message: Settings | Question, limit_s: float) -> Answer:
        """Send a message and wait for the answer; give the process up if there is none."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return Answer("unsupported", reason="there is no process that could deserialize it")
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(limit_s, expire)
        timer.start()
        try:
            content = msgspec.msgpack.encode(message)
            process.stdin.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
            process.stdin.flush()
            length = int.from_bytes(process.stdout.read(LENGTH_BYTES), "big")
            reply = process.stdout.read(length)
            if length and len(reply) == length:
                return msgspec.msgpack.decode(reply, type=Answer)
        except BrokenPipeError:
            pass  # it has died: said below
        finally:
            timer.cancel()
        self._stop()
        what = f"in {limit_s:g} s" if expired.is_set() else "without exhausting its process"
        return Answer("unsupported", reason=f"uproot could not deserialize it {what}")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
