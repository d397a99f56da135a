"""Every specimen gets the verdict that its truth calls for, at alpha 10^−6."""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "audits"))

import specimens
from specimens import SPECIMENS, B, F, V

from noiseaudit.audit import cards, examination, opening, subjects

HEALTHY_DRAWS, HEALTHY_VECTORS = 60_000, 12_000
"""Enough for each test: `scripts/measure_power.py` takes a million, again and again."""

OWN_PROCESS = ("44", "45", "51")
"""Specimens that are about processes."""


@pytest.mark.parametrize(
    "specimen", SPECIMENS, ids=lambda specimen: f"{specimen.number}-{specimen.draw}"
)
def test_the_truth_is_found(specimen):
    draws = HEALTHY_VECTORS if isinstance(specimen.neighbours[0], list) else HEALTHY_DRAWS
    content = specimen.card | ({"draws": draws} if specimen.truth == F else {})
    (setting,) = cards.of(content, ROOT / "audits", "specimen").settings()
    if specimen.number in OWN_PROCESS:
        with opening.subject(setting) as subject:
            verdict = examination.examine(setting, subject, seed=5)
    else:
        draw = getattr(specimens, specimen.draw)
        arguments = specimen.arguments
        subject = subjects.Callback(
            lambda x, count, rng: draw(x, count, rng, **arguments), specimen.neighbours
        )
        verdict = examination.examine(setting, subject, seed=5)
    assert verdict.verdict == (V if specimen.truth == B else specimen.truth), verdict
    assert specimen.by in ("", verdict.by)
    assert verdict.by == "lowest bits" or specimen.truth != B
    assert verdict.unsafe == specimen.unsafe


def test_a_wide_law_says_how_little_was_asked_of_it():
    """47: with 10^5 draws, more than a hundred times the claim would have passed."""
    (specimen,) = [one for one in SPECIMENS if one.number == "47"]
    (setting,) = cards.of(specimen.card, ROOT / "audits", "specimen").settings()
    subject = subjects.Callback(
        lambda x, count, rng: specimens.integer_noise(x, count, rng, 10**4), (0, 1)
    )
    verdict = examination.examine(setting, subject)
    assert verdict.detectable > 100 * verdict.claimed
