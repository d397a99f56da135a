"""The audit: all questions asked of one subject, and the verdict.

Each question has its own share of alpha, fixed beforehand. The claim's are asked by betting, at any
time; the others, whose tests are not sequential, whenever the draws are four times as many, each time at
half of what is left of their share.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count as counting
from pathlib import Path
from typing import Any

import numpy as np

from noiseaudit import __version__, entropy
from noiseaudit.audit import (
    betting,
    claims,
    dependence,
    evidence,
    fit,
    freshness,
    paper,
    views,
    wagering,
)
from noiseaudit.audit.cards import Setting
from noiseaudit.audit.claims import Approximate
from noiseaudit.audit.freshness import Freshness
from noiseaudit.audit.outputs import Outputs, mark_name
from noiseaudit.audit.processes import OutOfTime, Unjudgeable
from noiseaudit.audit.subjects import Stream, Subject
from noiseaudit.audit.verdict import Verdict
from noiseaudit.verdicts import IF_INDEPENDENT, NOTHING, UNJUDGED, VIOLATES, WRONG_LAW

ALPHA = 1e-6
"""Error of a whole audit: the chance that a healthy mechanism is called anything else."""

PARTS = {"claim": 3 / 4, "law": 1 / 8, "fresh": 1 / 16, "dependence": 1 / 16}
"""Shares of alpha."""

ENOUGH, ENOUGH_TIMES, ENOUGH_REPEATS = 1 << 18, 64, 1 << 12
"""Draws after which a broken claim is not pursued further (eight times as many would add 2 to the bound
of an infinite loss), or that many times those that it took; and the same where noise repeats."""

_ENOUGH_NUMBERS = 1 << 19
"""Coordinates of vectors, likewise."""

_FIRST_LOOK, _FIRST_PAIRS = 1 << 12, 512

PROBABILITIES = {"1/2": 0.5, "1/10": 0.1, "1/100": 0.01}
"""Of events at which is said what would have been found."""

REASONS = (views.FAILURES, views.VALUES, views.LOWEST_BITS)
"""What breaks a claim, what is named first where several do."""

_NEVER = "but no event of probability 1/2 could break so large a claim"

_CLEARLY = 1.25
"""By which factor the lowest bits must certify more than values do, to be named beside them."""

_UNCLAIMED = Approximate(1e-9)
"""What is bet against where nothing is claimed: that the outputs tell nothing at all."""


@dataclass
class _Looks:
    """A share of alpha, spent by halves."""

    left: float

    def spend(self) -> float:
        self.left /= 2
        return self.left


class Examination:
    """An audit under way.

    Parameters
    ----------
    setting : Setting
    alpha : float
    seed : int
        Of the generators that the subject is handed.
    ordered : bool
        Whether outputs come as they were drawn, so that one and the next can be compared.
    """

    def __init__(self, setting: Setting, alpha: float, seed: int, ordered: bool = True) -> None:
        self.setting, self.alpha, self.seed, self._in_order = setting, alpha, seed, ordered
        claim = setting.claim or _UNCLAIMED
        centre = setting.left if isinstance(setting.left, int) else 0
        centre = int(np.clip(centre, -(2**62), 2**62))
        self.wagers = wagering.Wagering(claim, setting.draws, centre, alpha * PARTS["claim"])
        self.fitting = setting.law and fit.Fitting(setting.law, (setting.left, setting.right))
        self.pairing: dependence.Pairing | None = None
        self.failures: dict[str, list[int]] = {}
        self.draws = 0
        self.fit: fit.Fit | None = None
        self.dependence: dependence.Dependence | None = None
        self.fresh: Freshness | None = None
        self.wrong: list[str] = []
        self.broken: list[str] = []
        self.limit = setting.draws
        self._law_looks = _Looks(alpha * PARTS["law"])
        self._dependence_looks = _Looks(alpha * PARTS["dependence"])
        self._next_look = _FIRST_LOOK
        self._wrong_after: int | None = None
        self.width = 0

    def add(self, sides: tuple[Outputs, Outputs]) -> None:
        """Learn from more pairs, up to the limit."""
        sides = tuple(outputs[: self.limit - self.draws] for outputs in sides)
        self.width = max(self.width, sides[0].width)
        for side, outputs in enumerate(sides):
            for number, came in zip(
                *np.unique(outputs.marks[outputs.failed], return_counts=True), strict=True
            ):
                self.failures.setdefault(mark_name(number), [0, 0])[side] += int(came)
        self.wagers.add(sides)
        if self.fitting:
            self.fitting.add(sides)
        if self.pairing:
            self.pairing.add(sides)
        self.draws += len(sides[0])
        if self.pairing is None and self._in_order:
            self._pair()
        if self.draws >= self._next_look:
            self._next_look *= 4
            self._look()
        if self._only_fails:
            self.limit = self.draws
        self._judge_claim()

    @property
    def _only_fails(self) -> bool:
        failed = [sum(came[side] for came in self.failures.values()) for side in (0, 1)]
        return self.draws > 0 and min(failed) == self.draws

    @property
    def is_over(self) -> bool:
        return self.draws >= self.limit

    def end(self) -> None:
        """Take the last looks."""
        self.wagers.settle()
        self._look()
        self._judge_claim()

    def noted(self, fresh: Freshness | None) -> None:
        """Take in what was seen of fresh noise."""
        self.fresh = fresh
        if fresh and fresh.repeats:
            (self.broken if self.setting.claim else self.wrong).append("repeats")
            self.limit = min(self.limit, max(self.draws, ENOUGH_REPEATS))

    def _judge_claim(self) -> None:
        if self.setting.claim is None:
            return
        for question in wagering.QUESTIONS:
            if question not in self.broken and self.wagers.is_refuted(question):
                self.broken.append(question)
                if question == views.LOWEST_BITS:
                    continue  # by values it may be broken as well, and more subtly
                enough = _ENOUGH_NUMBERS // self.width if self.width else ENOUGH
                self.limit = min(self.limit, max(enough, ENOUGH_TIMES * self.draws))

    def _look(self) -> None:
        if self.fitting and (found := self.fitting.fit()) is not None:
            self.fit = found
            if found.pvalue <= self._law_looks.spend() and "law" not in self.wrong:
                self.wrong.append("law")
        if self.pairing and (found := self.pairing.test()) is not None:
            self.dependence = found
            if found.pvalue <= self._dependence_looks.spend() and "dependence" not in self.wrong:
                self.wrong.append("dependence")
        if self.wrong and self._wrong_after is None:
            self._wrong_after = self.draws

    def _pair(self) -> None:
        """Fix the groups of outputs that are paired: one and the next; with a law, coordinates too."""
        own = [t for t in self.wagers.tallies if t.view.question == views.VALUES]
        if not own or own[0].counts.sum() < 2 * _FIRST_PAIRS:
            return
        coordinates = [t for t in own if t.view.about.startswith("coordinate")]
        if not self.setting.law:
            coordinates = []
        first, *others = ((t.view, t.counts) for t in (own[0], *coordinates))
        self.pairing = dependence.Pairing(first, others)

    def verdict(self, seconds: float, cut_short: str = "", said: str = "") -> Verdict:
        """What was found, with all that shows it; ``said`` are the words of an exception."""
        setting, claim, paid = self.setting, self.setting.claim, self._paid()
        bounds = {question: self.wagers.certified(question) for question in wagering.QUESTIONS}
        broken = self._ordered(paid, bounds)
        question = next((q for q in broken if q in wagering.QUESTIONS), views.VALUES)
        certified = epsilon_low = max(bounds.values())
        if claim and not isinstance(claim, Approximate):
            pure = Approximate(1.0)
            epsilon_low = max(self.wagers.certified(q, pure) for q in wagering.QUESTIONS)
        best = self._told(question)
        found = self._found(broken)
        verdict = Verdict(
            card=setting.card,
            subject=setting.name,
            unsafe=self.fresh.unsafe if self.fresh else (),
            claim=claim.fields if claim else {},
            claimed=claim.parameter if claim else None,
            certified=certified,
            epsilon_low=epsilon_low,
            paid=paid,
            found_after=self.found_after(broken),
            draws=self.draws,
            seconds=round(seconds, 3),
            alpha=self.alpha,
            seed=self.seed,
            law=self._law(),
            dependence=vars(self.dependence) if self.dependence else None,
            fresh={"repeats": self.fresh.repeats, "tried": self.fresh.tried}
            if self.fresh
            else None,
            failures={name: tuple(came) for name, came in sorted(self.failures.items())},
            neighbours={"left": setting.left, "right": setting.right},
            record=self._record(),
            evidence=evidence.gathered(self.wagers.tallies, self.fitting),
            cut_short=cut_short,
            **best,
            **self._detectable(best),
            **found,
        )
        return self._unjudged(verdict, said) or verdict

    def _paid(self) -> float | None:
        """What the stated law pays on paper, in the claim's parameter."""
        setting = self.setting
        if not (setting.law and setting.claim):
            return None
        return paper.paid(setting.law, setting.claim, setting.left, setting.right, self.width)

    def is_alarmed(self) -> bool:
        """Whether the verdict, with all that shows it left out, is that something is wrong."""
        paid = self._paid()
        breaks = paid is not None and not paper.keeps(paid, self.setting.claim)
        found = self.broken or self.wrong or breaks
        return bool((found and not self._only_fails) or (self.fresh and self.fresh.unsafe))

    def _ordered(self, paid: float | None, bounds: dict[str, float]) -> list[str]:
        """What breaks the claim, what says most first."""
        broken = [why for why in ("repeats", *REASONS) if why in self.broken]
        if "dependence" in self.wrong:  # bets take each pair for a fresh one
            broken = [why for why in broken if why == "repeats"]
        if self._bits_add_nothing(broken, bounds):
            broken.remove(views.LOWEST_BITS)
        claim = self.setting.claim
        if claim and paid is not None and not paper.keeps(paid, claim):
            broken.insert(0 if not broken else len(broken), "paper")
        return broken

    def found_after(self, broken: list[str]) -> int | None:
        """After how many draws of each side it was known."""
        by_betting = [self.wagers.refuted_after(q) for q in broken if q in wagering.QUESTIONS]
        if by_betting:
            return min(by_betting)
        if "paper" in broken:
            return 0
        return min(ENOUGH_REPEATS, self.draws) if "repeats" in broken else self._wrong_after

    def _bits_add_nothing(self, broken: list[str], bounds: dict[str, float]) -> bool:
        """Whether the lowest bits, which are seen by place, tell no more than the places alone."""
        others = [why for why in broken if why in (views.VALUES, views.FAILURES)]
        if views.LOWEST_BITS not in broken or not others:
            return False
        return bounds[views.LOWEST_BITS] <= _CLEARLY * max(bounds[why] for why in others)

    def _found(self, broken: list[str]) -> dict[str, Any]:
        # The tests of the law, too, take each draw for a fresh one.
        said = {"repeats": "repeats", "dependence": "dependent draws"}
        said["law"] = self.fit.direction if self.fit else ""
        wrong = [words for why, words in said.items() if why in self.wrong]
        if broken:
            also = (*broken[1:], *(f"{WRONG_LAW}: {each}" for each in wrong))
            return {"verdict": VIOLATES, "by": broken[0], "also": also}
        if wrong:
            doubtful = [f"{why}, {IF_INDEPENDENT}" for why in REASONS if why in self.broken]
            return {"verdict": WRONG_LAW, "by": wrong[0], "also": (*wrong[1:], *doubtful)}
        return {"verdict": NOTHING, "by": ""}

    def _unjudged(self, verdict: Verdict, said: str) -> Verdict | None:
        """The verdict again where there is too little to judge by."""
        reason = ""
        if self._only_fails:
            reason = f"every call fails on both sides ({said or ', '.join(self.failures)})"
        elif verdict.verdict != NOTHING:
            return None
        elif self.setting.claim is not None and verdict.detectable is None:
            needed = betting.pairs_needed(
                self.setting.claim, 0.5, 0.0, self.wagers.shares[views.VALUES]
            )
            expected = f"{math.ceil(needed)} or more expected" if math.isfinite(needed) else _NEVER
            reason = f"{self.draws} draws of either side found, {expected}"
        elif self.setting.law is not None and self.fit is None:
            reason = f"{self.draws} draws of either side found, too few to test the law"
        return replace(verdict, verdict=UNJUDGED, by=reason, also=()) if reason else None

    def _told(self, question: str) -> dict[str, Any]:
        """The event bet on last that tells most, and how often it came since it was chosen."""
        blocks = [record[-1] for record in self.wagers.records[question] if record]
        events = [
            (event, side, block)
            for block in blocks
            for side, event in (("left", block.bet.left), ("right", block.bet.right))
            if event
        ]
        if not events:
            return {}
        event, side, block = max(events, key=lambda e: e[0].rate - e[0].other_rate)
        axes = (0, 2) if side == "left" else (1, 3)
        left, right = (block.counts.take(1, axis=axis).sum() / block.pairs for axis in axes)
        return {"event": event.text, "p_left": float(left), "p_right": float(right)}

    def _detectable(self, best: dict[str, Any]) -> dict[str, Any]:
        claim, alpha = self.setting.claim, self.wagers.shares[views.VALUES]
        if claim is None or not self.draws:
            return {}
        at = {
            name: _finite(betting.detectable(claim, p, self.draws, alpha))
            for name, p in PROBABILITIES.items()
        }
        if best:
            p = max(best["p_left"], best["p_right"])
            at["the event"] = _finite(betting.detectable(claim, p, self.draws, alpha))
        likeliest = max(
            (
                t.counts.max() / self.draws
                for t in self.wagers.tallies
                if t.view.question == views.VALUES
            ),
            default=0.0,
        )
        single = betting.detectable(claim, float(likeliest), self.draws, alpha)
        excess = (
            math.expm1(single - claim.parameter)
            if isinstance(claim, Approximate) and single < claims.LARGEST
            else math.inf
        )
        return {
            "detectable": at["1/2"],
            "detectable_at": at,
            "detectable_excess": _finite(excess),
        }

    def _law(self) -> dict[str, Any] | None:
        if self.setting.law is None:
            return None
        stated = {"stated": str(self.setting.law), **self.setting.law.fields}
        if self.fit is None:
            return stated | {"p": None}
        found = self.fit
        return stated | {
            "test": found.test,
            "p": found.pvalue,
            "direction": found.direction,
            "chi2": found.chi2,
            "dof": found.dof,
            "period": found.period,
        }

    def _record(self) -> dict[str, Any]:
        """All bets and their outcomes, by which the bound can be checked by hand."""
        return {
            question: {
                "alpha": self.wagers.shares[question],
                "aims": [
                    [
                        {
                            "left": block.bet.left and vars(block.bet.left),
                            "right": block.bet.right and vars(block.bet.right),
                            "counts": block.counts.reshape(16).tolist(),
                        }
                        for block in record
                    ]
                    for record in records
                ],
            }
            for question, records in self.wagers.records.items()
            if records[0]
        }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def examine(
    setting: Setting,
    subject: Subject,
    alpha: float = ALPHA,
    seed: int = 0,
    progress: Callable[[int], object] = lambda made: None,
    fresh: Callable[[Subject, Outputs, Iterator[int], float], Freshness | None] = freshness.examine,
) -> Verdict:
    """Audit one subject.

    Parameters
    ----------
    setting : Setting
        What it claims, and how much is drawn.
    subject : Subject
    alpha : float
        Error of all questions together.
    seed : int
        Decides the outputs of a subject that takes a generator.
    progress : callable
        Called with a number of outputs of each side, as they come.
    fresh : callable
        Asks whether noise is fresh (see `freshness.examine`).

    Returns
    -------
    Verdict
        `UNJUDGED` where the subject hangs, dies or only fails.

    Raises
    ------
    SubjectError
        If it is not what the card says it is.
    """
    started = time.monotonic()
    under_way = Examination(setting, alpha, seed, subject.ordered)
    cut_short = ""
    try:
        _ask_all(under_way, subject, progress, fresh)
    except OutOfTime as error:
        cut_short = str(error)
    except Unjudgeable as error:
        if not (under_way.broken or under_way.wrong):
            return unjudged(setting, str(error), alpha, seed)
        cut_short = str(error)
    if not under_way.draws:
        return unjudged(setting, cut_short or "no outputs", alpha, seed)
    under_way.end()
    found = under_way.verdict(time.monotonic() - started, cut_short, subject.said)
    return replace(found, versions=versions(subject), digests=digests(setting))


