"""Each mechanism beside its formula, its law and its edge cases."""

from math import exp, inf, isnan, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noiseaudit import entropy, mechanisms


@given(v=st.floats(-0.5, 0.5, exclude_min=True, exclude_max=True))
def test_the_transform_is_the_inverse_cdf(v):
    s = mechanisms.laplace_from_uniform(v)
    assert stats.laplace.cdf(s) == pytest.approx(v + 0.5, abs=1e-15)


@pytest.mark.parametrize(("v", "s"), [(0.0, 0.0), (0.5, inf), (-0.5, -inf), (0.25, log(2))])
def test_the_transforms_edges(v, s):
    assert mechanisms.laplace_from_uniform(v) == s


@given(v=st.floats(0.5, 1.0, exclude_min=True))
def test_beyond_one_half_there_is_no_noise_but_nan(v):
    assert isnan(mechanisms.laplace_from_uniform(v))


def noise(name, n=1, epsilon=1.0, draws=100_000, seed=11):
    generator = entropy.generator(seed, "mechanisms", name)
    x = np.zeros((draws, n))
    return mechanisms.named(name)(x, epsilon, generator).ravel()


@pytest.mark.parametrize(
    ("name", "n", "epsilon", "scale"),
    [
        ("laplace", 1, 2.0, 0.5),
        ("laplace", 8, 2.0, 4.0),
        ("adept", 8, 2.0, 0.5),
        ("half_laplace", 8, 2.0, 2.0),
    ],
)
def test_noise_follows_its_analytic_cdf(name, n, epsilon, scale):
    """Kolmogorov–Smirnov, seeded; a false alarm has probability 10⁻⁴."""
    drawn = noise(name, n, epsilon, draws=20_000)
    assert stats.kstest(drawn, "laplace", args=(0, scale)).pvalue > 1e-4


def test_dptext_noise_is_half_zero_and_half_exponential():
    drawn = noise("dptext")
    assert stats.binomtest(int((drawn == 0).sum()), drawn.size, 0.5).pvalue > 1e-4
    assert drawn.min() == 0
    assert stats.kstest(drawn[drawn > 0], "expon").pvalue > 1e-4


def test_random_is_a_fair_coin_whatever_the_input():
    ones = np.ones((50_000, 2))
    drawn = mechanisms.named("random")(ones, 1.0, entropy.generator(1, "coin")).ravel()
    assert set(drawn) == {0.0, 1.0}
    assert stats.binomtest(int(drawn.sum()), drawn.size, 0.5).pvalue > 1e-4


@given(x=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9))
def test_copy_copies(x):
    z = mechanisms.named("copy")(np.array([x]), 1.0, entropy.generator(1))
    assert z.tolist() == [x]


def test_half_laplace_post_processes_laplace():
    x = np.full((100, 4), 1.0)
    whole, half = (
        mechanisms.named(name)(x, 0.5, entropy.generator(5)) for name in ("laplace", "half_laplace")
    )
    assert np.array_equal(half, 0.5 * whole)


def test_adept_forgets_the_dimension():
    x = np.zeros((100, 4))
    adept = mechanisms.named("adept")(x, 0.5, entropy.generator(5))
    laplace = mechanisms.named("laplace")(x, 2.0, entropy.generator(5))
    assert np.array_equal(adept, laplace / 1.0)


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
@pytest.mark.parametrize("x", [0, 1])
@pytest.mark.parametrize("b", [0.1, 1.0, 40.0])
def test_vote_probabilities_against_draws(name, x, b):
    """One coordinate's share of votes for 1, seeded; a false alarm has probability 10⁻⁵."""
    mechanism = mechanisms.named(name)
    drawn = mechanism(np.full((40_000, 1), float(x)), 1 / b, entropy.generator(3, name, x, b))
    ones = int((drawn >= 0.5).sum())
    log_zero, log_one = mechanism.log_votes(x, b)
    assert exp(log_zero) + exp(log_one) == pytest.approx(1)
    if log_one == -inf:
        assert ones == 0
    elif log_zero == -inf:
        assert ones == drawn.size
    else:
        assert stats.binomtest(ones, drawn.size, exp(log_one)).pvalue > 1e-5


@pytest.mark.parametrize("epsilon", [0.0, -1.0, inf, float("nan")])
def test_bad_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"epsilon: .* found, a finite number above 0 expected"):
        mechanisms.named("laplace")(np.zeros((1, 1)), epsilon, entropy.generator(1))


@pytest.mark.parametrize("shape", [(3,), (3, 0), (2, 2, 2)])
def test_bad_input(shape):
    with pytest.raises(ValueError, match=r"x: shape .* found, \(m, n\) with n of at least 1"):
        mechanisms.named("laplace")(np.zeros(shape), 1.0, entropy.generator(1))


def test_unknown_mechanism():
    with pytest.raises(ValueError, match="mechanism: 'gauss' found, one of copy, random, laplace"):
        mechanisms.named("gauss")
