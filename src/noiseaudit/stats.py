"""Tests, intervals and privacy-loss estimates, each with its error.

Null hypotheses and bins are always fixed before the data are seen; what is estimated from counts
carries an exact (Clopper–Pearson) interval.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

POOLED_MINIMUM = 50.0
"""Smallest expected count of a pooled bin.

The textbooks' 5 is for p-values of a per cent. A verdict takes them at 10⁻⁹, where a single bin of five
comes up too often: for a million draws of the slow geometric p is 33 times too small there, with 50
1.4 times.
"""


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or arrays of them."""

    low: np.ndarray | float
    high: np.ndarray | float


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's statistic, its degrees of freedom and its upper-tail p-value."""

    statistic: float
    dof: int
    pvalue: float

    def columns(self, suffix: str = "") -> dict[str, float]:
        """As the columns ``chi2 dof p`` of a table, each name with the suffix."""
        return {
            f"chi2{suffix}": self.statistic,
            f"dof{suffix}": self.dof,
            f"p{suffix}": self.pvalue,
        }


@dataclass(frozen=True)
class ZTest:
    """A deviation in standard errors and its two-sided p-value."""

    z: float
    pvalue: float


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of a statistic's own distribution."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, sd: float, alpha: float) -> Estimate:
        """A value whose standard deviation is known, with its ``1 − alpha`` interval."""
        reach = -float(scipy.special.ndtri(alpha / 2)) * sd
        return cls(value, value - reach, value + reach)


@dataclass(frozen=True)
class Loss:
    """Privacy losses ``ln(P/Q)``: estimates with their confidence bounds (arrays of one shape).

    ``low`` is −∞ where the numerator was never seen, ``high`` is +∞ where the denominator never was.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def magnitude_low(self) -> np.ndarray:
        """Lower confidence bound of ``|ln(P/Q)|``, at least 0."""
        return np.maximum(np.maximum(self.low, -self.high), 0.0)


@dataclass(frozen=True)
class Histogram:
    """Counts of integer draws in ``−cutoff … cutoff`` with two open tails, and exact moments.

    ``counts`` has shape ``(2·cutoff + 3,)``: everything below ``−cutoff``, the ``2·cutoff + 1``
    integers, everything above. Histograms of the same cutoff add up, so any number of draws takes
    the same memory.
    """

    cutoff: int
    counts: np.ndarray
    total: int
    sum: int
    sum_of_squares: int

    @classmethod
    def of(cls, batches: Iterable[np.ndarray], cutoff: int) -> Histogram:
        """Count batches of int64 draws, one at a time."""
        counts = np.zeros(2 * cutoff + 3, dtype=np.int64)
        total = first = second = 0
        for batch in batches:
            clipped = np.clip(batch, -cutoff - 1, cutoff + 1) + (cutoff + 1)
            counts += np.bincount(clipped, minlength=counts.size)
            total += batch.size
            batch_first, batch_second = _power_sums(batch)
            first += batch_first
            second += batch_second
        return cls(cutoff, counts, total, first, second)

    @classmethod
    def counted(cls, x: np.ndarray, counts: np.ndarray, cutoff: int) -> Histogram:
        """From distinct outputs and how often each was drawn, both int64."""
        clipped = np.clip(x, -cutoff - 1, cutoff + 1) + (cutoff + 1)
        binned = np.zeros(2 * cutoff + 3, dtype=np.int64)
        np.add.at(binned, clipped, counts)
        pairs = list(zip(x.tolist(), counts.tolist(), strict=True))
        return cls(
            cutoff,
            binned,
            sum(count for _, count in pairs),
            sum(value * count for value, count in pairs),
            sum(value * value * count for value, count in pairs),
        )

    def __add__(self, other: Histogram) -> Histogram:
        """The counts of both, which must have the same cutoff."""
        if other.cutoff != self.cutoff:
            raise ValueError(f"cutoffs {self.cutoff} and {other.cutoff} found, equal ones expected")
        return Histogram(
            self.cutoff,
            self.counts + other.counts,
            self.total + other.total,
            self.sum + other.sum,
            self.sum_of_squares + other.sum_of_squares,
        )

    @property
    def window(self) -> np.ndarray:
        """The counts of ``−cutoff … cutoff``, without the tails."""
        return self.counts[1:-1]

    @property
    def mean(self) -> float:
        return self.sum / self.total

    @property
    def variance(self) -> float:
        """The unbiased sample variance, from exact integer sums."""
        return (self.total * self.sum_of_squares - self.sum**2) / (self.total * (self.total - 1))


def _power_sums(batch: np.ndarray) -> tuple[int, int]:
    """``Σx`` and ``Σx²``, exactly: in 64 bits where they cannot overflow, else in Python integers."""
    largest = max(abs(int(batch.min(initial=0))), abs(int(batch.max(initial=0))))
    if largest**2 * batch.size < 2**63:
        return int(batch.sum()), int(np.dot(batch, batch))
    values = batch.tolist()
    return sum(values), sum(value * value for value in values)


def chi_square(observed: np.ndarray, expected: np.ndarray) -> ChiSquare:
    """Pearson's chi-square of counts in given bins against expected counts of the same total.

    Raises
    ------
    ValueError
        If the totals differ by more than rounding.
    """
    found, due = float(np.sum(observed)), float(np.sum(expected))
    if not abs(found - due) <= _ROUNDING * min(found, due):
        raise ValueError(f"expected counts: {due:g} in all found, {found:g} as observed expected")
    return _chi_square(observed, expected, len(observed) - 1)


def _chi_square(observed: np.ndarray, expected: np.ndarray, dof: int) -> ChiSquare:
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return ChiSquare(statistic, dof, float(scipy.special.chdtrc(dof, statistic)))


_ROUNDING = 1.5e-8
"""By which totals may differ, relative to themselves."""


def independence(table: np.ndarray) -> ChiSquare | None:
    """Pearson's chi-square of a contingency table; None where a cell expects too little.

    Rows and columns that never came are left out.
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() < POOLED_MINIMUM:
        return None
    return _chi_square(table, expected, (table.shape[0] - 1) * (table.shape[1] - 1))