def _ask_all(
    under_way: Examination,
    subject: Subject,
    progress: Callable[[int], object] = lambda made: None,
    fresh: Callable[..., Freshness | None] = freshness.examine,
) -> None:
    setting, alpha, seed = under_way.setting, under_way.alpha, under_way.seed
    others = other_seeds(setting, seed)
    for sides in Stream(subject, stream_seed(setting, seed), setting.draws):
        under_way.add(sides)
        progress(len(sides[0]))
        if under_way.fresh is None and under_way.draws == len(sides[0]):
            under_way.noted(fresh(subject, sides[0], others, alpha * PARTS["fresh"]))
        if under_way.is_over:
            break


def is_alarmed(setting: Setting, subject: Subject, alpha: float, seed: int) -> bool:
    """Whether an audit calls the noise wrong or unsafe: `examine` without what it shows.

    Parameters
    ----------
    setting, subject, alpha, seed
        As for `examine`.

    Raises
    ------
    Unjudgeable, SubjectError
        If the subject does not answer.
    """
    under_way = Examination(setting, alpha, seed, subject.ordered)
    _ask_all(under_way, subject)
    under_way.end()
    return under_way.is_alarmed()


def found_after(setting: Setting, subject: Subject, alpha: float, seed: int) -> int | None:
    """Draws of each side until anything is found; None if nothing is. Of an audit that stops there.

    Parameters
    ----------
    setting, subject, alpha, seed
        As for `examine`. Whether noise is fresh is not asked.
    """
    under_way = Examination(setting, alpha, seed)
    for sides in Stream(subject, stream_seed(setting, seed), setting.draws):
        under_way.add(sides)
        if under_way.broken or under_way.wrong or under_way.is_over:
            break
    under_way.end()
    return under_way.found_after(under_way.broken)


