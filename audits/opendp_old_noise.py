"""Mechanisms of OpenDP's first releases, under their names of that time."""

from opendp.meas import make_base_laplace, make_randomized_response_bool
from opendp.mod import enable_features

enable_features("contrib", "floating-point")


def randomized_response(value: bool, count: int) -> list[bool]:
    mechanism = make_randomized_response_bool(0.75)
    return [mechanism(value) for _ in range(count)]


def laplace(value: float, count: int) -> list[float]:
    mechanism = make_base_laplace(1.0)
    return [mechanism(value) for _ in range(count)]
