"""Virtual arrays: Awkward Arrays whose buffers are read when they are first touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from vroot.exceptions import VrootError

__all__ = ["Accessed", "BuffersByKey", "LazyBuffers", "check_virtual"]

BuffersByKey: TypeAlias = Mapping[str, npt.NDArray[Any]]


class Accessed(NamedTuple):
    """What an access log says of a buffer of a branch that was read.

    Parameters
    ----------
    branch : str
        Name of the branch.
    buffer_key : str
        Awkward's name of the buffer.
    """

    branch: str
    buffer_key: str


def check_virtual(*, virtual: bool, access_log: Any, library: Any, **others: Any) -> None:
    """Check that what is given goes with virtual arrays, or without them.

    Parameters
    ----------
    virtual : bool
        Whether they are wanted.
    access_log : object with ``__iadd__``, optional
        Where it is noted what is read.
    library : str
        What kind of arrays is wanted.
    **others
        What cannot be given with virtual arrays.

    Raises
    ------
    ValueError
        If something does not fit.
    """
    if not virtual:
        if access_log is not None:
            raise ValueError("'access_log' cannot be used with 'virtual=False'")
        return
    given = [name for name, value in others.items() if value is not None]
    if library != "ak":
        given.append("library")
    if given:
        raise ValueError(f"{given[0]!r} cannot be used with 'virtual=True'")
    if access_log is not None and not hasattr(access_log, "__iadd__"):
        raise ValueError(f"{access_log=} needs to implement '__iadd__'.")


@dataclass(frozen=True, eq=False)
class LazyBuffers:
    """BuffersByKey that are read together, when one of them is first touched.

    Parameters
    ----------
    read : callable
        Reads them.
    what : str
        What they belong to, for errors.
    access_log : object with ``__iadd__``, optional
        Where it is noted what is touched.
    """

    read: Callable[[], BuffersByKey]
    what: str
    access_log: Any = None
    _noted: set[str] = field(default_factory=set, init=False)

    @cached_property
    def _buffers(self) -> BuffersByKey:
        try:
            return self.read()
        except (OSError, ValueError, VrootError) as err:
            err.add_note(f"when {self.what} was read for a virtual array")
            raise

    def touch(self, buffer_key: str, accessed: Any) -> npt.NDArray[Any]:
        """Give a buffer, and note that it was touched, the first time."""
        buffer = self._buffers[buffer_key]
        if self.access_log is not None and buffer_key not in self._noted:
            self._noted.add(buffer_key)
            log = self.access_log
            log += [accessed]
        return buffer
