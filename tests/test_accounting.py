"""Composed draws against exact single draws and a convolution by hand."""

from fractions import Fraction

import numpy as np
import pytest

from noiseaudit.cks20 import accounting, exact


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
@pytest.mark.parametrize("scale", [3, 10, 100])
def test_one_draw_pays_what_its_law_says(scale, variant):
    """At the delta that is realised at some epsilon, that epsilon is the answer."""
    law, claimed = exact.discrete_laplace(Fraction(scale), variant), 1 / scale
    for epsilon in (0.3 * claimed, 0.9 * claimed):
        bounds = accounting.composed_epsilon(law, claimed, 1, law.realised_delta(epsilon))
        assert bounds.low <= epsilon * (1 + 1e-9) <= bounds.high * (1 + 2e-9)
        assert bounds.high - bounds.low < 0.01 * claimed


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_two_draws_against_their_product_law(variant):
    law, epsilon = exact.discrete_laplace(Fraction(5), variant), 0.25
    x = np.arange(-150, 151)
    p, q = law.pmf(x), law.pmf(x + 1)
    both, shifted = np.multiply.outer(p, p), np.multiply.outer(q, q)
    delta = np.maximum(both - np.exp(epsilon) * shifted, 0).sum()
    bounds = accounting.composed_epsilon(law, 0.2, 2, float(delta))
    assert bounds.low <= epsilon + 1e-9
    assert bounds.high >= epsilon - 1e-9
    assert bounds.high - bounds.low < 0.002


def test_a_hundred_draws_at_a_larger_shift_against_a_convolution():
    """By a Fourier transform of the losses on a fine grid, at sensitivity 10."""
    law, grid, draws = exact.discrete_laplace(Fraction(10), "faulty"), 1e-4, 100
    x = np.arange(-400, 401)
    place = np.rint(law.losses(x, 10) / grid).astype(int)
    mass = np.bincount(place - place.min(), weights=law.pmf(x))
    size = 2 ** int(np.ceil(np.log2(draws * mass.size)))
    composed = np.fft.irfft(np.fft.rfft(mass, size) ** draws, size)
    losses = (np.arange(size) + draws * place.min()) * grid
    bounds = accounting.composed_epsilon(law, 1.0, draws, 1e-6, 10)
    for epsilon, sign in ((bounds.low, 1), (bounds.high, -1)):
        beyond = losses > epsilon
        delta = np.sum(composed[beyond] * -np.expm1(epsilon - losses[beyond]))
        assert sign * (delta - 1e-6) > 0


def test_a_healthy_composition_keeps_the_sum_and_a_faulty_one_does_not():
    healthy, faulty = (exact.discrete_laplace(Fraction(10), name) for name in ("fixed", "faulty"))
    assert accounting.composed_epsilon(healthy, 0.1, 10, 1e-6).high <= 1 + 1e-9
    assert accounting.composed_epsilon(faulty, 0.1, 10, 1e-6).low > 1.5


@pytest.mark.parametrize(
    ("draws", "delta", "message"), [(0, 1e-6, "draws: 0 found"), (1, 0, "delta: 0 found")]
)
def test_bad_input(draws, delta, message):
    with pytest.raises(ValueError, match=message):
        accounting.composed_epsilon(exact.DiscreteLaplace(Fraction(3)), 1 / 3, draws, delta)
