"""The noise mechanisms that Habernal (2022) checks, each readable beside its formula.

A mechanism is a black box ``(x, epsilon, generator) → z`` on vectors of any dimension ``n``. The six
here also show their parts, so that a simulation knows by the uniform alone what is voted: the *unit
noise* ``s`` of a coordinate, the *scale* ``b`` that multiplies it, and the *output* ``z``.

Queries are the identity and the neighbours are ``0…0`` and ``1…1``, so the L1 sensitivity is ``n``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, log1p

import numpy as np


def laplace_from_uniform(v: np.ndarray) -> np.ndarray:
    """Inverse-CDF sampling of unit Laplace draws: ``−sgn(v)·ln(1 − 2|v|)``.

    Right for ``v ~ U(−1/2, 1/2)``. The ends ``v = ±1/2`` give ``±∞`` (``ln 0``), 0 gives 0, and
    ``|v| > 1/2`` asks for the logarithm of a negative number: NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.sign(v) * np.log(1.0 - 2.0 * np.abs(v))


def no_noise(u: np.ndarray) -> np.ndarray:
    """0, whatever is drawn."""
    return np.zeros_like(u)


def coin(u: np.ndarray) -> np.ndarray:
    """0 or 1 with probability 1/2."""
    return np.where(u < 0.5, 1.0, 0.0)


def laplace_noise(u: np.ndarray) -> np.ndarray:
    """A unit Laplace draw, from ``v ~ U(−1/2, 1/2)``."""
    return laplace_from_uniform(u - 0.5)


def dptext_noise(u: np.ndarray) -> np.ndarray:
    """DPText's draw, from ``v ~ U(0, 1)``: NaN for half of the values, which are then set to 0.

    The other half are exponential: never negative, so the noise only ever pushes up.
    """
    s = laplace_from_uniform(u)
    return np.where(np.isnan(s), 0.0, s)


def add(x: np.ndarray, b: float, s: np.ndarray) -> np.ndarray:
    """``x + b·s``"""
    return x + b * s


def add_and_halve(x: np.ndarray, b: float, s: np.ndarray) -> np.ndarray:
    """``0.5·(x + b·s)``"""
    return 0.5 * (x + b * s)


def keep(x: np.ndarray, b: float, s: np.ndarray) -> np.ndarray:
    """``x``"""
    return x


def replace(x: np.ndarray, b: float, s: np.ndarray) -> np.ndarray:
    """``s``"""
    return s


def proper_scale(n: int, epsilon: float) -> float:
    """``b = n/ε``: the L1 sensitivity over epsilon."""
    return n / epsilon


def dimensionless_scale(n: int, epsilon: float) -> float:
    """``b = 1/ε``: ADePT's, as if the sensitivity were 1 in every dimension."""
    return 1 / epsilon


def log_votes_laplace(x: int, b: float) -> tuple[float, float]:
    """``P(z ≥ 1/2 | 0) = ½·e^(−1/2b)``, and the mirror image at 1."""
    rare = -log(2) - 1 / (2 * b)
    common = log1p(-math.exp(rare))
    return (common, rare) if x == 0 else (rare, common)


def log_votes_half_laplace(x: int, b: float) -> tuple[float, float]:
    """``P(z ≥ 1/2 | 0) = ½·e^(−1/b)``; at 1, one half."""
    if x == 1:
        return -log(2), -log(2)
    rare = -log(2) - 1 / b
    return log1p(-math.exp(rare)), rare


def log_votes_dptext(x: int, b: float) -> tuple[float, float]:
    """``P(z ≥ 1/2 | 0) = ½·e^(−1/2b)``; at 1 it is certain, since the noise is never negative."""
    return (-inf, 0.0) if x == 1 else log_votes_laplace(0, b)


def log_votes_copy(x: int, b: float) -> tuple[float, float]:
    """The input, for sure."""
    return (-inf, 0.0) if x == 1 else (0.0, -inf)


def log_votes_random(x: int, b: float) -> tuple[float, float]:
    """One half, whatever the input."""
    return -log(2), -log(2)


@dataclass(frozen=True)
class Mechanism:
    """A coordinate-wise mechanism in its parts; calling it is the mechanism itself.

    Attributes
    ----------
    name : str
    noise : function (u) → array
        The unit noise ``s`` of each coordinate from a uniform of ``[0, 1)``. Up to 1/2 it
        rises with ``u``, or falls, or stays; and so it does beyond.
    output : function (x, b, s) → array
        The coordinates of the release, rising with ``s``.
    scale : function (n, epsilon) → float
        The scale ``b``.
    log_votes : function (x, b) → (float, float)
        Exact ``ln P(z < 1/2)`` and ``ln P(z ≥ 1/2)`` of one coordinate at ``x`` 0 or 1; −∞ is exact too.
    """

    name: str
    noise: Callable[[np.ndarray], np.ndarray]
    output: Callable[[np.ndarray, float, np.ndarray], np.ndarray]
    scale: Callable[[int, float], float]
    log_votes: Callable[[int, float], tuple[float, float]]

    def __call__(self, x: np.ndarray, epsilon: float, generator: np.random.Generator) -> np.ndarray:
        """Release ``m`` vectors.

        Parameters
        ----------
        x : float array, shape (m, n)
            A vector a row.
        epsilon : float
            Finite and above 0.
        generator : numpy.random.Generator
            The source of noise, read row by row, coordinate by coordinate.

        Returns
        -------
        float array, shape (m, n)

        Raises
        ------
        ValueError
            If epsilon is out of range or ``x`` is no matrix.
        """
        check_epsilon(epsilon)
        if x.ndim != 2 or x.shape[1] == 0:
            raise ValueError(f"x: shape {x.shape} found, (m, n) with n of at least 1 expected")
        b = self.scale(x.shape[1], epsilon)
        return self.output(
            np.asarray(x, dtype=np.float64), b, self.noise(generator.random(x.shape))
        )


MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        Mechanism("copy", no_noise, keep, proper_scale, log_votes_copy),
        Mechanism("random", coin, replace, proper_scale, log_votes_random),
        Mechanism("laplace", laplace_noise, add, proper_scale, log_votes_laplace),
        Mechanism("adept", laplace_noise, add, dimensionless_scale, log_votes_laplace),
        Mechanism("dptext", dptext_noise, add, proper_scale, log_votes_dptext),
        Mechanism(
            "half_laplace", laplace_noise, add_and_halve, proper_scale, log_votes_half_laplace
        ),
    )
}
"""The paper's mechanisms by name. ``half_laplace`` post-processes ``laplace``: it keeps its epsilon."""


def named(name: str) -> Mechanism:
    """The mechanism of that name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in MECHANISMS:
        raise ValueError(f"mechanism: {name!r} found, one of {', '.join(MECHANISMS)} expected")
    return MECHANISMS[name]


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless epsilon is finite and above 0."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon: {epsilon} found, a finite number above 0 expected")
