"""What a mechanism claims, as the losses that it allows.

Every claim says, of each event S and of either neighbour's output, ``P(S) ≤ e^ε·Q(S) + δ`` for one pair
(ε, δ) or for a curve of them. `lines` gives the pairs, for the claimed parameter or any other; what is
certified of a claim is the smallest parameter that the draws still allow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

LARGEST = 300.0
"""Of a parameter, and of a curve's epsilons: the square of e to a larger power is no number."""

_EPSILONS = 161
"""Points of a curve (ε, δ(ε)) at which it is tested."""

_ORDERS = 1 + np.logspace(-3, 5, 641)
"""Rényi orders over which a zCDP claim's delta is minimised; any one of them gives a valid delta."""

_CONVERSION = _ORDERS * np.log1p(-1 / _ORDERS) - np.log(_ORDERS - 1)


class ClaimError(ValueError):
    """A claim that no mechanism makes; the message names its parameter."""


@dataclass(frozen=True)
class Claim(ABC):
    """A claim of differential privacy, with one parameter that certified bounds are about."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The parameter's name: ``epsilon``, ``rho`` or ``mu``."""

    @property
    @abstractmethod
    def parameter(self) -> float:
        """Its claimed value."""

    @abstractmethod
    def lines(self, parameter: float) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that a value of the parameter allows: epsilons and deltas, each of shape (k,)."""

    @property
    def fields(self) -> dict[str, float]:
        """As a card writes it."""
        return {self.name: self.parameter}

    def __str__(self) -> str:
        return ", ".join(f"{_SYMBOLS[name]} = {value:g}" for name, value in self.fields.items())


_SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}


@dataclass(frozen=True)
class Approximate(Claim):
    """(ε, δ)-DP; pure with ``delta = 0``."""

    epsilon: float
    delta: float = 0.0
    name = "epsilon"

    def __post_init__(self) -> None:
        _require("epsilon", self.epsilon)
        if not (_is_number(self.delta) and 0 <= self.delta < 1):
            raise ClaimError(f"delta: {self.delta!r} found, a number from 0 to below 1 expected")

    @property
    def parameter(self) -> float:
        return self.epsilon

    @property
    def fields(self) -> dict[str, float]:
        return {"epsilon": self.epsilon} | ({"delta": self.delta} if self.delta else {})

    def lines(self, parameter: float) -> tuple[np.ndarray, np.ndarray]:
        return np.array([parameter]), np.array([self.delta])


@dataclass(frozen=True)
class Concentrated(Claim):
    """ρ-zCDP (Bun and Steinke 2016).

    The pairs are those of the conversion that is best over the order a (Canonne, Kamath and Steinke
    2020, Prop. 12): ``δ = min over a > 1 of e^((a−1)(aρ−ε))/(a−1)·(1−1/a)^a``.
    """

    rho: float
    name = "rho"

    def __post_init__(self) -> None:
        _require("rho", self.rho)

    @property
    def parameter(self) -> float:
        return self.rho

    def lines(self, parameter: float) -> tuple[np.ndarray, np.ndarray]:
        return _converted(parameter)


@lru_cache(maxsize=8)
def _converted(rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Kept, since every ranking of events asks for the claimed one's."""
    epsilons = _curve(rho + 12 * math.sqrt(rho))
    with np.errstate(over="ignore"):
        logs = (_ORDERS - 1) * (_ORDERS * rho - epsilons[:, None]) + _CONVERSION
    return epsilons, np.exp(np.minimum(logs.min(axis=1), 0.0))


@dataclass(frozen=True)
class Gaussian(Claim):
    """μ-GDP (Dong, Roth and Su 2022, Cor. 2.13): ``δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)``."""

    mu: float
    name = "mu"

    def __post_init__(self) -> None:
        _require("mu", self.mu)

    @property
    def parameter(self) -> float:
        return self.mu

    def lines(self, parameter: float) -> tuple[np.ndarray, np.ndarray]:
        epsilons = _curve(parameter**2 / 2 + 8 * parameter)
        return epsilons, gaussian_delta(epsilons, parameter)


def gaussian_delta(epsilon: np.ndarray | float, mu: float) -> np.ndarray | float:
    """The delta of a Gaussian mechanism of ``μ = sensitivity/deviation`` at epsilon, elementwise.

    Source: Balle and Wang (2018), Theorem 8.
    """
    ratio = epsilon / mu
    second = np.exp(epsilon + special.log_ndtr(-mu / 2 - ratio))
    return np.maximum(special.ndtr(mu / 2 - ratio) - second, 0.0)


def of(epsilon: float | None, delta: float | None, rho: float | None, mu: float | None) -> Claim:
    """The claim of a card's fields.

    Raises
    ------
    ClaimError
        Unless exactly one of epsilon, rho and mu is given, in its range, and a delta only with epsilon.
    """
    given = {"epsilon": epsilon, "rho": rho, "mu": mu}
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise ClaimError(
            f"claim: {' and '.join(found) or 'nothing'} found, one of epsilon, rho, mu expected"
        )
    if delta is not None and epsilon is None:
        raise ClaimError(
            f"delta: {delta!r} found with {found[0]}, none expected: it goes with epsilon"
        )
    if rho is not None:
        return Concentrated(rho)
    return Gaussian(mu) if mu is not None else Approximate(epsilon, delta or 0.0)


def _curve(largest: float) -> np.ndarray:
    return np.linspace(0, min(largest, LARGEST), _EPSILONS)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require(name: str, value: object) -> None:
    if not (_is_number(value) and 0 < value <= LARGEST):
        raise ClaimError(
            f"{name}: {value!r} found, a number above 0, at most {LARGEST:g}, expected"
        )
