"""What the votes of the attack say: privacy losses, certified, exact, and how well they agree.

The loss of a 2×2 table ``N[d, y]`` is ``max over y of |ln(N[0, y]/N[1, y])|``, which no ε-DP mechanism
can push above ε but by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from noiseaudit import stats
from noiseaudit.attack import check_dimension
from noiseaudit.mechanisms import Mechanism, check_epsilon, named
from noiseaudit.verdicts import NOTHING, VIOLATES

_SUMMED_SCORES = 6.0
"""Scores up to here come from the exact sum; beyond, its probabilities run out of digits."""

_NEGLIGIBLE, _POINTS = 1e-12, 4000
"""Tails that the sum leaves out, and the points that it takes."""


def loss(counts: np.ndarray) -> np.ndarray:
    """``max over y of |ln(N[0, y]/N[1, y])|`` for tables of shape ``(…, 2, 2)``.

    Both columns are checked; infinite where one side of a column is empty. A column that is empty
    on both sides says nothing.

    Raises
    ------
    ValueError
        If a table has another shape, a negative count or a data set without votes.
    """
    _check_counts(counts)
    counts = np.asarray(counts, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_vote = np.abs(np.log(counts[..., 0, :]) - np.log(counts[..., 1, :]))
    return np.nanmax(by_vote, axis=-1)


def loss_interval(counts: np.ndarray, alpha: float) -> stats.Interval:
    """Confidence bounds of the loss for one table, at ``1 − alpha``.

    From the Clopper–Pearson intervals of the four probabilities ``P(y | d)``, each at
    ``1 − alpha/4``: all hold at once with probability at least ``1 − alpha``, and then so do the
    bounds on both log-ratios and on the larger one.

    Raises
    ------
    ValueError
        As `loss`; also if alpha is no probability.
    """
    _check_counts(counts)
    counts = np.asarray(counts)
    if counts.ndim != 2:
        raise ValueError(f"counts: shape {counts.shape} found, one table of shape (2, 2) expected")
    share = stats.clopper_pearson(counts, counts.sum(axis=1, keepdims=True), alpha / 4)
    with np.errstate(divide="ignore"):
        low, high = np.log(share.low), np.log(share.high)
    lowest, highest = low[0] - high[1], high[0] - low[1]
    magnitude_low = np.maximum(np.maximum(lowest, -highest), 0.0)
    magnitude_high = np.maximum(np.abs(lowest), np.abs(highest))
    return stats.Interval(float(magnitude_low.max()), float(magnitude_high.max()))


def _check_counts(counts: np.ndarray) -> None:
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iuf" or counts.shape[-2:] != (2, 2):
        raise ValueError(f"counts: {counts.tolist()} found, tables of shape (…, 2, 2) expected")
    if not (counts >= 0).all():
        raise ValueError(f"counts: {counts.tolist()} found, numbers of at least 0 expected")
    if not counts.sum(axis=-1).all():
        raise ValueError(f"counts: {counts.tolist()} found, votes on both data sets expected")


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
        where it is not: the larger of two equal losses (n = 1), a loss of 0, a handful of counts,
        an empty cell. Beyond six standard errors it *is* the deviation in standard errors.

        Parameters
        ----------
        observed : float
            The estimate, at least 0; infinite for a table with an empty cell.
        repeats : int
            Releases of each data set.
        rounding : float
            Half a unit in its last printed digit; any loss within it counts as equal.
        """
        if math.isinf(self.loss):
            return math.nan
        if math.isinf(observed):
            return float(scipy.stats.norm.isf(self._probability_of_empty_cell(repeats) / 2))
        slack = max(rounding, 1e-12 * (1.0 + observed))
        below = self._probability_below(observed - slack, repeats)
        upto = self._probability_below(observed + slack, repeats)
        score = float(scipy.stats.norm.ppf(min((below + upto) / 2, 1.0)))
        if abs(score) < _SUMMED_SCORES:
            return score
        return (observed - self.loss) / self.standard_error(repeats)

    def _probability_of_empty_cell(self, repeats: int) -> float:
        """P(the estimated loss is infinite): one side of a column is empty and the other is not."""
        none, every = np.exp(repeats * self.log_probability).T  # no vote for 1, no vote for 0
        mixed = 1 - none - every
        return float(1 - none.prod() - every.prod() - mixed.prod())

    def detectable_loss(self, epsilon: float, repeats: int, alpha: float) -> float:
        """The smallest loss that so many repeats would certify as a violation, at an even chance.

        Of a mechanism whose commoner deciding vote is this one's, and its rarer one rare enough; at
        the expected counts. Infinite where only an empty cell could, NaN where the loss is infinite.
        """
        if math.isinf(self.loss):
            return math.nan
        deciding = np.argmax(np.abs(self.log_probability[0] - self.log_probability[1]))
        common = round(repeats * math.exp(self.log_probability[:, deciding].max()))

        def certified(true_loss: float) -> bool:
            rare = round(common * math.exp(-true_loss))
            table = np.array([[repeats - rare, rare], [repeats - common, common]])
            return rare > 0 and loss_interval(table, alpha).low > epsilon

        low, high = epsilon, epsilon + 0.5
        while not certified(high):
            low, high = high, high + 0.5
            if common * math.exp(-high) < 0.5:
                return math.inf
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if certified(middle) else (middle, high)
        return high

    def _probability_below(self, bound: float, repeats: int) -> float:
        """P(estimated loss ≤ bound): for each count on X, the counts on X' that keep both ratios."""
        if bound < 0:
            return 0.0
        on_x, on_other = np.exp(self.log_probability[:, 1])
        first, last = scipy.stats.binom.ppf([_NEGLIGIBLE, 1 - _NEGLIGIBLE], repeats, on_x)
        # Hundreds of points a standard deviation integrate a smooth law to all its digits.
        step = max(1, int(last - first) // _POINTS)
        k = np.arange(max(first - 1, 0), min(last + 1, repeats) + 1, step)
        factor = math.exp(bound)
        # Votes for 1 on X' by their own ratio, and by that of the votes for 0.
        fewest = np.ceil(np.maximum(k / factor, repeats - (repeats - k) * factor))
        most = np.floor(np.minimum(k * factor, repeats - (repeats - k) / factor))
        inside = scipy.stats.binom.cdf(most, repeats, on_other) - scipy.stats.binom.cdf(
            fewest - 1, repeats, on_other
        )
        return step * float(
            np.sum(scipy.stats.binom.pmf(k, repeats, on_x) * np.maximum(inside, 0.0))
        )


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
    ways = (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(k + 1)
        - scipy.special.gammaln(n - k + 1)
    )
    with np.errstate(invalid="ignore"):
        ones = np.where(k > 0, k * log_one, 0.0)  # 0·(−∞) is 0 here: an event that need not happen
        zeros = np.where(k < n, (n - k) * log_zero, 0.0)
    terms = ways + ones + zeros
    majority = 2 * k > n
    return float(scipy.special.logsumexp(terms[~majority])), float(
        scipy.special.logsumexp(terms[majority])
    )


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
        return INFINITE if math.isinf(estimate) else f"{INFINITE}, not seen in {repeats} repeats"
    verdict = VIOLATES if low > epsilon else NOTHING
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
        z_exact verdict detectable_loss``: the last but two is `ExactVotes.score`, NaN where the exact
        loss is infinite; the last is `ExactVotes.detectable_loss`.

    Raises
    ------
    ValueError
        If a cell does not hold all of its repeats.
    """
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
                "z_exact": exact.score(estimate, repeats),
                "verdict": judge(exact.loss, estimate, interval.low, cell.epsilon, repeats),
                "detectable_loss": exact.detectable_loss(cell.epsilon, repeats, alpha),
            }
        )
    return pd.DataFrame(rows)


_COUNTS = ("n00", "n01", "n10", "n11")
