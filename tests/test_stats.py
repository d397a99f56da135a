"""Tests and intervals against independent derivations."""

import itertools
from math import exp, factorial, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2, norm, poisson

from noiseaudit import stats

probabilities = st.lists(st.floats(0.05, 1), min_size=2, max_size=4)


@given(
    batches=st.lists(st.lists(st.integers(-(2**40), 2**40), max_size=20), max_size=4),
    cutoff=st.integers(0, 9),
)
def test_histogram_counts_and_sums_exactly(batches, cutoff):
    draws = [value for batch in batches for value in batch]
    histogram = stats.Histogram.of([np.array(batch, dtype=np.int64) for batch in batches], cutoff)
    assert histogram.total == len(draws)
    assert histogram.sum == sum(draws)
    assert histogram.sum_of_squares == sum(value**2 for value in draws)
    assert histogram.counts[0] == sum(value < -cutoff for value in draws)
    assert histogram.counts[-1] == sum(value > cutoff for value in draws)
    for place, x in enumerate(range(-cutoff, cutoff + 1)):
        assert histogram.window[place] == draws.count(x)


def test_histogram_moments():
    draws = np.array([3, -1, 4, 1, -5, 9, -2, 6])
    histogram = stats.Histogram.of([draws[:3], draws[3:]], 3)
    assert histogram.mean == draws.mean()
    assert histogram.variance == pytest.approx(draws.var(ddof=1), rel=1e-15)


def test_chi_square_against_its_definition():
    observed, expected = np.array([18, 55, 27]), np.array([25.0, 50.0, 25.0])
    result = stats.chi_square(observed, expected)
    statistic = 49 / 25 + 25 / 50 + 4 / 25
    assert result.statistic == pytest.approx(statistic)
    assert result.dof == 2
    assert result.pvalue == pytest.approx(exp(-statistic / 2))  # two degrees: exponential


@given(scale=st.floats(0.5, 50), draws=st.integers(20_000, 10**7), cutoff=st.integers(1, 300))
def test_pooled_bins_cover_everything_and_expect_enough(scale, draws, cutoff):
    x = np.arange(-cutoff, cutoff + 1)
    expected = draws * np.tanh(0.5 / scale) * np.exp(-np.abs(x) / scale)
    starts = stats.pool_tails(expected)
    pooled = np.add.reduceat(expected, starts)
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    assert pooled.min() >= stats.POOLED_MINIMUM
    assert pooled.sum() == pytest.approx(expected.sum())
    # Only tails are pooled, and no more of them than needed.
    inner = starts[1:-1] if len(starts) > 2 else starts
    assert np.all(np.diff(inner) == 1)
    first = expected[: starts[1]]
    assert min(first[:-1].sum(), first[-1]) < stats.POOLED_MINIMUM or first.size == 1


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ([10.0, 20.0, 10.0], "no bin expects 50"),
        ([20.0, 60.0, 20.0], "the tails meet"),
        ([90.0, 90.0, 10.0, 90.0, 90.0], "an inner bin expects fewer than 50"),
    ],
)
def test_too_few_draws_to_pool(expected, message):
    with pytest.raises(ValueError, match=message):
        stats.pool_tails(np.array(expected))


def tail_beyond(expected, minimum, nominal, step=0.02):
    """The pooled chi-square's chance to have a p-value below ``nominal``.

    The three rarest bins as Poisson counts, whose terms are added up on a grid; the others by
    chi-square.
    """
    pooled = np.add.reduceat(expected, stats.pool_tails(expected, minimum))
    dof, rare = pooled.size - 1, np.sort(pooled)[:3]
    critical = chi2.isf(nominal, dof)
    grid = np.zeros(int(critical / step) + 2)
    grid[0] = 1.0
    for mean in rare:
        n = np.arange(int(mean + 2 * np.sqrt(mean * critical) + 60))
        place = np.minimum(((n - mean) ** 2 / mean / step).round().astype(int), grid.size - 1)
        term = np.bincount(place, weights=poisson.pmf(n, mean), minlength=grid.size)
        summed = np.convolve(grid, term)
        grid = np.append(summed[: grid.size - 1], summed[grid.size - 1 :].sum())
    left = critical - step * np.arange(grid.size)
    return float(np.sum(grid * np.where(left <= 0, 1.0, chi2.sf(left, dof - rare.size))))


def test_pooled_p_values_hold_far_out():
    """A million draws of the slow geometric, the layer with the fewest bins."""
    expected = 10**6 * (1 - np.exp(-1)) * np.exp(-np.arange(60.0))
    nominal = 7e-10
    assert tail_beyond(expected, stats.POOLED_MINIMUM, nominal) < 1.5 * nominal
    assert tail_beyond(expected, 5, nominal) > 30 * nominal


def test_alarm_rates():
    rows = stats.alarm_rates([0.1, 0.01, 0.001], np.array([150, 9, 0]), 1000)
    assert list(rows["verdict"]) == ["too many", "no more than stated", "too few trials to tell"]
    assert rows["rate"].tolist() == [0.15, 0.009, 0.0]
    assert rows["chance_of_as_many"][1] == pytest.approx(1 - binom.cdf(8, 1000, 0.01))
    one = stats.alarm_rates([1e-6], np.array([2]), 1000)
    assert list(one["verdict"]) == ["too many"]


