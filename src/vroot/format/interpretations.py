"""Interpretations as plain data, and back; FORMAT.md specifies them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from vroot.exceptions import ReferenceStoreError
from vroot.metadata.dtypes import split_dtype
from vroot.metadata.interpretations import AsInline, AsObjects, Interpretation, Program

__all__ = [
    "JSON",
    "Programs",
    "canonical_json",
    "convert",
    "decode_interpretation",
    "encode_interpretation",
]

SIMPLE_DTYPE = re.compile(r"[<>|]?[biuf][0-9]{1,2}")

JSON: TypeAlias = Any
T = TypeVar("T")


def _encode_dtype(dtype: np.dtype[Any]) -> JSON:
    base, shape = split_dtype(dtype)
    if base.names is None:
        encoded: JSON = base.str
    else:
        packed = np.dtype([(name, base[name]) for name in base.names])
        if packed != base:
            raise ValueError(f"{base} is not a packed struct")
        encoded = {"fields": [[name, _encode_dtype(base[name])] for name in base.names]}
    return [encoded, list(shape)] if shape else encoded


def _decode_dtype(encoded: JSON) -> np.dtype[Any]:
    match encoded:
        case str() if SIMPLE_DTYPE.fullmatch(encoded):
            return np.dtype(encoded)
        case [base, [*shape]] if all(type(size) is int and size > 0 for size in shape):
            return np.dtype((_decode_dtype(base), tuple(shape)))
        case {"fields": [*fields]} if all(_is_field(field) for field in fields):
            return np.dtype([(name, _decode_dtype(dtype)) for name, dtype in fields])
    raise ValueError(f"no dtype: {str(encoded)[:100]}")


def _is_field(field: JSON) -> bool:
    return isinstance(field, list | tuple) and len(field) == 2 and isinstance(field[0], str)


def _encode_hook(value: Any) -> JSON:
    if isinstance(value, np.dtype):
        return _encode_dtype(value)
    raise NotImplementedError(f"no plain form for {type(value)}")


def _decode_hook(kind: type, value: Any) -> Any:
    if kind is np.dtype:
        return _decode_dtype(value)
    raise NotImplementedError(f"no plain form for {kind}")


class Programs:
    """The distinct programs of a store, each kept once, at its root.

    Parameters
    ----------
    programs : sequence of Program
        Those that there are already.
    """

    def __init__(self, programs: Iterable[Program] = ()) -> None:
        self._numbers = {program: i for i, program in enumerate(programs)}

    def number(self, program: Program) -> int:
        """Give the number of a program, a new one if it is not known."""
        return self._numbers.setdefault(program, len(self._numbers))

    def encode(self) -> list[JSON]:
        """Give the programs as plain data, in the order of their numbers."""
        return [
            {"source": program.source, "form": msgspec.json.decode(program.form_json)}
            | _objects(program.objects_json)
            for program in self._numbers
        ]


def _objects(objects_json: str) -> dict[str, JSON]:
    return {"objects": msgspec.json.decode(objects_json)} if objects_json else {}


def encode_interpretation(interpretation: Interpretation, programs: Programs) -> dict[str, JSON]:
    """Turn an interpretation into plain data, tagged by its ``kind``.

    Parameters
    ----------
    interpretation : Interpretation
        The interpretation.
    programs : Programs
        Where its program goes, if it has one.

    Returns
    -------
    dict
        Its fields.
    """
    encoded: dict[str, JSON] = msgspec.to_builtins(interpretation, enc_hook=_encode_hook)
    if isinstance(interpretation, AsObjects):
        encoded["program"] = programs.number(interpretation.program)
    if isinstance(interpretation, AsInline):
        encoded["form"] = msgspec.json.decode(encoded.pop("form_json"))
        encoded |= _objects(encoded.pop("objects_json", ""))
    return encoded


def decode_interpretation(encoded: JSON, programs: Sequence[Program] = ()) -> Interpretation:
    """Turn plain data back into an interpretation.

    Parameters
    ----------
    encoded : dict
        What `encode_interpretation` gave.
    programs : sequence of Program
        The programs of the store.

    Returns
    -------
    Interpretation
        The interpretation.

    Raises
    ------
    ReferenceStoreError
        If the data are not an interpretation that this version knows.
    """
    match encoded:
        case {"kind": "program", "program": number, **rest}:
            if type(number) is not int:
                raise ReferenceStoreError(f"{number!r} is not the number of a program")
            if not 0 <= number < len(programs):
                raise ReferenceStoreError(f"the store has no program {number}")
            program = programs[number]
            return AsObjects(program, convert(rest.get("text", "AsObjects"), str))
        case {"kind": "inline", **rest}:
            if not isinstance(form := rest.pop("form", None), dict):
                raise ReferenceStoreError("the inline data have no form")
            objects = rest.pop("objects", None)
            if objects is not None:
                rest["objects_json"] = canonical_json(objects)
            encoded = rest | {"kind": "inline", "form_json": canonical_json(form)}
    return convert(encoded, Interpretation)  # type: ignore[arg-type]


def canonical_json(value: JSON) -> str:
    """Give plain data as the text of its JSON, without spaces."""
    return msgspec.json.encode(value).decode("utf-8")


def convert(value: JSON, kind: type[T]) -> T:
    """Turn plain data into one of the model's or the schema's classes.

    Parameters
    ----------
    value : JSON
        Plain data.
    kind : type
        What they should be.

    Returns
    -------
    object
        An instance of `kind`.

    Raises
    ------
    ReferenceStoreError
        If they are not.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_hook)
    except (ValueError, TypeError, RecursionError, OverflowError) as err:
        raise ReferenceStoreError(str(err)) from err
