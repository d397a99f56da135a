"""Events chosen from the exact law, and what a sample certifies at them."""

from fractions import Fraction

import numpy as np
import pytest

from noiseaudit.cks20 import events, exact, noise

SCALES = [Fraction(3), Fraction(10), Fraction(7, 3), Fraction(32), Fraction(100)]


@pytest.mark.parametrize("scale", SCALES)
def test_an_event_and_its_shift_are_disjoint_and_in_the_window(scale):
    cutoff = noise.window_cutoff(scale, 10**6)
    event = events.telling_event(scale, cutoff, 10**6, 1e-6)
    assert event.size == np.unique(event).size > 1
    assert not set(event) & set(event + 1)
    assert -cutoff <= event.min()
    assert event.max() < cutoff


@pytest.mark.parametrize("scale", SCALES)
def test_an_events_loss_lies_between_the_claim_and_what_is_realised(scale):
    law = exact.discrete_laplace(scale, "faulty")
    event = events.telling_event(scale, noise.window_cutoff(scale, 10**6), 10**6, 1e-6)
    loss = np.log(law.pmf(event).sum() / law.pmf(event + 1).sum())
    assert 1 / float(scale) < loss <= law.realised_epsilon() + 1e-12
    healthy = exact.DiscreteLaplace(scale)
    fair = np.log(healthy.pmf(event).sum() / healthy.pmf(event + 1).sum())
    assert abs(fair) <= 1 / float(scale) + 1e-12


def test_the_chosen_event_beats_every_single_output():
    """At scale 100 a million draws certify nothing at a single output, but three times the claim."""
    scale, draws, alpha = Fraction(100), 10**6, 1e-8
    law = exact.discrete_laplace(scale, "faulty")
    event = events.telling_event(scale, noise.window_cutoff(scale, draws), draws, alpha)

    def bound(outputs):
        p, q = law.pmf(outputs).sum(), law.pmf(outputs + 1).sum()
        return np.log(p / q) - 5.73 * np.sqrt((1 / p + 1 / q) / draws)

    assert bound(event) > 0.03
    assert max(bound(np.array([x])) for x in range(-300, 300)) < 0.01


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_scales_without_a_fault_have_no_event(scale):
    cutoff = noise.window_cutoff(scale, 10**6)
    assert events.telling_event(scale, cutoff, 10**6, 1e-6).size == 0
    assert events.spike(scale, cutoff) == 0


@pytest.mark.parametrize(("scale", "spike"), [(3, 2), (10, 8), (100, 80), (1000, 800)])
def test_the_spike_is_where_the_paper_sees_it(scale, spike):
    assert events.spike(Fraction(scale), 4 * scale) == spike
