"""Numerical mechanisms of python-dp (PyDP)."""

from pydp.algorithms import numerical_mechanisms


def gaussian(value: float, count: int) -> list[float]:
    mechanism = numerical_mechanisms.GaussianMechanism(1.0, 1e-5, 1.0)
    return [mechanism.add_noise(value) for _ in range(count)]


def laplace(value: float, count: int) -> list[float]:
    mechanism = numerical_mechanisms.LaplaceMechanism(1.0, 1.0)
    return [mechanism.add_noise(value) for _ in range(count)]
