"""Ways to look at outputs: each sorts them into numbered cells, whose unions are the events.

Views are fitted to draws that were made before those that they judge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from noiseaudit.audit.outputs import Outputs, mark_name

LARGEST_WINDOW = 1 << 17
"""Integers that get a cell each; wider ranges are binned."""

LARGEST_PERIOD = 1024
"""Of the residues that are scanned."""

MOST_ATOMS, MOST_LABELS = 256, 4096
"""Single values, and texts, that get a cell of their own."""

MOST_COORDINATES = 64
"""Of a vector that are looked at one by one; all of them go into its sum and its score."""

_BINS = 256

VALUES, FAILURES, LOWEST_BITS = "values", "failures", "lowest bits"
"""What a view looks at: the questions that the events of one belong to."""


@dataclass(frozen=True)
class View(ABC):
    """Cells 0 (no number: a label or a failure) to ``cells − 1``.

    Attributes
    ----------
    cells : int
    ordered : bool
        Whether the cells from 1 on grow with the output, so that half-lines are events.
    question : str
        `VALUES`, `FAILURES` or `LOWEST_BITS`.
    """

    cells: int = field(init=False)
    ordered = False
    question = VALUES
    caution = 2.0
    """Standard errors that an event of it must exceed, to be bet on; more where it was searched for."""

    @abstractmethod
    def code(self, outputs: Outputs) -> np.ndarray:
        """The cell of each output, shape ``(n,)``."""

    @abstractmethod
    def cell_name(self, cell: int) -> str:
        """What a cell above 0 holds."""

    def describe(self, members: np.ndarray) -> str:
        """An event in words, from the cells that it holds (boolean, shape ``(cells,)``)."""
        inside = np.flatnonzero(members[1:]) + 1
        runs = np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1) if inside.size else []
        if self.ordered:
            parts = [
                self.cell_name(run[0])
                if len(run) == 1
                else f"{self.cell_name(run[0])} to {self.cell_name(run[-1])}"
                for run in runs
            ]
        else:
            parts = [self.cell_name(cell) for cell in inside]
        if members[0]:
            parts.append("no value")
        shown = ", ".join(parts[:_SHOWN]) + (
            f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
        )
        return f"{self.about} in {{{shown}}}"

    about = "output"


_SHOWN = 5


@dataclass(frozen=True)
class Integers(View):
    """A cell for each integer of a window, and one for what lies below and above."""

    low: int
    high: int
    ordered = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.high - self.low + 4)

    def code(self, outputs: Outputs) -> np.ndarray:
        x = outputs.values
        cell = (np.clip(x, self.low - 1, self.high + 1) - (self.low - 2)).astype(np.int64)
        cell[outputs.marked] = 0
        return cell

    def cell_name(self, cell: int) -> str:
        if cell == 1:
            return f"below {self.low}"
        return f"above {self.high}" if cell == self.cells - 1 else str(cell + self.low - 2)


@dataclass(frozen=True)
class Bins(View):
    """A cell for each edge, and one for what lies between two; so atoms get a cell, as edges."""

    edges: np.ndarray
    ordered = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.edges.size * 2 + 2)

    @classmethod
    def fitted(cls, x: np.ndarray) -> Bins:
        """Edges at quantiles, ever finer towards both ends, and at values that were drawn often."""
        ordered = np.sort(x)
        n = ordered.size
        ranks = np.linspace(0, n - 1, min(_BINS, max(8, int(np.sqrt(n)))) + 1)
        tails = 2 ** np.arange(int(np.log2(max(n // 16, 1))) + 1) - 1
        ranks = np.unique(np.concatenate([ranks, tails, n - 1 - tails]).astype(int))
        values, counts = np.unique(x, return_counts=True)
        often = counts >= _OFTEN
        atoms = values[often][np.argsort(-counts[often], kind="stable")][:MOST_ATOMS]
        return cls(np.union1d(ordered[ranks], atoms))

    def code(self, outputs: Outputs) -> np.ndarray:
        x = outputs.values
        place = np.searchsorted(self.edges, x, side="left")
        exact = self.edges[np.minimum(place, self.edges.size - 1)] == x
        cell = 1 + 2 * place + exact  # odd: between edges; even: on one
        cell[outputs.marked] = 0
        return cell

    def cell_name(self, cell: int) -> str:
        place, exact = divmod(cell - 1, 2)
        if exact:
            return f"{self.edges[place]:.6g}"
        if place == 0:
            return f"below {self.edges[0]:.6g}"
        if place == self.edges.size:
            return f"above {self.edges[-1]:.6g}"
        return f"({self.edges[place - 1]:.6g}, {self.edges[place]:.6g})"


_OFTEN = 3


@dataclass(frozen=True)
class Marks(View):
    """A cell for every number, and one for each of some marks.

    Attributes
    ----------
    marks : tuple of int
        Labels, or kinds of failure (see `outputs.mark`).
    """

    marks: tuple[int, ...]
    unmarked, other = "a number", "another label"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", len(self.marks) + 3)

    def is_of_interest(self, outputs: Outputs) -> np.ndarray:
        """Which marks are told apart."""
        return outputs.marked & ~outputs.failed

    def code(self, outputs: Outputs) -> np.ndarray:
        cell = np.ones(len(outputs), dtype=np.int64)
        if (kept := self.is_of_interest(outputs)).any():
            place = np.zeros(max(outputs.marks.max(), *self.marks, 0) + 1, dtype=np.int64)
            place[list(self.marks)] = np.arange(len(self.marks)) + 2
            found = place[outputs.marks[kept]]
            cell[kept] = np.where(found == 0, self.cells - 1, found)
        return cell

    def cell_name(self, cell: int) -> str:
        if cell == 1:
            return self.unmarked
        return mark_name(self.marks[cell - 2]) if cell < self.cells - 1 else self.other


@dataclass(frozen=True)
class Failures(Marks):
    """A cell for every output that is one, and one for each kind of failure."""

    question = FAILURES
    about, unmarked, other = "the call's end", "an output", "another failure"

    def is_of_interest(self, outputs: Outputs) -> np.ndarray:
        return outputs.failed


@dataclass(frozen=True)
class Residues(View):
    """Integers by ``|x − centre| mod period`` and by the side of the centre on which they lie."""

    period: int
    centre: int
    caution = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", 2 * self.period + 1)

    @property
    def about(self) -> str:
        return f"(sign of x − {self.centre}, |x − {self.centre}| mod {self.period})"

    def cell(self, x: np.ndarray) -> np.ndarray:
        """The cell of each integer, elementwise."""
        away = x - self.centre
        return 1 + np.where(away < 0, self.period, 0) + np.abs(away) % self.period

    def code(self, outputs: Outputs) -> np.ndarray:
        cell = self.cell(np.clip(outputs.values, -_FARTHEST, _FARTHEST).astype(np.int64))
        cell[outputs.marked] = 0
        return cell

    def cell_name(self, cell: int) -> str:
        below, residue = divmod(cell - 1, self.period)
        return f"{'−' if below else '+'}{residue}"


_FARTHEST = 2**61
"""Integers beyond share a residue: so far out nothing overflows, and nothing is drawn twice."""

_LOWEST, _HIGHEST = -90, 40
"""Exponents of the lowest set bit that are told apart."""

EXPONENTS = np.arange(_LOWEST, _HIGHEST + 1)


@dataclass(frozen=True)
class LowestBit(View):
    """Doubles by the exponent of their lowest set bit, and by the place where they lie.

    A sum of noise and input is rounded to a precision that depends on both, so the bits that are left
    tell of the input (Mironov 2012).
    """

    edges: np.ndarray
    question = LOWEST_BITS
    about = "(exponent of the lowest set bit, place)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", (self.edges.size + 1) * (_HIGHEST - _LOWEST + 1) + 1)

    def code(self, outputs: Outputs) -> np.ndarray:
        exponent = np.clip(lowest_bit(outputs.values), _LOWEST, _HIGHEST) - _LOWEST
        place = np.searchsorted(self.edges, outputs.values)
        cell = 1 + place * (_HIGHEST - _LOWEST + 1) + exponent
        cell[outputs.marked] = 0
        return cell

    def cell_name(self, cell: int) -> str:
        place, exponent = divmod(cell - 1, _HIGHEST - _LOWEST + 1)
        return f"2^{exponent + _LOWEST} {_interval(self.edges, place)}"


@dataclass(frozen=True)
class LowByte(View):
    """Doubles by the last eight bits of their mantissa; integers as the doubles that they are."""

    question = LOWEST_BITS
    about = "last byte"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", 257)

    def code(self, outputs: Outputs) -> np.ndarray:
        cell = 1 + (outputs.values.astype(np.float64).view(np.int64) & 255)
        cell[outputs.marked] = 0
        return cell

    def cell_name(self, cell: int) -> str:
        return f"0x{cell - 1:02x}"


def lowest_bit(x: np.ndarray) -> np.ndarray:
    """The exponent of the lowest set bit of doubles, elementwise; `_HIGHEST` of 0."""
    mantissa, exponent = np.frexp(x)
    bits = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = bits & -bits
    trailing = np.frexp(lowest.astype(float))[1] - 1
    return np.where(bits == 0, _HIGHEST, exponent - 53 + trailing)


def _interval(edges: np.ndarray, place: int) -> str:
    if place == 0:
        return f"below {edges[0]:.4g}"
    if place == edges.size:
        return f"above {edges[-1]:.4g}"
    return f"in ({edges[place - 1]:.4g}, {edges[place]:.4g}]"


@dataclass(frozen=True)
class Feature(View):
    """A view of a number that is computed from each vector."""

    name: str
    compute: Callable[[np.ndarray], np.ndarray]
    view: View

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.view.cells)

    @property
    def ordered(self) -> bool:
        return self.view.ordered

    @property
    def question(self) -> str:
        return self.view.question

    @property
    def about(self) -> str:
        return f"{self.name}: {self.view.about}"

    def code(self, outputs: Outputs) -> np.ndarray:
        return self.view.code(outputs.column(self.compute(outputs.values)))

    def cell_name(self, cell: int) -> str:
        return self.view.cell_name(cell)


class Score(Feature):
    """A view of what a classifier makes of each vector."""


def fitted(left: Outputs, right: Outputs) -> list[View]:
    """Views for outputs like these, without the residues and the scores of a classifier."""
    both = Outputs.joined([left, right])
    views: list[View] = [Failures(_most_seen(both.marks[both.failed]))]
    if (labelled := both.marked & ~both.failed).any():
        views.append(Marks(_most_seen(both.marks[labelled])))
    good = both.numbers
    if len(good) == 0:
        return views
    if not both.width:
        return [*views, *_scalar_views(good)]
    features = [
        (f"coordinate {j}", _coordinate(j)) for j in range(min(both.width, MOST_COORDINATES))
    ]
    for name, compute in [*features, ("sum", _sum)]:
        views += [Feature(name, compute, view) for view in _scalar_views(compute(good))]
    return views


def _most_seen(marks: np.ndarray) -> tuple[int, ...]:
    numbers, counts = np.unique(marks, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    return tuple(np.sort(numbers[kept]).tolist())


def _coordinate(j: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda vectors: vectors[:, j]


def _sum(vectors: np.ndarray) -> np.ndarray:
    return vectors.sum(axis=1)


def _scalar_views(x: np.ndarray) -> Iterator[View]:
    if x.dtype.kind == "i":
        low, high = int(x.min()), int(x.max())
        margin = (high - low) // 4 + 4
        if high - low + 2 * margin <= LARGEST_WINDOW and max(-low, high) < _FARTHEST:
            yield Integers(low - margin, high + margin)
            return
        yield Bins.fitted(x.astype(float))
        yield Feature("last byte of the integer", np.abs, Residues(256, 0))
        return
    yield Bins.fitted(x)
    yield LowestBit(np.unique(np.quantile(x, np.arange(1, 16) / 16)))
    yield LowByte()
