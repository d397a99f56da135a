"""A private empirical distribution function from a histogram with Laplace noise, and a hardened one.

`DPEcdf` keeps the contract of synthpriv 0.2.1's class of that name: on input that both take, edges,
distribution and quantiles are the same to the last bit. `HardenedEcdf` keeps what that contract
promises: nothing that depends on the data is published outside the mechanism, the noise is exact, and
its entropy is nobody else's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noiseaudit import entropy
from noiseaudit.cks20 import kernels, reference

FEWEST_BINS = 2

SCALE_GRID = 2**20
"""The hardened noise has a scale that is a multiple of ``1/SCALE_GRID``, rounded up: exact, and never
less private than asked for."""

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-10, float(SCALE_GRID)
"""Of the hardened class: its scale must be a rational that the cascade takes."""

_EDGE = 1e-12
"""Quantiles and steps of the distribution are kept this far from 0."""

_ROUNDING = 1e-12

_BLOCK = 1 << 15
"""Values looked at together."""

PAD, LEAST_PAD = 0.05, 1e-6
"""By how much a support taken from the data is widened: a share of it, and at least so much."""


class BoundsRequired(ValueError):
    """No public bounds were given where the data's own would tell of it."""


@dataclass
class _Released:
    """What is published of a column: a distribution on a grid, linear between its edges."""

    edges: np.ndarray
    cdf: np.ndarray

    @classmethod
    def of(cls, noisy: np.ndarray, low: float, high: float) -> _Released:
        """Noisy counts of equal bins between two ends, made a distribution: post-processing."""
        weights = np.maximum(noisy, 0.0)
        total = float(weights.sum())
        if not (np.isfinite(total) and total > 0):
            weights, total = np.ones(noisy.size), float(noisy.size)
        cdf = np.concatenate([[0.0], np.cumsum(weights / total)])
        cdf = np.clip(cdf / cdf[-1], 0.0, 1.0)
        cdf[-1] = 1.0
        return cls(np.linspace(low, high, noisy.size + 1), cdf)

    def quantile(self, u: ArrayLike) -> np.ndarray:
        """The inverse of the distribution, linear between edges."""
        u = np.asarray(u, dtype=np.float64)
        if not np.all((u >= 0) & (u <= 1)):
            raise ValueError("quantile: values in 0..1 expected, others or NaN found")
        flat = np.clip(u.ravel(), _EDGE, 1.0 - _EDGE)
        place = np.searchsorted(self.cdf, flat, side="right") - 1
        place = np.clip(place, 0, self.cdf.size - 2)
        below, above = self.cdf[place], self.cdf[place + 1]
        share = np.clip((flat - below) / np.maximum(above - below, _EDGE), 0.0, 1.0)
        left, right = self.edges[place], self.edges[place + 1]
        return (left + share * (right - left)).reshape(u.shape)


class _Ecdf:
    """What both classes share once they are fitted."""

    _released: _Released | None = None

    @property
    def edges(self) -> np.ndarray:
        """Edges of the bins, shape (bins + 1,)."""
        return self._fitted.edges

    @property
    def cdf(self) -> np.ndarray:
        """The private distribution at the edges, from 0 to 1."""
        return self._fitted.cdf

    def quantile(self, u: ArrayLike) -> np.ndarray:
        """Values at the quantiles u, of u's shape: post-processing, at no privacy cost.

        Raises
        ------
        ValueError
            If one is not in 0..1.
        RuntimeError
            If nothing was fitted.
        """
        return self._fitted.quantile(u)

    @property
    def _fitted(self) -> _Released:
        if self._released is None:
            raise RuntimeError(f"{type(self).__name__} not fitted: call fit(values) first")
        return self._released


