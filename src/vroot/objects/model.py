"""The facade for objects that are not trees: C++ members, bases, and Python's protocols."""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np

from vroot.exceptions import KeyInFileError, UnsupportedError

__all__ = ["Object", "UnknownObject"]

#: Names of C++'s numbers that ROOT has its own words for, as uproot regularizes them.
PRIMITIVES = {
    "Bool_t": "bool",
    "Char_t": "char",
    "UChar_t": "unsigned char",
    "Short_t": "short",
    "UShort_t": "unsigned short",
    "Int_t": "int",
    "UInt_t": "unsigned int",
    "Long_t": "long",
    "ULong_t": "unsigned long",
    "Long64_t": "long long",
    "ULong64_t": "unsigned long long",
    "Size_t": "size_t",
    "Float_t": "float",
    "Double_t": "double",
    "LongDouble_t": "long double",
}
PRIMITIVE_ARGUMENT = re.compile(f"(?<=[<,])({'|'.join(PRIMITIVES)})(?=[>,])")


def regularize_classname(classname: str) -> str:
    """Take the optional spaces and ROOT's aliases out of the name of a C++ class."""
    tight = re.sub(r"\s*(<|>|,|::)\s*", r"\1", classname)
    return PRIMITIVE_ARGUMENT.sub(lambda match: PRIMITIVES[match[1]], tight)


class Object:
    """An instance of a C++ class, or the part of one that a base class contributes.

    `vroot.objects.decoding.decode_object` makes these; they do not change afterwards.
    """

    #: Objects are checked in the order of their ranks: those that others rely upon come first.
    rank = 0

    _classname: str
    _version: int | None
    _bases: list[Object]
    _members: dict[str, Any]
    plain_value: Any

    @classmethod
    def shell(cls, classname: str, version: int | None, value: Any) -> Self:  # noqa: ARG003
        """Make an instance without bases and members, which `fill` adds.

        Two steps, because an object can be a member of its own members.
        """
        self = cls.__new__(cls)
        self._classname, self._version = classname, version
        self._bases, self._members, self.plain_value = [], {}, None
        return self

    def fill(self, bases: list[Object], value: Any, members: dict[str, Any]) -> None:
        """Add what the object consists of.

        Raises
        ------
        TypeError, ValueError
            If the value is not what an object of the class consists of.
        """
        self._bases, self.plain_value, self._members = bases, value, members
        self.check_value()

    def check_value(self) -> None:
        """Check the value of the class; the members may not be complete yet."""

    def check(self, *, concrete: bool) -> None:
        """Check what the methods of this class work with.

        Parameters
        ----------
        concrete : bool
            Whether this is a whole object, not the part of one that a base class contributes.

        Raises
        ------
        ValueError, TypeError
            If the members contradict one another.
        """

    def __repr__(self) -> str:
        return f"<{self._described} at 0x{id(self):012x}>"

    # As in uproot, what was opened as "file:object" can stand in a with statement.
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing: an object holds no file."""

    @property
    def _described(self) -> str:
        version = "" if self._version is None else f" (version {self._version})"
        return f"{self._classname}{version}"

    @property
    def classname(self) -> str:
        """C++ class."""
        return self._classname

    @property
    def class_version(self) -> int | None:
        """Version of the C++ class, if it is known."""
        return self._version

    @property
    def name(self) -> str:
        """The member ``fName``."""
        return self._text_member("fName")

    @property
    def title(self) -> str:
        """The member ``fTitle``."""
        return self._text_member("fTitle")

    def _text_member(self, name: str) -> str:
        value = self.member(name, none_if_missing=True)
        if isinstance(value, str):
            return value
        raise AttributeError(f"{self!r} has no text {name}")

    @property
    def members(self) -> dict[str, Any]:
        """Members of the class itself, without those of its bases, by name."""
        return dict(self._members)

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the bases and of the class itself, by name."""
        found: dict[str, Any] = {}
        for base in self._bases:
            found.update(base.all_members)
        found.update(self._members)
        return found

    def has_member(self, name: str, all: bool = True) -> bool:  # noqa: A002
        """Whether there is a member of this name.

        Parameters
        ----------
        name : str
            C++ name.
        all : bool
            Whether to look in the bases too.
        """
        return name in self._members or (all and any(base.has_member(name) for base in self._bases))

    def member(
        self,
        name: str,
        all: bool = True,  # noqa: A002
        none_if_missing: bool = False,
    ) -> Any:
        """Get a member.

        Parameters
        ----------
        name : str
            C++ name.
        all : bool
            Whether to look in the bases too.
        none_if_missing : bool
            Whether a member that is not there is None, and not an error.

        Returns
        -------
        None, bool, int, float, str, ndarray, Object or container
            Its value; null pointers are None.

        Raises
        ------
        KeyInFileError
            If there is none.
        """
        if name in self._members:
            return self._members[name]
        for base in reversed(self._bases) if all else ():
            if base.has_member(name):
                return base.member(name)
        if none_if_missing:
            return None
        raise KeyInFileError(
            name, keys=self.all_members, because=f"{self._described} has no such member"
        )

    @property
    def bases(self) -> list[Object]:
        """What the direct base classes contribute, in C++'s order."""
        return list(self._bases)

    def base(self, *cls: str | type) -> list[Object]:
        """Collect what base classes contribute, at any depth.

        Parameters
        ----------
        *cls : str or type
            C++ classes by name, or Python classes.

        Returns
        -------
        list of Object
            Those of these classes, the nearest to the object first.
        """
        found = []
        for base in self._bases:
            if base.is_itself(cls):
                found.append(base)
            found.extend(base.base(*cls))
        return found

    def is_instance(self, *cls: str | type) -> bool:
        """Whether the object is of one of these classes, or inherits from it; see `base`."""
        return self.is_itself(cls) or bool(self.base(*cls))

    def is_itself(self, classes: tuple[str | type, ...]) -> bool:
        """Whether its own class is one of these, whatever it inherits from."""
        names = {regularize_classname(name) for name in classes if isinstance(name, str)}
        types = tuple(kind for kind in classes if not isinstance(kind, str))
        return isinstance(self, types) or self._classname in names

    def tojson(self) -> Any:
        """Give the object as ROOT's JSON: dicts, lists, numbers and strings.

        Raises
        ------
        UnsupportedError
            If the object is a member of itself.
        """
        try:
            return self.json_value()
        except RecursionError as err:
            raise UnsupportedError(f"{self!r} is too deep for JSON, or in itself") from err

    def json_value(self) -> Any:
        """Give what `tojson` shows of it."""
        if self._classname == "TObject":
            marks = {name: self.member(f"@{name}") for name in ("fUniqueID", "fBits")}
            return {"_typename": "TObject", **marks}
        found: dict[str, Any] = {}
        for base in self._bases:
            part = base.json_value()
            if isinstance(part, dict):
                found.update(part)
        for name, value in self._members.items():
            if isinstance(value, Object):
                found[name] = value.json_value()
            else:
                found[name] = (
                    value.tolist() if isinstance(value, np.ndarray | np.generic) else value
                )
        found["_typename"] = self._classname
        return found


class UnknownObject(Object):
    """An object inside another of which the ROOT file does not say how to read it."""

    def __repr__(self) -> str:
        return f"<Unknown {self._classname} at 0x{id(self):012x}>"
