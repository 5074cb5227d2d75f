"""The errors of vroot, and the names that users of uproot catch."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CannotBeAwkward",
    "CatalogError",
    "ClosedFileError",
    "CorruptBasketError",
    "CorruptPageError",
    "DeserializationError",
    "KeyInFileError",
    "MissingExtraError",
    "NameConflictWarning",
    "OutputIsSourceError",
    "ReferenceStoreError",
    "ShortReadError",
    "StaleReferencesError",
    "StaleReferencesWarning",
    "UnsupportedError",
    "VrootError",
]

MAX_LISTED_KEYS = 10


class VrootError(Exception):
    """Base class of every error that vroot raises on purpose."""


class KeyInFileError(VrootError, KeyError):
    """An object or branch of this name does not exist.

    Parameters
    ----------
    key : str
        What was asked for.
    keys : iterable of str
        What there is; the nearest names are shown.
    file_path : str, optional
        The store that was searched.
    object_path : str, optional
        The directory, tree or branch that was searched.
    because : str
        An explanation, when the key is not simply absent.
    cycle : int or "any", optional
        The cycle number that was asked for, if any.
    """

    def __init__(
        self,
        key: str,
        *,
        keys: Iterable[str] = (),
        file_path: str | None = None,
        object_path: str | None = None,
        because: str = "",
        cycle: int | str | None = None,
    ) -> None:
        super().__init__(key)
        self.key = key
        self.keys = list(keys)
        self.file_path = file_path
        self.object_path = object_path
        self.because = because
        self.cycle = cycle

    def __reduce__(self) -> tuple[object, ...]:
        return (_key_in_file_error, (dict(vars(self)),))

    def __str__(self) -> str:
        message = f"not found: {self.key!r}"
        if self.cycle == "any":
            message += " (with any cycle number)"
        elif self.cycle is not None:
            message += f" with cycle {self.cycle}"
        if self.because:
            message += f" because {self.because}"
        import difflib  # noqa: PLC0415  # only an error needs it

        near = difflib.get_close_matches(self.key, self.keys, n=5, cutoff=0.6)
        if near:
            message += "\n\n    Did you mean: " + ", ".join(map(repr, near)) + "?"
        listed = ", ".join(map(repr, self.keys[:MAX_LISTED_KEYS])) or "(none!)"
        if len(self.keys) > MAX_LISTED_KEYS:
            listed += f", ... ({len(self.keys)} in all)"
        message += f"\n\n    Available keys: {listed}\n"
        if self.file_path is not None:
            message += f"\nin file {self.file_path}"
        if self.object_path is not None:
            message += f"\nin object {self.object_path}"
        return message


def _key_in_file_error(state: dict[str, object]) -> KeyInFileError:
    """Rebuild a KeyInFileError from its attributes, for pickle."""
    error = KeyInFileError(str(state["key"]))
    vars(error).update(state)
    return error


class DeserializationError(VrootError, ValueError):
    """Bytes of a ROOT file do not have the structure that they should have."""


class CorruptBasketError(DeserializationError):
    """A basket's bytes are damaged, truncated or inconsistent with the store."""


class CorruptPageError(DeserializationError):
    """An RNTuple page's bytes are damaged, truncated or inconsistent with the store."""


class ShortReadError(VrootError, OSError):
    """A byte range came back with another length than was asked for."""


class ClosedFileError(VrootError, OSError):
    """A file was closed, and nothing more can be read from it."""


class OutputIsSourceError(VrootError, ValueError):
    """References are not written where they would replace a ROOT file."""


class ReferenceStoreError(VrootError, ValueError):
    """A reference store is malformed, of an unknown version, or not one at all."""


class StaleReferencesError(VrootError, ValueError):
    """The source file has changed since it was scanned."""


class StaleReferencesWarning(UserWarning):
    """References that were found for a ROOT file are not used: missing, damaged or outdated."""


class CatalogError(VrootError, ValueError):
    """A catalog of references is malformed."""


class UnsupportedError(VrootError, NotImplementedError):
    """The store records that this object exists, and why it cannot be read."""


class CannotBeAwkward(UnsupportedError):  # noqa: N818  # the name that uproot has
    """A branch has no Awkward form, because it cannot be read."""


class MissingExtraError(VrootError, ImportError):
    """An operation needs a package that only an extra of vroot installs.

    Parameters
    ----------
    operation : str
        What was attempted.
    package : str
        The package that is missing.
    extra : str
        The extra that installs it.
    """

    def __init__(self, operation: str, package: str, extra: str) -> None:
        super().__init__(
            f"{operation} needs the package {package!r}, which is not installed: "
            f"pip install 'vroot[{extra}]'"
        )
        self.operation = operation
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.operation, self.package, self.extra))


class NameConflictWarning(UserWarning):
    """A name could mean a branch as well as an alias or a function."""
