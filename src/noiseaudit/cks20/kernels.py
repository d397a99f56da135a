"""The Laplace and Gaussian cascades compiled over a byte buffer: same bytes, same outputs as `reference`.

All arithmetic is in unsigned 64 bits. What would overflow stops the kernel before it happens, and so
does the end of the buffer: the draw at hand is then taken up again from its first byte, so no byte
is lost and none is read twice.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock
from numba import config, njit
from numba.extending import overload

from noiseaudit import files
from noiseaudit.cks20 import reference
from noiseaudit.cks20.reference import LAYERS

UNREACHED = -1
"""In a trace: the variant never calls this layer."""

LARGEST_TERM = 2**56
"""Numerator and denominator of a scale stay below, so that a byte count of 8 is never exceeded."""

LARGEST_TABLE = 1_000_000
"""Largest numerator of a scale for which every proposal is tabulated; `taylor` takes no larger."""

_BUFFER, _BYTES_PER_DRAW = 1 << 16, 64
"""Bytes fetched when the buffer runs out: so many for each draw to come, up to a limit."""

_DOUBT = Decimal("1e-58")

_KEPT = "kernels.*.nb?"
"""Names of the files in which Numba keeps this module's compiled code, and their index."""

_NO_TABLE = np.zeros((0, 2), dtype=np.uint64)

_DRAWS, _TRACES, _GAUSSIANS = "draws", "traces", "gaussians"
"""Kernels that are compiled apart."""

_EXHAUSTED, _OVERFLOW = -1, -2
"""Positions that say why a kernel stopped; all others are places in the buffer."""

_LARGEST, _HALF = np.uint64(2**64 - 1), np.uint64(2**32)
_TAYLOR = _LARGEST
_ZERO, _ONE, _EIGHT, _BYTE = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(255)


@njit(inline="always")
def _read(buffer, position, length):  # noqa: ANN001, ANN202
    """``length`` bytes, big-endian, and the position behind them."""
    if position + length > buffer.size:
        return _ZERO, _EXHAUSTED
    value = _ZERO
    for i in range(position, position + length):
        value = (value << _EIGHT) | np.uint64(buffer[i])
    return value, position + length


@njit(inline="always")
def _uniform_below(buffer, position, m):  # noqa: ANN001, ANN202
    if m <= _BYTE:  # the common case apart: here the compiler can divide in few bits
        limit = _BYTE - _BYTE % m
        while position < buffer.size:
            value = np.uint64(buffer[position])
            position += 1
            if value < limit:
                return value % m, position
        return _ZERO, _EXHAUSTED
    length = 2
    largest = np.uint64(2**16 - 1)
    while length < 8 and m > largest:
        length += 1
        largest = (largest << _EIGHT) | _BYTE
    limit = largest - largest % m
    while True:
        value, position = _read(buffer, position, length)
        if position < 0 or value < limit:
            return value % m, position


@njit(inline="always")
def _gcd(a, k):  # noqa: ANN001, ANN202
    if a == _ONE:  # as for 1/d and, in the slow sampler, always
        return a
    while k:
        a, k = k, a % k
    return a


@njit(inline="always")
def _over(a, g):  # noqa: ANN001, ANN202
    """``a // g``, where g is most often 1."""
    return a if g == _ONE else a // g


class _Faulty(NamedTuple):
    """Stands for a variant: its type, which holds nothing, picks the layers when a draw is compiled.

    Unlike a function handed over, a type is the same in every process, so what was compiled for it
    can be kept on disk.
    """


class _Fixed(NamedTuple):
    """See `_Faulty`."""


class _Taylor(NamedTuple):
    """See `_Faulty`."""


_VARIANTS = {"faulty": _Faulty(), "fixed": _Fixed(), "taylor": _Taylor()}


def _denominator(variant, b, g, k):  # noqa: ANN001, ANN202
    """Two factors of the denominator of ``(a/b) / k``, with g = gcd(a, k)."""
    raise NotImplementedError


@overload(_denominator, inline="always")
def _denominator_of(variant, b, g, k):  # noqa: ANN001, ANN202
    return _DENOMINATORS[variant.instance_class]


_DENOMINATORS = {
    _Faulty: lambda variant, b, g, k: (_over(b, g), k),
    _Fixed: lambda variant, b, g, k: (b, _over(k, g)),
}


def _first_failure(variant, buffer, position, table, u, d):  # noqa: ANN001, ANN202
    """The first failing k of `bernoulli_exp1` at ``u/d``, and the position behind it."""
    raise NotImplementedError


