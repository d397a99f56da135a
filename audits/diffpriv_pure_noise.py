"""Counts and noise of diffpriv-pure."""

from diffpriv_pure import laplace_noise, private_count


def released_count(value: int, count: int) -> list[int]:
    return [private_count(value, 1.0) for _ in range(count)]


def laplace(value: float, count: int) -> list[float]:
    return [value + laplace_noise(1.0, 1.0) for _ in range(count)]
