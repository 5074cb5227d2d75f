"""What the interpretations have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["Base"]


class Base(msgspec.Struct):
    """What interpretations have in common: they do not change, and they know their Awkward form."""

    #: Makes the form of one: set by `vroot.arrays.libraries`, which makes the arrays too.
    form_maker: ClassVar[Callable[[Any], Any]]

    def __setattr__(self, name: str, value: object) -> None:
        # coffea chooses with this attribute how uproot deserializes; here the store has chosen.
        if name != "_forth":
            raise AttributeError(f"{type(self).__name__} does not change: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} does not change: {name!r} cannot be deleted")

    def __hash__(self) -> int:
        return hash((type(self), *msgspec.structs.astuple(self)))

    def awkward_form(self, file: object = None) -> ak.forms.Form:  # noqa: ARG002  # uproot's
        """Give the Awkward form of one entry.

        Parameters
        ----------
        file : optional
            Not used: uproot looks there for the classes of C++ that the store has made forms of.

        Returns
        -------
        ak.forms.Form
            The form of the arrays that are read, without their number of entries.

        Raises
        ------
        CannotBeAwkward
            If the branch cannot be read.
        """
        form: ak.forms.Form = Base.form_maker(self)
        return form