@given(p=probabilities, q=probabilities, draws=st.integers(1, 7))
def test_moments_of_chi_square_against_enumeration(p, q, draws):
    bins = min(len(p), len(q))
    p = np.array(p[:bins]) / sum(p[:bins])
    q = np.array(q[:bins]) / sum(q[:bins])
    first = second = 0.0
    for counts in itertools.product(range(draws + 1), repeat=bins):
        if sum(counts) == draws:
            ways = factorial(draws) // prod(map(factorial, counts))
            probability = ways * prod(float(b) ** c for b, c in zip(q, counts, strict=True))
            statistic = sum(
                (c - draws * a) ** 2 / (draws * a) for a, c in zip(p, counts, strict=True)
            )
            first += probability * statistic
            second += probability * statistic**2
    moments = stats.chi_square_moments(p, q, draws)
    assert moments.mean == pytest.approx(first, rel=1e-9, abs=1e-9)
    assert moments.sd**2 == pytest.approx(second - first**2, rel=1e-6, abs=1e-6)


def test_moments_of_chi_square_keep_their_digits_at_a_billion_draws():
    p = np.full(300, 1 / 300)
    moments = stats.chi_square_moments(p, p, 10**9)
    assert moments.mean == pytest.approx(299, abs=1e-6)
    assert moments.sd == pytest.approx(np.sqrt(2 * 299), rel=1e-6)


def test_z_test():
    result = stats.z_test(mean=10.3, theory_mean=10, theory_sd=3, draws=900)
    assert result.z == pytest.approx(3)
    assert result.pvalue == pytest.approx(0.0026997960632601866)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (450, 1000)])
def test_clopper_pearson_inverts_the_binomial_test(successes, trials):
    interval = stats.clopper_pearson(successes, trials, 0.02)
    if successes > 0:
        assert binom.sf(successes - 1, trials, interval.low) == pytest.approx(0.01)
    else:
        assert interval.low == 0
    if successes < trials:
        assert binom.cdf(successes, trials, interval.high) == pytest.approx(0.01)
    else:
        assert interval.high == 1


def test_neighbour_loss_estimates_and_bounds():
    loss = stats.neighbour_loss(np.array([200, 0, 70, 0]), np.array([100, 50, 0, 0]), 0.05)
    assert loss.estimate[0] == pytest.approx(log(2))
    assert loss.low[0] < log(2) < loss.high[0]
    assert (loss.estimate[1], loss.low[1]) == (-inf, -inf)
    assert loss.high[1] < 0
    assert (loss.estimate[2], loss.high[2]) == (inf, inf)
    assert loss.low[2] > 0
    assert np.isnan(loss.estimate[3])
    assert (loss.low[3], loss.high[3]) == (-inf, inf)
    assert loss.magnitude_low.tolist() == [loss.low[0], -loss.high[1], loss.low[2], 0.0]


@pytest.mark.parametrize("truth", [0.1, -0.7])
def test_neighbour_loss_covers(truth):
    """Exact coverage at a total of 60: at least 1 − α, summed over every outcome."""
    total, alpha = 60, 0.1
    share = 1 / (1 + exp(-truth))
    counts = np.arange(total + 1)
    loss = stats.neighbour_loss(counts, total - counts, alpha)
    covered = (loss.low <= truth) & (truth <= loss.high)
    assert binom.pmf(counts, total, share)[covered].sum() >= 1 - alpha


@given(total=st.integers(50, 10**6), claimed=st.floats(0.01, 2))
def test_detectable_loss_is_where_certification_begins(total, claimed):
    alpha = 1e-4
    found = float(stats.detectable_loss(total, claimed, alpha))
    if found == inf:
        assert stats.neighbour_loss(total - 1, 1, alpha).low <= claimed + 1e-9
        return
    count = round(total / (1 + exp(-found)))
    low = stats.neighbour_loss(
        np.array([count, count - 1]), total - np.array([count, count - 1]), alpha
    ).low
    assert low[0] > claimed - 1e-9
    assert low[1] <= claimed + 1e-9


@pytest.mark.parametrize(("successes", "trials"), [(3, 2), (-1, 2), (0, 0)])
def test_successes_are_some_of_the_trials(successes, trials):
    with pytest.raises(ValueError, match=f"successes: {successes} of {trials} found"):
        stats.clopper_pearson(successes, trials, 0.1)


@pytest.mark.parametrize("trials", [10**9, stats.MOST_TRIALS])
def test_intervals_of_many_trials_are_the_normal_ones(trials):
    """Of many successes; each bound within a thousandth of its distance from the share."""
    shares = np.array([0.001, 0.05, 0.3, 0.5, 0.97])
    successes = (shares * trials).astype(np.int64)
    found = stats.clopper_pearson(successes, trials, 1e-9)
    p = successes / trials
    reach = norm.isf(5e-10) * np.sqrt(p * (1 - p) / trials)
    assert (p - found.low) / reach == pytest.approx(np.ones(5), abs=3e-3)
    assert (found.high - p) / reach == pytest.approx(np.ones(5), abs=3e-3)


def test_more_trials_than_quantiles_have_digits_for_are_refused():
    with pytest.raises(ValueError, match=r"^trials: 1000000000001 found, at most 10\^12 expected$"):
        stats.clopper_pearson(5, stats.MOST_TRIALS + 1, 0.05)


@pytest.mark.parametrize("trials", [2 * 10**8, 10**9, stats.MOST_TRIALS])
@pytest.mark.parametrize("successes", [999, 1000, 1001])
def test_bounds_of_a_thousand_successes_are_those_of_a_poisson_count(successes, trials):
    """And mirrored; there scipy's own quantile was twice the right one."""
    low, high = chi2.ppf(5e-9, 2 * successes) / 2, chi2.isf(5e-9, 2 * successes + 2) / 2
    found = stats.clopper_pearson(successes, trials, 1e-8)
    assert [found.low * trials, found.high * trials] == pytest.approx([low, high], rel=1e-5)
    mirrored = stats.clopper_pearson(trials - successes, trials, 1e-8)
    assert (1 - mirrored.high) * trials == pytest.approx(low, rel=1e-3)
    assert (1 - mirrored.low) * trials == pytest.approx(high, rel=1e-3)
