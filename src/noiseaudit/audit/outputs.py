"""Outputs of a mechanism, as the audit sees them: numbers, labels or vectors, and failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LARGEST_EXACT = 2.0**53
"""Up to here a double holds every integer."""


_FAILURES = ["", "None", "NaN", "inf", "-inf"]
"""Names of failures by their number, as they were met; 0 stands for an output."""

NONE = 1
"""The number of what is no failure, and no number either: None among numbers."""


def failure_number(name: str) -> int:
    """The number of a kind of failure."""
    if name not in _FAILURES:
        _FAILURES.append(name)
    return _FAILURES.index(name)


def failure_name(number: int) -> str:
    """The name of a kind of failure: ``NaN``, ``inf``, ``-inf`` or that of an exception."""
    return _FAILURES[number]


@dataclass(frozen=True)
class Outputs:
    """Some outputs in the order in which they were made.

    Attributes
    ----------
    values : array
        int64 or float64 of shape ``(n,)`` or, for vectors, ``(n, width)``; or text of shape ``(n,)``.
    failures : int16 array, shape (n,)
        0 where there is an output; else the number of the failure that stands in its place (see
        `failure_name`). The value beside it means nothing.
    """

    values: np.ndarray
    failures: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, raised: Sequence[tuple[int, str]] = ()) -> Outputs:
        """Outputs with the exceptions raised at some places; NaN and infinities become failures."""
        failures = np.zeros(len(values), dtype=np.int16)
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            for name, is_so in (("NaN", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf)):
                failures[is_so(values).reshape(len(values), -1).any(axis=1)] = failure_number(name)
            values = np.where(finite, values, 0.0)
        for place, name in raised:
            failures[place] = failure_number(name)
        return cls(values, failures)

    @classmethod
    def joined(cls, parts: Sequence[Outputs]) -> Outputs:
        """One after the other. Integers become doubles where some are.

        What failed altogether has no type of its own, and takes that of the others.
        """
        useful = [part for part in parts if not part.failed.all()] or list(parts)
        shape = useful[0].values.shape[1:]
        kind = np.result_type(*(part.values.dtype for part in useful))
        values = [
            np.zeros((len(part), *shape), dtype=kind) if part.failed.all() else part.values
            for part in parts
        ]
        return cls(np.concatenate(values), np.concatenate([part.failures for part in parts]))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice) -> Outputs:
        return Outputs(self.values[rows], self.failures[rows])

    @property
    def failed(self) -> np.ndarray:
        """Where there is no output, shape ``(n,)``."""
        return self.failures != 0

    @property
    def is_text(self) -> bool:
        return self.values.dtype.kind == "U"

    @property
    def width(self) -> int:
        """Coordinates of a vector; 0 of a scalar."""
        return self.values.shape[1] if self.values.ndim == 2 else 0

    def column(self, values: np.ndarray) -> Outputs:
        """Other values of shape ``(n,)``, computed from these, with the same failures."""
        return Outputs(values, self.failures)

    def as_integers(self) -> Outputs:
        """The same as int64 where all are integers that it holds exactly; else unchanged."""
        x = self.values
        if x.dtype.kind != "f" or not (np.abs(x) <= LARGEST_EXACT).all() or (x != np.rint(x)).any():
            return self
        return Outputs(x.astype(np.int64), self.failures)
