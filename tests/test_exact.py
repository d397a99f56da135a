"""Exact laws against independent derivations and the published excesses."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseaudit.cks20 import exact, reference

fractions = st.integers(1, 400).flatmap(lambda b: st.integers(0, b).map(lambda a: Fraction(a, b)))
scales = st.fractions(min_value=Fraction(1, 4), max_value=40, max_denominator=12)


@given(x=fractions)
def test_the_fixed_coin_is_the_exponential(x):
    assert float(exact.bernoulli_exp1(x, "fixed")) == pytest.approx(exp(-x), rel=1e-15)


@given(x=fractions)
def test_the_faulty_coin_against_its_tree_of_outcomes(x):
    """The first failing k, followed outcome by outcome."""
    true, reached = 0.0, 1.0
    for k in range(1, 40):
        success = Fraction(*reference.Faulty.divide(x, k)) if x else Fraction(0)
        if k % 2:
            true += reached * (1 - success)
        reached *= float(success)
    assert float(exact.bernoulli_exp1(x, "faulty")) == pytest.approx(true, abs=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 97, 100, 360, 840])
@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_all_coins_at_once_against_each_in_rationals(d, variant):
    for u, found in enumerate(exact.coins(d, variant)):
        certified = exact.bernoulli_exp1(Fraction(u, d), variant)
        assert abs(Fraction(float(found)) - certified) <= exact.COIN_ERROR


@given(scale=scales, variant=st.sampled_from(exact.VARIANTS))
def test_laws_are_laws(scale, variant):
    law = exact.discrete_laplace(scale, variant)
    x = np.arange(-int(45 * scale) - 1, int(45 * scale) + 2)
    p = law.pmf(x)
    assert p.sum() == pytest.approx(1, abs=1e-13)
    assert np.array_equal(p, p[::-1])
    assert np.sum(p * x.astype(float) ** 2) == pytest.approx(law.variance, rel=1e-10)
    steps = np.abs(np.diff(np.log(p[np.abs(x) <= 20 * scale + 1])))
    assert steps.max() <= law.realised_epsilon() * (1 + 1e-9) + 1e-12


@given(scale=scales)
def test_the_entropy_is_the_expected_surprise(scale):
    law = exact.DiscreteLaplace(scale)
    x = np.arange(-int(45 * scale) - 1, int(45 * scale) + 2)
    assert law.entropy == pytest.approx(-np.sum(law.pmf(x) * law.log_pmf(x)), rel=1e-10)


@given(scale=scales, variant=st.sampled_from(exact.VARIANTS))
def test_laws_against_the_samplers_definition(scale, variant):
    """Keep u < d with the coin's probability, add d times a geometric, divide, attach a sign."""
    d, n = scale.numerator, scale.denominator
    kept = [float(exact.bernoulli_exp1(Fraction(u, d), variant)) for u in range(d)]
    w = np.arange(60 * d)
    magnitude = np.bincount(w // n, np.array(kept)[w % d] * np.exp(-(w // d)))
    total = 2 * magnitude.sum() - magnitude[0]
    shown = np.arange(min(magnitude.size, 3 * d))
    law = exact.discrete_laplace(scale, variant)
    assert magnitude[shown] / total == pytest.approx(law.pmf(shown), rel=1e-10)


@pytest.mark.parametrize(
    ("scale", "epsilon"),
    [(1, 1.0), (2, 0.5), (3, 0.50409), (10, 0.26614), (100, 0.15073), (1000, 0.14023)],
)
def test_realised_epsilon_of_the_faulty_sampler(scale, epsilon):
    law = exact.discrete_laplace(Fraction(scale), "faulty")
    assert law.realised_epsilon() == pytest.approx(epsilon, abs=5e-6)


def test_variance_at_scale_10():
    assert exact.discrete_laplace(Fraction(10), "fixed").variance == pytest.approx(
        199.83, abs=0.005
    )
    assert exact.discrete_laplace(Fraction(10), "faulty").variance == pytest.approx(
        200.38, abs=0.005
    )


def test_excess_at_800_of_scale_1000():
    x = np.array([800])
    laws = [exact.discrete_laplace(Fraction(1000), variant) for variant in ("faulty", "fixed")]
    assert laws[0].pmf(x) / laws[1].pmf(x) - 1 == pytest.approx(0.1491, abs=0.0005)


@pytest.mark.parametrize(
    ("scale", "variant", "message"),
    [
        (Fraction(0), "fixed", "scale: 0 found"),
        (Fraction(-1), "faulty", "scale: -1 found"),
        (Fraction(3.3), "faulty", "a rational of smaller terms expected"),
        (Fraction(65537, 65536), "faulty", "a rational of smaller terms expected"),
        (Fraction(3), "broken", "variant: 'broken' found"),
    ],
)
def test_bad_input(scale, variant, message):
    with pytest.raises(ValueError, match=message):
        exact.discrete_laplace(scale, variant)


@given(
    scale=scales,
    variant=st.sampled_from(["faulty", "fixed"]),
    sensitivity=st.integers(1, 7),
    share=st.floats(0, 2),
)
def test_realised_privacy_against_every_output(scale, variant, sensitivity, share):
    law, epsilon = exact.discrete_laplace(scale, variant), share * sensitivity / float(scale)
    reach = int(50 * scale) + 10 * sensitivity
    x = np.arange(-reach, reach + 1)
    p, q = law.pmf(x), law.pmf(x + sensitivity)
    assert law.realised_epsilon(sensitivity) == pytest.approx(np.abs(np.log(p / q)).max(), rel=1e-9)
    delta = np.maximum(p - np.exp(epsilon) * q, 0).sum()
    assert law.realised_delta(epsilon, sensitivity) == pytest.approx(delta, rel=1e-7, abs=1e-13)


@given(scale=scales, variant=st.sampled_from(["faulty", "fixed"]), order=st.integers(1, 4))
def test_moments_against_their_sums(scale, variant, order):
    law = exact.discrete_laplace(scale, variant)
    x = np.arange(-int(70 * scale) - 2, int(70 * scale) + 3)
    found = np.sum(np.abs(x).astype(float) ** order * law.pmf(x))
    assert law.moment(order) == pytest.approx(found, rel=1e-10)


@pytest.mark.parametrize("scale", [40_000, 100_000])
def test_moments_of_large_scales_leave_no_64_bits(scale):
    """Of the healthy law Σ|x|^k P(x) ≈ k! s^k; the faulty one is within a few per cent of it."""
    law = exact.discrete_laplace(Fraction(scale), "faulty")
    for order, factorial in ((2, 2), (4, 24)):
        assert law.moment(order) == pytest.approx(factorial * float(scale) ** order, rel=0.05)


@pytest.mark.parametrize(("scale", "delta"), [(1, 0), (2, 0), (10, 9.43e-3), (100, 2.36e-3)])
def test_realised_delta_at_the_claimed_epsilon(scale, delta):
    law = exact.discrete_laplace(Fraction(scale), "faulty")
    assert law.realised_delta(1 / scale) == pytest.approx(delta, rel=1e-3, abs=1e-13)


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(7, 3)])
def test_probabilities_carry_the_stated_error(scale):
    """Against 50 digits, from certified coins."""
    d, n = scale.numerator, scale.denominator
    with localcontext(prec=50):
        kept = [exact.bernoulli_exp1(Fraction(u, d), "faulty") for u in range(d)]
        coins = [Decimal(q.numerator) / Decimal(q.denominator) for q in kept]
        proposals = range(60 * d * n)
        weights = [Decimal(0)] * (60 * d)
        for w in proposals:
            weights[w // n] += coins[w % d] * Decimal(-(w // d)).exp()
        total = 2 * sum(weights) - weights[0]
        certified = np.array([float(weight / total) for weight in weights[: 50 * d // n]])
    found = exact.discrete_laplace(scale, "faulty").pmf(np.arange(certified.size))
    assert np.abs(found / certified - 1).max() < 1e-13
