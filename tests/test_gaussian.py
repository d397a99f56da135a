"""The discrete Gaussian's exact laws, against enumerations, and what draws of it follow."""

from fractions import Fraction
from math import ceil, exp, isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from noiseaudit import entropy
from noiseaudit.cks20 import exact, gaussian, kernels, reference
from noiseaudit.stats import Interval

FAULTY_SCALES = [Fraction(2), Fraction(5, 2), Fraction(7, 3), Fraction(10)]
SCALES = st.sampled_from(FAULTY_SCALES)


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(4), Fraction(1, 3), Fraction(20, 3)])
def test_a_healthy_law_is_the_gaussian(scale):
    x = np.arange(-60, 61)
    weights = np.exp(-(x**2) / (2 * float(scale) ** 2))
    found = gaussian.discrete_gaussian(scale, "fixed").pmf(x)
    assert found == pytest.approx(weights / weights.sum(), rel=1e-11, abs=1e-40)


def enumerated(scale: Fraction, variant: str) -> np.ndarray:
    """Of the magnitudes: Algorithm 3 case by case, every coin in exact rationals."""
    variance = scale**2
    t = isqrt(variance.numerator // variance.denominator) + 1

    def coin(x: Fraction) -> float:
        units = max(ceil(x) - 1, 0)
        return exp(-units) * float(exact.bernoulli_exp1(x - units, variant))

    weights = [
        coin(Fraction(magnitude % t, t))
        * exp(-(magnitude // t))
        * coin((magnitude - variance / t) ** 2 / (2 * variance))
        for magnitude in range(12 * ceil(scale))
    ]
    return np.array(weights) / (2 * sum(weights) - weights[0])


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
@pytest.mark.parametrize("scale", FAULTY_SCALES)
def test_laws_against_an_enumeration(scale, variant):
    p = enumerated(scale, variant)
    law = gaussian.discrete_gaussian(scale, variant)
    assert law.pmf(np.arange(p.size)) == pytest.approx(p, rel=1e-12, abs=1e-300)
    magnitudes = np.arange(p.size, dtype=float)
    for order in (1, 2, 3, 4):
        assert law.moment(order) == pytest.approx(2 * np.sum(magnitudes**order * p), rel=1e-10)


@given(
    scale=SCALES,
    variant=st.sampled_from(["faulty", "fixed"]),
    sensitivity=st.integers(1, 4),
    epsilon=st.floats(0, 3),
)
def test_realised_delta_against_every_output(scale, variant, sensitivity, epsilon):
    magnitudes = enumerated(scale, variant)
    padded = np.concatenate([np.zeros(sensitivity), magnitudes[:0:-1], magnitudes])
    p, q = padded[:-sensitivity], padded[sensitivity:]
    found = gaussian.discrete_gaussian(scale, variant).realised_delta(epsilon, sensitivity)
    assert found == pytest.approx(np.maximum(p - np.exp(epsilon) * q, 0).sum(), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("scale", [*FAULTY_SCALES, Fraction(5)])
def test_a_healthy_rho_is_the_text_books(scale, sensitivity):
    """``Δ²/2σ²`` (Canonne, Kamath and Steinke 2020, Theorem 4), which every whole order attains."""
    law = gaussian.discrete_gaussian(scale, "fixed")
    due = sensitivity**2 / (2 * float(scale) ** 2)
    assert law.realised_rho(sensitivity) == Interval(due, due)
    x = np.arange(-law.reach, law.reach + 50)
    p, q = law.log_pmf(x), law.log_pmf(x + sensitivity)
    for order in (2, 3, 10):
        moment = np.logaddexp.reduce(order * p + (1 - order) * q)
        assert moment / (order * (order - 1)) == pytest.approx(due, rel=1e-12)


@settings(max_examples=12)
@given(
    scale=st.sampled_from(
        [*FAULTY_SCALES, Fraction(3), Fraction(3, 2), Fraction(1, 2), Fraction(7)]
    ),
    sensitivity=st.integers(1, 3),
)
def test_a_faulty_rho_is_bracketed(scale, sensitivity):
    """No order that is tried goes beyond the upper bound, and one of them comes near it."""
    law = gaussian.discrete_gaussian(scale, "faulty")
    rho = law.realised_rho(sensitivity)
    assert rho.high / rho.low < 1 + 2e-6
    orders = 1 + np.logspace(-4, 3, 2000)
    x = np.arange(-law.reach, law.reach + 3100)
    p, q = law.log_pmf(x), law.log_pmf(x + sensitivity)
    moments = np.array([np.logaddexp.reduce(a * p + (1 - a) * q) for a in orders])
    rates = moments / (orders * (orders - 1))
    assert rates.max() <= rho.high * (1 + 1e-12)
    assert rates.max() > rho.high * (1 - 1e-3)


def test_a_rho_whose_worst_order_is_1_is_the_mean_loss():
    law = gaussian.discrete_gaussian(Fraction(3), "faulty")
    x = np.arange(-law.reach, law.reach)
    mean_loss = float(np.sum(law.pmf(x) * law.losses(x)))
    assert law.realised_rho().low == pytest.approx(mean_loss, rel=1e-6)
    assert law.realised_rho().high / mean_loss < 1 + 2e-6


def test_tiny_scales_stay_within_64_bits():
    """Against the enumeration's own first magnitudes; far ones are as small as the Gaussian's."""
    law = gaussian.discrete_gaussian(Fraction(1, 200), "faulty")
    far = np.array([57, 1000])
    healthy = -(far**2) / (2 * 0.005**2)
    assert np.abs(law.log_pmf(far) - healthy).max() < 5
    assert law.realised_rho().high / law.realised_rho().low < 1.1


@pytest.mark.parametrize(("scale", "rho"), [(2, 0.134820), (5, 0.0250344), (10, 0.00625823)])
def test_the_fault_costs_rho(scale, rho):
    found = gaussian.discrete_gaussian(Fraction(scale), "faulty").realised_rho()
    assert found.low == pytest.approx(rho, rel=1e-5)


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_draws_follow_their_variants_law(variant):
    """Chi-square over 300 000 seeded draws at s = 4; a false alarm has probability 10⁻⁴.

    The faulty law is far from the Gaussian there: its own draws would fail the healthy test.
    """
    source = entropy.byte_source("pcg64", 11, variant)
    drawn = kernels.GaussianCascade(variant, Fraction(4), source).draw(300_000)

    def pvalue(law):
        x = np.arange(-13, 14)
        counts = np.bincount(drawn[np.abs(drawn) <= 13] + 13, minlength=27)
        p = gaussian.discrete_gaussian(Fraction(4), law).pmf(x)
        return chisquare(counts, p / p.sum() * counts.sum()).pvalue

    assert pvalue(variant) > 1e-4
    assert pvalue({"faulty": "fixed", "fixed": "faulty"}[variant]) < 1e-100


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(100)])
def test_the_kernel_is_the_reference_on_the_same_bytes(scale, variant):
    bulk = kernels.GaussianCascade(variant, scale, entropy.byte_source("pcg64", 7))
    plain = reference.VARIANTS[variant](entropy.byte_source("pcg64", 7))
    assert bulk.draw(1500).tolist() == [plain.discrete_gaussian(scale) for _ in range(1500)]


@pytest.mark.parametrize(
    ("making", "message"),
    [
        (lambda s: kernels.GaussianCascade("taylor", Fraction(3), s), "variant: 'taylor' found"),
        (lambda s: kernels.GaussianCascade("fixed", Fraction(2**20), s), "of smaller terms"),
        (lambda s: kernels.GaussianCascade("fixed", Fraction(3), s).trace(1), "trace: a Gaussian"),
        (lambda s: gaussian.discrete_gaussian(Fraction(3.3), "faulty"), "of smaller terms"),
        (lambda s: gaussian.discrete_gaussian(Fraction(0), "fixed"), "scale: 0 found"),
        (lambda s: gaussian.discrete_gaussian(Fraction(3), "broken"), "variant: 'broken' found"),
    ],
)
def test_bad_input(making, message):
    with pytest.raises(ValueError, match=message):
        making(entropy.byte_source("pcg64", 1))
