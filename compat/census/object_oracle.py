"""What uproot says of the objects that are not trees."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import msgspec
import uproot
from uproot.model import UnknownClass, UnknownClassVersion

from compat.census.kinds import is_ntuple, is_tree
from compat.census.limits import BRANCH_SECONDS, ORACLE_ERRORS, time_limit
from compat.census.objects import OBJECTS, ObjectRecord, describe, looks
from compat.census.records import FailureRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["record_objects"]

DIRECTORIES = ("TDirectory", "TDirectoryFile")


def record_objects(path: Path, folder: Path) -> None:
    """Record the objects of a file that are neither directories, trees nor RNTuples.

    Parameters
    ----------
    path : Path
        The ROOT file.
    folder : Path
        Where the record goes.
    """
    with uproot.open({path: None}, custom_classes=dict(uproot.classes)) as file:
        records = list(record_directory(file, ""))
    (folder / OBJECTS).write_bytes(msgspec.msgpack.encode(records))


def record_directory(directory: Any, prefix: str) -> Iterator[ObjectRecord]:
    """Record what is in a directory, and below."""
    for shown, classname in directory.iterclassnames(recursive=False, cycle=True):
        if classname in DIRECTORIES:
            below = f"{prefix}{shown.rpartition(';')[0]}/"
            yield from record_directory(directory.key(shown).get(), below)
        elif not (is_tree(classname) or is_ntuple(classname)):
            yield record_object(directory.key(shown), f"{prefix}{shown}")


def record_object(key: Any, shown: str) -> ObjectRecord:
    """Record one object."""
    title = str(key.title())
    try:
        with time_limit(BRANCH_SECONDS):
            value = key.get()
        if isinstance(value, UnknownClass | UnknownClassVersion):
            outcome: str | FailureRecord = FailureRecord("Unknown", "there is no streamer")
        else:
            outcome = describe(value)
    except ORACLE_ERRORS as error:
        outcome = FailureRecord.of(error)
    answers = {} if isinstance(outcome, FailureRecord) else dict(answers_of(value))
    return ObjectRecord(shown, key.fClassName, title, outcome, answers)


def answers_of(value: Any) -> Iterator[tuple[str, str | FailureRecord]]:
    """Ask an object everything that it can be asked."""
    for label, look in looks(value).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield label, look()
        except (AttributeError, TypeError):
            # uproot's objects of this class have no such method.
            continue
        except ORACLE_ERRORS as error:
            yield label, FailureRecord.of(error)
