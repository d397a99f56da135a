"""The empirical sanity check of Habernal (2022), Sec. 4: a reconstruction attack, and its votes.

The neighbours are ``X = (0, …, 0)`` and ``X' = (1, …, 1)``. The attacker rounds each coordinate of a
release to the nearer of 0 and 1 and takes the majority (a tie goes to 0). Both releases are
repeated and counted in a 2×2 table ``N[d, y]`` of data set and vote. What such a table says of
privacy is the business of `privacy_loss`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numba import njit

from noiseaudit import entropy
from noiseaudit.mechanisms import Mechanism, check_epsilon

SHARD = 1_000_000
"""Repeats that share a seed. A cell's repeats are cut into shards; who runs which changes nothing."""

LARGEST_COUNT = 2**63 - 1

LARGEST_DIMENSION = 1_000_000

LANES = 8
"""Epsilons are padded to a multiple, so that a vector unit takes them at once."""

_CHUNK = 1 << 18
"""Coordinates that a black box releases at a time."""

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
    """Count the votes at several epsilons in one compiled pass of constant memory.

    Draw, transform, add, round and vote happen in one loop over the repeats. The epsilons share the
    unit noise: each cell by itself is a valid experiment, but cells of one mechanism and dimension
    are correlated. ``X`` and ``X'`` never share noise, nor do mechanisms, dimensions or shards.

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
        If an argument is out of range.
    """
    check_repeats(repeats)
    for epsilon in epsilons:
        check_epsilon(epsilon)
    scales = np.zeros(-(-len(epsilons) // LANES) * LANES)
    scales[: len(epsilons)] = [mechanism.scale(dimension, epsilon) for epsilon in epsilons]
    counts = np.zeros((len(epsilons), 2, 2), dtype=np.int64)
    chosen = range(shards_of(repeats)) if shards is None else shards
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"shards: {list(chosen)} found, distinct ones expected")
    for shard in chosen:
        rows = repeats_of(shard, repeats)
        for d, x in enumerate(neighbours(dimension)):
            generator = shard_generator(seed, mechanism.name, dimension, d, shard)
            ones = _votes_for_one(x, scales, mechanism.noise, mechanism.output, generator, rows)[
                : len(epsilons)
            ]
            counts[:, d, 0] += rows - ones
            counts[:, d, 1] += ones
        finished(rows)
    return counts


@njit(error_model="numpy")
def _votes_for_one(
    x: np.ndarray,
    scales: np.ndarray,
    noise: Callable[[np.random.Generator], float],
    output: Callable[[float, float, float], float],
    generator: np.random.Generator,
    repeats: int,
) -> np.ndarray:
    """How often the majority says 1, for each scale."""
    n, lanes = x.size, scales.size
    ones = np.zeros(lanes, dtype=np.int64)
    won = np.zeros(lanes, dtype=np.int64)
    for _ in range(repeats):
        ones[:] = 0
        for j in range(n):
            s = noise(generator)
            for lane in range(lanes):
                ones[lane] += np.int64(output(x[j], scales[lane], s) >= 0.5)
        for lane in range(lanes):
            won[lane] += np.int64(2 * ones[lane] > n)
    return won


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
