"""Noise that many libraries make of NumPy's generator."""

import numpy as np

LATTICE = 2.0**-20


def laplace(value: float, count: int, rng: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    """Laplace noise in doubles, as it comes."""
    return value + rng.laplace(scale=scale, size=count)


def lattice_laplace(
    value: float, count: int, rng: np.random.Generator, scale: float = 1.0
) -> np.ndarray:
    """The same, rounded to multiples of 2^−20 before it is added to an integer."""
    return value + np.rint(rng.laplace(scale=scale, size=count) / LATTICE) * LATTICE


def gaussian(value: float, count: int, rng: np.random.Generator, sigma: float) -> np.ndarray:
    """Gaussian noise on the same lattice."""
    return value + np.rint(rng.normal(scale=sigma, size=count) / LATTICE) * LATTICE


def randomised_response(
    value: bool, count: int, rng: np.random.Generator, truth: float = 0.75
) -> np.ndarray:
    """The true answer with probability ``truth``, else the other."""
    return rng.random(count) < (truth if value else 1 - truth)
