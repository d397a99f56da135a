"""One draw and the next: are consecutive outputs independent, and the coordinates of a vector's noise?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from noiseaudit import stats
from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.views import View

GROUPS = 8
"""Into which outputs are sorted, about equally many in each."""


@dataclass(frozen=True)
class Dependence:
    """Pearson's chi-square of a contingency table, the clearest of several.

    ``pvalue`` is times their number.
    """

    pair: str
    pvalue: float
    chi2: float
    dof: int


class Pairing:
    """Counts which groups follow one another, on each side.

    Under independence Pearson's statistic of the (overlapping) successions has the chi-square law of
    a test of order 0 against order 1 of a Markov chain (Hoel 1954; Billingsley 1961).

    Parameters
    ----------
    view : View
        Whose cells are put together in groups.
    counts : array, shape (2, cells)
        How often each cell was seen so far, on either side.
    """

    def __init__(self, view: View, counts: np.ndarray) -> None:
        self._view = view
        self._groups = [_grouped(side) for side in counts]
        self._tables = np.zeros((2, GROUPS, GROUPS), dtype=np.int64)

    def add(self, sides: tuple[Outputs, Outputs]) -> None:
        """Count more outputs, that followed one another on each side."""
        for side, outputs in enumerate(sides):
            group = self._groups[side][self._view.code(outputs)]
            pairs = np.bincount(group[:-1] * GROUPS + group[1:], minlength=GROUPS**2)
            self._tables[side] += pairs.reshape(GROUPS, GROUPS)

    def test(self) -> Dependence | None:
        """The clearest of the two sides; None while too little is expected in every table."""
        found = []
        for side, table in zip(("left", "right"), self._tables, strict=True):
            statistic = _independence(table)
            if statistic is not None:
                found.append((float(special.chdtrc(statistic[1], statistic[0])), side, *statistic))
        if not found:
            return None
        pvalue, side, chi2, dof = min(found)
        return Dependence(
            f"consecutive outputs on the {side}", min(1.0, pvalue * len(found)), chi2, dof
        )


def _grouped(counts: np.ndarray) -> np.ndarray:
    """The group of each cell: in order, an equal share of the outputs in each as far as cells allow."""
    before = np.cumsum(counts) - counts / 2
    return np.minimum((before / max(counts.sum(), 1) * GROUPS).astype(np.int64), GROUPS - 1)


def _independence(table: np.ndarray) -> tuple[float, int] | None:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kept = (rows > 0) & (columns > 0)
    table, rows, columns = table[np.ix_(kept, kept)], rows[kept], columns[kept]
    if rows.size < 2:
        return None
    expected = np.outer(rows, columns) / table.sum()
    enough = expected >= stats.POOLED_MINIMUM
    if not enough.all():
        return None
    return float(np.sum((table - expected) ** 2 / expected)), (rows.size - 1) ** 2
