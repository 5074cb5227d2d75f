"""What stands for the parts of uproot that have no counterpart in a reader of references.

Handlers are names to be given to ``open``, where they change nothing. What writes raises
UnsupportedError, which is a NotImplementedError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from vroot.exceptions import UnsupportedError

__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "CuFileSource",
    "FSSpecSource",
    "FileSink",
    "HTTPSource",
    "Handler",
    "MemmapSource",
    "MultithreadedFileSource",
    "MultithreadedHTTPSource",
    "MultithreadedXRootDSource",
    "ObjectSource",
    "WritableBranch",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTree",
    "Writer",
    "XRootDSource",
    "as_TGraph",
    "classname_decode",
    "classname_encode",
    "create",
    "dask_write",
    "graphed_write",
    "recreate",
    "to_writable",
    "unset",
    "update",
]


class Handler:
    """One of uproot's ways to get the bytes of a file; vroot has its own and needs none."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        raise UnsupportedError(
            f"{type(self).__name__} is accepted as handler=, which changes nothing; it reads "
            "nothing by itself"
        )


class Writer:
    """Something that uproot writes with. There are no instances of it here."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        _refuse_to_write(type(self).__name__)


def _refuse_to_write(name: str) -> NoReturn:
    raise UnsupportedError(f"vroot only reads: write ROOT files with uproot.{name}")


class CuFileSource(Handler):
    """Local files, read into the memory of a GPU."""


class FSSpecSource(Handler):
    """Whatever fsspec reaches."""


class HTTPSource(Handler):
    """HTTP, several ranges a request."""


class MemmapSource(Handler):
    """Local files, mapped into memory."""


class MultithreadedFileSource(Handler):
    """Local files, read in several threads."""


class MultithreadedHTTPSource(Handler):
    """HTTP, one range a request, in several threads."""


class MultithreadedXRootDSource(Handler):
    """XRootD, one range a request, in several threads."""


class ObjectSource(Handler):
    """Open files of Python."""


class XRootDSource(Handler):
    """XRootD, several ranges a request."""


class FileSink(Writer):
    """Where uproot writes."""


class LZ4(Writer):
    """A compression of what is written."""


class LZMA(Writer):
    """A compression of what is written."""


class WritableBranch(Writer):
    """A branch that is being written."""


class WritableDirectory(Writer):
    """A directory that is being written."""


class WritableFile(Writer):
    """A file that is being written."""


class WritableNTuple(Writer):
    """An RNTuple that is being written."""


class WritableTree(Writer):
    """A tree that is being written."""


class ZLIB(Writer):
    """A compression of what is written."""


class ZSTD(Writer):
    """A compression of what is written."""


def _writing(name: str) -> Callable[..., NoReturn]:
    """Make a function that refuses to do what uproot's of this name does."""

    def function(*args: Any, **options: Any) -> NoReturn:  # noqa: ARG001
        _refuse_to_write(name)

    function.__name__ = function.__qualname__ = name
    return function


as_TGraph = _writing("as_TGraph")  # noqa: N816  # as uproot has it
create = _writing("create")
dask_write = _writing("dask_write")
graphed_write = _writing("graphed_write")
recreate = _writing("recreate")
to_writable = _writing("to_writable")
update = _writing("update")


#: The functions that write.
WRITING = (as_TGraph, create, dask_write, graphed_write, recreate, to_writable, update)


class _Unset:
    """The type of `unset`."""

    def __repr__(self) -> str:
        return "unset"


#: What uproot has for a parameter that is not given, and other libraries borrow.
unset = _Unset()


def classname_encode(classname: str, version: int | None = None, unknown: bool = False) -> str:
    """Turn the name of a C++ class into the one that uproot gives to its class in Python.

    Parameters
    ----------
    classname : str
        Such as ``Some::Thing``.
    version : int, optional
        Version of the class.
    unknown : bool
        Whether the class is one that uproot cannot read.

    Returns
    -------
    str
        Such as ``Model_Some_3a3a_Thing_v2``.

    Raises
    ------
    ValueError
        If it is such a name already.
    """
    prefix = "Unknown_" if unknown else "Model_"
    if classname.startswith(prefix):
        raise ValueError(f"classname is already encoded: {classname}")
    encoded = re.sub(
        rb"[^a-zA-Z0-9]+", lambda match: b"_%s_" % match[0].hex().encode(), classname.encode()
    )
    return prefix + encoded.decode() + ("" if version is None else f"_v{version}")


def classname_decode(encoded_classname: str) -> tuple[str, int | None]:
    """Undo `classname_encode`.

    Parameters
    ----------
    encoded_classname : str
        Such as ``Model_Some_3a3a_Thing_v2``.

    Returns
    -------
    tuple of str and (int or None)
        Name of the C++ class, and its version.

    Raises
    ------
    ValueError
        If it is no such name.
    """
    match = re.fullmatch(r"(?:Unknown|Model)_(.*)", encoded_classname, re.DOTALL)
    if match is None:
        raise ValueError(f"not an encoded classname: {encoded_classname}")
    raw, version = match[1], None
    versioned = re.fullmatch(r"(.*)_v(\d+)", raw, re.DOTALL)
    # As in uproot: what ends in hexadecimal digits between underscores has no version.
    if versioned is not None and not re.fullmatch(r".*_(?:[0-9a-f]{2})+", versioned[1]):
        raw, version = versioned[1], int(versioned[2])
    decoded = re.sub(
        rb"_((?:[0-9a-f]{2})+)_", lambda match: bytes.fromhex(match[1].decode()), raw.encode()
    )
    return decoded.decode(), version
