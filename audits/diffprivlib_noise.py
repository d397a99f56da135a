"""Mechanisms of diffprivlib, by name: one object is made and kept, as its users do."""

from functools import cache

from diffprivlib import mechanisms

ARGUMENTS = {
    "Laplace": {},
    "GaussianAnalytic": {"delta": 1e-5},
    "Geometric": {},
    "GaussianDiscrete": {"delta": 1e-5},
    "Snapping": {"lower": -10.0, "upper": 10.0},
    "Staircase": {},
}


@cache
def made(mechanism: str) -> mechanisms.base.DPMechanism:
    return getattr(mechanisms, mechanism)(epsilon=1.0, sensitivity=1, **ARGUMENTS[mechanism])


def noisy(value: float, count: int, mechanism: str) -> list[float]:
    return [made(mechanism).randomise(value) for _ in range(count)]
