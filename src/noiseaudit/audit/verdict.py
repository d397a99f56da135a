"""What an audit says: one of four verdicts, what shows it, and what is needed to check it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from noiseaudit import verdicts
from noiseaudit.verdicts import NOTHING, SEVERITY, VIOLATES, WRONG_LAW


@dataclass(frozen=True)
class Verdict:
    """The verdict on one mechanism at one pair of neighbours.

    Attributes
    ----------
    card, subject : str
        The card's name, and the setting of it that was audited (empty if there is one only).
    verdict : str
        `VIOLATES`, `WRONG_LAW`, `NOTHING` or `UNJUDGED`.
    by : str
        What shows it: ``paper``, ``repeats``, ``failures``, ``values`` or ``lowest bits`` of a broken
        claim; ``too little noise``, ``too much noise``, ``another shape`` or ``dependent draws`` of a
        wrong law; the reason where it cannot be judged; else empty.
    also : tuple of str
        Whatever else was found.
    unsafe : tuple of str
        Conditions under which noise repeats: ``copied``, ``forked``, ``seeded``.
    claim : mapping
        As the card states it.
    claimed : float or None
        The parameter's claimed value; None without a claim.
    certified : float
        The lower bound of that parameter, with probability ``1 − alpha``; 0 where there is none.
    epsilon_low : float
        The certified lower bound of epsilon, at the claimed delta (0 for rho and mu).
    paid : float or None
        The parameter that the stated law pays, on paper.
    detectable : float or None
        The smallest epsilon that would have been found at an event of probability 1/2; None where none
        would have been.
    detectable_at : mapping
        The same at other probabilities, and at the event that was bet on.
    detectable_excess : float or None
        By which share the likeliest single output would have had to exceed what the claim allows.
    event : str
        The event that tells most.
    p_left, p_right : float
        How often it came on either side, in the pairs that were bet on.
    found_after : int or None
        Outputs of each side after which what was found was known; None where nothing was.
    draws : int
        Outputs of each side.
    seconds : float
        How long it took.
    law : mapping or None
        The stated law, and how the outputs agree with it.
    cut_short : str
        Why it ended before all draws were made; else empty.
    failures : mapping
        How often each kind of failure came on either side.
    """

    card: str
    subject: str
    verdict: str
    by: str = ""
    also: tuple[str, ...] = ()
    unsafe: tuple[str, ...] = ()
    claim: Mapping[str, float] = field(default_factory=dict)
    claimed: float | None = None
    certified: float = 0.0
    epsilon_low: float = 0.0
    paid: float | None = None
    detectable: float | None = None
    detectable_at: Mapping[str, float | None] = field(default_factory=dict)
    detectable_excess: float | None = None
    event: str = ""
    p_left: float = math.nan
    p_right: float = math.nan
    found_after: int | None = None
    draws: int = 0
    seconds: float = 0.0
    alpha: float = math.nan
    seed: int | None = None
    law: Mapping[str, Any] | None = None
    dependence: Mapping[str, Any] | None = None
    fresh: Mapping[str, Any] | None = None
    failures: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    neighbours: Mapping[str, Any] = field(default_factory=dict)
    cut_short: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.sentence}>"

    @property
    def name(self) -> str:
        """The card, and the setting if there are several."""
        return f"{self.card} [{self.subject}]" if self.subject else self.card

    @property
    def is_healthy(self) -> bool:
        """Whether nothing was found."""
        return self.verdict == NOTHING

    @property
    def headline(self) -> str:
        """The verdict and what shows it."""
        return verdicts.headline(self.verdict, self.by)

    @property
    def sentence(self) -> str:
        """The verdict with its number."""
        return (
            self.headline
            + self._number()
            + (f"; unsafe when {', '.join(self.unsafe)}" if self.unsafe else "")
        )

    def _number(self) -> str:
        if self.verdict == VIOLATES and self.by == "paper":
            parameter = next(iter(self.claim))
            return f" ({parameter} {self.paid:.4g} is paid where {self.claimed:g} is claimed)"
        if self.verdict == VIOLATES and self.by != "repeats":
            return f" (certified {self.certified:.4g} where {self.claimed:g} is claimed)"
        if self.verdict == WRONG_LAW and self.by == "dependent draws":
            return f" (p = {self.dependence['pvalue']:.2g})"
        if self.verdict == WRONG_LAW and self.law:
            return f" (p = {self.law['p']:.2g})" + (
                f", period {self.law['period']}" if self.law.get("period") else ""
            )
        if self.verdict == NOTHING and self.claimed is not None and self.detectable:
            return f" (epsilon {self.detectable:.4g} would have been, at even odds)"
        return ""

    def as_dict(self) -> dict[str, Any]:
        """All fields, as JSON has them: numbers that are none are null."""
        return plain(asdict(self) | {"record": self.record, "evidence": self.evidence})


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """As JSON has it: a number that is none, or infinite, is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if isinstance(value, str | int | None) else repr(value)


def gravest(verdicts: list[Verdict]) -> Verdict:
    """The one that stands for all settings of a card."""
    return min(verdicts, key=lambda one: SEVERITY.index(one.verdict))
