"""The empirical sanity check of Habernal (2022), Sec. 4: a reconstruction attack and its privacy loss.

The neighbours are ``X = (0, …, 0)`` and ``X' = (1, …, 1)``. The attacker rounds each coordinate of a
release to the nearer of 0 and 1 and takes the majority (a tie goes to 0). Both releases are
repeated; the 2×2 table ``N[d, y]`` of data set and vote gives the loss ``max over y of
|ln(N[0, y]/N[1, y])|``, which no ε-DP mechanism can push above ε but by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numba import njit
from scipy import special
from scipy.stats import binom, norm

from noiseaudit import entropy, stats
from noiseaudit.mechanisms import Mechanism, check_epsilon, named

SHARD = 1_000_000
"""Repeats that share a seed. A cell's repeats are cut into shards; who runs which changes nothing."""

LARGEST_COUNT = 2**63 - 1

LANES = 8
"""Epsilons are padded to a multiple, so that a vector unit takes them at once."""

_NEGLIGIBLE = 1e-12
_POINTS = 4000

_CHUNK = 1 << 18
"""Coordinates that a black box releases at a time."""

BlackBox = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def neighbours(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """``X`` and ``X'``, each of shape ``(dimension,)``.

    Raises
    ------
    ValueError
        If the dimension is not an integer of at least 1.
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
    for shard in range(shards_of(repeats)) if shards is None else shards:
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


def loss(counts: np.ndarray) -> np.ndarray:
    """``max over y of |ln(N[0, y]/N[1, y])|`` for tables of shape ``(…, 2, 2)``.

    Both columns are checked; infinite where one side of a column is empty. A column that is empty
    on both sides says nothing.
    """
    counts = np.asarray(counts, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_vote = np.abs(np.log(counts[..., 0, :]) - np.log(counts[..., 1, :]))
    return np.nanmax(by_vote, axis=-1)


def loss_interval(counts: np.ndarray, alpha: float) -> stats.Interval:
    """Confidence bounds of the loss for one table, at ``1 − alpha``.

    From the Clopper–Pearson intervals of the four probabilities ``P(y | d)``, each at
    ``1 − alpha/4``: all hold at once with probability at least ``1 − alpha``, and then so do the
    bounds on both log-ratios and on the larger one.
    """
    counts = np.asarray(counts)
    share = stats.clopper_pearson(counts, counts.sum(axis=1, keepdims=True), alpha / 4)
    with np.errstate(divide="ignore"):
        low, high = np.log(share.low), np.log(share.high)
    lowest, highest = low[0] - high[1], high[0] - low[1]
    magnitude_low = np.maximum(np.maximum(lowest, -highest), 0.0)
    magnitude_high = np.maximum(np.abs(lowest), np.abs(highest))
    return stats.Interval(float(magnitude_low.max()), float(magnitude_high.max()))


@dataclass(frozen=True)
class ExactVotes:
    """``ln P(y | d)`` of one cell, shape ``(2, 2)``, exact but for rounding; −∞ is exact."""

    log_probability: np.ndarray

    @property
    def loss(self) -> float:
        """``max over y of |ln P(y | X) − ln P(y | X')|``; infinite only if a probability is 0."""
        by_vote = [abs(a - b) if max(a, b) > -math.inf else 0.0 for a, b in self.log_probability.T]
        return max(by_vote)

    def standard_error(self, repeats: int) -> float:
        """Delta-method standard error of the estimated loss; NaN where the loss is infinite.

        Of the vote that decides the loss: ``√(Σ_d (1 − P(y|d)) / (repeats·P(y|d)))``.
        """
        if math.isinf(self.loss):
            return math.nan
        deciding = np.argmax(np.abs(self.log_probability[0] - self.log_probability[1]))
        with np.errstate(over="ignore"):
            return float(np.sqrt(np.sum(np.expm1(-self.log_probability[:, deciding])) / repeats))

    def score(self, observed: float, repeats: int, rounding: float = 0.0) -> float:
        """How far an estimated loss lies from the exact one, as a standard normal deviate.

        The probability that ``repeats`` of each release give a smaller loss, an equal one counted
        half, is summed over the two binomial counts and passed through the normal quantile. So it
        is a deviation in standard errors where the loss is normal, and still standard normal
        where it is not: the larger of two equal losses (n = 1), a loss of 0, a handful of counts.

        Parameters
        ----------
        observed : float
            The estimate, finite and at least 0.
        repeats : int
            Releases of each data set.
        rounding : float
            Half a unit in its last printed digit; any loss within it counts as equal.
        """
        slack = max(rounding, 1e-12 * (1.0 + observed))
        below = self._probability_below(observed - slack, repeats)
        upto = self._probability_below(observed + slack, repeats)
        return float(norm.ppf((below + upto) / 2))

    def _probability_below(self, bound: float, repeats: int) -> float:
        """P(estimated loss ≤ bound): for each count on X, the counts on X' that keep both ratios."""
        if bound < 0:
            return 0.0
        on_x, on_other = np.exp(self.log_probability[:, 1])
        first, last = binom.ppf([_NEGLIGIBLE, 1 - _NEGLIGIBLE], repeats, on_x)
        # Hundreds of points a standard deviation integrate a smooth law to all its digits.
        step = max(1, int(last - first) // _POINTS)
        k = np.arange(max(first - 1, 0), min(last + 1, repeats) + 1, step)
        factor = math.exp(bound)
        # Votes for 1 on X' by their own ratio, and by that of the votes for 0.
        fewest = np.ceil(np.maximum(k / factor, repeats - (repeats - k) * factor))
        most = np.floor(np.minimum(k * factor, repeats - (repeats - k) / factor))
        inside = binom.cdf(most, repeats, on_other) - binom.cdf(fewest - 1, repeats, on_other)
        return step * float(np.sum(binom.pmf(k, repeats, on_x) * np.maximum(inside, 0.0)))


def exact_votes(mechanism: Mechanism, epsilon: float, dimension: int) -> ExactVotes:
    """The exact vote probabilities of one cell.

    The coordinates vote independently, so the majority is binomial. Everything is summed in log
    space: probabilities far below the smallest float keep their digits.

    Raises
    ------
    ValueError
        If epsilon or the dimension is out of range.
    """
    check_epsilon(epsilon)
    check_dimension(dimension)
    b = mechanism.scale(dimension, epsilon)
    votes = [_log_majority(*mechanism.log_votes(x, b), dimension) for x in (0, 1)]
    return ExactVotes(np.array(votes))


def _log_majority(log_zero: float, log_one: float, n: int) -> tuple[float, float]:
    """``ln P(Bin(n, p) ≤ n/2)`` and ``ln P(Bin(n, p) > n/2)`` from ``ln(1 − p)`` and ``ln p``."""
    k = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    with np.errstate(invalid="ignore"):
        ones = np.where(k > 0, k * log_one, 0.0)  # 0·(−∞) is 0 here: an event that need not happen
        zeros = np.where(k < n, (n - k) * log_zero, 0.0)
    terms = ways + ones + zeros
    majority = 2 * k > n
    return float(special.logsumexp(terms[~majority])), float(special.logsumexp(terms[majority]))


def detectable_loss(epsilon: float, repeats: int, alpha: float) -> float:
    """The smallest loss that so many repeats would certify as a violation of epsilon.

    For a mechanism that treats the two data sets alike, ``P(1 | X') = P(0 | X)``, at its expected
    counts; infinite where only an empty cell could.
    """

    def margin(true_loss: float) -> float:
        common = round(repeats * special.expit(true_loss))
        table = np.array([[common, repeats - common], [repeats - common, common]])
        return loss_interval(table, alpha).low - epsilon

    low, high = epsilon, epsilon + 1.0
    while margin(high) <= 0:
        high += 1.0
        if repeats * special.expit(-high) < 0.5:
            return math.inf
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if margin(middle) <= 0 else (low, middle)
    return high


VIOLATION = "violates epsilon"
"""The certified lower bound of the loss exceeds epsilon."""

WITHIN = "no violation found"

INFINITE = "infinite"
"""The exact loss is infinite; an empty cell alone never earns this."""


def judge(exact: float, estimate: float, low: float, epsilon: float, repeats: int) -> str:
    """The verdict on a cell.

    Parameters
    ----------
    exact, estimate, low : float
        The exact loss, its estimate and the estimate's certified lower bound.
    """
    if math.isinf(exact):
        return INFINITE
    verdict = VIOLATION if low > epsilon else WITHIN
    return f"{verdict}, beyond {repeats} repeats" if math.isinf(estimate) else verdict


def tabulate(cells: pd.DataFrame, repeats: int, alpha: float) -> pd.DataFrame:
    """Losses of counted cells: estimated, certified and exact, with a verdict.

    Parameters
    ----------
    cells : DataFrame
        ``mechanism epsilon dimension n00 n01 n10 n11``, whole cells.
    repeats : int
        Releases of each data set in a cell.
    alpha : float
        Error probability of each interval: the table's, shared among its rows.

    Returns
    -------
    DataFrame
        ``mechanism epsilon dimension repeats n00 n01 n10 n11 loss loss_low loss_high exact_loss
        z_exact verdict detectable_loss``: ``z_exact`` is `ExactVotes.score`, NaN where a loss is
        infinite; ``detectable_loss`` tells what `detectable_loss` would have been certified.

    Raises
    ------
    ValueError
        If a cell does not hold all of its repeats.
    """
    detectable = {
        epsilon: detectable_loss(epsilon, repeats, alpha) for epsilon in cells["epsilon"].unique()
    }
    rows = []
    for cell in cells.itertuples(index=False):
        counts = np.array([[cell.n00, cell.n01], [cell.n10, cell.n11]])
        if np.any(counts.sum(axis=1) != repeats):
            raise ValueError(
                f"{cell.mechanism}, epsilon {cell.epsilon:g}, n = {cell.dimension}: "
                f"{counts.sum(axis=1).tolist()} repeats found, {repeats} of each expected"
            )
        exact = exact_votes(named(cell.mechanism), cell.epsilon, cell.dimension)
        estimate, interval = float(loss(counts)), loss_interval(counts, alpha)
        finite = math.isfinite(exact.loss) and math.isfinite(estimate)
        rows.append(
            {
                "mechanism": cell.mechanism,
                "epsilon": cell.epsilon,
                "dimension": cell.dimension,
                "repeats": repeats,
                **dict(zip(_COUNTS, counts.flat, strict=True)),
                "loss": estimate,
                "loss_low": interval.low,
                "loss_high": interval.high,
                "exact_loss": exact.loss,
                "z_exact": exact.score(estimate, repeats) if finite else math.nan,
                "verdict": judge(exact.loss, estimate, interval.low, cell.epsilon, repeats),
                "detectable_loss": detectable[cell.epsilon],
            }
        )
    return pd.DataFrame(rows)


_COUNTS = ("n00", "n01", "n10", "n11")


def _check_release(name: str, z: np.ndarray, shape: tuple[int, int]) -> None:
    if not isinstance(z, np.ndarray) or z.dtype.kind != "f":
        kind = f"an array of {z.dtype}" if isinstance(z, np.ndarray) else type(z).__name__
        raise ValueError(f"mechanism {name}: {kind} returned, an array of floats expected")
    if z.shape != shape:
        raise ValueError(f"mechanism {name}: shape {z.shape} returned, {shape} expected")


def check_dimension(dimension: int) -> None:
    """Raise ValueError unless the dimension is an integer of at least 1."""
    if not isinstance(dimension, int | np.integer) or dimension < 1:
        raise ValueError(f"dimension: {dimension} found, an integer of at least 1 expected")


def check_repeats(repeats: int) -> None:
    """Raise ValueError unless the repeats are an integer from 1 to 2^63 − 1."""
    if not isinstance(repeats, int | np.integer) or not 1 <= repeats <= LARGEST_COUNT:
        raise ValueError(f"repeats: {repeats} found, an integer from 1 to {LARGEST_COUNT} expected")
