"""Exact laws of the discrete Gaussian: as it is meant, and as the faulty division bends it.

CKS20's Algorithm 3 keeps a Laplace draw of scale ``t = ⌊σ⌋ + 1`` with the coin
``e^−(|x| − σ²/t)²/2σ²``; both are the variant's own, so the fault bends the Gaussian twice. What a
release pays is its rho (zCDP), and its delta at an epsilon.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, isqrt, log

import numpy as np
import scipy

from noiseaudit.cks20 import exact, reference
from noiseaudit.stats import Interval

SPAN = 13
"""Deviations beyond which the law has a mass below 10^−36."""

LARGEST_NUMERATOR, LARGEST_DENOMINATOR = 2**62, 2**55
"""Terms of the coin's argument stay below, so that 64 bits hold all that `exact.coin` makes of them."""

LARGEST_PERIOD = 10_000_000
"""Outputs after which the ratio of a faulty law to the Gaussian repeats; no more are enumerated."""

_FIRST, _LARGEST, _RATIO, _RHO_ERROR = 1e-7, 1e6, 1.25, 1e-6
"""Rényi orders less 1: the first, the largest, and the ratio of those that are tried first; between them
more are, until rho is known so well, relatively. What lies beyond is left to the tail's bound."""

_NEAR = 0.1
"""Orders less 1 below which a moment's logarithm is summed as the small number that it is."""


class Gaussian(exact.IntegerLaw):
    """An even law ``P(x) ∝ e^(−x²/2σ²)·m(|x|)`` on the integers, with m between two constants."""

    scale: Fraction

    @abstractmethod
    def _log_weights(self, magnitudes: np.ndarray) -> np.ndarray:
        """Logarithms of the relative probabilities of magnitudes."""

    @property
    @abstractmethod
    def _log_spread(self) -> float:
        """``ln max m/min m``."""

    @property
    def reach(self) -> int:
        """Magnitudes up to it hold all but 10^−36 of the mass."""
        return ceil(SPAN * self.scale) + 2

    @cached_property
    def _log_normaliser(self) -> float:
        weights = self._log_weights(np.arange(self.reach + 1))
        return float(np.logaddexp(weights[0], log(2) + scipy.special.logsumexp(weights[1:])))

    def log_pmf(self, x: np.ndarray) -> np.ndarray:
        return self._log_weights(np.abs(x)) - self._log_normaliser

    def moment(self, order: int) -> float:
        magnitudes = np.arange(self.reach + 1)
        return float(2 * np.sum(magnitudes.astype(float) ** order * self.pmf(magnitudes)))

    def realised_delta(self, epsilon: float, sensitivity: int = 1) -> float:
        x = np.arange(-self.reach - sensitivity, self.reach + 1)
        return self._excess(x, epsilon, sensitivity)

    def realised_rho(self, sensitivity: int = 1) -> Interval:
        """Bounds of ``sup D_a(P ‖ P shifted)/a`` over all Rényi orders a > 1: the rho that is paid.

        ``(a − 1)·D_a`` is convex in a, so between two orders it lies below its chord, and the best
        order on a chord is the root of a quadratic. Before the first order D_a is at most its value
        there. Beyond the last, ``D_a/a ≤ Δ²/2σ² + ln(max m/min m)/(a − 1)``: a Gaussian's own value
        times what m can add.
        """
        healthy = sensitivity**2 / (2 * float(self.scale) ** 2)
        if self._log_spread == 0:
            return Interval(healthy, healthy)  # D_a/a is as much at every whole order
        moments = {}

        def moment(b: float) -> float:
            if b not in moments:
                moments[b] = self._log_moment(b, sensitivity)
            return moments[b]

        def rate(b: float) -> float:
            return moment(b) / (b * (1 + b))

        last, low = _FIRST, rate(_FIRST)
        high = low * (1 + _FIRST)
        # As long as the tail may hold more than was found, by its bound, further orders are tried.
        while healthy + self._log_spread / last > low * (1 + _RHO_ERROR) and last < _LARGEST:
            last *= _RATIO
            low = max(low, rate(last))
        high = max(high, healthy + self._log_spread / last)
        pending = list(pairwise(sorted(moments)))
        while pending:
            left, right = pending.pop()
            bound = _highest_on_chord(left, moment(left), right, moment(right))
            if bound <= low * (1 + _RHO_ERROR):
                high = max(high, bound)
                continue
            middle = (left + right) / 2
            low = max(low, rate(middle))
            pending += [(left, middle), (middle, right)]
        return Interval(low, float(max(low, high)))

    def _log_moment(self, b: float, sensitivity: int) -> float:
        """``b·D_(1+b)``: its terms lie around the place to which the order tilts the law."""
        x = np.arange(-self.reach, self.reach + ceil(b * sensitivity) + sensitivity + 1)
        if b < _NEAR:
            return float(np.log1p(np.sum(self.pmf(x) * np.expm1(b * self.losses(x, sensitivity)))))
        return float(scipy.special.logsumexp(self.log_pmf(x) + b * self.losses(x, sensitivity)))