@overload(_first_failure, jit_options={"cache": True})
def _first_failure_of(variant, buffer, position, table, u, d):  # noqa: ANN001, ANN202
    is_taylor = variant.instance_class is _Taylor
    return _first_failure_taylor if is_taylor else _first_failure_rational


def _first_failure_rational(variant, buffer, position, table, u, d):  # noqa: ANN001, ANN202
    if table.shape[0] > 0:
        a, b = table[u, 0], table[u, 1]
    else:
        g = _gcd(u, d)
        a, b = u // g, d // g
    value, position = _uniform_below(buffer, position, b)  # k = 1: x itself
    if value >= a or position < 0:
        return _ONE, position
    k = _ONE + _ONE
    while True:
        g = _gcd(a, k)
        left, right = _denominator(variant, b, g, k)
        if (left | right) >= _HALF and left > _LARGEST // right:
            return k, _OVERFLOW
        value, position = _uniform_below(buffer, position, left * right)
        if value >= _over(a, g) or position < 0:
            return k, position
        k += _ONE


def _first_failure_taylor(variant, buffer, position, table, u, d):  # noqa: ANN001, ANN202
    """`_TAYLOR` (odd: true) or one less: 128 bits against e^−u/d, exactly; see `_thresholds`."""
    high, position = _read(buffer, position, 8)
    if position < 0:
        return _TAYLOR, position
    low, position = _read(buffer, position, 8)
    above = high > table[u, 0] or (high == table[u, 0] and low > table[u, 1])
    return (_TAYLOR - _ONE if above else _TAYLOR), position


@njit(cache=True)
def _draw(variant, buffer, position, table, n, d, trace):  # noqa: ANN001, ANN202
    """One discrete Laplace draw of scale d/n, and the position behind it.

    The first output of each layer goes to ``trace``, if it is not None: then the compiler leaves
    no trace of tracing.
    """
    first = True
    while True:
        byte, position = _read(buffer, position, 1)
        if position < 0:
            return 0, position
        negative = byte & _ONE
        if trace is not None and first:
            trace[0], trace[2] = byte, negative
        while True:
            u, position = _uniform_below(buffer, position, d)
            if position < 0:
                return 0, position
            k, position = _first_failure(variant, buffer, position, table, u, d)
            if position < 0:
                return 0, position
            if trace is not None and first:
                trace[1], trace[4], trace[5] = u, k & _ONE, k & _ONE
                if k < _TAYLOR - _ONE:
                    trace[3] = k > _ONE
            if k & _ONE:
                break
            first = False
        v = _ZERO
        while True:
            k, position = _first_failure(variant, buffer, position, table, d, d)
            if position < 0:
                return 0, position
            if not k & _ONE:
                break
            v += _ONE
        if v >= _LARGEST // d:
            return 0, _OVERFLOW
        magnitude = (v * d + u) // n
        if trace is not None and trace[6] == UNREACHED:
            trace[6], trace[7] = v, magnitude
        if magnitude or not negative:
            x = -np.int64(magnitude) if negative else np.int64(magnitude)
            if trace is not None:
                trace[8] = x
            return x, position
        first = False


@njit(cache=True)
def _draw_many(variant, buffer, table, n, d, outputs, traces):  # noqa: ANN001, ANN202
    """Fill ``outputs`` and, with a row a draw, ``traces`` if it is not None: full of `UNREACHED` before.

    A draw that is taken up again fills its row with the same values.

    Returns how many were finished, the position behind the last of them, and why it stopped there
    (0 if it did not).
    """
    start = 0
    for row in range(outputs.size):
        if traces is None:
            x, position = _draw(variant, buffer, start, table, n, d, None)
        else:
            x, position = _draw(variant, buffer, start, table, n, d, traces[row])
        if position < 0:
            return row, start, position
        outputs[row], start = x, position
    return outputs.size, start, 0