def stream_seed(setting: Setting, seed: int) -> Callable[[int, int], int]:
    """What the generator of a side's call is seeded with, by what the audit is."""
    identity = ("audit", setting.card, setting.name)
    return lambda side, call: entropy.derived_seed(seed, *identity, side, call)


def other_seeds(setting: Setting, seed: int) -> Iterator[int]:
    """More seeds, for runs beside the stream."""
    identity = ("audit", setting.card, setting.name, "again")
    return (entropy.derived_seed(seed, *identity, place) for place in counting())


def unjudged(setting: Setting, reason: str, alpha: float, seed: int) -> Verdict:
    """The verdict on what gives no outputs."""
    return Verdict(
        card=setting.card,
        subject=setting.name,
        verdict=UNJUDGED,
        by=reason,
        claim=setting.claim.fields if setting.claim else {},
        claimed=setting.claim.parameter if setting.claim else None,
        alpha=alpha,
        seed=seed,
    )


def versions(subject: Subject) -> dict[str, str]:
    """Of what audits, and of the Python that draws."""
    return {
        "noiseaudit": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "subject's python": getattr(subject, "python", platform.python_version()),
    }


def digests(setting: Setting) -> dict[str, str]:
    """SHA-256 of the files that the card names, and of what it states."""
    stated = {
        "draw": dict(setting.draw),
        "neighbours": [setting.left, setting.right],
        "claim": setting.claim.fields if setting.claim else None,
        "law": setting.law.fields if setting.law else None,
    }
    found = {
        "card": hashlib.sha256(
            json.dumps(stated, sort_keys=True, default=repr).encode()
        ).hexdigest()
    }
    for name in _files(setting):
        with suppress(OSError):
            found[name] = hashlib.sha256((setting.folder / name).read_bytes()).hexdigest()
    return found


def _files(setting: Setting) -> list[str]:
    named = [setting.draw.get("python", "").rpartition(":")[0], setting.requires or ""]
    named += list(setting.draw.get("samples", {}).values())
    return [name for name in named if name and Path(setting.folder, name).is_file()]
