"""The sampler hierarchy over exact rationals, layer by layer, from the bottom up.

Canonne, Kamath and Steinke (2020), Algorithms 1 to 3, as OpenDP implements them. Every random byte
comes from the ``source`` that a sampler is made with. The three variants differ in one layer each:
how `Faulty` and `Fixed` divide a rational by an integer, and how `Taylor` flips its coin.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from math import factorial, gcd, isqrt
from numbers import Rational
from typing import Any, Protocol

import numpy as np

LAYERS = (
    "uniform_bits",
    "uniform_below",
    "bernoulli_standard",
    "bernoulli_rational",
    "bernoulli_exp1",
    "bernoulli_exp",
    "geometric_slow",
    "geometric_fast",
    "discrete_laplace",
)
"""Columns of a trace, from the bottom up."""


class Source(Protocol):
    """Anything with ``read(n)``, such as `noiseaudit.entropy.ByteSource`."""

    def read(self, count: int) -> np.ndarray:
        """The next ``count`` bytes."""


def layer(method: Callable[..., Any]) -> Callable[..., Any]:
    """A layer whose first output in each draw is kept in the sampler's ``trace``."""
    name = method.__name__

    @functools.wraps(method)
    def traced(sampler: Sampler, *arguments: Any) -> Any:  # noqa: ANN401
        output = method(sampler, *arguments)
        if name not in sampler.trace:
            sampler.trace[name] = int(output)
        return output

    return traced


class Sampler:
    """The layers that all variants share.

    Parameters
    ----------
    source : Source
        Where every byte comes from.

    Attributes
    ----------
    trace : dict of str to int
        The first output of each layer since the last `discrete_laplace` or `discrete_gaussian` began.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.trace: dict[str, int] = {}

    @layer
    def uniform_bits(self, count: int) -> int:
        """``count`` bytes as one big-endian integer."""
        return int.from_bytes(self.source.read(count), "big")

    @layer
    def uniform_below(self, m: int) -> int:
        """Uniform on ``0 … m − 1``: whole bytes that hold m, the uneven rest rejected."""
        length = (m.bit_length() + 7) // 8
        largest = 256**length - 1
        while True:
            value = self.uniform_bits(length)
            if value < largest - largest % m:
                return value % m

    @layer
    def bernoulli_standard(self) -> bool:
        """True with probability 1/2: the lowest bit of a byte."""
        return self.uniform_bits(1) % 2 == 1

    @layer
    def bernoulli_rational(self, numerator: int, denominator: int) -> bool:
        """True with probability ``numerator / denominator``, as given and not reduced."""
        return self.uniform_below(denominator) < numerator

    @staticmethod
    def divide(x: Fraction, k: int) -> tuple[int, int]:
        """``x / k`` for x > 0 or k = 1, as numerator and denominator; each variant has its own."""
        raise NotImplementedError

    @layer
    def bernoulli_exp1(self, x: Fraction) -> bool:
        """True with probability e^−x, ``0 ≤ x ≤ 1``: iff the first failing k is odd (Algorithm 1)."""
        k = 1
        while self.bernoulli_rational(*self.divide(x, k)):
            k += 1
        return k % 2 == 1

    @layer
    def bernoulli_exp(self, x: Fraction) -> bool:
        """True with probability e^−x, ``x ≥ 0``: a coin for each whole unit, one for the rest."""
        while x > 1:
            if not self.bernoulli_exp1(Fraction(1)):
                return False
            x -= 1
        return self.bernoulli_exp1(x)

    @layer
    def geometric_slow(self, x: Fraction) -> int:
        """Successes of `bernoulli_exp` before the first failure."""
        successes = 0
        while self.bernoulli_exp(x):
            successes += 1
        return successes

    @layer
    def geometric_fast(self, x: Fraction) -> int:
        """As `geometric_slow`, for ``x = n/d > 0`` in time that does not grow with d (Algorithm 2)."""
        n, d = x.numerator, x.denominator
        while True:
            u = self.uniform_below(d)
            if self.bernoulli_exp(Fraction(u, d)):
                break
        v = self.geometric_slow(Fraction(1))
        return (v * d + u) // n

    def _signed_magnitude(self, scale: Fraction) -> int:
        """A sign and a magnitude; a negative zero is drawn again."""
        while True:
            negative = self.bernoulli_standard()
            magnitude = self.geometric_fast(1 / scale)
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude

    def discrete_laplace(self, scale: Fraction) -> int:
        """An integer x with probability proportional to e^−|x|/s."""
        check_scale(scale)
        self.trace = {}
        x = self._signed_magnitude(scale)
        self.trace["discrete_laplace"] = x
        return x

    def discrete_gaussian(self, scale: Fraction) -> int:
        """An integer x with probability proportional to e^−x²/2s² (Algorithm 3)."""
        check_scale(scale)
        self.trace = {}
        variance = scale**2
        t = isqrt(variance.numerator // variance.denominator) + 1  # ⌊s⌋ + 1
        while True:
            x = self._signed_magnitude(Fraction(t))
            if self.bernoulli_exp((abs(x) - variance / t) ** 2 / (2 * variance)):
                return x


class Faulty(Sampler):
    """OpenDP 0.9 to 0.14.1: the division of dashu's ``RBig / UBig``."""

    @staticmethod
    def divide(x: Fraction, k: int) -> tuple[int, int]:
        """The denominator is divided by a factor that it does not have: ``(4/5)/2`` gives 2/4."""
        a, b, g = x.numerator, x.denominator, gcd(x.numerator, k)
        return a // g, (b // g) * k


