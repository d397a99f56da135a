"""The empirical sanity check of Habernal (2022), Sec. 4: a reconstruction attack, and its votes.

The neighbours are ``X = (0, …, 0)`` and ``X' = (1, …, 1)``. The attacker rounds each coordinate of a
release to the nearer of 0 and 1 and takes the majority (a tie goes to 0). Both releases are
repeated and counted in a 2×2 table ``N[d, y]`` of data set and vote. What such a table says of
privacy is the business of `privacy_loss`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np
from numba import njit

from noiseaudit import entropy
from noiseaudit.mechanisms import Mechanism, check_epsilon

SHARD = 1_000_000
"""Repeats that share a seed. A cell's repeats are cut into shards; who runs which changes nothing."""

LARGEST_COUNT = 2**63 - 1

LARGEST_DIMENSION = 1_000_000

_CHUNK = 1 << 18
"""Coordinates that a black box releases at a time."""

_UNIFORMS_AT_A_TIME = 1 << 15
"""As many as a core's own cache holds."""

BlackBox = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def neighbours(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """``X`` and ``X'``, each of shape ``(dimension,)``.

    Raises
    ------
    ValueError
        If the dimension is out of range.
    """
    check_dimension(dimension)
    return np.zeros(dimension), np.ones(dimension)


def vote(z: np.ndarray) -> np.ndarray:
    """The attacker's guess for each release (row) of ``z``, shape ``(m, n)``: 0 or 1, shape ``(m,)``.

    A coordinate counts for 1 from 1/2 upwards (NaN never does); a tie of coordinates goes to 0.
    """
    return (2 * (z >= 0.5).sum(axis=1) > z.shape[1]).astype(np.int64)


def attack(
    mechanism: BlackBox, epsilon: float, dimension: int, repeats: int, seed: int, name: str
) -> np.ndarray:
    """Count the votes on any black box, in chunks of bounded memory.

    Parameters
    ----------
    mechanism : callable (x, epsilon, generator) → z
        ``x`` and ``z`` are float arrays of shape ``(m, dimension)``.
    seed, name : int, str
        Together they key the generators.

    Returns
    -------
    int64 array, shape (2, 2)
        ``N[d, y]``: how often data set d was taken for y. For a mechanism of `mechanisms` it equals
        `simulate`'s.

    Raises
    ------
    ValueError
        If an argument is out of range, or the mechanism returns another shape or type.
    """
    check_repeats(repeats)
    check_epsilon(epsilon)
    counts = np.zeros((2, 2), dtype=np.int64)
    for d, x in enumerate(neighbours(dimension)):
        for shard in range(shards_of(repeats)):
            generator = shard_generator(seed, name, dimension, d, shard)
            left = repeats_of(shard, repeats)
            while left > 0:
                rows = min(left, max(1, _CHUNK // dimension))
                z = mechanism(np.tile(x, (rows, 1)), epsilon, generator)
                _check_release(name, z, (rows, dimension))
                counts[d] += np.bincount(vote(z), minlength=2)
                left -= rows
    return counts


def simulate(
    mechanism: Mechanism,
    epsilons: Sequence[float],
    dimension: int,
    repeats: int,
    seed: int,
    shards: Sequence[int] | None = None,
    finished: Callable[[int], None] = lambda repeats: None,
) -> np.ndarray:
    """Count the votes at several epsilons in one pass of constant memory, without any noise.

    A coordinate's vote depends on one uniform alone: it is for 1 in one interval of it
    (`votes_for_one`). So uniforms are drawn and compared, and no logarithm is taken; the votes are
    those of the black box, bit for bit. The epsilons share the uniforms: each cell by itself is a
    valid experiment, but cells of one mechanism and dimension are correlated. ``X`` and ``X'`` never
    share noise, nor do mechanisms, dimensions or shards.

    Parameters
    ----------
    mechanism : Mechanism
    epsilons : sequence of float
        Finite and above 0.
    dimension, repeats : int
        At least 1; repeats below 2^63.
    seed : int
        The master seed; generators are keyed by mechanism, dimension, data set and shard.
    shards : sequence of int, optional
        The shards to run, of ``range(shards_of(repeats))``; all by default. Counts of disjoint parts
        add up to the counts of the whole.
    finished : callable, optional
        Called with a number of repeats whenever as many are done.

    Returns
    -------
    int64 array, shape (len(epsilons), 2, 2)
        ``N[epsilon, d, y]``

    Raises
    ------
    ValueError
        If an argument is out of range, or votes are for 1 in two intervals.
    """
    check_dimension(dimension)
    check_repeats(repeats)
    for epsilon in epsilons:
        check_epsilon(epsilon)
    scales = [mechanism.scale(dimension, epsilon) for epsilon in epsilons]
    intervals = [np.array([votes_for_one(mechanism, x, b) for b in scales]) for x in (0.0, 1.0)]
    counts = np.zeros((len(epsilons), 2, 2), dtype=np.int64)
    chosen = range(shards_of(repeats)) if shards is None else shards
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"shards: {list(chosen)} found, distinct ones expected")
    for shard in chosen:
        rows = repeats_of(shard, repeats)
        for d in (0, 1):
            generator = shard_generator(seed, mechanism.name, dimension, d, shard)
            ones = _majorities_for_one(intervals[d], generator, rows, dimension)
            counts[:, d, 0] += rows - ones
            counts[:, d, 1] += ones
        finished(rows)
    return counts


_UNIFORMS = 2**53
"""A generator's uniforms are the multiples of 1/`_UNIFORMS` below 1."""


def votes_for_one(mechanism: Mechanism, x: float, b: float) -> tuple[float, float]:
    """The interval ``[low, high)`` of the uniform in which a coordinate of ``x`` is taken for 1.

    Up to 1/2 the output rises or falls with the uniform, and so it does beyond: the vote changes once
    at most on either side, where bisection on the mechanism's own code finds it among all uniforms.

    Returns
    -------
    (float, float)
        Both 0 where the vote never is for 1.

    Raises
    ------
    ValueError
        If votes are for 1 in two intervals.
    """

    def is_one(k: int) -> bool:
        noise = mechanism.noise(np.array([k / _UNIFORMS]))
        return bool(mechanism.output(np.array([x]), b, noise)[0] >= 0.5)

    inside = []
    for first, last in ((0, _UNIFORMS // 2), (_UNIFORMS // 2 + 1, _UNIFORMS - 1)):
        at_first, at_last = is_one(first), is_one(last)
        change = bisect_left(
            range(first, last + 1), True, key=lambda k, at_first=at_first: is_one(k) != at_first
        )
        if at_first:
            inside.append((first, first + change if at_last != at_first else last + 1))
        elif at_last:
            inside.append((first + change, last + 1))
    if len(inside) == 2 and inside[0][1] == inside[1][0]:
        inside = [(inside[0][0], inside[1][1])]
    if len(inside) > 1:
        raise ValueError(f"mechanism {mechanism.name}: votes for 1 in two intervals of its uniform")
    low, high = inside[0] if inside else (0, 0)
    return low / _UNIFORMS, high / _UNIFORMS


def _majorities_for_one(
    intervals: np.ndarray, generator: np.random.Generator, repeats: int, dimension: int
) -> np.ndarray:
    """How often the majority says 1, for each interval; shape ``(len(intervals),)``."""
    certain = intervals[:, 0] >= intervals[:, 1], (intervals == (0, 1)).all(axis=1)
    if np.all(certain[0] | certain[1]):
        return repeats * certain[1].astype(np.int64)
    won = np.zeros(len(intervals), dtype=np.int64)
    rows = max(1, _UNIFORMS_AT_A_TIME // dimension)
    for start in range(0, repeats, rows):
        uniforms = generator.random((min(rows, repeats - start), dimension))
        _count_majorities(uniforms, intervals, won)
    return won


@njit
def _count_majorities(uniforms: np.ndarray, intervals: np.ndarray, won: np.ndarray) -> None:
    """Add to ``won`` the rows of which more than half lies in each interval."""
    rows, n = uniforms.shape
    for row in range(rows):
        for place in range(won.size):
            low, high = intervals[place]
            ones = 0
            for j in range(n):
                ones += (uniforms[row, j] >= low) & (uniforms[row, j] < high)
            won[place] += 2 * ones > n


def shards_of(repeats: int) -> int:
    """How many shards hold so many repeats; only the last may hold less than `SHARD`."""
    return -(-repeats // SHARD)


def repeats_of(shard: int, repeats: int) -> int:
    """Repeats in one shard of a cell.

    Raises
    ------
    ValueError
        If there is no such shard.
    """
    if not 0 <= shard < shards_of(repeats):
        raise ValueError(
            f"shard: {shard} found, one of 0 to {shards_of(repeats) - 1} for {repeats} repeats expected"
        )
    return min(SHARD, repeats - shard * SHARD)


def shard_generator(
    seed: int, name: str, dimension: int, d: int, shard: int
) -> np.random.Generator:
    """The generator of one shard on one data set (0: ``X``, 1: ``X'``)."""
    return entropy.generator(seed, "dptext", name, dimension, d, shard)


def part_of(part: int, parts: int, repeats: int) -> range:
    """The shards of one of ``parts`` equal jobs that share a cell (``part`` counts from 1).

    Raises
    ------
    ValueError
        If there is no such part.
    """
    if not 1 <= part <= parts:
        raise ValueError(f"part: {part} of {parts} found, one of 1 to {max(parts, 1)} expected")
    return range(part - 1, shards_of(repeats), parts)


def _check_release(name: str, z: np.ndarray, shape: tuple[int, int]) -> None:
    if not isinstance(z, np.ndarray) or z.dtype.kind != "f":
        kind = f"an array of {z.dtype}" if isinstance(z, np.ndarray) else type(z).__name__
        raise ValueError(f"mechanism {name}: {kind} returned, an array of floats expected")
    if z.shape != shape:
        raise ValueError(f"mechanism {name}: shape {z.shape} returned, {shape} expected")


def check_dimension(dimension: int) -> None:
    """Raise ValueError unless the dimension is an integer from 1 to `LARGEST_DIMENSION`."""
    if not isinstance(dimension, int | np.integer) or not 1 <= dimension <= LARGEST_DIMENSION:
        raise ValueError(
            f"dimension: {dimension} found, an integer from 1 to {LARGEST_DIMENSION} expected"
        )


def check_repeats(repeats: int) -> None:
    """Raise ValueError unless the repeats are an integer from 1 to 2^63 − 1."""
    if not isinstance(repeats, int | np.integer) or not 1 <= repeats <= LARGEST_COUNT:
        raise ValueError(f"repeats: {repeats} found, an integer from 1 to {LARGEST_COUNT} expected")
