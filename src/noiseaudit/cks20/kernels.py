"""The discrete Laplace cascade compiled over a byte buffer: same bytes, same outputs as `reference`.

All arithmetic is in unsigned 64 bits. What would overflow stops the kernel before it happens, and so
does the end of the buffer: the draw at hand is then taken up again from its first byte, so no byte
is lost and none is read twice.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numba import njit

from noiseaudit.cks20 import reference

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

UNREACHED = -1
"""In a trace: the variant never calls this layer."""

LARGEST_TERM = 2**56
"""Numerator and denominator of a scale stay below, so that a byte count of 8 is never exceeded."""

LARGEST_TABLE = 1_000_000
"""Largest numerator of a scale for which `taylor` tabulates its thresholds."""

_BUFFER = 1 << 20
"""Bytes fetched when the buffer runs out."""

_DOUBT = Decimal("1e-58")

_NO_TABLE = np.zeros((1, 2), dtype=np.uint64)

_POSITION, _STOP = 0, 1
_RUNNING, _EXHAUSTED, _OVERFLOW = 0, 1, 2

_LARGEST = np.uint64(2**64 - 1)
_TAYLOR = _LARGEST
_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)


@njit(inline="always")
def _read(buffer, state, length):  # noqa: ANN001, ANN202
    """``length`` bytes, big-endian; 0 and a stop where the buffer ends."""
    position = state[_POSITION]
    if position + length > buffer.size:
        state[_STOP] = _EXHAUSTED
        return _ZERO
    value = _ZERO
    for i in range(position, position + length):
        value = (value << _EIGHT) | np.uint64(buffer[i])
    state[_POSITION] = position + length
    return value


@njit(inline="always")
def _uniform_below(buffer, state, m):  # noqa: ANN001, ANN202
    length = 1
    largest = np.uint64(255)
    while length < 8 and m > largest:
        length += 1
        largest = (largest << _EIGHT) | np.uint64(255)
    limit = largest - largest % m
    while True:
        value = _read(buffer, state, length)
        if state[_STOP] != _RUNNING:
            return _ZERO
        if value < limit:
            return value % m


@njit(inline="always")
def _gcd(a, k):  # noqa: ANN001, ANN202
    while k:
        a, k = k, a % k
    return a


@njit(inline="always")
def _denominator_faulty(b, g, k):  # noqa: ANN001, ANN202
    return b // g, k


@njit(inline="always")
def _denominator_fixed(b, g, k):  # noqa: ANN001, ANN202
    return b, k // g


def _first_failure_by(denominator):  # noqa: ANN001, ANN202
    """The first failing k of `bernoulli_exp1`, for one way to form the denominator of ``x / k``."""

    @njit
    def first_failure(buffer, state, a, b, thresholds):  # noqa: ANN001, ANN202
        g = _gcd(a, b)
        a, b = a // g, b // g
        k = _ONE
        while True:
            g = _gcd(a, k)
            left, right = denominator(b, g, k)
            if left > _LARGEST // right:
                state[_STOP] = _OVERFLOW
                return k
            if _uniform_below(buffer, state, left * right) >= a // g:
                return k
            if state[_STOP] != _RUNNING:
                return k
            k += _ONE

    return first_failure


@njit
def _first_failure_taylor(buffer, state, a, b, thresholds):  # noqa: ANN001, ANN202
    """`_TAYLOR` (odd: true) or one less: 128 bits against e^−a/b, exactly; see `_thresholds`."""
    high = _read(buffer, state, 8)
    low = _read(buffer, state, 8)
    row = np.int64(a) if a < b else np.int64(thresholds.shape[0] - 1)
    above = high > thresholds[row, 0] or (high == thresholds[row, 0] and low > thresholds[row, 1])
    return _TAYLOR - _ONE if above else _TAYLOR


_FIRST_FAILURES = {
    "faulty": _first_failure_by(_denominator_faulty),
    "fixed": _first_failure_by(_denominator_fixed),
    "taylor": _first_failure_taylor,
}


@njit
def _draw(first_failure, buffer, state, n, d, thresholds, trace):  # noqa: ANN001, ANN202
    """One discrete Laplace draw of scale d/n; the first output of each layer goes to ``trace``."""
    first = True
    while True:
        byte = _read(buffer, state, 1)
        negative = byte & _ONE
        if first:
            trace[0], trace[2] = byte, negative
        while True:
            u = _uniform_below(buffer, state, d)
            k = first_failure(buffer, state, u, d, thresholds)
            if state[_STOP] != _RUNNING:
                return
            if first:
                trace[1], trace[4], trace[5] = u, k & _ONE, k & _ONE
                if k < _TAYLOR - _ONE:
                    trace[3] = k > _ONE
                first = False
            if k & _ONE:
                break
        v = _ZERO
        while first_failure(buffer, state, _ONE, _ONE, thresholds) & _ONE:
            if state[_STOP] != _RUNNING:
                return
            v += _ONE
        if v >= _LARGEST // d:
            state[_STOP] = _OVERFLOW
        if state[_STOP] != _RUNNING:
            return
        magnitude = (v * d + u) // n
        if trace[6] == UNREACHED:
            trace[6], trace[7] = v, magnitude
        if magnitude or not negative:
            trace[8] = -np.int64(magnitude) if negative else np.int64(magnitude)
            return


@njit
def _draw_many(first_failure, buffer, state, n, d, thresholds, outputs, layers):  # noqa: ANN001, ANN202
    """Fill ``outputs``, a row a draw; returns how many were finished before a stop."""
    trace = np.empty(len(LAYERS), dtype=np.int64)
    for row in range(outputs.shape[0]):
        start = state[_POSITION]
        trace[:] = UNREACHED
        _draw(first_failure, buffer, state, n, d, thresholds, trace)
        if state[_STOP] != _RUNNING:
            state[_POSITION] = start
            return row
        for column in range(layers.size):
            outputs[row, column] = trace[layers[column]]
    return outputs.shape[0]


def _thresholds(d: int) -> np.ndarray:
    """``⌊2^128·e^(−u/d)⌋`` for u = 0 … d as two 64-bit words; 2^128 − 1 at u = 0.

    128 uniform bits are below the series' bracket iff they are at most this, e^−x being irrational.
    Sixty digits leave twenty to tell on which side of an integer each value lies.
    """
    table = np.empty((d + 1, 2), dtype=np.uint64)
    with localcontext(prec=60):
        for u in range(d + 1):
            exact = (Decimal(-u) / d).exp() * 2**128
            if u > 0 and int(exact * (1 - _DOUBT)) != int(exact * (1 + _DOUBT)):
                raise ArithmeticError(f"threshold of {u}/{d}: too close to an integer")
            floor = int(exact) if u > 0 else 2**128 - 1
            table[u] = floor >> 64, floor & (2**64 - 1)
    return table


class Cascade:
    """A discrete Laplace sampler that draws in bulk.

    Parameters
    ----------
    variant : str
        One of `reference.VARIANTS`.
    scale : Fraction
        Above 0; numerator and denominator below `LARGEST_TERM`, and the numerator at most
        `LARGEST_TABLE` for ``taylor``.
    source : reference.Source
        Where every byte comes from.

    Raises
    ------
    ValueError
        If the variant is unknown or the scale out of range.
    """

    def __init__(self, variant: str, scale: Fraction, source: reference.Source) -> None:
        if variant not in reference.VARIANTS:
            known = ", ".join(reference.VARIANTS)
            raise ValueError(f"variant: {variant!r} found, one of {known} expected")
        if scale <= 0 or max(scale.numerator, scale.denominator) >= LARGEST_TERM:
            raise ValueError(
                f"scale: {scale} found, a rational above 0 with terms below {LARGEST_TERM} expected"
            )
        if variant == "taylor" and scale.numerator > LARGEST_TABLE:
            raise ValueError(
                f"scale: {scale} found, a numerator of at most {LARGEST_TABLE} for taylor expected"
            )
        self._variant, self._scale, self._source = variant, scale, source
        self._thresholds = _NO_TABLE if variant != "taylor" else _thresholds(scale.numerator)
        self._unread = np.empty(0, dtype=np.uint8)

    def read(self, count: int) -> np.ndarray:
        """The next bytes, those that were fetched but not used first: the cascade is a source too."""
        missing = max(0, count - self._unread.size)
        content = np.concatenate([self._unread, self._source.read(missing)])
        self._unread = content[count:]
        return content[:count]

    def draw(self, count: int) -> np.ndarray:
        """The next ``count`` draws, int64."""
        return self._outputs(count, ("discrete_laplace",))[:, 0]

    def trace(self, count: int) -> dict[str, np.ndarray]:
        """The next ``count`` draws with the first output of each layer in each; see `LAYERS`."""
        outputs = self._outputs(count, LAYERS)
        return {name: outputs[:, column] for column, name in enumerate(LAYERS)}

    def _outputs(self, count: int, layers: tuple[str, ...]) -> np.ndarray:
        outputs = np.empty((count, len(layers)), dtype=np.int64)
        columns = np.array([LAYERS.index(name) for name in layers])
        n, d = np.uint64(self._scale.denominator), np.uint64(self._scale.numerator)
        done = 0
        while done < count:
            state = np.array([0, _RUNNING])
            done += _draw_many(
                _FIRST_FAILURES[self._variant], self._unread, state, n, d, self._thresholds,
                outputs[done:], columns,
            )  # fmt: skip
            self._unread = self._unread[state[_POSITION] :]
            if state[_STOP] == _EXHAUSTED:
                self._unread = np.concatenate([self._unread, self._source.read(_BUFFER)])
            elif state[_STOP] == _OVERFLOW:
                sampler = reference.VARIANTS[self._variant](self)
                sampler.discrete_laplace(self._scale)
                outputs[done] = [sampler.trace.get(name, UNREACHED) for name in layers]
                done += 1
        return outputs
