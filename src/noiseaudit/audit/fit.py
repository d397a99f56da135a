"""Do the outputs, less their input, follow the stated law?

Everything that is tested is fixed by the law before any draw: the cells, the periods, the middle half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from scipy import special

from noiseaudit import stats
from noiseaudit.audit.laws import Cells, Continuous, Discrete, Law
from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.views import LARGEST_PERIOD

TOO_LITTLE, TOO_MUCH, NEITHER = "too little noise", "too much noise", "another shape"


@dataclass(frozen=True)
class Fit:
    """How outputs agree with their law.

    Attributes
    ----------
    test : str
        The test that speaks most clearly against the law.
    pvalue : float
        Its p-value, times the number of tests: all that were done at this look.
    direction : str
        `TOO_LITTLE`, `TOO_MUCH` or `NEITHER`.
    chi2, dof : float, int
        Pearson's statistic of all cells, tails pooled.
    period : int or None
        By which outputs folded deviate most, where they do by any.
    """

    test: str
    pvalue: float
    direction: str
    chi2: float
    dof: int
    period: int | None


class Fitting:
    """Counts outputs in a law's cells, in memory that does not grow, and tests them when asked."""

    def __init__(self, law: Law, values: Sequence[Any]) -> None:
        self.law, self._values = law, values
        self.cells: Cells = law.cells()
        self.counts = np.zeros(self.cells.probabilities.size, dtype=np.int64)
        self.impossible = 0
        self._folded = self.cells.probabilities[1:-1] >= _NEVER
        self._folds = _periods(self.cells, int(self._folded.sum()))
        self._few: list[np.ndarray] = []
        self._kept, self._spacing = 0, 0.0

    def add(self, sides: Sequence[Outputs]) -> None:
        """Count more outputs of either side."""
        for outputs, value in zip(sides, self._values, strict=True):
            noise = self.law.noise(outputs, value)
            self.impossible += self.law.excluded(outputs)
            if self.law.lattice:
                noise = np.rint(noise)
            elif isinstance(self.law, Continuous) and self._kept < _KEPT:
                self._few.append(noise)
                self._spacing += float(_spacing(outputs.numbers).sum())
                self._kept += noise.size
            elif self.cells.integers is not None or isinstance(self.law, Discrete):
                self.impossible += int((noise != np.rint(noise)).sum())
            self.counts += np.bincount(self.cells.code(noise), minlength=self.counts.size)

    def fit(self) -> Fit | None:
        """All tests of what was counted; None while too little is expected anywhere."""
        total = int(self.counts.sum())
        expected = self.cells.probabilities * total
        starts = stats.pool_neighbours(expected)
        if starts is None and not self.impossible:
            return None
        tests: dict[str, float] = {}
        chi2, dof = 0.0, 0
        if starts is not None:
            pooled = (np.add.reduceat(counts, starts) for counts in (self.counts, expected))
            chi2, dof, tests["chi-square of all cells"] = astuple(stats.chi_square(*pooled))
        period, excess, folded = self._fold(total)
        tests["chi-square folded by a period"] = folded
        direction, tests["the middle half"] = self._spread(total)
        excluded = self.impossible + int(self.counts[self.cells.probabilities == 0].sum())
        tests["outputs that the law excludes"] = 0.0 if excluded else 1.0
        if self._few:
            tests["values that repeat"] = self._repeats()
        speaks = min(tests, key=tests.get)
        return Fit(
            speaks,
            min(1.0, tests[speaks] * len(tests)),
            direction,
            chi2,
            dof,
            period if folded < _CLEAR and excess > _MOST * (chi2 - dof) else None,
        )

    def _fold(self, total: int) -> tuple[int, float, float]:
        """The period by which outputs deviate most, its excess, and the p-value of the clearest one."""
        if not self._folds or total == 0:
            return 0, 0.0, 1.0
        magnitudes = np.abs(self.cells.integers[self._folded])
        inner = self.counts[1:-1][self._folded]
        expected = self.cells.probabilities[1:-1][self._folded]
        expected = expected * (inner.sum() / expected.sum())
        best, period, excess, smallest, done = -np.inf, 0, 0.0, 1.0, 0
        for d in self._folds:
            cell = magnitudes % d
            due = np.bincount(cell, expected, d)
            if due.min() < stats.POOLED_MINIMUM:
                break
            found = stats.chi_square(np.bincount(cell, inner, d), due)
            done += 1
            smallest = min(smallest, found.pvalue)
            if (z := (found.statistic - found.dof) / np.sqrt(2 * found.dof)) > best:
                best, period, excess = z, d, found.statistic - found.dof
        return period, excess, min(1.0, smallest * done)

    def _spread(self, total: int) -> tuple[str, float]:
        """Whether more, or less, lies in the middle than the law has there; two-sided binomial."""
        probabilities = self.cells.probabilities
        if np.count_nonzero(probabilities) < _SHAPED:
            return NEITHER, 1.0
        inside = _middle(probabilities)
        share = float(probabilities[inside].sum())
        came = int(self.counts[inside].sum())
        if total == 0 or not 0 < share < 1:
            return NEITHER, 1.0
        below, above = special.bdtr(came, total, share), special.bdtrc(came - 1, total, share)
        pvalue = min(1.0, 2 * float(min(below, above)))
        if pvalue > _TELLING:
            return NEITHER, pvalue
        return (TOO_LITTLE if above < below else TOO_MUCH), pvalue

    def _repeats(self) -> float:
        """How unlikely so many equal values are of a density; adjacent ones in order are counted."""
        x = np.sort(np.concatenate(self._few))
        if x.size < 2:
            return 1.0
        equal = int(np.count_nonzero(np.diff(x) == 0))
        # The chance that two outputs round to one double: their spacing times the density.
        scale = float(np.diff(np.quantile(x, [0.25, 0.75]))[0]) or 1.0
        chance = COINCIDENCE + 2 * self._spacing / x.size / scale
        due = x.size * (x.size - 1) / 2 * chance
        return float(special.pdtrc(equal - 1, due)) if equal else 1.0


COINCIDENCE = 2.0**-44
"""The chance that two draws of a density coincide before rounding, at most: from 53 random bits it is
some 2^−53, from 32 it is 2^−32."""


def _spacing(x: np.ndarray) -> np.ndarray:
    """The distance of outputs from the next number of their precision, single where all are single."""
    single = x.astype(np.float32)
    return np.spacing(np.abs(single if (single == x).all() else x)).astype(float)


_KEPT = 1 << 20
"""Doubles that are searched for equal ones."""

_CLEAR, _TELLING, _MOST = 1e-4, 1e-3, 0.6
"""p-values below which a period, and a direction, are named; a period only if it has that share of the
excess over all cells."""

_SHAPED = 8
"""Cells that a law must have for its middle to mean little noise, and its ends much."""

_WORK = 1 << 26
"""Cells that all foldings of one look may touch."""


_NEVER = 1e-12
"""Cells less likely than this are left out of what is folded."""


def _periods(cells: Cells, size: int) -> range:
    """All up to `LARGEST_PERIOD`; fewer where the law is so wide that this would take seconds."""
    if cells.integers is None:
        return range(0)
    return range(2, min(LARGEST_PERIOD, size // 2, _WORK // size) + 1)


def _middle(probabilities: np.ndarray) -> np.ndarray:
    """The cells around the median that hold half of the probability, or the first beyond it."""
    reached = np.cumsum(probabilities)
    low, high = np.searchsorted(reached, [0.25, 0.75])
    inside = np.zeros(probabilities.size, dtype=bool)
    inside[low : max(high, low + 1)] = True
    return inside