@njit(cache=True)
def _draw_gaussians(variant, buffer, table, t, b2t, a2, denominator, outputs):  # noqa: ANN001, ANN202
    """Fill ``outputs`` with discrete Gaussian draws of scale a/b (`reference.Sampler.discrete_gaussian`).

    ``table`` is that of scale t; the argument of the coin is ``(|x|·b²·t − a²)²/denominator``.
    Returns as `_draw_many` does.
    """
    start, row = 0, 0
    while row < outputs.size:
        position = start
        while True:
            x, position = _draw(variant, buffer, position, table, _ONE, t, None)
            if position < 0:
                return row, start, position
            magnitude = np.uint64(abs(x))
            if magnitude >= _HALF // b2t:
                return row, start, _OVERFLOW
            shifted = magnitude * b2t
            distance = shifted - a2 if shifted > a2 else a2 - shifted
            if distance >= _HALF:
                return row, start, _OVERFLOW
            g = _gcd(distance * distance, denominator)
            left, right = distance * distance // g, denominator // g
            k = _ONE
            while k & _ONE and left > right:  # a coin of 1/e for each whole unit
                k, position = _first_failure(variant, buffer, position, table, t, t)
                if position < 0:
                    return row, start, position
                left -= right
            if k & _ONE:
                k, position = _first_failure(variant, buffer, position, _NO_TABLE, left, right)
                if position < 0:
                    return row, start, position
            if k & _ONE:
                break
        outputs[row], start = x, position
        row += 1
    return row, start, 0


@cache
def _compile(variant: str, kernel: str) -> None:
    """Compile a kernel, or load what an earlier process kept, by drawing nothing.

    One process at a time: Numba's index of what it keeps is not made for two that write to it, and one
    variant's code could come to stand under another's name. Numba does not notice a changed bit
    either, and runs it: what does not match its digest is removed, and compiled anew.
    """
    traces = np.empty((0, len(LAYERS)), dtype=np.int64) if kernel == _TRACES else None
    nothing, no_draws = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
    kept = Path(_draw_many.stats.cache_path)
    kept.mkdir(parents=True, exist_ok=True)
    record = kept / "kernels.sha256"
    with FileLock(kept / "kernels.lock"):
        noted = record.read_bytes() if record.exists() else b""
        if _digests(kept) != noted:
            for path in kept.glob(_KEPT):
                path.unlink()
        if kernel == _GAUSSIANS:
            _draw_gaussians(
                _VARIANTS[variant], nothing, _NO_TABLE, _ONE, _ONE, _ONE, _ONE, no_draws
            )
        else:
            _draw_many(_VARIANTS[variant], nothing, _NO_TABLE, _ONE, _ONE, no_draws, traces)
        if (found := _digests(kept)) != noted:
            with files.replacing(record) as temporary:
                temporary.write_bytes(found)


def _digests(folder: Path) -> bytes:
    """Of all compiled code in a folder, a line each."""
    paths = sorted(folder.glob(_KEPT))
    lines = [f"{sha256(path.read_bytes()).hexdigest()} {path.name}\n" for path in paths]
    return "".join(lines).encode()


