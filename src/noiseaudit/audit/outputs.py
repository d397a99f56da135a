"""Outputs of a mechanism, as the audit sees them: numbers, labels, vectors, and failures.

How an output is represented depends on it alone, never on those beside it: a representation that varied
from call to call would itself tell the sides apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LARGEST_EXACT = 2.0**53
"""Up to here a double holds every integer."""

_NUMBERS: dict[tuple[str, bool], int] = {("", False): 0}
"""Marks as they were met, by their name and whether they are failures; 0 stands for a number."""

_AMONG_COORDINATES = {"NaN": -(2.0**70), "inf": 2.0**71, "-inf": -(2.0**71)}
"""What stands for these among the coordinates of a vector, of which the others are looked at."""


def mark(name: str, failure: bool) -> int:
    """The number of a label, or of a kind of failure."""
    return _NUMBERS.setdefault((name, failure), len(_NUMBERS))


def mark_name(number: int) -> str:
    """The label, or the kind of failure: ``NaN``, ``inf``, ``-inf`` or the name of an exception."""
    return list(_NUMBERS)[number][0]


def label_of(value: str | bool | None) -> str:
    """A label in words: a text in quotes, True, False or None."""
    return repr(value)


@dataclass(frozen=True)
class Outputs:
    """Some outputs in the order in which they were made.

    Attributes
    ----------
    values : array
        int64 or float64 of shape ``(n,)`` or, for vectors, ``(n, width)``.
    marks : int32 array, shape (n,)
        0 where the value is the output; else the number of the label, or of the failure, that stands in
        its place (see `mark`).
    """

    values: np.ndarray
    marks: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, raised: Sequence[tuple[int, str]] = ()) -> Outputs:
        """Numbers, with the exceptions raised at some places; NaN and infinities are failures too."""
        marks = np.zeros(len(values), dtype=np.int32)
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            for name, is_so in (("NaN", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf)):
                if values.ndim == 2:
                    values = np.where(is_so(values), _AMONG_COORDINATES[name], values)
                else:
                    marks[is_so(values)] = mark(name, failure=True)
            if values.ndim == 1:
                values = np.where(finite, values, 0.0)
        for place, name in raised:
            marks[place] = mark(name, failure=True)
        return cls(values, marks)

    @classmethod
    def of_scalars(cls, scalars: Sequence[float | str | bool | None]) -> Outputs:
        """Numbers and labels in any order."""
        is_number = [isinstance(one, int | float) and not isinstance(one, bool) for one in scalars]
        numbers = np.array(
            [float(one) if number else 0.0 for one, number in zip(scalars, is_number, strict=True)]
        )
        made = cls.of(numbers)
        for place in np.flatnonzero(~np.array(is_number, dtype=bool)).tolist():
            made.marks[place] = mark(label_of(scalars[place]), failure=False)
        return made

    @classmethod
    def of_booleans(cls, truths: np.ndarray) -> Outputs:
        """Labels True and False."""
        numbers = np.array([mark(label_of(truth), failure=False) for truth in (False, True)])
        return cls(np.zeros(len(truths)), numbers[truths.astype(np.int64)].astype(np.int32))

    @classmethod
    def joined(cls, parts: Sequence[Outputs]) -> Outputs:
        """One after the other. Integers become doubles where some are.

        What holds no number at all has no shape of its own, and takes that of the others.
        """
        useful = [part for part in parts if not part.marked.all()] or list(parts)
        shape = useful[0].values.shape[1:]
        kind = np.result_type(*(part.values.dtype for part in useful))
        values = [
            np.zeros((len(part), *shape), dtype=kind) if part.marked.all() else part.values
            for part in parts
        ]
        return cls(np.concatenate(values), np.concatenate([part.marks for part in parts]))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | np.ndarray) -> Outputs:
        return Outputs(self.values[rows], self.marks[rows])

    @property
    def marked(self) -> np.ndarray:
        """Where a label or a failure stands in place of a number, shape ``(n,)``."""
        return self.marks != 0

    @property
    def failed(self) -> np.ndarray:
        """Where there is no output, shape ``(n,)``."""
        if not self.marks.any():
            return np.zeros(len(self), dtype=bool)
        return np.array([failure for _, failure in _NUMBERS])[self.marks]

    @property
    def numbers(self) -> np.ndarray:
        """The values that are outputs."""
        return self.values[~self.marked]

    @property
    def width(self) -> int:
        """Coordinates of a vector; 0 of a scalar."""
        return self.values.shape[1] if self.values.ndim == 2 else 0

    def column(self, values: np.ndarray) -> Outputs:
        """Other values of shape ``(n,)``, computed from these, with the same marks."""
        return Outputs(values, self.marks)

    def as_integers(self) -> Outputs:
        """The same as int64 where all are integers that it holds exactly; else unchanged."""
        x = self.values
        if x.dtype.kind != "f" or not (np.abs(x) <= LARGEST_EXACT).all() or (x != np.rint(x)).any():
            return self
        return Outputs(x.astype(np.int64), self.marks)
