"""Mechanisms of diffprivlib, by name."""

from diffprivlib import mechanisms

ARGUMENTS = {
    "Laplace": {},
    "GaussianAnalytic": {"delta": 1e-5},
    "Geometric": {},
    "GaussianDiscrete": {"delta": 1e-5},
    "Snapping": {"lower": -10.0, "upper": 10.0},
    "Staircase": {},
}


def noisy(value: float, count: int, mechanism: str) -> list[float]:
    made = getattr(mechanisms, mechanism)(epsilon=1.0, sensitivity=1, **ARGUMENTS[mechanism])
    return [made.randomise(value) for _ in range(count)]