def _lowest_terms(d: int) -> np.ndarray:
    """``u/d`` for u = 0 … d as numerator and denominator."""
    u = np.arange(d + 1)
    g = np.gcd(u, d)
    return np.stack([u // g, d // g], axis=1).astype(np.uint64)


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


def _table(variant: str, d: int) -> np.ndarray:
    """What `bernoulli_exp1` needs of every ``u/d``, shape (d + 1, 2); empty where that is too much."""
    if variant == "taylor":
        return _thresholds(d)
    return _lowest_terms(d) if d <= LARGEST_TABLE else _NO_TABLE


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
        If the variant is unknown, the scale out of range, or Numba told not to compile.
    TypeError
        If the scale is no rational: a float is one only at its binary value, ``Fraction(2.5)``.
    """

    _KERNEL = _DRAWS

    def __init__(self, variant: str, scale: Fraction, source: reference.Source) -> None:
        if config.DISABLE_JIT:
            raise ValueError(
                "NUMBA_DISABLE_JIT: set, but the kernels are made by the compiler; unset it"
            )
        if variant not in _VARIANTS:
            known = ", ".join(_VARIANTS)
            raise ValueError(f"variant: {variant!r} found, one of {known} expected")
        reference.check_scale(scale)
        if max(scale.numerator, scale.denominator) >= LARGEST_TERM:
            raise ValueError(
                f"scale: {scale} found, a rational with terms below {LARGEST_TERM} expected"
            )
        if variant == "taylor" and scale.numerator > LARGEST_TABLE:
            raise ValueError(
                f"scale: {scale} found, a numerator of at most {LARGEST_TABLE} for taylor expected"
            )
        self._variant, self._scale, self._source = variant, scale, source
        self._table = _table(variant, scale.numerator)
        self._unread = np.empty(0, dtype=np.uint8)

    def read(self, count: int) -> np.ndarray:
        """The next bytes, those that were fetched but not used first: the cascade is a source too."""
        missing = max(0, count - self._unread.size)
        content = np.concatenate([self._unread, self._source.read(missing)])
        self._unread = content[count:]
        return content[:count]

    @property
    def unread(self) -> int:
        """How many bytes were fetched from the source and not used so far."""
        return self._unread.size

    def forget(self) -> None:
        """Drop the bytes that were fetched and not used: a copy of the cascade will not share them."""
        self._unread = np.empty(0, dtype=np.uint8)

    def draw(self, count: int) -> np.ndarray:
        """The next ``count`` draws, int64; `ValueError` unless count is an integer of at least 0."""
        reference.check_count(count)
        outputs = np.empty(count, dtype=np.int64)
        self._fill(outputs, None)
        return outputs

    def trace(self, count: int) -> dict[str, np.ndarray]:
        """The next ``count`` draws with the first output of each layer in each; see `LAYERS`."""
        reference.check_count(count)
        traces = np.full((count, len(LAYERS)), UNREACHED, dtype=np.int64)
        self._fill(np.empty(count, dtype=np.int64), traces)
        return {name: traces[:, column] for column, name in enumerate(LAYERS)}

    def _fill(self, outputs: np.ndarray, traces: np.ndarray | None) -> None:
        _compile(self._variant, self._KERNEL if traces is None else _TRACES)
        done = 0
        while done < outputs.size:
            own = None if traces is None else traces[done:]
            finished, position, stop = self._draw(outputs[done:], own)
            done += finished
            self._unread = self._unread[position:]
            if stop == _EXHAUSTED:
                wanted = min(_BUFFER, _BYTES_PER_DRAW * (outputs.size - done))
                self._unread = np.concatenate([self._unread, self._source.read(wanted)])
            elif stop == _OVERFLOW:
                sampler = reference.VARIANTS[self._variant](self)
                outputs[done] = self._draw_plainly(sampler)
                if traces is not None:
                    traces[done] = [sampler.trace.get(name, UNREACHED) for name in LAYERS]
                done += 1

    def _draw(self, outputs: np.ndarray, traces: np.ndarray | None) -> tuple[int, int, int]:
        n, d = np.uint64(self._scale.denominator), np.uint64(self._scale.numerator)
        return _draw_many(
            _VARIANTS[self._variant], self._unread, self._table, n, d, outputs, traces
        )

    def _draw_plainly(self, sampler: reference.Sampler) -> int:
        return sampler.discrete_laplace(self._scale)


class GaussianCascade(Cascade):
    """A discrete Gaussian sampler that draws in bulk, ``faulty`` or ``fixed``.

    Parameters
    ----------
    variant, source
        As of `Cascade`; ``taylor`` has no table for the coin's arguments.
    scale : Fraction
        Above 0, ``a/b`` with ``2·a²·b²·t²`` below `LARGEST_TERM`, ``t = ⌊a/b⌋ + 1``.

    Raises
    ------
    ValueError, TypeError
        As `Cascade`.
    """

    _KERNEL = _GAUSSIANS

    def __init__(self, variant: str, scale: Fraction, source: reference.Source) -> None:
        reference.check_scale(scale)
        a, b = scale.numerator, scale.denominator
        t = a // b + 1
        self._denominator = 2 * a**2 * b**2 * t**2
        if variant == "taylor":
            raise ValueError("variant: 'taylor' found, faulty or fixed expected for the Gaussian")
        if self._denominator >= LARGEST_TERM:
            raise ValueError(f"scale: {scale} found, a rational of smaller terms expected")
        super().__init__(variant, Fraction(t), source)
        self._deviation = scale

    def trace(self, count: int) -> dict[str, np.ndarray]:
        """Refused with a `ValueError`: layers are traced in Laplace draws."""
        raise ValueError("trace: a Gaussian found, a Laplace cascade expected")

    def _draw(self, outputs: np.ndarray, traces: np.ndarray | None) -> tuple[int, int, int]:
        a, b, t = self._deviation.numerator, self._deviation.denominator, self._scale.numerator
        terms = map(np.uint64, (t, b**2 * t, a**2, self._denominator))
        return _draw_gaussians(_VARIANTS[self._variant], self._unread, self._table, *terms, outputs)

    def _draw_plainly(self, sampler: reference.Sampler) -> int:
        return sampler.discrete_gaussian(self._deviation)
