"""The verdict on a sample: healthy laws pass, the faulty one is caught, each at a stated rate."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from noiseaudit import entropy, stats
from noiseaudit.cks20 import exact, noise
from noiseaudit.figures import opendp
from noiseaudit.verdicts import NOTHING, VIOLATES, WRONG_LAW

ALPHA = 1e-6


def sample(scale, variant, draws=10**6, seed=1):
    """Counts drawn straight from the exact law, as one multinomial."""
    law, cutoff = exact.discrete_laplace(scale, variant), noise.window_cutoff(scale, draws)
    expected = noise.expected_counts(law, cutoff, draws)
    generator = entropy.generator(seed, "diagnosis", str(scale), variant)
    counts = generator.multinomial(draws, expected / expected.sum())
    x = np.arange(-cutoff - 1, cutoff + 2)
    moments = int(counts @ x), int(counts @ x**2)
    histogram = stats.Histogram(cutoff, counts, draws, *moments)
    return noise.Sample(noise.cascade_name(variant), variant, scale, histogram)


def summary(drawn):
    (losses,) = noise.neighbour_losses([drawn], ALPHA)
    return noise.summarise(drawn, losses, ALPHA)


def test_the_papers_bins():
    assert noise.window_cutoff(Fraction(10), 10**6) == 138
    assert noise.window_cutoff(Fraction(1), 10**6) == 13


@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(7, 3), Fraction(3.3), Fraction(10), Fraction(100)]
)
def test_healthy_draws_pass(scale):
    """A false alarm has a nominal probability of 2·10⁻⁶ a scale; the seed is fixed."""
    found = summary(sample(scale, "fixed"))
    assert found["verdict"] == NOTHING
    assert found["realised_epsilon_low"] <= found["claimed_epsilon"] < found["detectable_epsilon"]
    assert found["realised_epsilon_exact"] == pytest.approx(found["claimed_epsilon"])
    assert abs(found["chi2"] - found["expected_chi2"]) < 5 * found["expected_chi2_sd"]


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(5), Fraction(10)])
def test_faulty_draws_are_certified_violations(scale):
    found = summary(sample(scale, "faulty"))
    assert found["verdict"] == VIOLATES
    assert (
        found["claimed_epsilon"] < found["realised_epsilon_low"] < found["realised_epsilon_exact"]
    )
    assert abs(found["chi2"] - found["expected_chi2"]) < 5 * found["expected_chi2_sd"]


def test_what_single_outputs_cannot_certify_still_fits_badly():
    found = summary(sample(Fraction(7, 3), "faulty"))
    assert found["verdict"] == WRONG_LAW
    assert found["realised_epsilon_low"] <= found["claimed_epsilon"]


def test_an_output_that_certifies_nothing_is_the_best_counted():
    found = summary(sample(Fraction(100), "fixed"))
    assert found["realised_epsilon_low"] == 0
    assert abs(found["worst_x"]) <= 10
    assert np.isfinite(found["worst_x_loss"])


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2)])
def test_scales_without_bias(scale):
    assert summary(sample(scale, "faulty"))["verdict"] == NOTHING


def test_expected_chi_square_at_the_papers_settings():
    moments = noise.expected_chi_square(Fraction(10), "faulty", 10**6)
    assert moments.mean == pytest.approx(2003, abs=2)
    assert noise.expected_chi_square(Fraction(10), "fixed", 10**6).mean == pytest.approx(276)


def test_pvalues_of_healthy_samples_are_uniform():
    """Kolmogorov–Smirnov over 200 seeded samples; a false alarm has probability 10⁻⁴."""
    fits = [
        noise.fit_discrete_laplace(sample(Fraction(10), "fixed", 10**5, seed))
        for seed in range(200)
    ]
    assert kstest([fit["p_pooled"] for fit in fits], "uniform").pvalue > 1e-4
    assert kstest([fit["mean_z"] for fit in fits], "norm").pvalue > 1e-4


def test_losses_cover_the_exact_ones():
    drawn = sample(Fraction(10), "faulty")
    (losses,) = noise.neighbour_losses([drawn], ALPHA)
    assert len(losses) == 276
    assert np.all(losses["alpha"] == ALPHA / 4 / 276)
    assert np.all(
        (losses["loss_low"] <= losses["exact_loss"]) & (losses["exact_loss"] <= losses["loss_high"])
    )
    assert not losses["within_3sigma"].all()
    assert losses["x"].tolist() == list(range(-138, 138))
    assert losses["count_next"][:-1].tolist() == losses["count_x"][1:].tolist()


def test_a_scale_too_fine_to_enumerate_has_no_exact_value():
    drawn = sample(Fraction(3.3), "fixed")
    found = summary(noise.Sample(drawn.source, "faulty", drawn.scale, drawn.histogram))
    assert np.isnan(found["realised_epsilon_exact"])
    assert np.isnan(found["expected_chi2"])
    assert np.isnan(found["expected_variance"])


@pytest.mark.parametrize("variant", ["fixed", "faulty"])
def test_expected_variance(variant):
    """Over 200 seeded samples: mean within 5 standard errors, spread within a fifth."""
    moments = noise.expected_variance(Fraction(10), variant, 10**5)
    seen = [sample(Fraction(10), variant, 10**5, seed).histogram.variance for seed in range(200)]
    assert abs(np.mean(seen) - moments.mean) < 5 * moments.sd / np.sqrt(200)
    assert np.std(seen) == pytest.approx(moments.sd, rel=0.2)


@pytest.mark.parametrize(
    ("scale", "draws"),
    [(Fraction(1, 2), 1000), (Fraction(1), 1000), (Fraction(5), 1000), (Fraction(1000), 200_000)],
)
def test_the_smallest_samples_of_a_valid_config_are_judged_and_drawn(scale, draws):
    drawn = [sample(scale, variant, draws) for variant in ("faulty", "fixed")]
    losses = noise.neighbour_losses(drawn, ALPHA)
    for one, rows in zip(drawn, losses, strict=True):
        assert noise.summarise(one, rows, ALPHA)["verdict"]
    for figure in (opendp.plrv(pd.concat(losses)), opendp.artifacts(drawn)):
        figure.draw_without_rendering()


def test_folding_sees_at_a_million_draws_what_single_outputs_do_not():
    """At scale 100 the pooled test has even chances; the folded one misses with under 10⁻¹²."""
    found = summary(sample(Fraction(100), "faulty"))
    assert found["dof_folded"] == 99
    assert found["p_folded"] < 1e-12


def test_an_event_of_all_spikes_certifies_what_no_single_output_does():
    """At scale 100 and a million draws: twice the claim at least, in all but 2·10⁻⁴ of samples."""
    found = summary(sample(Fraction(100), "faulty"))
    assert found["event_epsilon_low"] == found["realised_epsilon_low"] > 0.02
    assert found["realised_epsilon_low"] < found["realised_epsilon_exact"]
    assert found["verdict"] == VIOLATES


@pytest.mark.parametrize(("variant", "excess"), [("faulty", 0.1491), ("fixed", 0)])
def test_the_excess_at_800_of_scale_1000(variant, excess):
    """Ten million draws, six standard errors."""
    found = noise.excess_at_spike(sample(Fraction(1000), variant, 10**7), ALPHA)
    assert found["spike"] == 800
    assert found["spike_excess_exact"] == pytest.approx(excess, abs=1e-4)
    assert abs(found["spike_excess"] - excess) < 6 * 0.016
    assert found["spike_excess_low"] < excess < found["spike_excess_high"]


@pytest.mark.parametrize(
    ("release", "scale", "variant"),
    [
        ("0.8.0", 100, "fixed"),
        ("0.9.0", 10, "fixed"),
        ("0.9.0", 10.5, "faulty"),
        ("0.9.2", 3, "faulty"),
        ("0.14.1", 3, "faulty"),
        ("0.14.2", 3, "fixed"),
        ("0.16.0", 100, "fixed"),
    ],
)
def test_what_a_release_is_said_to_contain(release, scale, variant):
    assert noise.variant_of(release, scale) == variant
    assert noise.variant_of_source(noise.source_name(release), scale) == variant
    assert noise.variant_of_source(noise.cascade_name("taylor"), scale) == "taylor"


def test_folding_counts_by_remainder():
    x = np.arange(-4, 5)
    assert noise.fold(np.arange(9), x, 3).tolist() == [1 + 4 + 7, 0 + 3 + 5 + 8, 2 + 6]


def test_the_folded_test_applies_where_it_can():
    for scale in (Fraction(1), Fraction(3.3)):
        assert np.isnan(summary(sample(scale, "fixed"))["p_folded"])
    pvalues = [
        noise.fit_discrete_laplace(sample(Fraction(7, 3), "fixed", 10**5, seed))
        for seed in range(200)
    ]
    assert kstest([fit["p_folded"] for fit in pvalues], "uniform").pvalue > 1e-4
