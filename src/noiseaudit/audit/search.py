"""Which events to bet on next: chosen from past pairs only, by what they did on pairs not fitted to.

Of each view, cells are ranked by the ratio of their counts on the two sides, drawn towards 1 since many
small counts overfit; where cells are ordered, by their place too. The candidates are the heads of
these rankings. They are ranked on one half of the past and judged on the other, and the reverse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from noiseaudit.audit import betting
from noiseaudit.audit.betting import Event
from noiseaudit.audit.claims import Claim
from noiseaudit.audit.views import LARGEST_PERIOD, Residues, View

SHRINKAGES = (1.0, 8.0, 64.0)
"""Counts that are added to either side of a cell before the ratio is taken."""

_HEADS = np.geomspace(1e-5, 1, 128)
"""Shares of all outputs that the heads of a ranking hold."""


@dataclass
class Tally:
    """How often each cell of a view was seen.

    ``halves`` has shape ``(2, 2, cells)``: the half of the past, then the side.
    """

    view: View
    halves: np.ndarray

    @classmethod
    def empty(cls, view: View) -> Tally:
        return cls(view, np.zeros((2, 2, view.cells), dtype=np.int64))

    def add(self, sides: Sequence[np.ndarray]) -> None:
        """Count more pairs, from their cells on either side, every other one for either half."""
        for side, cells in enumerate(sides):
            for half in (0, 1):
                self.halves[half, side] += np.bincount(cells[half::2], minlength=self.view.cells)

    @property
    def counts(self) -> np.ndarray:
        """Of both halves, shape ``(2, cells)``, the left side first."""
        return self.halves.sum(axis=0)


@dataclass(frozen=True)
class Choice:
    """An event of a view, to bet on."""

    view: View
    members: np.ndarray
    event: Event
    merit: float


Ranking = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""``ranking(likelier, other)``: the cells in order, from their counts on either side."""


@dataclass(frozen=True)
class Ranked:
    """A ranking of a view's cells, and how often its heads came in the half that it was not made from.

    Attributes
    ----------
    counts : array, shape (2, cells)
        Of both halves; the side on which events are looked for that are likelier there comes first.
    came : array, shape (2, heads)
        Of the heads at `_HEADS`, on these sides.
    pairs : float
        In how many pairs.
    """

    view: View
    ranking: Ranking
    counts: np.ndarray
    came: np.ndarray
    pairs: float


class Aim(ABC):
    """What an event is chosen for."""

    @abstractmethod
    def merits(self, p: np.ndarray, q: np.ndarray, pairs: float, caution: float) -> np.ndarray:
        """How good events are that came at these rates in so many pairs, less some caution."""

    @abstractmethod
    def is_promising(self, choice: Choice) -> bool:
        """Whether an event is worth a bet."""

    @abstractmethod
    def takes(self, second: Choice, first: Choice) -> bool:
        """Whether the less good event, which is likelier on the other side, is bet on as well."""


@dataclass(frozen=True)
class Refute(Aim):
    """To break the claim: merit is the speed at which wealth grows against it."""

    claim: Claim

    def merits(self, p: np.ndarray, q: np.ndarray, pairs: float, caution: float) -> np.ndarray:
        lines = self.claim.lines(self.claim.parameter)
        line = np.argmax(betting.speed(p[:, None], q[:, None], *lines), axis=1)
        factor, delta = np.exp(lines[0][line]), lines[1][line]
        excess = p - factor * q - delta
        variance = p * (1 - p) + factor**2 * q * np.maximum(1 - q, 0) + (1 + factor) / pairs
        sure = excess - caution * np.sqrt(variance / pairs)
        return np.where(sure > 0, sure**2 / (2 * variance), excess / np.sqrt(variance) - _FAR)

    def is_promising(self, choice: Choice) -> bool:
        """If it came, in the past, more often than the claim allows."""
        epsilons, deltas = self.claim.lines(self.claim.parameter)
        allowed = np.exp(epsilons) * choice.event.other_rate + deltas
        return bool((choice.event.rate > allowed).any())

    def takes(self, second: Choice, first: Choice) -> bool:
        return True


@dataclass(frozen=True)
class Bound(Aim):
    """To bound the loss from below: merit is the bound that so many draws would give."""

    claim: Claim
    draws: int

    def merits(self, p: np.ndarray, q: np.ndarray, pairs: float, caution: float) -> np.ndarray:
        epsilons, deltas = self.claim.lines(self.claim.parameter)
        delta = float(deltas[0]) if epsilons.size == 1 else 0.0
        low = p - delta - caution * np.sqrt((p + 1 / pairs) / pairs)
        high = np.minimum(q + caution * np.sqrt((q + 1 / pairs) / pairs), 1.0)
        enough = low > 0
        low = np.where(enough, low, 1.0)
        if epsilons.size == 1:
            bound = np.log(low / high) - self._reach(low, high)
        else:
            bound = special.ndtri(np.minimum(low, 1 - 1 / pairs)) - special.ndtri(high)
        return np.where(enough, bound, p - _FAR)

    def is_promising(self, choice: Choice) -> bool:
        return choice.merit > -_FAR / 2

    def takes(self, second: Choice, first: Choice) -> bool:
        """If its own bound is as good to within what the second adds: wagers share one epsilon."""
        gain = 0.25 * self._reach(first.event.rate, first.event.other_rate + 1 / self.draws)
        return second.merit > first.merit - gain

    def _reach(self, p: np.ndarray | float, q: np.ndarray | float) -> np.ndarray | float:
        return _REACH * np.sqrt((1 / p + 1 / q) / self.draws)


