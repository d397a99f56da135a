"""Which events to bet on next: chosen from past pairs only, by what they did on pairs not fitted to.

Of each view, cells are ranked by the ratio of their counts on the two sides, drawn towards 1 since many
small counts overfit; where cells are ordered, by their place too. The candidates are the heads of
these rankings. They are ranked on one half of the past and judged on the other, and the reverse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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


@dataclass(frozen=True)
class Ranked:
    """Rankings of a view's cells, and how often their heads came in the half that they do not come from.

    Attributes
    ----------
    seen : array, shape (seen,)
        The cells that came at all.
    counts : array, shape (2, seen)
        Theirs in both halves; first comes the side that events are looked for to be likelier on.
    came : array, shape (2, rankings, heads)
        Of the heads at `_HEADS`, on these sides.
    pairs : float
        In how many pairs.
    """

    view: View
    seen: np.ndarray
    counts: np.ndarray
    came: np.ndarray
    pairs: float


class Aim(ABC):
    """What an event is chosen for."""

    @abstractmethod
    def merits(
        self, p: np.ndarray, q: np.ndarray, pairs: np.ndarray, caution: np.ndarray
    ) -> np.ndarray:
        """How good events are that came at these rates in so many pairs, less caution, elementwise."""

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

    def merits(
        self, p: np.ndarray, q: np.ndarray, pairs: np.ndarray, caution: np.ndarray
    ) -> np.ndarray:
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

    def merits(
        self, p: np.ndarray, q: np.ndarray, pairs: np.ndarray, caution: np.ndarray
    ) -> np.ndarray:
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
    past = [tally for tally in tallies if tally.halves[:, 0].any(axis=1).all()]
    return [[_ranked(tally, side) for tally in past] for side in (0, 1)]


def _ranked(tally: Tally, side: int) -> Ranked:
    halves = tally.halves[:, ::-1] if side else tally.halves
    seen = np.flatnonzero(halves.any(axis=(0, 1)))
    halves = halves[..., seen]
    came = 0
    for half in (0, 1):
        orders = _orders(tally.view, *halves[half])
        heads = _heads(halves[half], orders, _HEADS)
        reached = np.cumsum(halves[1 - half][:, orders], axis=2)
        came += np.take_along_axis(reached, heads[None] - 1, axis=2)
    return Ranked(tally.view, seen, halves.sum(axis=0), came, float(halves[:, 0].sum()))


def wager(surveyed: Sequence[Sequence[Ranked]], aim: Aim) -> list[Choice | None]:
    """The events to bet on: one likelier on the left, one likelier on the right, both, or none."""
    choices = [_choose(ranked, aim) for ranked in surveyed]
    choices = [c if c and aim.is_promising(c) else None for c in choices]
    best = max(filter(None, choices), key=lambda choice: choice.merit, default=None)
    return [c if c and (c is best or aim.takes(c, best)) else None for c in choices]


def _choose(surveyed: Sequence[Ranked], aim: Aim) -> Choice | None:
    """The event of greatest merit; None without a past."""
    if not surveyed:
        return None
    sizes = [ranked.came[0].size for ranked in surveyed]
    pairs = np.repeat([ranked.pairs for ranked in surveyed], sizes)
    caution = np.repeat([ranked.view.caution for ranked in surveyed], sizes)
    inside, outside = (
        np.concatenate([ranked.came[side].ravel() for ranked in surveyed]) for side in (0, 1)
    )
    # An event not seen on the other side may still come there.
    merits = aim.merits(inside / pairs, (outside + 1) / pairs, pairs, caution)
    top = int(np.argmax(merits))
    which = int(np.searchsorted(np.cumsum(sizes), top, side="right"))
    best = surveyed[which]
    ranking, share = divmod(top - sum(sizes[:which]), _HEADS.size)
    order = _orders(best.view, *best.counts)[ranking]
    head = order[: _heads(best.counts, order[None], _HEADS[[share]])[0, 0]]
    members = np.zeros(best.view.cells, dtype=bool)
    members[best.seen[head]] = True
    rate, other = (float(counts[head].sum() / counts.sum()) for counts in best.counts)
    event = Event(best.view.describe(members), rate, other)
    return Choice(best.view, members, event, float(merits[top]))


def _heads(counts: np.ndarray, orders: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """How many cells of each order hold at least these shares of all outputs, ``(orders, shares)``."""
    reached = np.cumsum(counts.sum(axis=0)[orders], axis=1) / max(counts.sum(), 1)
    found = [np.searchsorted(shares_of, shares * (1 - 1e-12)) for shares_of in reached]
    return np.minimum(np.array(found) + 1, orders.shape[1])


def _orders(view: View, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The rankings of cells from their counts on the likelier side and the other, a row each."""
    drawn = np.array(SHRINKAGES)[:, None]
    orders = np.argsort(-(one + drawn) / (other + drawn), axis=1, kind="stable")
    if not view.ordered:
        return orders
    place = np.arange(one.size)
    return np.vstack([orders, place, place[::-1]])


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
