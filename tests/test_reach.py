"""What draws of OpenDP's mechanisms say: their laws, and what is certified of an epsilon or a rho."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from noiseaudit import _draw_from_wheel, entropy, stats, tables
from noiseaudit.cks20 import gaussian, kernels, reach
from noiseaudit.verdicts import NOTHING, VIOLATES, WRONG_LAW

ALPHA, DELTA = 1e-6, 1e-6


def counts(noise):
    return dict(zip(*(part.tolist() for part in np.unique(noise, return_counts=True)), strict=True))


def judged(name, variant, draws, scale=5):
    """The row of a mechanism whose release draws from our own cascade; seeded."""
    made = kernels.GaussianCascade if "gaussian" in name else kernels.Cascade
    noise = made(variant, Fraction(scale), entropy.byte_source("pcg64", 3, name)).draw(draws)
    release = "0.14.1" if variant == "faulty" else "0.16.0"
    return reach.row(name, release, Fraction(scale), counts(noise), ALPHA, DELTA)


@pytest.mark.parametrize(
    ("name", "variant", "draws", "verdict"),
    [
        ("geometric", "faulty", 100_000, VIOLATES),
        ("geometric", "fixed", 100_000, NOTHING),
        ("gaussian_lattice", "faulty", 100_000, WRONG_LAW),
        ("gaussian_lattice", "fixed", 100_000, NOTHING),
    ],
)
def test_the_faulty_mechanism_is_found_and_the_healthy_is_not(name, variant, draws, verdict):
    """A false alarm has a probability of 10⁻⁶; the draws are seeded."""
    row = judged(name, variant, draws)
    assert row["verdict"] == verdict
    for suffix in ("", "_faulty"):
        expected, sd = row["expected_chi2" + suffix], row["expected_chi2_sd" + suffix]
        assert abs(row["chi2" + suffix] - expected) < 5 * sd
    assert row["certified"] <= row["exact_high"]
    assert (row["deviation"] > 0.01) == (variant == "faulty")


def test_how_many_draws_would_certify_the_gaussian():
    """As many certify it with the counts that are expected, and a tenth fewer do not."""
    row, law = (
        judged("gaussian", "faulty", 100_000),
        gaussian.discrete_gaussian(Fraction(5), "faulty"),
    )
    assert row["certified"] < row["claimed"] == 0.02
    needed = int(row["draws_needed"])
    assert 10**8 < needed < 10**9

    def certified(draws):
        event = reach.RHO.event(law, Fraction(5), draws, ALPHA / 2)
        seen, shifted = (float(law.pmf(event + shift).sum()) * draws for shift in (0, 1))
        return reach.certified_rho(seen, shifted, draws, ALPHA / 2)

    assert certified(needed) > 0.02 > certified(needed * 9 // 10)
    assert row["delta_exact"] > DELTA  # as exact as the law: (ε, δ) is not kept


def nested(x, draws, samples, seed):
    """Counts of the outputs from x on and of the next, as one sample holds them, and their shares."""
    law = gaussian.discrete_gaussian(Fraction(2), "fixed")
    beyond = np.arange(x, law.reach)
    p, q = law.pmf(beyond).sum(), law.pmf(beyond + 1).sum()
    both = np.random.default_rng(seed).multinomial(draws, [q, p - q, 1 - p], size=samples)
    return both[:, 0] + both[:, 1], both[:, 0], p, q


@pytest.mark.parametrize("x", [-2, 0, 3])
def test_bounds_of_the_two_coins_fail_as_rarely_as_stated(x):
    """20 000 samples at alpha 0.1, seeded: four standard errors beyond, and no fewer than a third of it.

    Exact bounds of counts fail less often than stated, as there are no counts between whole ones.
    """
    alpha, draws = 0.1, 5000
    seen, shifted, p, q = nested(x, draws, 20_000, 17)
    low, high = stats.binomial_bounds(seen, shifted, draws, alpha)
    for rate in (np.mean(low > p), np.mean(high < q)):
        assert alpha / 3 < rate < alpha + 4 * (alpha / 20_000) ** 0.5


@pytest.mark.parametrize("x", [-2, 0, 3])
def test_a_rho_beyond_the_events_own_is_certified_as_rarely_as_stated(x):
    """The same samples at alpha 1/2, where both bounds together fail often enough to be seen."""
    seen, shifted, p, q = nested(x, 5000, 20_000, 18)
    bounds = reach.certified_rho(seen, shifted, 5000, 0.5)
    beyond = np.mean(bounds > reach._rho_of_coins(np.array(p), np.array(q)))
    assert 0.01 < beyond < 0.5


def test_an_epsilon_beyond_the_events_own_is_certified_as_rarely_as_stated():
    """20 000 samples of an event and its shift at alpha 0.1, seeded; as exact as its counts allow."""
    p, q, draws, alpha = 0.05, 0.045, 20_000, 0.1
    counts = np.random.default_rng(19).multinomial(draws, [p, q, 1 - p - q], size=20_000)
    bounds = reach.certified_epsilon(counts[:, 0], counts[:, 1], draws, alpha)
    rate = np.mean(bounds > np.log(p / q))
    assert alpha / 3 < rate < alpha + 4 * (alpha / 20_000) ** 0.5
    assert reach.certified_epsilon(np.array([10]), np.array([10_000]), draws, alpha) == 0


def expected_counts(name, scale, draws):
    """As many of each output as its law asks for."""
    x = np.arange(-60 * scale, 60 * scale + 1)
    found = reach.named(name).claimed_law(Fraction(scale))(x) * draws
    return {
        int(value): round(float(count))
        for value, count in zip(x, found, strict=True)
        if count >= 0.5
    }


@pytest.mark.parametrize(
    ("name", "scale", "change"),
    [
        ("noisy_max", 2, lambda counts: counts | {0: 0}),
        ("noisy_max", 2, lambda counts: counts | {3: 3}),
        ("randomized_response", 2, lambda counts: {1: 5000}),
        ("gaussian_floats", 10, lambda counts: {x: n for x, n in counts.items() if abs(x) < 8}),
        ("laplace_floats", 2, lambda counts: {x: n for x, n in counts.items() if x >= 0}),
        ("canonical", 2, lambda counts: {2 * x: n for x, n in counts.items()}),
    ],
)
def test_outputs_that_never_come_or_cannot_are_found(name, scale, change):
    """And as many as the law asks for are not, whatever is looked at is fixed by the law alone."""
    counts = expected_counts(name, scale, 100_000)
    healthy, faulty = (
        reach.row(name, "0.16.0", Fraction(scale), own, ALPHA, DELTA)
        for own in (counts, change(counts))
    )
    assert healthy["verdict"] == NOTHING
    assert healthy["p"] > 0.999
    assert faulty["verdict"] == WRONG_LAW
    assert faulty["deviation"] == healthy["deviation"] == 0


def test_the_old_releases_drew_small_laplace_noise_otherwise():
    """By their documentation (`noise.variant_of`); Gaussian noise came from the cascade."""
    laplace, gaussian_noise = reach.named("laplace"), reach.named("gaussian")
    assert laplace.variant("0.9.0", Fraction(5)) == "fixed"
    assert laplace.variant("0.9.0", Fraction(100)) == "faulty"
    assert gaussian_noise.variant("0.9.0", Fraction(5)) == "faulty"
    assert gaussian_noise.variant("0.14.2", Fraction(5)) == "fixed"
    assert reach.named("canonical").variant("0.14.1", Fraction(5)) == "fixed"


@given(p=st.floats(0.01, 0.99), share=st.floats(0.01, 0.99), order=st.floats(1.01, 50))
def test_rho_of_two_coins_is_a_renyi_divergence(p, share, order):
    """The supremum over orders is at least the value at one of them, and at each order of the grid."""
    q = p * share
    found = float(reach._rho_of_coins(np.array(p), np.array(q)))
    divergence = np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order))
    assert found >= divergence / (order * (order - 1)) * (1 - 2e-3) - 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_canonical_noise_is_symmetric_and_spends_its_budget_exactly(epsilon):
    x = np.linspace(-12, 12, 4001)
    cdf = reach.canonical_cdf(x, epsilon, 1e-3)
    assert (np.diff(cdf) >= -1e-15).all()
    assert cdf == pytest.approx(1 - cdf[::-1], abs=1e-14)
    excess = (1 - reach.canonical_cdf(x - 1, epsilon, 1e-3)) - exp(epsilon) * (1 - cdf)
    assert excess.max() == pytest.approx(1e-3, abs=1e-12)


@pytest.mark.parametrize("scale", [0.5, 1.0, 5.0])
def test_permute_and_flip_is_the_largest_of_scores_with_exponential_noise(scale):
    """Against an integral over the noise of the chosen."""
    scores = [0, 0, 1]

    def chosen(place):
        def density(noise):
            others = [
                max(0.0, 1 - exp(-(noise + scores[place] - score) / scale))
                if noise + scores[place] > score
                else 0.0
                for other, score in enumerate(scores)
                if other != place
            ]
            return exp(-noise / scale) / scale * np.prod(others)

        return integrate.quad(density, 0, 60 * scale, points=[1], limit=200)[0]

    found = reach.permute_and_flip(scores, scale)
    assert sum(found) == pytest.approx(1)
    assert found == pytest.approx([chosen(place) for place in range(3)], rel=1e-6)


def test_what_is_drawn_has_a_law():
    assert set(_draw_from_wheel.MECHANISMS) == set(reach.MECHANISMS)
    with pytest.raises(ValueError, match="mechanism: 'gumbel' found, one of laplace, geometric"):
        reach.named("gumbel")


@pytest.mark.parametrize(("rho", "delta", "epsilon"), [(0.02, 1e-6, 0.9004), (0.5, 1e-5, 4.728)])
def test_rho_as_an_epsilon(rho, delta, epsilon):
    assert reach.epsilon_of_rho(rho, delta) == pytest.approx(epsilon, rel=2e-4)


def test_the_wheels_reach(finished):
    """Small samples of the wheels, unseeded; a healthy row is flagged with a probability below 10⁻⁶.

    The faulty ones are expected to lie five standard deviations beyond what is flagged.
    """
    rows = tables.read_table(
        finished.folder / "results/opendp/reach.tsv", text=["mechanism", "release", "verdict"]
    )
    found = rows.set_index(["mechanism", "release"])["verdict"].to_dict()
    assert found.pop(("geometric", "0.14.1")) in (WRONG_LAW, VIOLATES)
    assert found == {
        ("geometric", "0.14.2"): NOTHING,
        ("geometric", "0.16.0"): NOTHING,
        ("gaussian", "0.8.0"): NOTHING,
        ("gaussian", "0.14.1"): WRONG_LAW,
        ("gaussian", "0.14.2"): NOTHING,
        ("gaussian", "0.16.0"): NOTHING,
        ("noisy_max", "0.14.1"): NOTHING,
        ("noisy_max", "0.14.2"): NOTHING,
        ("noisy_max", "0.16.0"): NOTHING,
    }
