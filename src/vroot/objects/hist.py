"""Histograms, with uproot's methods and the PlottableHistogram protocol of UHI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vroot.exceptions import DeserializationError, UnsupportedError
from vroot.objects.axis import FloatArray, TAxis, require
from vroot.objects.basics import AnyArray, TArray
from vroot.objects.model import Object

if TYPE_CHECKING:
    import boost_histogram
    import hist

__all__ = ["TH1", "TH2", "TH3", "Histogram", "TH2Poly"]

AXES = ("fXaxis", "fYaxis", "fZaxis")

#: What a histogram of boost-histogram is told of ours: its attributes, and our members.
METADATA = {"name": "fName", "label": "fTitle"}


class Histogram(Object):
    """A histogram or profile of any dimension."""

    dimension = 1
    rank = 1

    def check(self, *, concrete: bool) -> None:
        """Check that the axes are valid, and that the contents fit them."""
        for name in AXES[: self.dimension]:
            axis = self.member(name, none_if_missing=True)
            if not isinstance(axis, TAxis):
                raise TypeError(f"its {name} must be an axis, not {type(axis).__name__}")
        for name in METADATA.values():
            if not isinstance(self.member(name, none_if_missing=True), str):
                raise TypeError(f"its {name} must be a string")
        if not concrete:
            return
        contents, cells = self.base(TArray), math.prod(self._shape)
        if len(contents) != 1 or len(contents[0]) != cells:  # type: ignore[arg-type]
            sizes = [len(array) for array in contents]  # type: ignore[arg-type]
            raise ValueError(f"its {cells} bins have {sizes} contents")
        squares, wanted = self.member("fSumw2", none_if_missing=True), self._cells
        if type(wanted) is not int:
            raise TypeError(f"its fNcells must be a whole number, not {wanted!r}")
        if squares is not None and not isinstance(squares, TArray):
            raise TypeError(f"its fSumw2 must be an array, not {type(squares).__name__}")
        if squares is not None and len(squares) == wanted != cells:
            raise ValueError(f"its {cells} bins have {wanted} sums of squared weights")

    @property
    def _cells(self) -> Any:
        """Number of bins, underflow and overflow included, as the file says it."""
        return self.member("fNcells", none_if_missing=True)

    @property
    def _shape(self) -> tuple[int, ...]:
        """Numbers of bins along the axes, underflow and overflow included."""
        return tuple(len(axis) + 2 for axis in self.axes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        if (self.classname, self.class_version) != (other.classname, other.class_version):
            return False
        return self.axes == other.axes and all(
            np.array_equal(ours, theirs)
            for ours, theirs in (
                (self.values(flow=True), other.values(flow=True)),
                (self.variances(flow=True), other.variances(flow=True)),
            )
        )

    __hash__ = None  # type: ignore[assignment]

    # --- axes

    @property
    def axes(self) -> tuple[TAxis, ...]:
        """The axes."""
        return tuple(self.member(name) for name in AXES[: self.dimension])

    def axis(self, axis: int | str) -> TAxis:
        """Get an axis.

        Parameters
        ----------
        axis : int or str
            Its number, from 0 or from -1 downwards, or "x", "y" or "z".

        Raises
        ------
        ValueError
            If there is no such axis.
        """
        names = "xyz"[: self.dimension]
        for number, name in enumerate(names):
            if axis in (number, number - self.dimension, name):
                return self.axes[number]
        raise ValueError(
            f"axis must be from {-self.dimension} to {self.dimension - 1}, or one of "
            f"{', '.join(map(repr, names))}, for a {self.classname}: not {axis!r}"
        )

    # --- contents

    @property
    def kind(self) -> str:
        """What the values are: "COUNT" in histograms, "MEAN" in profiles."""
        return "COUNT"

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        squares = self.member("fSumw2")
        return squares is not None and len(squares) > 0 and len(squares) == self._cells

    def _arranged(self, flat: AnyArray, flow: bool) -> AnyArray:
        """Arrange one number a bin, as ROOT lists them, along the axes; x varies fastest."""
        arranged = np.transpose(flat.reshape(self._shape[::-1]))
        return arranged if flow else arranged[(slice(1, -1),) * self.dimension]

    def _contents(self) -> AnyArray:
        """Contents of the bins in native byte order, as ROOT lists them."""
        (contents,) = self.base(TArray)
        array = np.asarray(contents)
        return array.astype(array.dtype.newbyteorder("="))

    def values(self, flow: bool = False) -> AnyArray:
        """Contents of the bins.

        Parameters
        ----------
        flow : bool
            Whether to have underflow and overflow too, which makes each dimension longer by two.

        Returns
        -------
        ndarray
            As many dimensions as there are axes; of the type that the histogram has.
        """
        return self._arranged(self._contents(), flow)

    def variances(self, flow: bool = False) -> FloatArray:
        """Variances of the values: sums of squared weights if stored, else the values.

        Parameters and shape are those of `values`; what is negative is zero.
        """
        squares = self.member("fSumw2", none_if_missing=True)
        contents = self._contents()
        if squares is not None and len(squares) == self._cells:
            contents = np.asarray(squares)
        variances = np.zeros(contents.shape, np.float64)
        positive = contents > 0
        variances[positive] = contents[positive]
        return self._arranged(variances, flow)

    def errors(self, flow: bool = False) -> FloatArray:
        """Square roots of the variances; parameters and shape as in `values`."""
        return np.sqrt(self.variances(flow))

    def counts(self, flow: bool = False) -> AnyArray:
        """Weighted number of entries in each bin; parameters and shape as in `values`."""
        return self.values(flow)

    # --- conversions

    def to_numpy(
        self,
        flow: bool = False,
        dd: bool = False,
    ) -> tuple[Any, ...]:
        """Give what NumPy's histogram functions give.

        Parameters
        ----------
        flow : bool
            Whether to have underflow and overflow too.
        dd : bool
            Whether to imitate `numpy.histogramdd`, which has the edges in a tuple.

        Returns
        -------
        tuple
            The values, and the edges along each axis.
        """
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(
        self,
        metadata: Mapping[str, str] | None = None,
        axis_metadata: Mapping[str, str] | None = None,
    ) -> boost_histogram.Histogram[Any]:
        """Convert to boost-histogram, exactly.

        Parameters
        ----------
        metadata, axis_metadata : mapping of str to str, optional
            Attributes that the histogram and its axes get, and the members where they are; by
            default "name" is ``fName`` and "label" is ``fTitle``.

        Returns
        -------
        boost_histogram.Histogram
            With ``Weight`` storage if sums of squared weights are stored, else ``Int64`` or
            ``Double``; with underflow and overflow, and categories where there are labels.

        Raises
        ------
        MissingExtraError
            If boost-histogram is not installed.
        DeserializationError
            If boost-histogram has no such axes, for instance because a label is there twice.
        """
        storage = require("converting a histogram", "boost_histogram").storage
        contents = self.values(flow=True)
        columns = {"": contents}
        made = storage.Int64() if contents.dtype.kind in "iu" else storage.Double()
        if self.weighted:
            columns = {"value": contents, "variance": self.variances(flow=True)}
            made = storage.Weight()
        filled: boost_histogram.Histogram[Any] = self._filled(
            made, columns, metadata, axis_metadata
        )
        return filled

    def _filled(
        self,
        storage: Any,
        columns: Mapping[str, AnyArray],
        metadata: Mapping[str, str] | None,
        axis_metadata: Mapping[str, str] | None,
    ) -> Any:
        """Make a histogram of boost-histogram from arrays with underflow and overflow."""
        axes = [
            axis.to_boost(METADATA if axis_metadata is None else axis_metadata)
            for axis in self.axes
        ]
        made = require("converting a histogram", "boost_histogram").Histogram(
            *axes, storage=storage
        )
        for name, member in (METADATA if metadata is None else metadata).items():
            setattr(made, name, self.member(member))
        # Axes of categories have an overflow bin but no underflow bin.
        inner = tuple(slice(0 if axis.traits.underflow else 1, None) for axis in axes)
        view = made.view(flow=True)
        for name, column in columns.items():
            contents = column[inner]
            if contents.shape != view.shape:
                raise DeserializationError(
                    f"{self!r} has {contents.shape} bins for {view.shape} labels and edges"
                )
            view[name or ...] = contents
        return made

    def to_hist(
        self,
        metadata: Mapping[str, str] | None = None,
        axis_metadata: Mapping[str, str] | None = None,
    ) -> hist.Hist[Any]:
        """Convert to hist, exactly; parameters and errors as in `to_boost`."""
        module = require("converting a histogram", "hist")
        boost = self.to_boost(metadata=metadata, axis_metadata=axis_metadata)
        try:
            made: hist.Hist[Any] = module.Hist(boost)
        except (KeyError, ValueError) as err:
            raise DeserializationError(f"hist has no axes of these names: {err}") from err
        return made

    def _to_boost_histogram_(self) -> boost_histogram.Histogram[Any]:
        """Let boost-histogram and hist take the histogram as it is."""
        return self.to_boost()


class TH1(Histogram):
    """A one-dimensional histogram."""

    def axis(self, axis: int | str = 0) -> TAxis:
        """Get the axis: 0, -1 or "x"."""
        return super().axis(axis)


class TH2(Histogram):
    """A two-dimensional histogram."""

    dimension = 2


class TH3(Histogram):
    """A three-dimensional histogram."""

    dimension = 3


class TH2Poly(Histogram):
    """A histogram whose bins are polygons: its axes can be read, not its contents."""

    dimension = 2

    def check(self, *, concrete: bool) -> None:  # noqa: ARG002
        """Check that the axes are valid."""
        super().check(concrete=False)

    def _contents(self) -> AnyArray:
        raise UnsupportedError(f"the contents of a {self.classname} are not supported")
