"""Exact laws against independent derivations and the published excesses."""

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


@given(scale=scales, variant=st.sampled_from(exact.VARIANTS))
def test_laws_are_laws(scale, variant):
    law = exact.discrete_laplace(scale, variant)
    x = np.arange(-int(45 * scale) - 1, int(45 * scale) + 2)
    p = law.pmf(x)
    assert p.sum() == pytest.approx(1, abs=1e-13)
    assert np.array_equal(p, p[::-1])
    assert np.sum(p * x.astype(float) ** 2) == pytest.approx(law.variance, rel=1e-10)
    steps = np.abs(np.diff(np.log(p[np.abs(x) <= 20 * scale + 1])))
    assert steps.max() <= law.realised_epsilon * (1 + 1e-9) + 1e-12


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
    assert law.realised_epsilon == pytest.approx(epsilon, abs=5e-6)


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
