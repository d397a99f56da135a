"""Every layer's exact law, and the diagnosis of traces."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as distributions

from noiseaudit import entropy
from noiseaudit.cks20 import exact, kernels, layers

DRAWS = 10**6
ALPHA = 1e-6


def tally(variant, scale, source, draws=DRAWS, batch=300_000):
    cascade = kernels.Cascade(variant, scale, entropy.byte_source(source, 7, variant, str(scale)))
    sizes = [min(batch, draws - start) for start in range(0, draws, batch)]
    return layers.Tally.of((cascade.trace(size) for size in sizes), scale, draws)


def examined(variant, scale, source="pcg64", draws=DRAWS):
    table = layers.examine(tally(variant, scale, source, draws), scale, variant, ALPHA)
    return table.set_index("layer")


def named(table):
    return table.index[table["verdict"] == layers.EARLIEST].tolist()


@pytest.mark.parametrize(
    ("layer", "column", "value"),
    [
        ("bernoulli_exp1", "expected_mean_z", 11.20),
        ("bernoulli_exp1", "expected_chi2", 126.4),
        ("geometric_fast", "expected_mean_z", 2.83),
        ("geometric_fast", "expected_chi2", 1788),
        ("discrete_laplace", "expected_chi2", 2004),
        ("bernoulli_rational", "theory_mean", 0.45),
        ("bernoulli_exp1", "theory_mean", 0.66425),
        ("geometric_fast", "theory_mean", 9.508),
        ("discrete_laplace", "dof", 276),
        ("geometric_fast", "dof", 138),
        ("geometric_slow", "dof", 13),
    ],
)
def test_what_the_paper_should_have_seen(layer, column, value):
    table = examined("faulty", Fraction(10))
    assert table.loc[layer, column] == pytest.approx(value, rel=5e-4)


@pytest.mark.parametrize("source", ["pcg64", "philox", "mt19937", "sfc64"])
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(10), Fraction(100), Fraction(7, 3)])
def test_the_faulty_layer_is_named_under_every_source_and_scale(source, scale):
    assert named(examined("faulty", scale, source)) == ["bernoulli_exp1"]


@pytest.mark.parametrize("variant", ["fixed", "taylor"])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10), Fraction(7, 3), Fraction(5000)])
def test_nothing_is_named_in_healthy_traces(variant, scale):
    """A false alarm has a nominal probability of 10⁻⁶ a trace; the seeds are fixed."""
    table = examined(variant, scale)
    assert set(table["verdict"]) == {layers.HEALTHY}
    assert ("bernoulli_rational" in table.index) == (variant == "fixed")


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2)])
def test_scales_without_a_bias_have_nothing_to_name(scale):
    assert named(examined("faulty", scale)) == []


@pytest.mark.parametrize("variant", ["faulty", "fixed", "taylor"])
def test_a_stuck_source_is_caught_at_the_bottom(variant):
    assert named(examined(variant, Fraction(10), "stuck", 100_000)) == ["uniform_bits"]


def test_statistics_scatter_as_expected_under_the_faulty_variant():
    """Chi-square and z of 60 seeded traces of 50 000 draws: means within 5 standard errors."""
    scale, draws = Fraction(10), 50_000
    tables = []
    for seed in range(60):
        source = entropy.byte_source("pcg64", seed, "scatter")
        trace = kernels.Cascade("faulty", scale, source).trace(draws)
        counted = layers.Tally.of([trace], scale, draws)
        tables.append(layers.examine(counted, scale, "faulty", ALPHA).set_index("layer"))
    for layer in ("bernoulli_exp1", "geometric_fast", "discrete_laplace", "uniform_bits"):
        seen = np.array([table.loc[layer, "chi2"] for table in tables])
        expected, sd = tables[0].loc[layer, ["expected_chi2", "expected_chi2_sd"]]
        assert abs(seen.mean() - expected) < 5 * sd / np.sqrt(60)
        assert 0.6 < seen.std() / sd < 1.5
    z = np.array([table.loc["geometric_fast", "mean_z"] for table in tables])
    assert abs(z.mean() - tables[0].loc["geometric_fast", "expected_mean_z"]) < 5 / np.sqrt(60)


def test_pvalues_of_healthy_coins_are_uniform():
    """The conditional test of the coins over 100 seeded traces; a false alarm at 10⁻⁴."""
    scale, draws = Fraction(100), 50_000
    pvalues = []
    for seed in range(100):
        trace = kernels.Cascade("fixed", scale, entropy.byte_source("sfc64", seed, "coins")).trace(
            draws
        )
        counted = layers.Tally.of([trace], scale, draws)
        table = layers.examine(counted, scale, "fixed", ALPHA).set_index("layer")
        pvalues.append(table.loc["bernoulli_exp1", "p_pooled"])
    assert distributions.kstest(pvalues, "uniform").pvalue > 1e-4


def test_a_certain_coin_that_fails_is_noticed():
    """The coin of e^0 always holds; a few hundred failures in a million draws move no mean."""
    counted = tally("fixed", Fraction(10), "pcg64")
    assert counted.coins[0, 0] == 0
    counted.coins[0] += [300, -300]
    found = layers.examine(counted, Fraction(10), "fixed", ALPHA).set_index("layer")
    assert named(found) == ["bernoulli_exp1"]
    assert found.loc["bernoulli_exp1", "p_pooled"] == 0


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_moments_of_the_magnitude_against_enumeration(variant):
    law = layers.geometric(exact.discrete_laplace(Fraction(7, 3), variant), 300)
    x, p = np.arange(301), law.probabilities
    mean = np.sum(x * p)
    assert law.mean == pytest.approx(mean, rel=1e-9)
    assert law.variance == pytest.approx(np.sum((x - mean) ** 2 * p), rel=1e-9)
    assert law.fourth == pytest.approx(np.sum((x - mean) ** 4 * p), rel=1e-9)


def test_batches_do_not_change_a_tally():
    one, many = (tally("fixed", Fraction(10), "pcg64", 10_000, batch) for batch in (10_000, 999))
    assert np.array_equal(one.coins, many.coins)
    for name, histogram in one.histograms.items():
        assert np.array_equal(histogram.counts, many.histograms[name].counts)
        assert histogram.sum_of_squares == many.histograms[name].sum_of_squares


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(7, 3), Fraction(1, 2)])
@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_the_laplace_law_is_the_exact_one(scale, variant):
    law = layers.laws(scale, variant, DRAWS)["discrete_laplace"]
    other = exact.discrete_laplace(scale, variant)
    x = np.arange(law.lowest, law.highest + 1)
    assert law.probabilities == pytest.approx(other.pmf(x), rel=1e-10)
    assert law.variance == pytest.approx(other.variance, rel=1e-10)


def test_coarse_bins_hold_every_large_uniform():
    m = 100_003
    law, values = layers.uniform(m), layers.coarse(np.arange(m), m)
    assert np.bincount(values) / m == pytest.approx(law.probabilities, rel=1e-12)
    assert layers.coarse(np.arange(10), 10).tolist() == list(range(10))


def test_a_scale_too_fine_is_refused():
    with pytest.raises(ValueError, match="a rational of smaller terms expected"):
        layers.laws(Fraction(3.3), "fixed", DRAWS)
