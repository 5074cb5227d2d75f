"""Profiles: histograms of means, with ROOT's ways to calculate their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vroot.exceptions import UnsupportedError
from vroot.objects.axis import FloatArray, TAxis, require
from vroot.objects.basics import TArray
from vroot.objects.hist import Histogram

if TYPE_CHECKING:
    import boost_histogram

__all__ = ["Profile", "TProfile", "TProfile2D", "TProfile3D"]

#: What users write for ROOT's EErrorType (ROOT: hist/hist/inc/TProfile.h).
ERROR_MODES = {None: "", 0: "", "": "", 1: "s", "s": "s", 2: "i", "i": "i", 3: "g", "g": "g"}


class Profile(Histogram):
    """A profile of any dimension.

    The contents are sums of weight times value, ``fSumw2`` the sums of weight times value squared,
    ``fBinEntries`` the sums of weights, and ``fBinSumw2`` those of the squared weights.
    """

    def check(self, *, concrete: bool) -> None:
        """Check what a histogram checks, and that bins have their sums of weights."""
        super().check(concrete=concrete)
        if not concrete:
            return
        contents = len(self._contents())
        sums = self.member("fBinEntries", none_if_missing=True)
        squares = self.member("fBinSumw2", none_if_missing=True)
        if not isinstance(sums, TArray) or len(sums) != contents:
            raise ValueError(f"its {contents} bins have no sums of weights in fBinEntries")
        if squares is not None and not isinstance(squares, TArray):
            raise TypeError(f"its fBinSumw2 must be an array, not {type(squares).__name__}")
        if squares is not None and len(squares) == self._cells != contents:
            raise ValueError(f"its {contents} bins have {len(squares)} sums of squared weights")

    @property
    def kind(self) -> str:
        """What the values are."""
        return "MEAN"

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        squares = self.member("fBinSumw2", none_if_missing=True)
        return squares is not None and len(squares) == self._cells

    # --- one number a bin, as ROOT lists them; the names are those of ROOT's TProfileHelper.h

    def _doubles(self, name: str) -> FloatArray | None:
        """Numbers of a member, if it has one for each bin."""
        array = self.member(name, none_if_missing=True)
        if array is None or len(array) == 0 or len(array) != self._cells:
            return None
        return np.asarray(array, dtype=np.float64)

    @property
    def _sums(self) -> FloatArray:
        return np.asarray(self.member("fBinEntries"), dtype=np.float64)

    def _means(self) -> FloatArray:
        contents, sums = self._contents().astype(np.float64), self._sums
        filled = sums != 0
        means = np.zeros(sums.size)
        means[filled] = contents[filled] / sums[filled]
        return means

    def _effective_counts(self) -> FloatArray:
        sums, squares = self._sums, self._doubles("fBinSumw2")
        if squares is None:
            return sums
        positive = squares > 0
        counts = np.zeros(sums.size)
        counts[positive] = sums[positive] ** 2 / squares[positive]
        return counts

    def _flat_errors(self, mode: str) -> FloatArray:
        sums, means = self._sums, self._means()
        filled = sums != 0
        errors = np.zeros(sums.size)
        if mode == "g":
            errors[filled] = 1.0 / np.sqrt(sums[filled])
            return errors
        squares = self._doubles("fSumw2")
        squares = np.zeros(sums.size) if squares is None else squares
        spread = np.zeros(sums.size)
        spread[filled] = abs(squares[filled] / sums[filled] - means[filled] ** 2)
        spread = np.sqrt(spread)
        if mode == "s":
            return spread
        counts = self._effective_counts()
        if mode == "i":
            # Values without spread were integers: their error is that of a unit interval.
            integers = spread == 0
            spread[integers], counts = 1.0, np.where(integers, 12 * counts, counts)
        errors[filled] = spread[filled] / np.sqrt(counts[filled])
        return errors

    # --- uproot's methods

    def values(self, flow: bool = False) -> FloatArray:
        """Mean of each bin; parameters and shape as in histograms."""
        return self._arranged(self._means(), flow)

    def counts(self, flow: bool = False) -> FloatArray:
        """Effective number of entries of each bin; parameters and shape as in histograms."""
        return self._arranged(self._effective_counts(), flow)

    def errors(
        self,
        flow: bool = False,
        error_mode: str | int | None = "",
    ) -> FloatArray:
        """Errors of the means.

        Parameters
        ----------
        flow : bool
            Whether to have underflow and overflow too.
        error_mode : str
            "" for the error on the mean, "s" for the spread, "i" for that of integers, and "g"
            for that of normally distributed values, as in ROOT's
            `TProfile <https://root.cern.ch/doc/master/classTProfile.html>`__.

        Raises
        ------
        ValueError
            If there is no such mode.
        """
        if error_mode not in ERROR_MODES:
            raise ValueError(f'error_mode must be "", "s", "i" or "g", not {error_mode!r}')
        return self._arranged(self._flat_errors(ERROR_MODES[error_mode]), flow)

    def variances(
        self,
        flow: bool = False,
        error_mode: str | int | None = "",
    ) -> FloatArray:
        """Squares of the errors; parameters as in `errors`."""
        return np.square(self.errors(flow, error_mode))

    def to_boost(
        self,
        metadata: Mapping[str, str] | None = None,  # noqa: ARG002
        axis_metadata: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> boost_histogram.Histogram[Any]:
        """Convert to boost-histogram; one-dimensional profiles only, as in uproot.

        Parameters
        ----------
        metadata, axis_metadata : mapping of str to str, optional
            As in histograms.

        Returns
        -------
        boost_histogram.Histogram
            With ``WeightedMean`` storage if sums of squared weights are stored, else ``Mean``.

        Raises
        ------
        UnsupportedError
            If it has more dimensions.
        MissingExtraError, DeserializationError
            As in histograms.
        """
        raise UnsupportedError(f"a {self.classname} cannot be converted to boost-histogram")


class TProfile(Profile):
    """A one-dimensional profile."""

    def axis(self, axis: int | str = 0) -> TAxis:
        """Get the axis: 0, -1 or "x"."""
        return super().axis(axis)

    def to_boost(
        self,
        metadata: Mapping[str, str] | None = None,
        axis_metadata: Mapping[str, str] | None = None,
    ) -> boost_histogram.Histogram[Any]:
        """Convert to boost-histogram, see `Profile.to_boost`."""
        storage = require("converting a profile", "boost_histogram").storage
        sums, means, squares = self._sums, self._means(), self._doubles("fSumw2")
        deviations = np.zeros(sums.size)
        if squares is not None:
            deviations = np.maximum(squares - sums * means**2, 0.0)
        if self.weighted:
            with np.errstate(divide="ignore", invalid="ignore"):
                weights = sums**2 / self._effective_counts()
            columns = {
                "sum_of_weights": sums,
                "sum_of_weights_squared": weights,
                "value": means,
                "_sum_of_weighted_deltas_squared": deviations,
            }
            made = storage.WeightedMean()
        else:
            columns = {"count": sums, "value": means, "_sum_of_deltas_squared": deviations}
            made = storage.Mean()
        filled: boost_histogram.Histogram[Any] = self._filled(
            made, columns, metadata, axis_metadata
        )
        filled.metadata = {"fEntries": self.member("fEntries")}
        return filled


class TProfile2D(Profile):
    """A two-dimensional profile."""

    dimension = 2


class TProfile3D(Profile):
    """A three-dimensional profile."""

    dimension = 3
