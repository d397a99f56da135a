"""Every specimen gets the verdict that its truth calls for, at alpha 10^−6."""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "audits"))

import specimens
from specimens import SPECIMENS, B, F, V

from noiseaudit.audit import cards, examination, opening, subjects
from noiseaudit.verdicts import VIOLATES, WRONG_LAW

HEALTHY_DRAWS, VECTORS = 30_000, 6000
"""Enough for each test: `scripts/audits/measure_power.py` takes a million, again and again."""

OWN_PROCESS = ("44", "45", "51")
"""Specimens that are about processes."""


@pytest.mark.parametrize(
    "specimen", SPECIMENS, ids=lambda specimen: f"{specimen.number}-{specimen.draw}"
)
def test_the_truth_is_found(specimen):
    content = specimen.card
    if isinstance(specimen.neighbours[0], list):
        content["draws"] = VECTORS
    elif specimen.truth == F:
        content["draws"] = min(HEALTHY_DRAWS, specimen.draws)
    (setting,) = cards.of(content, ROOT / "audits", "specimen").settings()
    if specimen.number in OWN_PROCESS:
        with opening.subject(setting, 5) as subject:
            verdict = examination.examine(setting, subject, seed=5)
    else:
        draw = getattr(specimens, specimen.draw)
        subject = subjects.Callback(draw, specimen.neighbours, specimen.arguments)
        verdict = examination.examine(setting, subject, seed=5)
    assert verdict.verdict == (V if specimen.truth == B else specimen.truth), verdict
    assert specimen.by in ("", verdict.by)
    assert verdict.by == "lowest bits" or specimen.truth != B
    assert verdict.unsafe == specimen.unsafe
    if specimen.number == "47":  # a wide law: it is said how little was asked of it
        assert verdict.detectable > 100 * verdict.claimed


@pytest.mark.parametrize("alpha", [0.9, 1e-6])
def test_an_alarm_is_what_the_verdict_says(alpha):
    """What false alarms are counted by; at alpha 0.9 healthy specimens raise some."""
    alarms = 0
    for specimen in [one for one in SPECIMENS if one.number not in OWN_PROCESS][::6]:
        (setting,) = cards.of(specimen.card | {"draws": 300}, ROOT, "specimen").settings()
        asked = (getattr(specimens, specimen.draw), specimen.neighbours, specimen.arguments)
        verdict = examination.examine(setting, subjects.Callback(*asked), alpha, seed=2)
        told = verdict.verdict in (VIOLATES, WRONG_LAW) or bool(verdict.unsafe)
        assert examination.is_alarmed(setting, subjects.Callback(*asked), alpha, seed=2) == told
        alarms += told
    assert 0 < alarms < len(SPECIMENS) // 6
