"""Any noise, audited: does it do what it claims?

The room itself can be called: ``noiseaudit.audit(draw, epsilon=1.0)`` (see `audit`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from noiseaudit.audit import cards, opening, subjects
from noiseaudit.audit.cards import CardError
from noiseaudit.audit.claims import ClaimError
from noiseaudit.audit.examination import ALPHA, examine
from noiseaudit.audit.laws import LawError
from noiseaudit.audit.processes import SubjectError
from noiseaudit.audit.verdict import Verdict
from noiseaudit.verdicts import NOTHING, UNJUDGED, VIOLATES, WRONG_LAW

__all__ = [
    "ALPHA",
    "NOTHING",
    "UNJUDGED",
    "VIOLATES",
    "WRONG_LAW",
    "CardError",
    "ClaimError",
    "LawError",
    "SubjectError",
    "Verdict",
    "audit",
]


def audit(
    draw: Callable | str,
    left: Any = 0,  # noqa: ANN401 - whatever the mechanism takes
    right: Any = 1,  # noqa: ANN401
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    law: Mapping[str, Any] | None = None,
    draws: int = cards.DRAWS,
    seconds: float = cards.SECONDS,
    alpha: float = ALPHA,
    seed: int = 0,
    name: str = "noise",
) -> Verdict:
    """Audit noise: a function of this process, or one that is named and runs in processes of its own.

    Parameters
    ----------
    draw : callable or str
        ``draw(value)``, ``draw(value, count)`` or ``draw(value, count, rng)``; or ``file.py:function``
        or ``module:function``.
    left, right : any
        The neighbours: two inputs between which the claim is made.
    epsilon, delta, rho, mu : float, optional
        The claim: (ε, δ)-DP, ρ-zCDP or μ-GDP.
    law : mapping, optional
        ``{"name": …, parameters}``: what an output less its input follows.
    draws : int
        Outputs of each side at most.
    seconds : float
        That a named function may take.
    alpha : float
        The chance that a healthy mechanism is called anything else than ``nothing found``, at most.
    seed : int
        Of the generators that the function is handed, if it takes one.
    name : str
        Of the audit, in messages.

    Returns
    -------
    Verdict

    Raises
    ------
    CardError, SubjectError
        If what is asked makes no sense, or the function is none that can be drawn from.
    """
    claim = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    claim = {key: value for key, value in claim.items() if value is not None}
    content = {
        "draw": {"python": draw if isinstance(draw, str) else "this:process"},
        "draws": draws,
    }
    content |= {"seconds": seconds} | ({"claim": claim} if claim else {})
    content |= {"law": dict(law)} if law else {}
    if not isinstance(draw, str):
        # Values of this process need not be such as a card could hold.
        (setting,) = cards.of(content, Path.cwd(), name).settings()
        setting = replace(setting, left=left, right=right)
        return examine(setting, subjects.Callback(draw, (left, right)), alpha, seed)
    content["neighbours"] = {"left": left, "right": right}
    (setting,) = cards.of(content, Path.cwd(), name).settings()
    with opening.subject(setting, seed) as subject:
        return examine(setting, subject, alpha, seed)


class _Room(ModuleType):
    """A module that can be called like its main function."""

    def __call__(self, *arguments: object, **named: object) -> Verdict:
        return audit(*arguments, **named)


sys.modules[__name__].__class__ = _Room
