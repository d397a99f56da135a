"""One draw and the next: are consecutive outputs independent, and the coordinates of a vector's noise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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
    """Counts which groups of outputs come together, on each side.

    Of consecutive outputs Pearson's statistic has, under independence, the chi-square law of a test of
    order 0 against order 1 of a Markov chain, although they overlap (Hoel 1954; Billingsley 1961).

    Parameters
    ----------
    succession : tuple of View and array of shape (2, cells)
        Whose cells are put together in groups, and how often each was seen so far on either side; of
        these, one output and the next.
    coordinates : sequence of the same
        Of a vector; of these, one coordinate and the next.
    """

    def __init__(
        self,
        succession: tuple[View, np.ndarray],
        coordinates: Sequence[tuple[View, np.ndarray]] = (),
    ) -> None:
        self._grouping = [
            (view, [_grouped(side) for side in counts])
            for view, counts in (succession, *coordinates)
        ]
        pairs = max(len(coordinates) - 1, 0)
        self._tables = np.zeros((2, 1 + pairs, GROUPS, GROUPS), dtype=np.int64)

    def add(self, sides: tuple[Outputs, Outputs]) -> None:
        """Count more outputs, that followed one another on each side."""
        for side, outputs in enumerate(sides):
            first, *others = (groups[side][view.code(outputs)] for view, groups in self._grouping)
            together = [(first[:-1], first[1:]), *pairwise(others)]
            for place, (one, other) in enumerate(together):
                pairs = np.bincount(one * GROUPS + other, minlength=GROUPS**2)
                self._tables[side, place] += pairs.reshape(GROUPS, GROUPS)

    def test(self) -> Dependence | None:
        """The clearest of all tables; None while too little is expected in every one."""
        found = []
        for side, tables in zip(("left", "right"), self._tables, strict=True):
            for place, table in enumerate(tables):
                if (test := stats.independence(table)) is not None:
                    name = (
                        f"coordinates {place - 1} and {place}" if place else "consecutive outputs"
                    )
                    found.append((test.pvalue, f"{name} on the {side}", test.statistic, test.dof))
        if not found:
            return None
        pvalue, pair, chi2, dof = min(found)
        return Dependence(pair, min(1.0, pvalue * len(found)), chi2, dof)


def _grouped(counts: np.ndarray) -> np.ndarray:
    """The group of each cell: in order, an equal share of the outputs in each as far as cells allow."""
    before = np.cumsum(counts) - counts / 2
    return np.minimum((before / max(counts.sum(), 1) * GROUPS).astype(np.int64), GROUPS - 1)