def pool_tails(expected: np.ndarray, minimum: float = POOLED_MINIMUM) -> np.ndarray:
    """Where the bins start once the two tails are pooled, for `numpy.add.reduceat`.

    Looks at the expected counts only, so the bins are fixed before the data. Each tail takes in as
    many outer bins as it needs to expect at least ``minimum``, and every bin left alone expects as
    much.

    Raises
    ------
    ValueError
        If the law is not unimodal enough for that, or too few draws leave fewer than two bins.
    """
    enough = np.flatnonzero(expected >= minimum)
    if enough.size == 0:
        raise ValueError(f"pooled chi-square: no bin expects {minimum:g} counts; more draws needed")
    left = max(int(enough[0]), int(np.searchsorted(np.cumsum(expected), minimum)) + 1)
    from_right = int(np.searchsorted(np.cumsum(expected[::-1]), minimum)) + 1
    right = min(int(enough[-1]) + 1, len(expected) - from_right)
    if right <= left:
        raise ValueError("pooled chi-square: the tails meet; more draws needed")
    if np.any(expected[left:right] < minimum):
        raise ValueError(f"pooled chi-square: an inner bin expects fewer than {minimum:g} counts")
    return np.concatenate([[0], np.arange(left, right + 1)])


def pool_neighbours(expected: np.ndarray, minimum: float = POOLED_MINIMUM) -> np.ndarray | None:
    """Where bins start once neighbours are joined until each expects enough, for `numpy.add.reduceat`.

    Unlike `pool_tails` for laws of any shape. None where fewer than two bins are left.
    """
    reached = np.cumsum(expected)
    starts, place = [0], 0
    while True:
        before = reached[place - 1] if place else 0.0
        place = int(np.searchsorted(reached, before + minimum)) + 1
        if place >= expected.size or reached[-1] - reached[place - 1] < minimum:
            break
        starts.append(place)
    return np.array(starts) if len(starts) > 1 else None


def chi_square_pooled(
    observed: np.ndarray, expected: np.ndarray, minimum: float = POOLED_MINIMUM
) -> ChiSquare:
    """Pearson's chi-square with pooled tails (see `pool_tails`): of every bin enough is expected."""
    starts = pool_tails(expected, minimum)
    return chi_square(np.add.reduceat(observed, starts), np.add.reduceat(expected, starts))


