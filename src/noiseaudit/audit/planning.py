"""How many draws an audit takes to show what is wrong, before any is made."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from noiseaudit.audit import betting, examination, wagering
from noiseaudit.audit.cards import CardError, Setting
from noiseaudit.audit.claims import Approximate
from noiseaudit.audit.subjects import Subject
from noiseaudit.audit.views import VALUES

EXCESSES = (1.01, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0)
"""True losses, in units of the claimed one."""

_MEASURED = 1 << 14


@dataclass(frozen=True)
class Plan:
    """Draws of each side that would show a loss at an event.

    ``seconds`` is None where no speed was measured; ``draws`` is infinite where none would do.
    """

    excess: float
    epsilon: float
    probability: float
    draws: float
    seconds: float | None


def rows(
    setting: Setting, alpha: float, excesses: Sequence[float], speed: float | None
) -> list[Plan]:
    """For each excess, draws at events of probability 1/2, 1/10 and 1/100 on the likelier side.

    Parameters
    ----------
    setting : Setting
        Its claim must be an epsilon.
    alpha : float
        Of the audit.
    excesses : sequence of float
        Above 1.
    speed : float or None
        Pairs of outputs a second.

    Raises
    ------
    CardError
        If nothing is claimed, or no epsilon.
    """
    claim = setting.claim
    if not isinstance(claim, Approximate):
        raise CardError(f"{setting.card}: claim: {claim or 'nothing'} found, an epsilon expected")
    share = wagering.shares_of(alpha * examination.PARTS["claim"])[VALUES]
    found = []
    for excess in excesses:
        loss = claim.epsilon * excess
        for p in examination.PROBABILITIES.values():
            q = max(p - claim.delta, 0) * math.exp(-loss)
            draws = betting.pairs_needed(claim, p, q, share)
            seconds = draws / speed if speed else None
            found.append(Plan(excess, loss, p, draws, seconds))
    return found


def speed(subject: Subject, seed: int) -> float:
    """Pairs of outputs a second, of some 16 000 after a first call."""
    for count in (64, _MEASURED):
        started = time.perf_counter()
        for side in (0, 1):
            subject.ask(side, count, seed + side)
        made = min(len(subject.answer(side)) for side in (0, 1))
    return made / max(time.perf_counter() - started, 1e-9)