class Fixed(Sampler):
    """OpenDP from 0.14.2 on: the factor is taken from k, which has it."""

    @staticmethod
    def divide(x: Fraction, k: int) -> tuple[int, int]:
        """With ``x = a/b`` and ``g = gcd(a, k)``: ``(a/g) / (b·k/g)``."""
        a, b, g = x.numerator, x.denominator, gcd(x.numerator, k)
        return a // g, b * (k // g)


class Taylor(Sampler):
    """The paper's alternative: a uniform between the partial sums of a series (Sec. VII)."""

    BYTES = 16

    @layer
    def bernoulli_exp1(self, x: Fraction) -> bool:
        """True with probability e^−x to within 2^−128: ``U`` is below the bracket or above it.

        Consecutive partial sums of ``Σ (−x)^j/j!`` bracket e^−x ever more tightly, from 1 and 1 − x.
        """
        u = Fraction(self.uniform_bits(self.BYTES), 256**self.BYTES)
        previous, current, j = Fraction(1), 1 - x, 1
        while min(previous, current) <= u < max(previous, current):
            j += 1
            previous, current = current, current + (-x) ** j / factorial(j)
        return u < min(previous, current)


VARIANTS: dict[str, type[Sampler]] = {"faulty": Faulty, "fixed": Fixed, "taylor": Taylor}
"""The samplers by the name of their variant."""


def check_scale(scale: Rational) -> None:
    """Raise TypeError unless a scale is a rational, and ValueError unless it is above 0.

    A float is a rational only at its binary value, ``Fraction(2.5)``: to take it for one is the
    caller's choice.
    """
    if not isinstance(scale, Rational):
        raise TypeError(f"scale: {scale!r} found, a Fraction expected")
    if scale <= 0:
        raise ValueError(f"scale: {scale} found, a rational above 0 expected")


def check_count(count: int) -> None:
    """Raise ValueError unless a number of draws is an integer of at least 0."""
    if not isinstance(count, int | np.integer) or count < 0:
        raise ValueError(f"count: {count!r} found, an integer of at least 0 expected")


def rational(text: str) -> Fraction:
    """A scale as it is written: ``10``, ``7/3``, ``2.25``.

    Raises
    ------
    ValueError
        If it is no finite rational.
    """
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"scale: {text!r} found, a rational such as 10 or 7/3 expected") from error
