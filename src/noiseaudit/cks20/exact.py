"""Exact laws of the samplers, as they are meant and as the faulty releases compute them.

Notation: a scale ``s = d/n`` is a rational in lowest terms; the sampler works with the geometric
parameter ``1/s = n/d``. What a release pays at sensitivity Δ is read off its own law: neighbouring
data sets shift the noise by Δ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, exp, expm1

import numpy as np
import scipy
from numpy.polynomial.polynomial import polyval

from noiseaudit.cks20 import reference

VARIANTS = tuple(reference.VARIANTS)
"""All but ``faulty`` claim that their coin is e^−x; that of ``taylor`` is, to within 2^−128."""

LARGEST_NUMERATOR, LARGEST_PERIOD = 100_000, 10_000_000
"""The faulty law of scale ``d/n`` is enumerated over every ``u < d`` and ``d·n`` outputs; no larger."""

SERIES_TOLERANCE = Fraction(1, 2**70)
"""Width of the bracket around an exact probability; below the last bit of a float near 1."""

COIN_ERROR = 2.0**-50
"""Largest error of `coins`. Each of its terms is at most ``1/k!`` and takes ``k`` roundings."""

_TERMS = 20
"""Terms of the alternating series; the next is below ``1/20! < 2^−61``."""


def bernoulli_exp1(x: Fraction, variant: str) -> Fraction:
    """``P(bernoulli_exp1(x))`` for ``0 ≤ x ≤ 1``, to within `SERIES_TOLERANCE`; e^−x where healthy.

    The coin is true iff the first failing ``k`` is odd, so the probability is the alternating
    series ``1 − f₁ + f₁f₂ − …`` over the fractions ``f_k`` that stand for ``x / k``. Its terms
    shrink, so consecutive partial sums bracket it; the middle of the last bracket is returned.
    """
    for below, above in brackets(x, variant):
        if above - below <= SERIES_TOLERANCE:
            return (below + above) / 2
    raise AssertionError("the bracket always closes")


def brackets(x: Fraction, variant: str) -> Iterator[tuple[Fraction, Fraction]]:
    """Ever tighter bounds ``(below, above)`` of the coin's probability, without end.

    Consecutive partial sums of the series, from ``(1 − f₁, 1)``. Of ``taylor`` they are the bracket
    that its uniform is compared with (Gerolimetto Fabrello et al. 2026, Fig. 6).
    """
    divide = reference.VARIANTS["faulty" if variant == "faulty" else "fixed"].divide
    product, total, k = Fraction(1), Fraction(1), 0
    while True:
        k += 1
        product *= Fraction(*divide(x, k)) if x else 0
        previous, total = total, total - product if k % 2 else total + product
        yield min(previous, total), max(previous, total)


def coins(d: int, variant: str) -> np.ndarray:
    """``P(bernoulli_exp1(u/d))`` for ``u = 0 … d − 1``, each to within `COIN_ERROR`.

    What `bernoulli_exp1` gives in exact rationals, all at once. Numerators and denominators are
    exact: below ``d·20``, hence far from the end of 64 bits at any enumerable scale.
    """
    u = np.arange(d)
    shared = np.gcd(u, d)
    return coin(u // shared, d // shared, variant)


def coin(a: np.ndarray, b: np.ndarray, variant: str) -> np.ndarray:
    """``P(bernoulli_exp1(a/b))`` elementwise, ``0 ≤ a ≤ b`` in lowest terms; see `coins`.

    Numerators and denominators are int64, denominators below ``2^63/20``.
    """
    if variant != "faulty":
        return np.exp(-a / b)
    total, product = np.ones(a.shape), np.ones(a.shape)
    for k in range(1, _TERMS):
        g = np.gcd(a, k)
        product *= (a // g) / np.maximum(b // g * k, 1)  # u = 0: numerator 0 over anything
        total += product if k % 2 == 0 else -product
    return total


_EULERIAN = ((1,), (0, 1), (0, 1, 1), (0, 1, 4, 1), (0, 1, 11, 11, 1))
"""Coefficients, from the constant term up, of the numerators of ``Σ j^i q^j``."""


class IntegerLaw(ABC):
    """An even law on the integers.

    Probabilities carry a relative error of at most 10^−13 within 60 scales, losses and deltas an
    absolute one of that size.
    """

    @abstractmethod
    def log_pmf(self, x: np.ndarray) -> np.ndarray:
        """ln P(x) for integers x, elementwise."""

    @abstractmethod
    def moment(self, order: int) -> float:
        """``Σ |x|^order · P(x)``, order 1 to 4."""

    @abstractmethod
    def realised_delta(self, epsilon: float, sensitivity: int = 1) -> float:
        """``Σ max(0, P(x) − e^ε·P(x + sensitivity))`` over all x: the delta that is paid at epsilon."""

    def pmf(self, x: np.ndarray) -> np.ndarray:
        """P(x) for integers x, elementwise."""
        return np.exp(self.log_pmf(x))

    @property
    def variance(self) -> float:
        """Of the whole law; its mean is 0."""
        return self.moment(2)

    def losses(self, x: np.ndarray, sensitivity: int = 1) -> np.ndarray:
        """The privacy loss ``ln P(x)/P(x + sensitivity)`` of outputs x, elementwise."""
        return self.log_pmf(x) - self.log_pmf(x + sensitivity)

    def _excess(self, x: np.ndarray, epsilon: float, sensitivity: int) -> float:
        beyond = np.maximum(self.losses(x, sensitivity) - epsilon, 0.0)
        return float(np.sum(self.pmf(x) * -np.expm1(-beyond)))


class PeriodicLaw(IntegerLaw):
    """A law that repeats: ``P(m + cycle) = e^−decay·P(m)`` for all ``m ≥ 0``."""

    cycle: int
    decay: float

    def moment(self, order: int) -> float:
        """``Σ |x|^order · P(x)``, order 1 to 4.

        Over the magnitudes ``j·cycle + r`` the sums over j are closed: ``Σ j^i q^j`` has an Eulerian
        polynomial over ``(1 − q)^(i+1)``.
        """
        r, q, left = np.arange(self.cycle), exp(-self.decay), -expm1(-self.decay)
        p, r, d = self.pmf(r), r.astype(float), float(self.cycle)  # floats: r⁴ leaves 64 bits
        over_cycles = sum(
            comb(order, i) * d**i * r ** (order - i) * (polyval(q, _EULERIAN[i]) / left ** (i + 1))
            for i in range(order + 1)
        )
        return float(2 * np.sum(p * over_cycles))

    def realised_epsilon(self, sensitivity: int = 1) -> float:
        """``max |ln P(x)/P(x + sensitivity)|`` over all x: the epsilon that is paid.

        From one cycle beyond zero on, and by symmetry before ``−sensitivity``, losses repeat.
        """
        x = np.arange(-sensitivity, self.cycle)
        return float(np.max(np.abs(self.losses(x, sensitivity))))

    def realised_delta(self, epsilon: float, sensitivity: int = 1) -> float:
        """``Σ max(0, P(x) − e^ε·P(x + sensitivity))`` over all x: the delta that is paid at epsilon.

        Each side beyond the shifted middle is a geometric series over its cycles, summed in full.
        """
        cycle = np.arange(self.cycle)
        sides = self._excess(cycle, epsilon, sensitivity)
        sides += self._excess(-sensitivity - cycle, epsilon, sensitivity)
        middle = self._excess(np.arange(1 - sensitivity, 0), epsilon, sensitivity)
        return middle + sides / -expm1(-self.decay)


@dataclass(frozen=True)
class DiscreteLaplace(PeriodicLaw):
    """The discrete Laplace law of scale ``s``: ``P(x) = tanh(1/2s)·e^(−|x|/s)``."""

    scale: Fraction
    cycle = 1

    def __post_init__(self) -> None:
        reference.check_scale(self.scale)

    @property
    def decay(self) -> float:
        return 1 / float(self.scale)

    def log_pmf(self, x: np.ndarray) -> np.ndarray:
        s = float(self.scale)
        return np.log(np.tanh(0.5 / s)) - np.abs(x) / s

    @property
    def entropy(self) -> float:
        """Shannon entropy in nats: ``E|X|/s − ln P(0)``, since ln P falls by ``|x|/s``."""
        return self.moment(1) / float(self.scale) - float(self.log_pmf(np.zeros(1))[0])


@dataclass(frozen=True)
class FaultyDiscreteLaplace(PeriodicLaw):
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
        require_enumerable(self.scale)

    @property
    def cycle(self) -> int:
        return self.scale.numerator

    @property
    def decay(self) -> float:
        return float(self.scale.denominator)

    @cached_property
    def _log_weights(self) -> np.ndarray:
        """Logarithms of the relative probabilities of the magnitudes ``0 … d − 1``."""
        d, n = self.scale.numerator, self.scale.denominator
        v, u = np.divmod(np.arange(n * d), d)
        weights = np.log(coins(d, "faulty"))[u] - v
        return scipy.special.logsumexp(weights.reshape(d, n), axis=1)

    @cached_property
    def _log_normaliser(self) -> float:
        """Of the integers' total weight: both signs of every magnitude, zero once."""
        magnitudes = np.exp(self._log_weights).sum() / -expm1(-self.decay)
        return float(np.log(2 * magnitudes - np.exp(self._log_weights[0])))

    def log_pmf(self, x: np.ndarray) -> np.ndarray:
        cycles, place = np.divmod(np.abs(x), self.cycle)
        return self._log_weights[place] - cycles * self.decay - self._log_normaliser


def is_enumerable(scale: Fraction) -> bool:
    """Whether the faulty law of a scale has few enough cases."""
    d, n = scale.numerator, scale.denominator
    return d <= LARGEST_NUMERATOR and d * n <= LARGEST_PERIOD


def require_enumerable(scale: Fraction) -> None:
    """Refuse a scale of too many cases with a `ValueError` (see `is_enumerable`)."""
    reference.check_scale(scale)
    if not is_enumerable(scale):
        raise ValueError(
            f"scale: {scale} found, a rational of smaller terms expected (numerator at most "
            f"{LARGEST_NUMERATOR}, its product with the denominator at most {LARGEST_PERIOD})"
        )


def discrete_laplace(scale: Fraction, variant: str) -> PeriodicLaw:
    """The law that a variant of the sampler draws from.

    Raises
    ------
    ValueError
        If the scale is not positive, too large to enumerate, or the variant unknown.
    """
    reference.check_scale(scale)
    if variant not in VARIANTS:
        raise ValueError(f"variant: {variant!r} found, one of {', '.join(VARIANTS)} expected")
    return FaultyDiscreteLaplace(scale) if variant == "faulty" else DiscreteLaplace(scale)