def chi_square_moments(null: np.ndarray, law: np.ndarray, draws: int) -> Moments:
    """Exact mean and standard deviation of Pearson's statistic when the draws follow another law.

    With counts ``n ~ Multinomial(N, q)`` tested against ``p`` the statistic is
    ``Σ n²/(N·p) − N``; its two moments follow from the factorial moments of the multinomial,
    ``E[n_i^(a) n_j^(b)] = N^(a+b) q_i^a q_j^b``. The leading terms, of order N³, cancel analytically
    here, so the result keeps its digits at any N.

    Parameters
    ----------
    null, law : array, shape (bins,)
        The tested probabilities p and the true ones q; each is normalised to sum 1.
    draws : int
        N, at least 1.
    """
    p, q = null / null.sum(), law / law.sum()
    n = float(draws)
    ratio = q / p
    first = float(np.sum(q * ratio))
    mean = float(np.sum((1 - q) * ratio)) + n * float(np.sum((q - p) ** 2 / p))
    total = float(np.sum(ratio))
    spread = float(np.sum(q * (ratio - first) ** 2))
    variance = (
        4 * n * (n - 1) * (n - 2) * spread
        - n * (n - 1) * (2 * first**2 + 4 * first * total)
        - n * total**2
        + 6 * n * (n - 1) * float(np.sum(ratio**2))
        + n * float(np.sum(ratio / p))
    ) / n**2
    return Moments(mean, float(np.sqrt(max(variance, 0.0))))


def z_test(mean: float, theory_mean: float, theory_sd: float, draws: int) -> ZTest:
    """The mean of ``draws`` values against its theoretical value."""
    z = (mean - theory_mean) / (theory_sd / np.sqrt(draws))
    return ZTest(float(z), float(2 * scipy.special.ndtr(-abs(z))))


def mean_and_sd(values: np.ndarray, alpha: float) -> dict[str, Estimate]:
    """``mean`` and ``sd`` of normal values, shape ``(n,)`` with n ≥ 2, with ``1 − alpha`` intervals.

    Student's for the mean, chi-square for the standard deviation.
    """
    n = values.size
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    reach = float(scipy.stats.t.isf(alpha / 2, n - 1)) * sd / np.sqrt(n)
    low, high = sd * np.sqrt((n - 1) / scipy.stats.chi2.isf([alpha / 2, 1 - alpha / 2], n - 1))
    return {
        "mean": Estimate(mean, mean - reach, mean + reach),
        "sd": Estimate(sd, float(low), float(high)),
    }


MOST_TRIALS = 10**12
"""Beyond it quantiles of beta laws lose their digits: of 10^13 trials an interval may be 0.3 % too short,
of 10^14 a third."""


def clopper_pearson(
    successes: np.ndarray | int, trials: np.ndarray | int, alpha: float
) -> Interval:
    """The exact two-sided ``1 − alpha`` interval of a binomial probability, elementwise.

    Clopper and Pearson (1934), by quantiles of beta laws.

    Raises
    ------
    ValueError
        If alpha is not a probability between 0 and 1, there is no trial or more than `MOST_TRIALS`, or
        there are more successes than trials.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: {alpha} found, a probability between 0 and 1 expected")
    if np.max(trials, initial=0) > MOST_TRIALS:
        raise ValueError(f"trials: {np.max(trials)} found, at most 10^12 expected")
    k, n = np.asarray(successes), np.asarray(trials)
    if np.any((k < 0) | (k > n) | (n < 1)):
        raise ValueError(
            f"successes: {successes} of {trials} found, 0 to n of n ≥ 1 trials expected"
        )
    low, high = binomial_bounds(k, k, n, alpha / 2)
    return Interval(low[()], high[()])


def binomial_bounds(
    lower: np.ndarray, upper: np.ndarray, n: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds from below by ``lower`` successes and from above by ``upper``, each with error alpha.

    As `clopper_pearson`, but of expected counts too, which are no integers.

    Raises
    ------
    ArithmeticError
        If a quantile cannot be found.
    """
    special = scipy.special
    k, m = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    some, most = np.maximum(k, _TINY), np.maximum(n - m, _TINY)
    low = _quantile(special.betaincinv, special.betainc, some, n - k + 1, alpha)
    high = _quantile(special.betainccinv, special.betaincc, m + 1, most, alpha)
    return np.where(k > 0, low, 0.0), np.where(m < n, high, 1.0)


_TINY = 1e-300
"""In place of no success at all, whose quantile is not asked for."""

_OFF = 0.2
"""How far, as a share of it, a quantile's probability may be from the one asked for: a bound near 1
rounds, and beyond 10^10 trials digits get lost; none of that moves a bound by a ten thousandth."""


def _quantile(
    inverse: Callable, forward: Callable, a: np.ndarray, b: np.ndarray, p: float
) -> np.ndarray:
    """A beta law's quantile, looked at again: scipy's is wrong where a parameter is 1000 exactly."""
    a, b = np.broadcast_arrays(a, b)
    x = np.array(inverse(a, b, p))
    for _ in range(2):
        inside = (a > _TINY) & (b > _TINY) & (x < 1 - 1e-15)
        off = inside & ~(np.abs(forward(a, b, x) - p) <= _OFF * p)
        if not off.any():
            return x
        x[off] = inverse(a[off] * (1 - 1e-13), b[off] * (1 - 1e-13), p)
    raise ArithmeticError(f"beta quantile of {a[off][0]:g}, {b[off][0]:g} at {p:g}: not found")


