"""Axes of histograms."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from vroot.exceptions import DeserializationError, MissingExtraError
from vroot.objects.basics import TArray, THashList, TList
from vroot.objects.model import Object

__all__ = ["FloatArray", "TAxis", "require"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

#: An axis is computed, not stored, so that a store could make it any length.
MAX_BINS = 1 << 26


def require(operation: str, package: str) -> Any:
    """Import a package of the extra "hist".

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as err:
        raise MissingExtraError(operation, package.replace("_", "-"), "hist") from err


class AxisTraits:
    """What kind of axis it is, for the PlottableHistogram protocol.

    Parameters
    ----------
    discrete : bool
        Whether its bins have labels.
    """

    def __init__(self, *, discrete: bool) -> None:
        self._discrete = discrete

    def __repr__(self) -> str:
        return f"AxisTraits(circular=False, discrete={self._discrete})"

    @property
    def circular(self) -> bool:
        """Whether the axis wraps around: never, in ROOT."""
        return False

    @property
    def discrete(self) -> bool:
        """Whether its bins have labels."""
        return self._discrete


class TAxis(Object, Sequence[Any]):
    """An axis of a histogram: a sequence of its bins, as intervals or labels."""

    def check(self, *, concrete: bool) -> None:  # noqa: ARG002
        """Check the number of bins, the edges and the labels."""
        bins = self.member("fNbins", none_if_missing=True)
        if type(bins) is not int or not 1 <= bins <= MAX_BINS:
            raise ValueError(f"its fNbins must be from 1 to {MAX_BINS}, not {bins!r}")
        for name in ("fXmin", "fXmax"):
            if not isinstance(self.member(name, none_if_missing=True), float):
                raise TypeError(f"its {name} must be a real number")
        for name in ("fName", "fTitle"):
            if not isinstance(self.member(name, none_if_missing=True), str):
                raise TypeError(f"its {name} must be a string")
        edges = self.member("fXbins", none_if_missing=True)
        if edges is not None and not isinstance(edges, TArray):
            raise TypeError(f"its fXbins must be an array, not {type(edges).__name__}")
        labels = self.member("fLabels", none_if_missing=True)
        if labels is None:
            return
        if not isinstance(labels, TList | THashList):
            raise TypeError(f"its fLabels must be a list, not {type(labels).__name__}")
        if not all(isinstance(label, str) for label in labels):
            raise TypeError("one of its labels is not a string")

    # --- what the members say

    @property
    def _edges(self) -> FloatArray | None:
        """Edges of the bins, if they are listed."""
        edges = self.member("fXbins", none_if_missing=True)
        if edges is None or len(edges) != len(self) + 1:
            return None
        return np.asarray(edges, dtype=np.float64)

    @property
    def all_labels(self) -> list[str] | None:
        """The labels in the order of the bins, even if not every bin has one; None without any.

        A label's ``fUniqueID`` is the number of its bin (ROOT: TAxis::GetBinLabel). Files whose
        labels have no such numbers list them in order.
        """
        labels = self.member("fLabels", none_if_missing=True)
        if labels is None:
            return None
        numbers = [
            label.member("@fUniqueID", none_if_missing=True) if isinstance(label, Object) else None
            for label in labels
        ]
        texts = [str(label) for label in labels]
        if set(numbers) != set(range(1, len(texts) + 1)):
            return texts
        by_bin = dict(zip(numbers, texts, strict=True))
        return [by_bin[number] for number in range(1, len(texts) + 1)]

    # --- the axis as a sequence

    def __len__(self) -> int:
        return int(self.member("fNbins"))

    def __getitem__(self, where: Any) -> Any:
        labels, edges = self.labels(), self._edges
        if labels is not None:
            return labels[where]
        if edges is not None:
            return edges[where], edges[where + 1]
        low, high, bins = self.low, self.high, float(len(self))
        return (high - low) * where / bins + low, (high - low) * (where + 1) / bins + low

    def __iter__(self) -> Iterator[Any]:
        labels = self.labels()
        yield from self.intervals() if labels is None else labels

    def __contains__(self, bin_: object) -> bool:
        return any(np.array_equal(bin_, own) for own in self)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TAxis) or self.classname != other.classname:
            return False
        ours, theirs = self.labels(), other.labels()
        if ours is None and theirs is None:
            return len(self) == len(other) and np.array_equal(self.edges(), other.edges())
        return ours == theirs

    __hash__ = None  # type: ignore[assignment]

    # --- uproot's methods

    @property
    def traits(self) -> AxisTraits:
        """What kind of axis it is."""
        return AxisTraits(discrete=self.labels() is not None)

    @property
    def low(self) -> float:
        """Low edge of the first bin that is not underflow."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """High edge of the last bin that is not overflow."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float:
        """Width of the bins; on average, if they differ."""
        if self._edges is None:
            return (self.high - self.low) / len(self)
        return float(self.widths().mean())

    def labels(self, flow: bool = False) -> list[str] | None:
        """Labels of the bins; None unless every bin has one.

        Parameters
        ----------
        flow : bool
            Whether to put "underflow" and "overflow" around them.
        """
        labels = self.all_labels
        if labels is None or len(labels) != len(self):
            return None
        return ["underflow", *labels, "overflow"] if flow else labels

    def edges(self, flow: bool = False) -> FloatArray:
        """Edges of the bins, shape (bins + 1,).

        Parameters
        ----------
        flow : bool
            Whether to put infinities around them.
        """
        listed = self._edges
        edges = np.linspace(self.low, self.high, len(self) + 1) if listed is None else listed
        return np.concatenate([[-np.inf], edges, [np.inf]]) if flow else edges

    def intervals(self, flow: bool = False) -> FloatArray:
        """Low and high edge of each bin, shape (bins, 2).

        Parameters
        ----------
        flow : bool
            Whether to have underflow and overflow too.
        """
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def centers(self, flow: bool = False) -> FloatArray:
        """Centers of the bins, shape (bins,); parameters as in `intervals`."""
        edges = self.edges(flow)
        return (edges[1:] + edges[:-1]) / 2.0

    def widths(self, flow: bool = False) -> FloatArray:
        """Widths of the bins, shape (bins,); parameters as in `intervals`."""
        if not flow and self._edges is None:
            return np.full(len(self), (self.high - self.low) / len(self))
        edges = self.edges(flow)
        return edges[1:] - edges[:-1]

    def to_boost(self, metadata: Mapping[str, str]) -> Any:
        """Make the axis of boost-histogram.

        Parameters
        ----------
        metadata : mapping of str to str
            Attributes that it gets, and the members where they are.
        """
        axis = require("converting a histogram", "boost_histogram").axis
        labels, edges = self.all_labels, self._edges
        try:
            if labels is not None:
                made = _category(axis, labels)
            elif edges is not None:
                made = axis.Variable(edges, underflow=True, overflow=True)
            else:
                made = axis.Regular(len(self), self.low, self.high, underflow=True, overflow=True)
        except (ValueError, OverflowError) as err:
            raise DeserializationError(f"boost-histogram has no such axis: {err}") from err
        for name, member in metadata.items():
            setattr(made, name, self.member(member))
        return made


def _category(axis: Any, labels: list[str]) -> Any:
    """Make an axis of categories: integers, if all labels are."""
    try:
        integers = [int(label) for label in labels]
    except ValueError:
        return axis.StrCategory(labels)
    return axis.IntCategory(integers)