class DPEcdf(_Ecdf):
    """The contract of synthpriv 0.2.1's ``DPEcdf``, in our own words.

    Parameters
    ----------
    epsilon : float
        Privacy budget of the column, finite and above 0.
    bins : int
        Equal bins of the grid; fewer than two are taken as two.
    q_low, q_high : float
        Quantiles of the data between which the grid lies where no bounds are given.
    bounds : (float, float), optional
        Public ends of the grid. Values beyond them are dropped, as they are there.

    Raises
    ------
    ValueError
        If one of them is out of range.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        bins: int = 200,
        q_low: float = 0.001,
        q_high: float = 0.999,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self.epsilon = _valid_epsilon(epsilon)
        try:
            self.bins = max(FEWEST_BINS, int(bins))
        except (TypeError, ValueError) as error:
            raise ValueError(f"bins: {bins!r} found, an integer expected") from error
        for name, q in (("q_low", q_low), ("q_high", q_high)):
            if not (isinstance(q, int | float | np.number) and 0 <= q <= 1):
                raise ValueError(f"{name}: {q!r} found, a number in 0..1 expected")
        self.q_low, self.q_high = float(q_low), float(q_high)
        self.bounds = None if bounds is None else _valid_bounds(bounds)
        self.n = 0

    def fit(self, values: ArrayLike, rng: np.random.Generator | None = None) -> DPEcdf:
        """Build the distribution of a column.

        Parameters
        ----------
        values : array
            At least two finite numbers.
        rng : numpy.random.Generator, optional
            Source of the noise. By default a generator seeded 0, as there: the noise is public.

        Raises
        ------
        ValueError
            If a value is no finite number, there are fewer than two, or the data's support cannot
            be a grid of floats.
        """
        column = _finite(values)
        if column.size < 2:
            raise ValueError(f"values: {column.size} found, at least 2 expected")
        self.n = column.size
        rng = rng or np.random.default_rng(0)
        if not hasattr(rng, "laplace"):
            raise ValueError(f"rng: {rng!r} found, a numpy.random.Generator expected")
        low, high = self.bounds or self._support(column)
        counts = np.histogram(column, bins=self.bins, range=(low, high))[0].astype(np.float64)
        self._released = _Released.of(
            counts + rng.laplace(0.0, 1.0 / self.epsilon, size=self.bins), low, high
        )
        return self

    def _support(self, column: np.ndarray) -> tuple[float, float]:
        ends = sorted((self.q_low, self.q_high))
        low, high = (float(np.quantile(column, q)) for q in ends)
        pad = LEAST_PAD + PAD * (high - low)
        low, high = low - pad, high + pad
        if high <= low:
            high = low + 1.0
        if not (
            isfinite(low)
            and isfinite(high)
            and np.all(np.diff(np.linspace(low, high, self.bins + 1)) > 0)
        ):
            raise ValueError(
                f"values: their support {low:g} .. {high:g} has no {self.bins} bins in floating point"
            )
        warnings.warn(
            "the support of this DPEcdf comes from the data (quantiles and a margin), which the range "
            "itself reveals; give public bounds=(min, max) for a full guarantee",
            stacklevel=3,
        )
        return low, high

    def report(self) -> dict[str, Any]:
        """The privacy state of the column; its ``n`` is exact, as there."""
        released = self._released
        return {
            "mechanism": "dp-ecdf",
            "dp": True,
            "epsilon": self.epsilon,
            "bins": self.bins,
            "bounds_public": self.bounds is not None,
            "bounds": self.bounds,
            "range": released and (float(released.edges[0]), float(released.edges[-1])),
            "n": self.n,
        }


class HardenedEcdf(_Ecdf):
    """A private distribution function whose guarantee holds for all that it publishes.

    Adding or removing one row costs at most `epsilon`, replacing one at most twice that. The counts'
    noise is exactly discrete Laplace, drawn by the corrected cascade; values beyond the bounds count in
    the bins at the edges; no number of rows is published, and none is too small to be taken, since a
    refusal would tell it.

    Parameters
    ----------
    epsilon : float
        Privacy budget of the column, from `SMALLEST_EPSILON` to `LARGEST_EPSILON`.
    bounds : (float, float)
        Public ends of the grid.
    bins : int
        Equal bins of the grid, at least two.
    source : reference.Source, optional
        Where the noise's bytes come from. By default the operating system's entropy; anything else
        is for tests only.

    Raises
    ------
    ValueError
        If one of them is out of range.
    """

    def __init__(
        self,
        epsilon: float,
        bounds: tuple[float, float],
        bins: int = 200,
        source: reference.Source | None = None,
    ) -> None:
        asked = _valid_epsilon(epsilon)
        if not SMALLEST_EPSILON <= asked <= LARGEST_EPSILON:
            raise ValueError(
                f"epsilon: {epsilon} found, from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g} expected"
            )
        if not isinstance(bins, int | np.integer) or bins < FEWEST_BINS:
            raise ValueError(f"bins: {bins!r} found, an integer of at least {FEWEST_BINS} expected")
        if bounds is None:
            raise BoundsRequired("bounds: none found, public (min, max) expected")
        self.bounds, self.bins = _valid_bounds(bounds), int(bins)
        self.scale = Fraction(ceil(SCALE_GRID / Fraction(asked)), SCALE_GRID)
        self._noise = kernels.Cascade("fixed", self.scale, source or entropy.FreshBytes())

    @property
    def epsilon(self) -> float:
        """What is paid for adding or removing a row: ``1/scale``, at most what was asked for."""
        return float(1 / self.scale)

    def fit(self, values: ArrayLike) -> HardenedEcdf:
        """Build the distribution of a column of any size; each fit spends epsilon anew.

        Infinities count in the edge bins; NaN, the missing value, counts in none. Neither is refused,
        since a refusal would tell of the row.

        Raises
        ------
        ValueError
            If the column is not one of numbers.
        """
        if np.ndim(values) != 1:
            raise ValueError(f"values: {np.ndim(values)} dimensions found, one column expected")
        column = _numbers(values)
        counts = np.histogram(column, bins=self.bins, range=self.bounds)[0]
        below, above = _outside(column, *self.bounds)
        counts[0] += below
        counts[-1] += above
        noisy = counts + self._noise.draw(self.bins)
        self._noise.forget()
        self._released = _Released.of(noisy.astype(np.float64), *self.bounds)
        return self

    def report(self) -> dict[str, Any]:
        """The privacy state of the column: parameters only, nothing of the data."""
        return {
            "mechanism": "hardened-ecdf",
            "dp": True,
            "epsilon": self.epsilon,
            "neighbours": "one row added or removed; replacing one costs twice epsilon",
            "bins": self.bins,
            "bounds_public": True,
            "bounds": self.bounds,
            "noise": f"discrete Laplace, scale {self.scale}",
        }


@dataclass(frozen=True)
class Columns:
    """Private distributions of several columns, which one row changes all at once."""

    ecdfs: Mapping[str, _Ecdf]

    def report(self) -> dict[str, Any]:
        """The reports of the columns, and the epsilon that they cost together."""
        columns = {name: ecdf.report() for name, ecdf in self.ecdfs.items()}
        return {"epsilon": sum(one["epsilon"] for one in columns.values()), "columns": columns}


def fit_columns(
    frame: Mapping[str, ArrayLike],
    total_epsilon: float,
    make: Callable[[str, float], _Ecdf],
    *fit_arguments: object,
) -> Columns:
    """Fit every column of a table with an equal share of the budget (sequential composition).

    Parameters
    ----------
    frame : mapping of name to array
        A DataFrame, say.
    total_epsilon : float
        What all columns may cost together.
    make : callable
        ``make(name, epsilon)`` gives the unfitted `DPEcdf` or `HardenedEcdf` of a column.
    *fit_arguments
        Passed on to each ``fit`` behind the values: the generator of a `DPEcdf`, say.

    Raises
    ------
    ValueError
        If there is no column, two of one name, or one that claims more than its share or is not
        an object of its own; or as the class does, with the column's name.
    """
    names = list(frame)
    if not names:
        raise ValueError("frame: no column found, at least one expected")
    if len(set(names)) < len(names):
        raise ValueError(f"frame: columns {', '.join(names)} found, distinct names expected")
    share = _valid_epsilon(total_epsilon) / len(names)
    fitted = {}
    for name in names:
        try:
            ecdf = make(name, share)
            if ecdf.epsilon > share * (1 + _ROUNDING):
                raise ValueError(f"epsilon: {ecdf.epsilon:g} found, at most {share:g} expected")
            if any(ecdf is other for other in fitted.values()):
                raise ValueError("ecdf: another column's found, one of its own expected")
            fitted[name] = ecdf.fit(frame[name], *fit_arguments)
        except ValueError as error:
            raise ValueError(f"column {name}: {error}") from error
    return Columns(fitted)


def _valid_epsilon(epsilon: float) -> float:
    if not (isinstance(epsilon, int | float | np.number) and isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon: {epsilon!r} found, a finite number above 0 expected")
    return float(epsilon)


def _valid_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f"bounds: {bounds!r} found, finite (min, max) expected") from error
    if not (isfinite(low) and isfinite(high) and low < high and isfinite(high - low)):
        raise ValueError(f"bounds: {bounds!r} found, finite min < max expected")
    return low, high


def _numbers(values: ArrayLike) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(float).filled(np.nan)
    array = np.asarray(values)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"values: {array.dtype} found, numbers expected")
    try:
        return array.astype(float).ravel()
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("values: numbers expected, something else found") from error


def _outside(column: np.ndarray, low: float, high: float) -> tuple[int, int]:
    """How many values lie below and above, block by block: a pass in cache costs next to nothing."""
    below = above = 0
    for start in range(0, column.size, _BLOCK):
        block = column[start : start + _BLOCK]
        below += np.count_nonzero(block < low)
        above += np.count_nonzero(block > high)
    return below, above


def _finite(values: ArrayLike) -> np.ndarray:
    column = _numbers(values)
    if not np.isfinite(column).all():
        found = "NaN" if np.isnan(column).any() else "infinity"
        raise ValueError(f"values: {found} found, finite numbers expected")
    return column