_FAR = 1e6
"""Puts what promises nothing below everything that does, and still in an order."""

_REACH = 6.0
"""Standard errors by which wealth must be convinced."""


def survey(tallies: Sequence[Tally]) -> list[list[Ranked]]:
    """All rankings, for events likelier on the left and on the right: what any aim chooses from."""
    return [[ranked for tally in tallies for ranked in _ranked(tally, side)] for side in (0, 1)]


def _ranked(tally: Tally, side: int) -> Iterator[Ranked]:
    halves = tally.halves[:, ::-1] if side else tally.halves
    pairs = halves[:, 0].sum(axis=1)
    if not pairs.all():
        return
    total = halves.sum(axis=0)
    for ranking in _rankings(tally.view):
        came = np.zeros((2, _HEADS.size))
        for half in (0, 1):
            order = ranking(*halves[half])
            order = order[total[:, order].any(axis=0)]
            heads = _heads(halves[half], order, _HEADS)
            came += np.cumsum(halves[1 - half][:, order], axis=1)[:, heads - 1]
        yield Ranked(tally.view, ranking, total, came, float(pairs.sum()))


def wager(surveyed: Sequence[Sequence[Ranked]], aim: Aim) -> list[Choice | None]:
    """The events to bet on: one likelier on the left, one likelier on the right, both, or none."""
    choices = [_choose(rankings, aim) for rankings in surveyed]
    choices = [c if c and aim.is_promising(c) else None for c in choices]
    best = max(filter(None, choices), key=lambda choice: choice.merit, default=None)
    return [c if c and (c is best or aim.takes(c, best)) else None for c in choices]


def _choose(rankings: Iterable[Ranked], aim: Aim) -> Choice | None:
    """The event of greatest merit; None without a past."""
    found = [(*_best_head(ranked, aim), ranked) for ranked in rankings]
    if not found:
        return None
    merit, share, best = max(found, key=lambda candidate: candidate[0])
    order = best.ranking(*best.counts)
    order = order[best.counts[:, order].any(axis=0)]
    members = np.zeros(best.view.cells, dtype=bool)
    members[order[: _heads(best.counts, order, np.array([share]))[0]]] = True
    rate, other = (float(counts[members].sum() / counts.sum()) for counts in best.counts)
    event = Event(best.view.describe(members), rate, other)
    return Choice(best.view, members, event, merit)


def _best_head(ranked: Ranked, aim: Aim) -> tuple[float, float]:
    """The greatest merit of a head, and the share of all outputs that it holds."""
    n = ranked.pairs
    # An event not seen on the other side may still come there.
    p, q = ranked.came[0] / n, (ranked.came[1] + 1) / n
    merits = aim.merits(p, q, n, ranked.view.caution)
    top = int(np.argmax(merits))
    return float(merits[top]), float(_HEADS[top])


def _heads(counts: np.ndarray, order: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """How many cells of an order hold at least these shares of all outputs."""
    reached = np.cumsum(counts[:, order].sum(axis=0)) / max(counts.sum(), 1)
    return np.minimum(np.searchsorted(reached, shares * (1 - 1e-12)) + 1, order.size)


def _rankings(view: View) -> Iterator[Ranking]:
    for shrinkage in SHRINKAGES:
        yield lambda one, other, m=shrinkage: np.argsort(-(one + m) / (other + m), kind="stable")
    if view.ordered:
        yield lambda one, _: np.arange(one.size)
        yield lambda one, _: np.arange(one.size)[::-1]


def period(tally: Tally, centre: int, claim: Claim) -> Residues | None:
    """The residues of which one class exceeds the claim most clearly, of all up to `LARGEST_PERIOD`.

    Parameters
    ----------
    tally : Tally
        Of a view of integers (`Integers`).
    centre : int
        Where residues are counted from.
    """
    x = np.arange(tally.view.low, tally.view.high + 1)
    counts = tally.counts[:, 2:-1].astype(float)
    pairs = tally.counts[0].sum()
    epsilons, deltas = claim.lines(claim.parameter)
    lines = list(zip(np.exp(epsilons), deltas, strict=True))
    chosen, best = None, 0.0
    for d in range(2, min(LARGEST_PERIOD, x.size // 2) + 1):
        residues = Residues(d, centre)
        cell = residues.cell(x)
        folded = [np.bincount(cell, side, residues.cells) for side in counts]
        for one, other in (folded, folded[::-1]):
            for factor, delta in lines[:: max(len(lines) // 8, 1)]:
                spread = np.sqrt(one + factor**2 * other + 1)
                z = float(np.max((one - factor * other - delta * pairs) / spread))
                if (excess := z - np.sqrt(2 * np.log(2 * d))) > best:
                    chosen, best = residues, excess
    return chosen


def fold(tally: Tally, residues: Residues) -> Tally:
    """The tally of a view of residues, from that of the integers themselves."""
    cell = residues.cell(np.arange(tally.view.low, tally.view.high + 1))
    flat = tally.halves.reshape(4, -1)[:, 2:-1]
    folded = np.array([np.bincount(cell, counts, residues.cells) for counts in flat])
    return Tally(residues, folded.astype(np.int64).reshape(2, 2, -1))
