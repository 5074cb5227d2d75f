"""Processes that do one thing to one file after another, and may die of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from compat.census.records import FailureRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from pathlib import Path

__all__ = ["Role", "Worker", "WorkerError"]

Role: TypeAlias = Literal["oracle", "scan", "reader"]

MEMORY_BYTES = 6 << 30


class WorkerError(Exception):
    """A worker raised an error, died or took too long.

    Parameters
    ----------
    message : str
        What happened.
    trace : str
        The worker's traceback, if it could still send one.
    """

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


def oracle(path: Path, folder: Path) -> None:
    """Record what uproot says."""
    from compat.census.object_oracle import record_objects
    from compat.census.oracle import record_file

    record_file(path, folder)
    record_objects(path, folder)


def scan(path: Path, references: Path) -> None:
    """Write a file's references."""
    import vroot

    vroot.scan(str(path), str(references))


def reader(folder: Path, references: Path) -> Any:
    """Compare vroot's reading with what uproot said, where importing uproot fails."""
    sys.modules["uproot"] = None  # type: ignore[assignment]
    from compat.census.reader import compare_file

    return compare_file(folder, references)


# Each role has a process of its own because of what it imports: uproot, both, or vroot alone.
ROLES: dict[Role, Callable[[Path, Path], Any]] = {
    "oracle": oracle,
    "scan": scan,
    "reader": reader,
}


def serve(connection: Connection, role: Role) -> None:
    """Do what the connection asks for, until it is closed.

    The answer to each request is the result and None, or what was raised and its traceback.
    """
    # A group of its own, so that whatever the work starts can be ended with it.
    os.setsid()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    while True:
        try:
            arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send((ROLES[role](*arguments), None))
        except BaseException as error:
            connection.send((str(FailureRecord.of(error)), traceback.format_exc()))
            raise SystemExit(1) from error


class Worker:
    """A process for one role, started when it is needed and again after it died.

    Parameters
    ----------
    role : Role
        What it does.
    timeout_seconds : float
        How long one request may take.
    """

    def __init__(self, role: Role, timeout_seconds: float) -> None:
        self.role: Role = role
        self.timeout_seconds = timeout_seconds
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def __call__(self, *arguments: Path) -> Any:
        """Have the work done for these arguments.

        Raises
        ------
        WorkerError
            If it raised an error, died or took too long. The next call has a new process.
        """
        try:
            result, trace = self._exchange(arguments)
        except (EOFError, OSError) as error:
            code = self.close()
            raise WorkerError(f"the process died with exit code {code}") from error
        except BaseException:
            self.close()
            raise
        if trace is not None:
            self.close()
            raise WorkerError(result, trace)
        return result

    def _exchange(self, arguments: tuple[Path, ...]) -> tuple[Any, str | None]:
        connection = self._connection or self._start()
        connection.send(arguments)
        if not connection.poll(self.timeout_seconds):
            raise WorkerError(f"took more than {self.timeout_seconds:g} s")
        answer: tuple[Any, str | None] = connection.recv()
        return answer

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, self.role), name=f"compat {self.role}"
        )
        self._process.start()
        theirs.close()
        self._connection = connection
        return connection

    def close(self) -> int | None:
        """End the process and everything it started; return its exit code, if it had one."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if process is None or connection is None or process.pid is None:
            return None
        connection.close()
        # A process that is done ends by itself now, and one that died already has.
        process.join(1.0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()
        return process.exitcode
