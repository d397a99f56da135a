"""Exact laws of every layer's representative output, and a trace's layers against them.

The representative output of a layer is that of its first call in a draw. The laws that a trace is
tested against are the healthy ones; those of the variant that made it say what the tests should see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log, sqrt

import numpy as np
import pandas as pd
import scipy

from noiseaudit import stats
from noiseaudit.cks20 import exact

LARGEST_UNIFORM = 4096
"""Uniform integers below more than this are tested in `UNIFORM_BINS` bins of nearly equal width."""

UNIFORM_BINS = 256

CALLS = {
    "discrete_laplace": ("bernoulli_standard", "geometric_fast"),
    "geometric_fast": ("uniform_below", "bernoulli_exp", "geometric_slow"),
    "geometric_slow": ("bernoulli_exp",),
    "bernoulli_exp": ("bernoulli_exp1",),
    "bernoulli_exp1": ("bernoulli_rational",),
    "bernoulli_rational": ("uniform_below",),
    "bernoulli_standard": ("uniform_bits",),
    "uniform_below": ("uniform_bits",),
    "uniform_bits": (),
}
"""Which layers each layer calls (the paper's Fig. 3)."""

CALLS_OF_TAYLOR = CALLS | {"bernoulli_exp1": ("uniform_bits",)}
"""The same where the coin is compared with a series."""

HEALTHY = "follows its law"
EARLIEST = "earliest faulty layer"
DOWNSTREAM = "deviates downstream"


@dataclass(frozen=True)
class Law:
    """The law of a layer's output on the integers from ``lowest`` to ``highest``.

    Attributes
    ----------
    lowest, highest : int
        The bins of the unpooled test; outputs beyond are possible where the probabilities leave room.
    probabilities : array, shape (highest − lowest + 1,)
    mean, variance, fourth : float
        Of the whole law; ``fourth`` is its fourth central moment.
    """

    lowest: int
    highest: int
    probabilities: np.ndarray
    mean: float
    variance: float
    fourth: float

    @classmethod
    def on(cls, values: np.ndarray, probabilities: np.ndarray) -> Law:
        """A law that has no outputs but these."""
        mean = float(np.sum(values * probabilities))
        variance, fourth = (float(np.sum((values - mean) ** k * probabilities)) for k in (2, 4))
        return cls(int(values[0]), int(values[-1]), probabilities, mean, variance, fourth)

    def inside(self, histogram: stats.Histogram) -> np.ndarray:
        """Counts of the outputs from ``lowest`` to ``highest``."""
        start = histogram.cutoff + 1 + self.lowest
        return histogram.counts[start : start + self.probabilities.size]

    def sample_variance(self, draws: int) -> stats.Moments:
        """Mean and standard error of the variance of ``draws`` outputs."""
        return stats.Moments(self.variance, sqrt(max(self.fourth - self.variance**2, 0) / draws))


def coin(p: float) -> Law:
    """True with probability p."""
    return Law.on(np.arange(2), np.array([1 - p, p]))


def uniform(m: int) -> Law:
    """Uniform on ``0 … m − 1``, in coarse bins where m is large (see `coarse`)."""
    if m <= LARGEST_UNIFORM:
        return Law.on(np.arange(m), np.full(m, 1 / m))
    edges = [-(-bin_ * m // UNIFORM_BINS) for bin_ in range(UNIFORM_BINS + 1)]
    return Law.on(np.arange(UNIFORM_BINS), np.diff(edges).astype(float) / m)


def coarse(values: np.ndarray, m: int) -> np.ndarray:
    """Uniform integers below m as the bins that `uniform` gives probabilities for."""
    if m <= LARGEST_UNIFORM:
        return values
    return np.array([value * UNIFORM_BINS // m for value in values.tolist()], dtype=np.int64)


def coarse_coins(d: int, variant: str) -> np.ndarray:
    """``P(bernoulli_exp1(u/d))`` of each first proposal u, or mean of each bin of them (`coarse`)."""
    bin_of = coarse(np.arange(d), d)
    return np.bincount(bin_of, weights=exact.coins(d, variant)) / np.bincount(bin_of)


def geometric(law: exact.PeriodicLaw, highest: int) -> Law:
    """The law of the magnitude that a signed draw is made from, a negative zero being redrawn."""
    kept = (1 + float(law.pmf(np.array([0]))[0])) / 2  # 1 less the chance of a negative zero
    p = law.pmf(np.arange(highest + 1)) / kept
    mean, second, third, fourth = (law.moment(order) / (2 * kept) for order in (1, 2, 3, 4))
    central = fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4
    return Law(0, highest, p, mean, second - mean**2, central)


def signed(law: exact.PeriodicLaw, highest: int) -> Law:
    """The law of the signed draw."""
    p = law.pmf(np.arange(-highest, highest + 1))
    return Law(-highest, highest, p, 0.0, law.variance, law.moment(4))


def laws(scale: Fraction, variant: str, draws: int) -> dict[str, Law]:
    """The law of each layer that a variant calls, by name, from the bottom up.

    Parameters
    ----------
    scale : Fraction
        Above 0, and enumerable (see `exact.is_enumerable`).
    variant : str
        One of `reference.VARIANTS`. ``taylor`` never calls `bernoulli_rational`, and its coin is the
        exact one to within 2^−128.
    draws : int
        Decides the bins of the unbounded layers: up to ``⌊scale·ln N⌋``.

    Raises
    ------
    ValueError
        If the scale has too many cases to enumerate.
    """
    exact.require_enumerable(scale)
    d = scale.numerator
    kept = coin(float(exact.coins(d, variant).mean()))
    law, highest = exact.discrete_laplace(scale, variant), floor(scale * log(draws))
    found = {
        "uniform_bits": uniform(256),
        "uniform_below": uniform(d),
        "bernoulli_standard": coin(0.5),
        "bernoulli_rational": coin((d - 1) / (2 * d)),
        "bernoulli_exp1": kept,
        "bernoulli_exp": kept,
        "geometric_slow": geometric(exact.DiscreteLaplace(Fraction(1)), floor(log(draws))),
        "geometric_fast": geometric(law, highest),
        "discrete_laplace": signed(law, highest),
    }
    if variant == "taylor":
        del found["bernoulli_rational"]
    return found


@dataclass(frozen=True)
class Tally:
    """A trace, counted in bounded memory.

    Attributes
    ----------
    draws : int
    histograms : dict of layer to stats.Histogram
    coins : int array, shape (proposals, 2)
        How often the coin of each first proposal ``u`` (see `coarse`) failed and held.
    """

    draws: int
    histograms: dict[str, stats.Histogram]
    coins: np.ndarray

    @classmethod
    def of(cls, batches: Iterable[Mapping[str, np.ndarray]], scale: Fraction, draws: int) -> Tally:
        """Count batches of traced draws, one at a time; ``draws`` is how many they hold in all."""
        d = scale.numerator
        counted = laws(scale, "fixed", draws)
        cutoffs = {name: max(-law.lowest, law.highest) for name, law in counted.items()}
        nothing = np.empty(0, dtype=np.int64)
        histograms = {name: stats.Histogram.of([nothing], cutoffs[name]) for name in counted}
        coins = np.zeros((counted["uniform_below"].probabilities.size, 2), dtype=np.int64)
        for batch in batches:
            binned = {**batch, "uniform_below": coarse(batch["uniform_below"], d)}
            for name in counted:
                histograms[name] += stats.Histogram.of([binned[name]], cutoffs[name])
            flat = 2 * binned["uniform_below"] + binned["bernoulli_exp1"]
            coins += np.bincount(flat, minlength=coins.size).reshape(coins.shape)
        return cls(draws, histograms, coins)


def examine(tally: Tally, scale: Fraction, variant: str, alpha: float) -> pd.DataFrame:
    """Every layer of a trace against its healthy law, and which deviates first.

    Parameters
    ----------
    tally : Tally
        The counted trace.
    scale, variant
        What the trace is.
    alpha : float
        Error probability that this trace's tests share.

    Returns
    -------
    DataFrame
        A row a layer, from the bottom up: ``layer mean theory_mean mean_z mean_p chi2 dof p
        chi2_pooled dof_pooled p_pooled expected_mean_z expected_chi2 expected_chi2_sd verdict``,
        then ``variance expected_variance expected_variance_sd``. For
        the coins of `bernoulli_exp1` and `bernoulli_exp` the pooled test keeps the first proposals
        apart (see `_coin_given_proposal`). The earliest layer with a p-value (mean or pooled) below
        ``alpha`` over the number of tests is the faulty one:
        all layers come from the same bytes, so what deviates above it follows from it.
    """
    draws = tally.draws
    healthy, own = laws(scale, "fixed", draws), laws(scale, variant, draws)
    table = pd.DataFrame(
        {"layer": name, **_against(tally.histograms[name], healthy[name], own[name], draws)}
        for name in own
    )
    given = _coin_given_proposal(tally, scale).columns("_pooled")
    coins = table["layer"].isin(["bernoulli_exp1", "bernoulli_exp"])
    table.loc[coins, list(given)] = list(given.values())
    table["dof_pooled"] = table["dof_pooled"].astype(int)
    smallest = table[["mean_p", "p_pooled"]].min(axis=1)
    deviates = smallest < alpha / (2 * len(table))
    verdicts = np.where(deviates, DOWNSTREAM, HEALTHY)
    table.insert(table.columns.get_loc("variance"), "verdict", verdicts)
    if deviates.any():
        table.loc[deviates.idxmax(), "verdict"] = EARLIEST
    return table


_LEAST_SPREAD = 10
"""Smallest variance of a proposal's coins that are tested; of many small terms the sum is tested."""


def _coin_given_proposal(tally: Tally, scale: Fraction) -> stats.ChiSquare:
    """The coins of the first proposals against ``e^(−u/d)``, each proposal (or range of them) apart.

    The faulty division moves some coins up and others down. Over all proposals that cancels, at
    scale 100 almost entirely; proposal by proposal it cannot. One degree of freedom each.
    """
    p = coarse_coins(scale.numerator, "fixed")
    thrown = tally.coins.sum(axis=1)
    spread = thrown * p * (1 - p)
    tested = spread >= _LEAST_SPREAD
    if tally.coins[p == 1, 0].any():  # e^0 is certain
        return stats.ChiSquare(np.inf, int(tested.sum()), 0.0)
    if not tested.any():
        return stats.ChiSquare(0.0, 0, 1.0)
    terms = (tally.coins[tested, 1] - thrown[tested] * p[tested]) ** 2 / spread[tested]
    dof = int(tested.sum())
    return stats.ChiSquare(float(terms.sum()), dof, float(scipy.stats.chi2.sf(terms.sum(), dof)))


@dataclass(frozen=True)
class Expected:
    """What the statistics of a layer must be, but for chance, under the variant that made it.

    Attributes
    ----------
    theory_mean, theory_variance : float
        Of the healthy law that it is tested against.
    mean, chi2, variance : stats.Moments
        Of the mean of the outputs, their unpooled chi-square, and their variance.
    mean_z : float
        Of the mean in standard errors of the healthy law; it scatters by 1, but for a per mille.
    dof : int
        Of the unpooled chi-square.
    """

    theory_mean: float
    theory_variance: float
    mean: stats.Moments
    mean_z: float
    chi2: stats.Moments
    dof: int
    variance: stats.Moments

    @classmethod
    def of(cls, healthy: Law, own: Law, draws: int) -> Expected:
        """From the law tested against and that of the variant, for so many draws."""
        likely = healthy.probabilities > 0
        sd = sqrt(healthy.variance)
        return cls(
            healthy.mean,
            healthy.variance,
            stats.Moments(own.mean, sqrt(own.variance / draws)),
            (own.mean - healthy.mean) / sd * sqrt(draws) if sd > 0 else 0.0,
            stats.chi_square_moments(
                healthy.probabilities[likely], own.probabilities[likely], draws
            ),
            int(likely.sum()) - 1,
            own.sample_variance(draws),
        )


def expectations(scale: Fraction, variant: str, draws: int) -> dict[str, Expected]:
    """`Expected` of every layer that a variant calls; arguments and errors as for `laws`."""
    healthy, own = laws(scale, "fixed", draws), laws(scale, variant, draws)
    return {name: Expected.of(healthy[name], own[name], draws) for name in own}


def _against(histogram: stats.Histogram, law: Law, own: Law, draws: int) -> dict[str, float]:
    start, inside = histogram.cutoff + 1 + law.lowest, law.inside(histogram)
    below, above = histogram.counts[:start].sum(), histogram.counts[start + inside.size :].sum()
    tail = max(1 - float(law.probabilities.sum()), 0.0)
    left = tail / 2 if law.lowest < 0 else 0.0
    counts = np.concatenate([[below], inside, [above]])
    means = draws * np.concatenate([[left], law.probabilities, [tail - left]])
    null = law.probabilities / law.probabilities.sum()
    likely = null > 0
    unpooled = _chi_square(inside[likely], null[likely] * inside[likely].sum())
    pooled = _chi_square_pooled(counts, means * (draws / means.sum()))
    sd = sqrt(law.variance)
    z = stats.z_test(histogram.mean, law.mean, sd, draws) if sd > 0 else _CERTAIN
    expected = Expected.of(law, own, draws)
    return {
        "mean": histogram.mean,
        "theory_mean": law.mean,
        "mean_z": z.z,
        "mean_p": z.pvalue,
        **unpooled.columns(),
        **pooled.columns("_pooled"),
        "expected_mean_z": expected.mean_z,
        "expected_chi2": expected.chi2.mean,
        "expected_chi2_sd": expected.chi2.sd,
        "variance": histogram.variance,
        "expected_variance": expected.variance.mean,
        "expected_variance_sd": expected.variance.sd,
    }


_CERTAIN = stats.ZTest(0.0, 1.0)
"""What a layer with a single possible output deserves, such as `uniform_below` at scale 1."""


def _chi_square(observed: np.ndarray, expected: np.ndarray) -> stats.ChiSquare:
    if observed.size == 1:
        return stats.ChiSquare(0.0, 0, 1.0)
    return stats.chi_square(observed, expected)


def _chi_square_pooled(observed: np.ndarray, expected: np.ndarray) -> stats.ChiSquare:
    possible = expected > 0
    if not np.all(observed[~possible] == 0):
        return stats.ChiSquare(np.inf, int(possible.sum()) - 1, 0.0)
    observed, expected = observed[possible], expected[possible]
    if np.all(expected >= stats.POOLED_MINIMUM):
        return _chi_square(observed, expected)
    return stats.chi_square_pooled(observed, expected)