def alarm_rates(alphas: Sequence[float], alarms: np.ndarray, trials: int) -> dict[str, np.ndarray]:
    """False alarms of a test at several error probabilities, beside what they should be.

    Returns
    -------
    dict of columns, each of shape (len(alphas),)
        ``alpha alarms rate rate_low rate_high`` (a 99.9 % interval), ``chance_of_as_many`` (of so many
        alarms or more, if each trial gives one with probability alpha) and ``verdict``, which is
        not given where too few alarms are due for their absence to say anything.
    """
    interval = clopper_pearson(alarms, trials, _RARE)
    chance = scipy.stats.binom.sf(alarms - 1, trials, alphas)
    return {
        "alpha": np.asarray(alphas),
        "alarms": alarms,
        "rate": alarms / trials,
        "rate_low": interval.low,
        "rate_high": interval.high,
        "chance_of_as_many": chance,
        "verdict": np.select(
            [chance < _RARE, np.multiply(alphas, trials) < _FEWEST_DUE],
            ["too many", "too few trials to tell"],
            "no more than stated",
        ),
    }


_RARE, _FEWEST_DUE = 1e-3, 5


def neighbour_loss(counts: np.ndarray, counts_next: np.ndarray, alpha: float) -> Loss:
    """Privacy loss ``ln P(x)/P(x+1)`` of neighbouring outputs of one sample, elementwise.

    Given the two counts' total ``m``, the first is ``Bin(m, P(x)/(P(x) + P(x+1)))``, so the log-odds
    of its Clopper–Pearson interval are an exact interval of the loss: one interval instead of
    two, each at half the error.

    Parameters
    ----------
    counts, counts_next : int array, one shape
        How often x and x + 1 were drawn. Where both are 0 the estimate is NaN and the interval
        (−∞, ∞).
    alpha : float
        Error probability of each two-sided interval.
    """
    counts = np.asarray(counts, dtype=np.int64)
    total = counts + np.asarray(counts_next, dtype=np.int64)
    seen = total > 0
    share = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=seen)
    interval = clopper_pearson(np.where(seen, counts, 0), np.where(seen, total, 1), alpha)
    return Loss(
        scipy.special.logit(share),
        np.where(seen, scipy.special.logit(interval.low), -np.inf),
        np.where(seen, scipy.special.logit(interval.high), np.inf),
    )


def event_loss(seen: int, seen_other: int, repeats: int, alpha: float) -> Loss:
    """Privacy loss ``ln P/Q`` of one event, seen in so many of ``repeats`` runs on either data set.

    From two exact binomial intervals, each at ``1 − alpha/2``.
    """
    one, other = (clopper_pearson(count, repeats, alpha / 2) for count in (seen, seen_other))
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.log(np.float64(seen)) - np.log(np.float64(seen_other))
        low = np.log(np.float64(one.low)) - np.log(np.float64(other.high))
        high = np.log(np.float64(one.high)) - np.log(np.float64(other.low))
    return Loss(estimate, low, high)


def detectable_event_loss(repeats: int, claimed: float, alpha: float) -> float:
    """The smallest loss that `event_loss` certifies as above ``claimed`` at an event of even chances.

    The event is seen in half of the runs on one data set; the loss is that of the largest count on
    the other whose interval still leaves the claim behind.
    """
    half = repeats // 2
    # The bound falls as the other count grows.
    other = bisect_left(
        range(1, half),
        True,
        key=lambda count: event_loss(half, count, repeats, alpha).low <= claimed,
    )
    return float(np.log(half / other)) if other else float("inf")


def detectable_loss(total: np.ndarray, claimed: float, alpha: float) -> np.ndarray:
    """The smallest estimate that `neighbour_loss` certifies as above ``claimed``.

    Parameters
    ----------
    total : int array
        Counts of x and x + 1 together.

    Returns
    -------
    float array
        Smallest loss that, found in the counts, certifies itself; infinite where x + 1 would have to
        be missing altogether.
    """
    total = np.asarray(total, dtype=np.int64)
    share = scipy.special.expit(claimed)
    critical = scipy.stats.binom.isf(alpha / 2, total, share) + 1
    return scipy.special.logit(np.minimum(critical / total, 1.0))
