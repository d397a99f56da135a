"""The claim, asked of a stream of pairs: by values, by failures and by the lowest bits, each by betting.

Blocks of pairs grow. Before each, every question chooses its events anew from all pairs before; memory
is bounded however many pairs come.
"""

from __future__ import annotations

import math

import numpy as np

from noiseaudit.audit import betting, scores, search, views
from noiseaudit.audit.claims import Claim
from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.search import Choice, Tally
from noiseaudit.audit.views import FAILURES, LOWEST_BITS, VALUES

FIRST_BLOCK, GROWTH = 64, 0.4
"""Pairs of the first block, and what a block adds to the pairs before it."""

_KEPT, _KEPT_NUMBERS = 1 << 16, 1 << 22
"""Pairs, and numbers of either side, that are kept to fit views to; later ones are only counted."""

_FIRST_SCAN = 1024
"""Pairs before residues and classifiers are looked for."""

QUESTIONS = (VALUES, FAILURES, LOWEST_BITS)


class Wagering:
    """Bets on pairs as they come.

    Parameters
    ----------
    claim : Claim
    draws : int
        Pairs that will come at most.
    centre : int
        Where residues are counted from.
    alpha : float
        Error of all questions together.
    """

    def __init__(self, claim: Claim, draws: int, centre: int, alpha: float) -> None:
        self.claim, self.pairs, self.shares = claim, 0, shares_of(alpha)
        self.tallies: list[Tally] = []
        self.records: dict[str, list[list[betting.Block]]] = {
            question: [[], []] for question in QUESTIONS
        }
        self._centre = centre
        self._aims = (search.Refute(claim), search.Bound(claim, draws))
        self._wagers: dict[str, list[list[Choice | None]]] = {}
        self._counts: dict[str, list[np.ndarray]] = {}
        self._kept: list[list[Outputs]] = [[], []]
        self._fitted = self._scanned = self._scored = 0
        self._block_end = FIRST_BLOCK

    def add(self, sides: tuple[Outputs, Outputs]) -> None:
        """Bet on more pairs, and learn from them."""
        place, size = 0, len(sides[0])
        while place < size:
            end = min(size, place + self._block_end - self.pairs)
            self._take((sides[0][place:end], sides[1][place:end]))
            self.pairs += end - place
            place = end
            if self.pairs == self._block_end:
                self.settle()

    def settle(self) -> None:
        """End the block here: note its outcome and choose the next bets."""
        for question, wagers in self._wagers.items():
            for aim, choices in enumerate(wagers):
                counts = self._counts[question][aim]
                if counts.any():
                    bet = betting.Bet(*(choice and choice.event for choice in choices))
                    self.records[question][aim].append(betting.Block(bet, counts))
        self._learn()
        self._wagers = {}
        for question in QUESTIONS:
            own = [tally for tally in self.tallies if tally.view.question == question]
            if own:
                surveyed = search.survey(own)
                self._wagers[question] = [search.wager(surveyed, aim) for aim in self._aims]
        self._counts = {
            question: [np.zeros((2, 2, 2, 2), dtype=np.int64) for _ in wagers]
            for question, wagers in self._wagers.items()
        }
        self._block_end = self.pairs + max(FIRST_BLOCK, int(GROWTH * self.pairs))

    def is_refuted(self, question: str) -> bool:
        """Whether a question's wealth against the claim ever passed one over its share of alpha."""
        return bool(self._passed(question).any())

    def _passed(self, question: str) -> np.ndarray:
        """The same after each block."""
        wealth = betting.joint_log_wealth(self.records[question], self.claim, self.claim.parameter)
        return wealth >= -math.log(self.shares[question])

    def refuted_after(self, question: str) -> int:
        """The pairs after which a question's wealth first passed."""
        records, passed = self.records[question], self._passed(question)
        before = self.pairs - sum(block.pairs for block in records[0])
        return before + sum(block.pairs for block in records[0][: int(np.argmax(passed)) + 1])

    def certified(self, question: str, claim: Claim | None = None) -> float:
        """The lower bound that a question puts on a claim's parameter (its own by default)."""
        return betting.certified(self.records[question], claim or self.claim, self.shares[question])

    def _take(self, sides: tuple[Outputs, Outputs]) -> None:
        coded = _Coded(sides)
        for question, wagers in self._wagers.items():
            for aim, choices in enumerate(wagers):
                members = [
                    choice.members[coded.by(choice.view)[side]]
                    if choice
                    else np.zeros(len(sides[side]), dtype=bool)
                    for side in (0, 1)
                    for choice in choices
                ]
                self._counts[question][aim] += betting.count_pairs(members)
        for tally in self.tallies:
            tally.add(coded.by(tally.view))
        if self._keeps():
            for kept, outputs in zip(self._kept, sides, strict=True):
                kept.append(outputs)

    def _keeps(self) -> bool:
        width = self._kept[0][0].width if self._kept[0] else 0
        return self.pairs < min(_KEPT, max(_KEPT_NUMBERS // max(width, 1), 4 * FIRST_BLOCK))

    def _learn(self) -> None:
        """Fit views at each doubling to all pairs kept, and count them anew."""
        if self.pairs >= 2 * self._fitted and self._keeps():
            self._fitted = self.pairs
            left, right = self._kept = [[Outputs.joined(kept).as_integers()] for kept in self._kept]
            found = [t for t in self.tallies if isinstance(t.view, views.Residues | views.Score)]
            self.tallies = []
            for view in views.fitted(left[0], right[0]):
                self.tallies.append(Tally.empty(view))
                self.tallies[-1].add([view.code(left[0]), view.code(right[0])])
            self.tallies += found
        if self.pairs >= max(_FIRST_SCAN, 2 * self._scanned):
            self._scanned = self.pairs
            self._scan()
        due = self.pairs >= max(_FIRST_SCAN // 4, 4 * self._scored)
        if due and self._keeps() and not self.is_refuted(VALUES):
            self._scored = self.pairs
            self._score()

    def _scan(self) -> None:
        """Look for a period in the integers, if that is what they are."""
        for tally in self.tallies:
            if isinstance(tally.view, views.Integers):
                self.tallies = [t for t in self.tallies if not isinstance(t.view, views.Residues)]
                residues = search.period(tally, self._centre, self.claim)
                if residues is not None:
                    self.tallies.append(search.fold(tally, residues))
                return

    def _score(self) -> None:
        """Train classifiers on vectors; what they score is counted from here on only."""
        left, right = (Outputs.joined(kept) for kept in self._kept)
        if left.width > 1:
            self.tallies = [t for t in self.tallies if not isinstance(t.view, views.Score)]
            self.tallies += [Tally.empty(view) for view in scores.trained(left, right)]


class _Coded:
    """Outputs of both sides in the cells of a view: a view that is bet on and counted codes them once."""

    def __init__(self, sides: tuple[Outputs, Outputs]) -> None:
        self._sides = sides
        self._cells: dict[int, list[np.ndarray]] = {}

    def by(self, view: views.View) -> list[np.ndarray]:
        if id(view) not in self._cells:
            self._cells[id(view)] = [view.code(outputs) for outputs in self._sides]
        return self._cells[id(view)]


def shares_of(alpha: float) -> dict[str, float]:
    """The error of each question, of what all of them have together: half to the values."""
    return {VALUES: alpha / 2, FAILURES: alpha / 4, LOWEST_BITS: alpha / 4}