def _highest_on_chord(left: float, at_left: float, right: float, at_right: float) -> float:
    """``max (c₀ + c₁b)/(b(1 + b))`` between two orders less 1, for the line through its two ends."""
    slope = (at_right - at_left) / (right - left)
    start = at_left - slope * left
    # Where the derivative is 0: slope·b² + 2·start·b + start = 0.
    roots = np.roots([slope, 2 * start, start])
    inside = [b.real for b in roots if abs(b.imag) < 1e-12 and left < b.real < right]
    return max((start + slope * b) / (b * (1 + b)) for b in (left, right, *inside))


@dataclass(frozen=True)
class DiscreteGaussian(Gaussian):
    """``P(x) ∝ e^−x²/2σ²``."""

    scale: Fraction
    _log_spread = 0.0

    def __post_init__(self) -> None:
        reference.check_scale(self.scale)

    def _log_weights(self, magnitudes: np.ndarray) -> np.ndarray:
        return -(np.asarray(magnitudes, dtype=float) ** 2) / (2 * float(self.scale) ** 2)


@dataclass(frozen=True)
class FaultyDiscreteGaussian(Gaussian):
    """The law of `reference.Faulty.discrete_gaussian`.

    Raises
    ------
    ValueError
        If the scale's terms are too large to enumerate.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        reference.check_scale(self.scale)
        numerator, denominator = self._argument(self._period)
        if (
            self._period > LARGEST_PERIOD
            or numerator >= LARGEST_NUMERATOR
            or denominator >= LARGEST_DENOMINATOR
        ):
            raise ValueError(f"scale: {self.scale} found, a rational of smaller terms expected")

    @property
    def _proposal(self) -> int:
        """The scale t of the Laplace draws that are kept or not."""
        return isqrt(self.scale.numerator**2 // self.scale.denominator**2) + 1

    def _argument(self, magnitudes: np.ndarray | int) -> tuple[np.ndarray | int, int]:
        """Numerators and the denominator of the coin's argument, not reduced."""
        a, b, t = self.scale.numerator, self.scale.denominator, self._proposal
        return (magnitudes * b**2 * t - a**2) ** 2, 2 * a**2 * b**2 * t**2

    @property
    def _period(self) -> int:
        """After so many magnitudes the argument has grown by a whole number, and m repeats."""
        return 2 * self.scale.numerator**2 * self._proposal

    @cached_property
    def _log_ratio(self) -> np.ndarray:
        """``ln m`` over one period: by how much the proposal and the coin that keeps it are off."""
        magnitudes = np.arange(self._period)
        numerators, denominator = self._argument(magnitudes)
        units = np.maximum(-(-numerators // denominator) - 1, 0)
        kept = _log_excess(numerators - units * denominator, denominator)
        return kept + _log_excess(magnitudes % self._proposal, self._proposal)

    @cached_property
    def _log_spread(self) -> float:
        return float(np.ptp(self._log_ratio))

    def _log_weights(self, magnitudes: np.ndarray) -> np.ndarray:
        healthy = -(np.asarray(magnitudes, dtype=float) ** 2) / (2 * float(self.scale) ** 2)
        return healthy + self._log_ratio[magnitudes % self._period]


def _log_excess(numerators: np.ndarray, denominator: int) -> np.ndarray:
    """``ln q(x)/e^−x`` of the faulty coin at ``x = numerators/denominator``, 0 to 1."""
    shared = np.gcd(numerators, denominator)
    coin = exact.coin(numerators // shared, denominator // shared, "faulty")
    return np.log(coin) + numerators / denominator


@lru_cache(
    maxsize=16
)  # the faulty one takes seconds to enumerate, and many draws are held against it
def discrete_gaussian(scale: Fraction, variant: str) -> Gaussian:
    """The law of a variant's `reference.Sampler.discrete_gaussian`.

    Raises
    ------
    ValueError
        If the scale is not positive, too large to enumerate, or the variant unknown.
    """
    if variant not in exact.VARIANTS:
        raise ValueError(f"variant: {variant!r} found, one of {', '.join(exact.VARIANTS)} expected")
    return FaultyDiscreteGaussian(scale) if variant == "faulty" else DiscreteGaussian(scale)
