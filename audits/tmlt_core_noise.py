"""Samplers of Tumult Core."""

from tmlt.core.random.discrete_gaussian import sample_dgauss
from tmlt.core.random.laplace import laplace as sample_laplace


def laplace(value: float, count: int) -> list[float]:
    return [sample_laplace(value, 1.0) for _ in range(count)]


def discrete_gaussian(value: int, count: int) -> list[int]:
    """Of variance 4."""
    return [value + sample_dgauss(4.0) for _ in range(count)]
