"""Exact inversion: discrete Laplace and Gaussian draws from one 64-bit word each.

The upper bits of a word are a uniform U cut short, and the magnitude is the number of exact
distribution values ``T_0 < T_1 < …`` that U reaches; the lowest bit is the sign, and a negative zero is
drawn again. A table holds ``⌊2^bits·T_j⌋`` exactly. Where U's bits equal an entry the magnitude is
undecided: more bits are taken, and compared with more digits of the exact value, for as long as it takes.
So the law is exact, with no series and no rejection but that of the negative zero.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil

import numpy as np
from numba import njit

from noiseaudit.cks20 import reference

LAPLACE, GAUSSIAN = "laplace", "gaussian"

VARIANT = "inversion"
"""Its name beside those of the cascade's variants."""

LARGEST_SCALE = 10_000
"""Beyond it a table would have millions of entries."""

BITS = 63
"""Of a word, besides the sign."""

_GUIDE_BITS = 11
"""The table is entered by so many of the upper bits."""

_GUARD = 160
"""Bits that sums of weights carry beyond those of the table: far more than all roundings together."""

_WORDS = 1 << 13
"""Words that are fetched at a time; as many as a core's own cache holds with its table."""


@cache
def thresholds(kind: str, scale: Fraction, bits: int) -> list[int]:
    """``⌊2^bits·T_j⌋`` for all magnitudes j up to the first that is ``2^bits − 1``, exactly.

    ``T_j`` is the law's probability of a magnitude of at most j where zero has one sign as all others
    have: weights ``e^−j/s``, or ``e^−j²/2s²``. They are multiplied up in fixed point; whatever
    rounding did to a value, its floor is the same, or more digits are taken.

    Raises
    ------
    ArithmeticError
        If a value is too close to a whole number to tell its floor: that would have to be by chance,
        T_j being irrational.
    """
    precision = bits + _GUARD
    weights = _weights(kind, scale, precision)
    sums = np.array(weights, dtype=object).cumsum()
    last = len(weights)
    # Of a weight at most (j + 2)²; of all sums its sum; and what lies beyond the last weight.
    error = (last + 2) ** 3 + 2 * (last + 2) ** 2 * (ceil(scale) + 2)
    total, found = int(sums[-1]), []
    for part in map(int, sums):
        low = ((part - error) << bits) // (total + error)
        high = ((part + error) << bits) // (total - error)
        if low != high and low < (1 << bits) - 1:
            raise ArithmeticError(
                f"threshold {len(found)} of scale {scale}: too close to an integer"
            )
        found.append(min(low, (1 << bits) - 1))
        if found[-1] == (1 << bits) - 1:
            break
    return found


def _weights(kind: str, scale: Fraction, precision: int) -> list[int]:
    """In units of ``2^−precision``, from 1 down to where rounding is all that is left."""
    square = 2 * scale**2
    step, factor = (
        (_exp(-1 / scale, precision), 1 << precision)
        if kind == LAPLACE
        else (_exp(-1 / square, precision), _exp(-2 / square, precision))
    )
    weights = [1 << precision]
    while weights[-1] > (len(weights) + 2) ** 2:
        weights.append(weights[-1] * step >> precision)
        step = step * factor >> precision
    return weights


def _exp(exponent: Fraction, precision: int) -> int:
    with localcontext(prec=precision // 3 + 10):
        power = (Decimal(exponent.numerator) / exponent.denominator).exp()
        return int(power * 2**precision)


@njit
def _invert(words, bits, guide, guide_bits, table, outputs):  # noqa: ANN001, ANN202
    """Fill ``outputs``; returns how many, the words used, and whether the last of them is undecided.

    What a draw decides is no branch but where it is rare: a processor would guess it wrong as often as
    noise is random, which takes three times as long. All is unsigned, so that no index is negative.
    """
    zero, one = np.uint64(0), np.uint64(1)
    shift, enter = np.uint64(64) - bits, bits - guide_bits
    filled, read = zero, np.uint64(min(words.size, outputs.size))
    for place in range(read):
        word = words[place]
        u = word >> shift
        j = np.uint64(guide[u >> enter])
        j += np.uint64(table[j] < u)
        while table[j] < u:
            j += one
        if table[j] == u:
            return filled, place + one, True
        sign = word & one
        outputs[filled] = np.int64((j ^ (zero - sign)) + sign)
        filled += one - (sign & np.uint64(j == zero))  # a negative zero is written over
    return filled, read, False


class Inversion:
    """A discrete Laplace or Gaussian sampler that inverts the exact distribution function.

    Parameters
    ----------
    kind : str
        `LAPLACE` or `GAUSSIAN`.
    scale : Fraction
        Above 0, at most `LARGEST_SCALE`; the Gaussian's deviation.
    words : function (count) → uint64 array
        Where every bit comes from, such as `noiseaudit.entropy.word_source`.
    bits : int
        Of a word that are compared with the table at first; fewer leave more undecided.

    Raises
    ------
    ValueError, TypeError
        If the kind is unknown, the scale out of range or no rational, or the bits are not 1 to 63.
    """

    def __init__(
        self,
        kind: str,
        scale: Fraction,
        words: Callable[[int], np.ndarray],
        bits: int = BITS,
    ) -> None:
        reference.check_scale(scale)
        if kind not in (LAPLACE, GAUSSIAN):
            raise ValueError(f"kind: {kind!r} found, {LAPLACE} or {GAUSSIAN} expected")
        if scale > LARGEST_SCALE:
            raise ValueError(f"scale: {scale} found, at most {LARGEST_SCALE} expected")
        if not 1 <= bits <= BITS:
            raise ValueError(f"bits: {bits} found, 1 to {BITS} expected")
        self._kind, self._scale, self._words, self._bits = kind, scale, words, bits
        table = thresholds(kind, scale, bits)
        self._table = np.array(table, dtype=np.uint64)
        self._guide_bits = min(_GUIDE_BITS, bits)
        starts = [start << (bits - self._guide_bits) for start in range(1 << self._guide_bits)]
        places = np.searchsorted(self._table, np.array(starts, dtype=np.uint64))
        self._guide = places.astype(np.uint32)
        self._unread = np.empty(0, dtype=np.uint64)

    def draw(self, count: int) -> np.ndarray:
        """The next ``count`` draws, int64; `ValueError` unless count is an integer of at least 0."""
        reference.check_count(count)
        outputs = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            if not self._unread.size:
                self._unread = self._words(min(_WORDS, count - done))
            filled, used, undecided = _invert(
                self._unread, np.uint64(self._bits), self._guide, np.uint64(self._guide_bits),
                self._table, outputs[done:],
            )  # fmt: skip
            done += int(filled)
            word, self._unread = int(self._unread[used - 1]), self._unread[used:]
            if undecided:
                magnitude = self._decide(word >> (64 - self._bits))
                if magnitude or not word & 1:
                    outputs[done] = -magnitude if word & 1 else magnitude
                    done += 1
        return outputs

    def _decide(self, uniform: int) -> int:
        """The magnitude where the table's bits leave it open: by more of them, 64 at a time."""
        bits = self._bits
        while True:
            if not self._unread.size:
                self._unread = self._words(1)
            uniform = uniform << 64 | int(self._unread[0])
            self._unread, bits = self._unread[1:], bits + 64
            table = thresholds(self._kind, self._scale, bits)
            place = bisect_left(table, uniform)
            if table[place] != uniform:
                return place
