"""Graphs, and RooFit's curves and histograms, which are graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from vroot.exceptions import DeserializationError
from vroot.objects.axis import require
from vroot.objects.basics import AnyArray
from vroot.objects.model import Object

if TYPE_CHECKING:
    import boost_histogram
    import hist

__all__ = ["RooCurve", "RooHist", "TGraph", "TGraphAsymmErrors"]

Which: TypeAlias = Literal["low", "high", "mean", "diff"]


class TGraph(Object):
    """A graph: points with x and y."""

    arrays: tuple[str, ...] = ("fX", "fY")

    def check(self, *, concrete: bool) -> None:
        """Check that coordinates and errors are arrays of one length."""
        if not concrete:
            return
        for name in ("fName", "fTitle"):
            if not isinstance(self.member(name, none_if_missing=True), str):
                raise TypeError(f"its {name} must be a string")
        sizes = {}
        for name in self.arrays:
            array = self.member(name, none_if_missing=True)
            if not isinstance(array, np.ndarray):
                raise TypeError(f"its {name} must be an array, not {type(array).__name__}")
            if array.ndim != 1 or array.dtype.kind not in "fiu":
                raise ValueError(f"its {name} has shape {array.shape} and dtype {array.dtype}")
            sizes[name] = array.size
        if len(set(sizes.values())) > 1:
            raise ValueError(f"it has {sizes} points")

    def _array(self, name: str) -> AnyArray:
        array: AnyArray = self.member(name)
        return array.astype(array.dtype.newbyteorder("="))

    def _axis_name(self, axis: int | str) -> str:
        """Say which axis is meant: "X", "Y" or "both"."""
        for name, numbers in (("X", (0, -2, "x")), ("Y", (1, -1, "y")), ("both", ("both",))):
            if axis in numbers:
                return name
        raise ValueError(
            f"axis must be 0 (-2, 'x'), 1 (-1, 'y'), or 'both' for a {self.classname}: not {axis!r}"
        )

    def values(self, axis: int | str = "both") -> Any:
        """Coordinates of the points.

        Parameters
        ----------
        axis : int or str
            0, -2 or "x"; 1, -1 or "y"; or "both".

        Returns
        -------
        ndarray, or tuple of two
            Of shape (points,).

        Raises
        ------
        ValueError
            If there is no such axis.
        """
        name = self._axis_name(axis)
        return (self._array("fX"), self._array("fY")) if name == "both" else self._array(f"f{name}")


class TGraphAsymmErrors(TGraph):
    """A graph with asymmetric errors."""

    arrays = ("fX", "fY", "fEXlow", "fEXhigh", "fEYlow", "fEYhigh")

    def errors(self, which: Which, axis: int | str = "both") -> Any:
        """Errors of the points.

        Parameters
        ----------
        which : str
            "low", "high", "mean" for their average, or "diff" for high without low.
        axis : int or str
            As in `values`.

        Returns
        -------
        ndarray, or tuple of two
            Of shape (points,).

        Raises
        ------
        ValueError
            If there is no such axis or error.
        """
        name = self._axis_name(axis)
        if which not in ("low", "high", "mean", "diff"):
            raise ValueError(f"which must be 'low', 'high', 'mean', or 'diff', not {which!r}")
        if name == "both":
            return (self.errors(which, "x"), self.errors(which, "y"))
        low, high = self._array(f"fE{name}low"), self._array(f"fE{name}high")
        return {"low": low, "high": high, "mean": (high + low) / 2.0, "diff": high - low}[which]


class RooHist(TGraphAsymmErrors):
    """RooFit's histogram: points in the middle of bins that the errors in x describe."""

    def to_numpy(self, dd: bool = False) -> tuple[Any, ...]:
        """Give the values and the edges of the bins.

        Parameters
        ----------
        dd : bool
            Whether to imitate `numpy.histogramdd`, which has the edges in a tuple.

        Raises
        ------
        ValueError
            If the bins do not touch.
        """
        centers, values = self.values()
        low, high = centers - self.errors("low", "x"), centers + self.errors("high", "x")
        if not centers.size or not np.all(np.isclose(low[1:], high[:-1])):
            raise DeserializationError(f"the bins of {self!r} do not touch")
        edges = np.append(low, [high[-1]])
        return (values, (edges,)) if dd else (values, edges)

    def to_boost(self) -> boost_histogram.Histogram[Any]:
        """Convert to boost-histogram, with symmetric errors: it has no others.

        Raises
        ------
        MissingExtraError
            If boost-histogram is not installed.
        ValueError
            If the bins do not touch.
        """
        values, edges = self.to_numpy()
        variances = np.square(self.errors("mean", "y"))
        return _histogram(self, edges, values, variances)

    def to_hist(self) -> hist.Hist[Any]:
        """Convert to hist, see `to_boost`."""
        made: hist.Hist[Any] = require("converting a histogram", "hist").Hist(self.to_boost())
        return made

    def _to_boost_histogram_(self) -> boost_histogram.Histogram[Any]:
        """Let boost-histogram and hist take the histogram as it is."""
        return self.to_boost()


