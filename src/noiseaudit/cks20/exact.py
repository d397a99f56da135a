"""Exact laws of the discrete Laplace sampler, as it is meant and as the faulty releases compute it.

Notation: a scale ``s`` is a rational; the sampler works with the geometric parameter ``1/s = n/d``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from noiseaudit.cks20 import reference

VARIANTS = ("faulty", "fixed")

LARGEST_NUMERATOR, LARGEST_PERIOD = 100_000, 10_000_000
"""The faulty law of scale ``d/n`` is enumerated over every ``u < d`` and ``d·n`` outputs; no larger."""

SERIES_TOLERANCE = Fraction(1, 2**70)
"""Width of the bracket around an exact probability; below the last bit of a float near 1."""


def bernoulli_exp1(x: Fraction, variant: str) -> Fraction:
    """``P(bernoulli_exp1(x))`` for ``0 ≤ x ≤ 1``, to within `SERIES_TOLERANCE`; e^−x where fixed.

    The coin is true iff the first failing ``k`` is odd, so the probability is the alternating
    series ``1 − f₁ + f₁f₂ − …`` over the fractions ``f_k`` that stand for ``x / k``. Its terms
    shrink, so consecutive partial sums bracket it; the middle of the last bracket is returned.
    """
    for below, above in _brackets(x, variant):
        if above - below <= SERIES_TOLERANCE:
            return (below + above) / 2
    raise AssertionError("the bracket always closes")


def _brackets(x: Fraction, variant: str) -> Iterator[tuple[Fraction, Fraction]]:
    divide = reference.VARIANTS[variant].divide
    product, total, k = Fraction(1), Fraction(1), 0
    while True:
        k += 1
        product *= Fraction(*divide(x, k)) if x else 0
        previous, total = total, total - product if k % 2 else total + product
        yield min(previous, total), max(previous, total)


@dataclass(frozen=True)
class DiscreteLaplace:
    """The discrete Laplace law of scale ``s``: ``P(x) = tanh(1/2s)·e^(−|x|/s)``."""

    scale: Fraction

    def pmf(self, x: np.ndarray) -> np.ndarray:
        """P(x) for integers x, elementwise."""
        s = float(self.scale)
        return np.tanh(0.5 / s) * np.exp(-np.abs(x) / s)

    @property
    def variance(self) -> float:
        return 0.5 / float(np.sinh(0.5 / float(self.scale)) ** 2)

    @property
    def realised_epsilon(self) -> float:
        """``max |ln P(x)/P(x+1)|`` over all x: what is paid at sensitivity 1."""
        return 1 / float(self.scale)


@dataclass(frozen=True)
class FaultyDiscreteLaplace:
    """The law that the faulty division gives at scale ``s = d/n`` (opendp 0.9 to 0.14.1).

    ``geometric_fast`` proposes ``u < d`` uniformly, keeps it with probability ``q(u/d)`` (the faulty
    `bernoulli_exp1`), adds ``d`` times a geometric ``v`` of parameter ``e^−1`` (``q(1)`` is exact)
    and divides by ``n``, rounding down.

    Raises
    ------
    ValueError
        If the scale's terms are too large (see `is_enumerable`).
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if not is_enumerable(self.scale):
            raise ValueError(
                f"scale: {self.scale} found, a rational of smaller terms expected (numerator at most "
                f"{LARGEST_NUMERATOR}, its product with the denominator at most {LARGEST_PERIOD})"
            )

    @cached_property
    def _period(self) -> np.ndarray:
        """Relative probabilities of the magnitudes ``0 … d − 1``; from ``m`` to ``m + d``, ``e^−n``."""
        d, n = self.scale.numerator, self.scale.denominator
        kept = np.array([float(bernoulli_exp1(Fraction(u, d), "faulty")) for u in range(d)])
        v, u = np.divmod(np.arange(n * d), d)
        return (np.exp(-v) * kept[u]).reshape(d, n).sum(axis=1)

    @cached_property
    def _normaliser(self) -> float:
        """Total weight of the integers: both signs of every magnitude, zero once."""
        magnitudes = self._period.sum() / -np.expm1(-self.scale.denominator)
        return float(2 * magnitudes - self._period[0])

    def pmf(self, x: np.ndarray) -> np.ndarray:
        """P(x) for integers x, elementwise."""
        cycle, place = np.divmod(np.abs(x), self.scale.numerator)
        return (
            self._period[place] * np.exp(-cycle * float(self.scale.denominator)) / self._normaliser
        )

    @cached_property
    def variance(self) -> float:
        reach = int(45 * self.scale) + 1  # e^−45 is beyond the last bit of the sum
        x = np.arange(1, reach)
        return float(2 * np.sum(x.astype(float) ** 2 * self.pmf(x)))

    @cached_property
    def realised_epsilon(self) -> float:
        """``max |ln P(x)/P(x+1)|`` over all x; the ratios repeat with period ``d``."""
        weights = np.append(self._period, self._period[0] * np.exp(-self.scale.denominator))
        return float(np.max(np.abs(np.diff(np.log(weights)))))


def is_enumerable(scale: Fraction) -> bool:
    """Whether the faulty law of a scale has few enough cases."""
    d, n = scale.numerator, scale.denominator
    return d <= LARGEST_NUMERATOR and d * n <= LARGEST_PERIOD


def discrete_laplace(scale: Fraction, variant: str) -> DiscreteLaplace | FaultyDiscreteLaplace:
    """The law that a variant of the sampler draws from.

    Raises
    ------
    ValueError
        If the scale is not positive, too large to enumerate, or the variant unknown.
    """
    if scale <= 0:
        raise ValueError(f"scale: {scale} found, a rational above 0 expected")
    if variant not in VARIANTS:
        raise ValueError(f"variant: {variant!r} found, one of {', '.join(VARIANTS)} expected")
    return DiscreteLaplace(scale) if variant == "fixed" else FaultyDiscreteLaplace(scale)