class RooCurve(TGraph):
    """RooFit's curve of values, or closed curve around a band of errors."""

    @property
    def curve_type(self) -> Literal["VALUES", "ERRORS"]:
        """Whether it is a curve of values or one around errors, which is closed."""
        x = self._array("fX")
        return "ERRORS" if x.size and np.isclose(x[0], x[-1]) else "VALUES"

    def _require(self, kind: str) -> None:
        if self.curve_type != kind:
            other = "interpolate_errors" if kind == "VALUES" else "interpolate"
            raise ValueError(f"this curve is one of {self.curve_type}: try {other}")

    def interpolate(self, xvalues: npt.ArrayLike) -> AnyArray:
        """Interpolate the values at some x.

        Raises
        ------
        ValueError
            If it is a curve around errors.
        """
        self._require("VALUES")
        return np.asarray(np.interp(np.asarray(xvalues), *self.values()))

    def interpolate_asymm_errors(self, xvalues: npt.ArrayLike) -> tuple[AnyArray, AnyArray]:
        """Interpolate the upper and the lower edge of the band at some x.

        Raises
        ------
        ValueError
            If it is a curve of values, or x does not rise along an edge.
        """
        self._require("ERRORS")
        x, y = self.values()
        # The upper edge runs to the right, where it has two points, and the lower one back.
        turn = int(np.argmax(x)) + 2
        up, down = (x[:turn], y[:turn]), (np.flip(x[turn:]), np.flip(y[turn:]))
        if not down[0].size or not all(np.all(np.diff(edge) >= 0) for edge, _ in (up, down)):
            raise DeserializationError(f"x does not rise along the edges of {self!r}")
        at = np.asarray(xvalues)
        return np.asarray(np.interp(at, *up)), np.asarray(np.interp(at, *down))

    def interpolate_errors(self, xvalues: npt.ArrayLike) -> AnyArray:
        """Interpolate half the height of the band at some x; errors as above."""
        up, down = self.interpolate_asymm_errors(xvalues)
        return np.abs((up - down) / 2)

    def to_boost(
        self, bin_edges: AnyArray, error_curve: RooCurve | None = None
    ) -> boost_histogram.Histogram[Any]:
        """Convert to boost-histogram, by interpolating at the centers of bins.

        Parameters
        ----------
        bin_edges : ndarray
            Edges of the bins.
        error_curve : RooCurve, optional
            The curve around the errors.

        Raises
        ------
        MissingExtraError
            If boost-histogram is not installed.
        ValueError
            If it is a curve around errors.
        """
        centers = (bin_edges[1:] + bin_edges[:-1]) / 2
        values = self.interpolate(centers)
        variances = None
        if error_curve is not None:
            variances = np.square(error_curve.interpolate_errors(centers))
        return _histogram(self, bin_edges, values, variances)

    def to_hist(self, bin_edges: AnyArray, error_curve: RooCurve | None = None) -> hist.Hist[Any]:
        """Convert to hist, see `to_boost`."""
        made: hist.Hist[Any] = require("converting a curve", "hist").Hist(
            self.to_boost(bin_edges, error_curve)
        )
        return made


def _histogram(
    graph: TGraph, edges: AnyArray, values: AnyArray, variances: AnyArray | None
) -> boost_histogram.Histogram[Any]:
    """Make a histogram without underflow and overflow, with the name and title of a graph."""
    module = require("converting a graph", "boost_histogram")
    try:
        axis = module.axis.Variable(edges, underflow=False, overflow=False)
    except ValueError as err:
        raise DeserializationError(f"boost-histogram has no such axis: {err}") from err
    axis.name, axis.title = graph.name, graph.title
    storage = module.storage.Double() if variances is None else module.storage.Weight()
    made: Any = module.Histogram(axis, storage=storage)
    made.name, made.title = graph.name, graph.title
    view = made.view()
    if variances is None:
        view[...] = values
    else:
        view["value"], view["variance"] = values, variances
    return made  # type: ignore[no-any-return]
