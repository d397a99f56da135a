"""Laws by name: what an output less its input is stated to follow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from noiseaudit.audit.outputs import Outputs, label_of, mark

LARGEST_WINDOW = 1 << 20
"""Integers that are tested one by one."""

BINS = 1024
"""Equiprobable bins, of which as many are joined as enough is expected in."""

NAMES = {
    "laplace": ("scale",),
    "gaussian": ("scale",),
    "discrete_laplace": ("scale",),
    "discrete_gaussian": ("scale",),
    "randomised_response": ("p", "answers"),
}
"""The laws of this project, and their parameters; any distribution of scipy.stats is known besides."""

_NEGLIGIBLE = 1e-18

_SMALLEST = 1e-60
"""Of a scale and of a lattice; one over it is the largest."""


class LawError(ValueError):
    """A law that is not known, or not of these parameters; the message names what was found."""


@dataclass(frozen=True)
class Cells:
    """Where outputs are counted, and what is expected there.

    Attributes
    ----------
    edges : array, shape (k − 1,)
        Cell i holds x with ``edges[i−1] < x ≤ edges[i]``; the first and the last are open.
    probabilities : array, shape (k,)
    integers : int array of shape (k − 2,), or None
        What each inner cell holds, where it holds a single integer (in units of the lattice).
    """

    edges: np.ndarray
    probabilities: np.ndarray
    integers: np.ndarray | None

    def code(self, x: np.ndarray) -> np.ndarray:
        """The cell of each number, elementwise."""
        if self.integers is None:
            return np.searchsorted(self.edges, x, side="left")
        low, high = int(self.integers[0]), int(self.integers[-1])
        return (np.clip(x, low - 1, high + 1) - (low - 1)).astype(np.int64)


@dataclass(frozen=True)
class Law(ABC):
    """A distribution, with its parameters and the lattice that outputs lie on (None: any double)."""

    name: str
    parameters: Mapping[str, Any]
    lattice: float | None

    @abstractmethod
    def cells(self) -> Cells:
        """Where to count, in units of the lattice if there is one."""

    @property
    def fields(self) -> dict[str, Any]:
        """As a card writes it."""
        return {"name": self.name, **self.parameters} | (
            {"lattice": self.lattice} if self.lattice else {}
        )

    def __str__(self) -> str:
        inside = ", ".join(f"{name} {_shown(value)}" for name, value in self.parameters.items())
        return f"{self.name}({inside})" + (
            f" on multiples of {self.lattice:g}" if self.lattice else ""
        )

    def noise(self, outputs: Outputs, value: Any) -> np.ndarray:  # noqa: ANN401 - any JSON value
        """The outputs that are ones, less their input, in units of the lattice, as one row.

        Coordinates of vectors follow one another; booleans count as 0 and 1. Where the input is no
        number, and for booleans, the law is of the output itself.

        Raises
        ------
        LawError
            If the input has another number of coordinates than the outputs.
        """
        truths = outputs.marks[np.isin(outputs.marks, [_FALSE, _TRUE])]
        x = outputs.numbers
        if is_numeric(value) and len(x):
            away = np.asarray(value)
            if away.size != 1 and away.shape != x.shape[1:]:
                raise LawError(
                    f"law: outputs of {outputs.width or 1} coordinates and an input of {away.size} "
                    "found, as many expected: a law is of an output less its input"
                )
            x = x - away
        x = np.asarray(x, dtype=x.dtype if x.dtype.kind == "i" else float).reshape(-1)
        x = x / self.lattice if self.lattice else x
        return np.concatenate([x, truths == _TRUE]) if truths.size else x

    def excluded(self, outputs: Outputs) -> int:
        """How many outputs can be none of the law's: failures, labels, and what is off the lattice."""
        strange = outputs.marked & ~np.isin(outputs.marks, [_FALSE, _TRUE])
        return int(strange.sum()) + self._off_lattice(outputs.numbers.reshape(-1))

    def _off_lattice(self, x: np.ndarray) -> int:
        if self.lattice is None:
            return 0
        x = x / self.lattice
        return int((np.abs(x - np.rint(x)) > _ROUNDING * np.maximum(np.abs(x), 1)).sum())


_ROUNDING = 1e-9
"""By which a multiple of the lattice may be off, relative to itself."""

_FALSE, _TRUE = (mark(label_of(truth), failure=False) for truth in (False, True))


def _shown(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return f"{value:g}" if _is_number(value) else str(value)


def is_numeric(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a value is a finite number, or a row of them, that can be taken from outputs."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_number, value))
    if isinstance(value, np.ndarray):
        return value.size > 0 and value.dtype.kind in "iuf" and bool(np.isfinite(value).all())
    return _is_number(value)


@dataclass(frozen=True)
class Continuous(Law):
    """A law with a density; on a coarse lattice, that of its values rounded to the nearest multiple."""

    distribution: Any

    def cells(self) -> Cells:
        if self.lattice:
            low, high = (self.distribution.ppf(p) / self.lattice for p in (_NEGLIGIBLE, 1 - 1e-16))
            reach = max(abs(low), abs(high))
            if math.isfinite(reach) and 2 * reach < _COARSE:
                return self._rounded(math.ceil(reach))
        edges = self.distribution.ppf(np.arange(1, BINS) / BINS)
        if self.lattice:
            # Bins end between two multiples, and what each then holds is known exactly.
            edges = np.unique((np.floor(edges / self.lattice) + 0.5) * self.lattice)
        else:
            edges = np.unique(edges)
        p = np.diff(np.concatenate([[0.0], self.distribution.cdf(edges), [1.0]]))
        return Cells(edges / self.lattice if self.lattice else edges, p, None)

    def _rounded(self, reach: int) -> Cells:
        integers = np.arange(-reach, reach + 1)
        edges = np.arange(-reach - 1, reach + 1) + 0.5
        p = np.diff(np.concatenate([[0.0], self.distribution.cdf(edges * self.lattice), [1.0]]))
        return Cells(edges, p, integers)


_COARSE = 4096


@dataclass(frozen=True)
class Discrete(Law):
    """A law on the integers, or on the multiples of the lattice."""

    distribution: Any

    def cells(self) -> Cells:
        low, high = self.distribution.support_of(_NEGLIGIBLE)
        if high - low + 1 > LARGEST_WINDOW:
            edges = np.unique(np.floor(self.distribution.ppf(np.arange(1, BINS) / BINS)))
            p = np.diff(np.concatenate([[0.0], self.distribution.cdf(edges), [1.0]]))
            return Cells(edges, p, None)
        integers = np.arange(low, high + 1)
        below, above = float(self.distribution.cdf(low - 1)), float(self.distribution.sf(high))
        edges = np.arange(low - 1, high + 1) + 0.5
        return Cells(
            edges, np.concatenate([[below], self.distribution.pmf(integers), [above]]), integers
        )


class _Laplace:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def cdf(self, x: np.ndarray) -> np.ndarray:
        half = 0.5 * np.exp(-np.abs(x) / self.scale)
        return np.where(np.asarray(x) < 0, half, 1 - half)

    def ppf(self, p: np.ndarray) -> np.ndarray:
        away = np.log(2 * np.minimum(p, 1 - np.asarray(p)))
        return self.scale * np.where(np.asarray(p) < 0.5, away, -away)


class _Gaussian:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return special.ndtr(np.asarray(x) / self.scale)

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return self.scale * special.ndtri(p)


class _Even:
    """A law on the integers that is the same on both sides of 0."""

    def sf(self, k: float) -> float:
        """P(X > k)."""
        return float(self.cdf(-k - 1))


class _DiscreteLaplace(_Even):
    """``P(k) = tanh(1/2s)·e^(−|k|/s)``."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def pmf(self, k: np.ndarray) -> np.ndarray:
        return np.tanh(0.5 / self.scale) * np.exp(-np.abs(k) / self.scale)

    def cdf(self, k: np.ndarray) -> np.ndarray:
        k = np.asarray(k, dtype=float)
        below = np.exp(-np.abs(np.where(k < 0, k, -k - 1)) / self.scale) / (
            1 + np.exp(-1 / self.scale)
        )
        return np.where(k < 0, below, 1 - below)

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return np.rint(_Laplace(self.scale).ppf(p))

    def support_of(self, negligible: float) -> tuple[int, int]:
        reach = math.ceil(-math.log(negligible) * self.scale) + 1
        return -reach, reach


class _DiscreteGaussian(_Even):
    """``P(k) ∝ e^(−k²/2s²)`` (Canonne, Kamath and Steinke 2020)."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        low, high = self.support_of(1e-40)
        if high - low < LARGEST_WINDOW:
            self._total = float(np.exp(-(np.arange(low, high + 1.0) ** 2) / (2 * scale**2)).sum())
        else:
            self._total = math.sqrt(2 * math.pi) * scale  # to within e^(−2π²s²), by Poisson's sum

    def pmf(self, k: np.ndarray) -> np.ndarray:
        return np.exp(-(np.asarray(k, dtype=float) ** 2) / (2 * self.scale**2)) / self._total

    def cdf(self, k: np.ndarray) -> np.ndarray:
        return special.ndtr((np.asarray(k) + 0.5) / self.scale)  # only for scales beyond the window

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return np.rint(self.scale * special.ndtri(p))

    def support_of(self, negligible: float) -> tuple[int, int]:
        reach = math.ceil(self.scale * math.sqrt(-2 * math.log(negligible))) + 1
        return -reach, reach


class _Scipy:
    """A discrete distribution of scipy.stats."""

    def __init__(self, frozen: Any) -> None:  # noqa: ANN401
        self.pmf, self.cdf, self.sf, self.ppf = frozen.pmf, frozen.cdf, frozen.sf, frozen.ppf

    def support_of(self, negligible: float) -> tuple[int, int]:
        low, high = self.ppf(negligible), self.ppf(1 - 1e-15)
        return int(low), int(high)


@dataclass(frozen=True)
class RandomisedResponse(Law):
    """The true answer with probability p, else one of the others; of the output, not of a difference.

    Parameters: ``p``, and ``answers``, how many there are or a list of them.
    """

    def cells(self) -> Cells:
        """Cell 0: another answer; 1: the true one; 2: none of the answers."""
        p = float(self.parameters["p"])
        return Cells(np.array([0.5, 1.5]), np.array([1 - p, p, 0.0]), np.array([1]))

    def noise(self, outputs: Outputs, value: Any) -> np.ndarray:  # noqa: ANN401 - any JSON value
        """1 where the answer is the true one, 0 where it is not.

        0 and 1 are the same answers as False and True, and as their texts.
        """
        numbers = outputs.numbers == value if is_numeric(value) else np.zeros(len(outputs.numbers))
        true = {label_of(value), label_of(str(value))}
        if value in (0, 1):
            true.add(label_of(bool(value)))
        labels = outputs.marks[outputs.marked & ~outputs.failed]
        known = [mark(label, failure=False) for label in sorted(true)]
        return np.concatenate([numbers, np.isin(labels, known)]).astype(np.int64)

    def excluded(self, outputs: Outputs) -> int:
        """Only what is no answer at all."""
        return int(outputs.failed.sum())


def named(name: str, parameters: Mapping[str, Any], lattice: float | None = None) -> Law:
    """A law by its name.

    Raises
    ------
    LawError
        If there is none of this name, or with these parameters.
    """
    if lattice is not None and not (_is_number(lattice) and _SMALLEST <= lattice <= 1 / _SMALLEST):
        raise LawError(f"law.lattice: {lattice!r} found, a number above 0, at most 1e60, expected")
    if name not in NAMES:
        return _of_scipy(name, parameters, lattice)
    _require_parameters(name, parameters, NAMES[name])
    if name == "randomised_response":
        return _randomised_response(parameters)
    scale = parameters["scale"]
    if not (_is_number(scale) and _SMALLEST <= scale <= 1 / _SMALLEST):
        raise LawError(f"law.scale: {scale!r} found, a number above 0, at most 1e60, expected")
    units = float(Fraction(scale) / Fraction(lattice)) if lattice else float(scale)
    if name == "discrete_laplace":
        return Discrete(name, dict(parameters), lattice, _DiscreteLaplace(units))
    if name == "discrete_gaussian":
        return Discrete(name, dict(parameters), lattice, _DiscreteGaussian(units))
    distribution = _Laplace(float(scale)) if name == "laplace" else _Gaussian(float(scale))
    return Continuous(name, dict(parameters), lattice, distribution)


def _randomised_response(parameters: Mapping[str, Any]) -> Law:
    p, answers = parameters["p"], parameters["answers"]
    if not (_is_number(p) and 0 < p < 1):
        raise LawError(f"law.p: {p!r} found, a probability between 0 and 1 expected")
    count = len(answers) if isinstance(answers, list) else answers
    if not (isinstance(count, int) and not isinstance(count, bool) and count >= 2):
        raise LawError(f"law.answers: {answers!r} found, two or more expected")
    return RandomisedResponse("randomised_response", {"p": p, "answers": count}, None)


def _of_scipy(name: str, parameters: Mapping[str, Any], lattice: float | None) -> Law:
    import scipy.stats  # noqa: PLC0415 - takes a second, and few laws need it

    distribution = getattr(scipy.stats, name, None)
    discrete = isinstance(distribution, scipy.stats.rv_discrete)
    if not discrete and not isinstance(distribution, scipy.stats.rv_continuous):
        known = ", ".join(NAMES)
        raise LawError(
            f"law.name: {name!r} found, one of {known} or a name of scipy.stats expected"
        )
    shapes = distribution.shapes.replace(" ", "").split(",") if distribution.shapes else []
    optional = ["loc"] if discrete else ["loc", "scale"]
    _require_parameters(name, parameters, shapes, optional)
    for parameter, value in parameters.items():
        if not _is_number(value):
            raise LawError(f"law.{parameter}: {value!r} found, a number expected")
    frozen = distribution(**parameters)
    if not np.isfinite(frozen.cdf(frozen.ppf(0.5))):
        raise LawError(
            f"law: {name} with {dict(parameters)} found, parameters in their range expected"
        )
    if discrete:
        if lattice:
            raise LawError(f"law.lattice: {lattice!r} found with {name}, which is of integers")
        return Discrete(name, dict(parameters), None, _Scipy(frozen))
    return Continuous(name, dict(parameters), lattice, frozen)


def _require_parameters(
    name: str,
    found: Mapping[str, Any],
    needed: tuple[str, ...] | list[str],
    optional: list[str] | None = None,
) -> None:
    allowed = [*needed, *(optional or [])]
    for parameter in found:
        if parameter not in allowed:
            raise LawError(
                f"law.{parameter}: not a parameter of {name}, one of {', '.join(allowed)} expected"
            )
    for parameter in needed:
        if parameter not in found:
            raise LawError(f"law.{parameter}: missing; {name} takes {', '.join(allowed)}")


def _is_number(value: object) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def signature(name: str) -> str:
    """A law's name and parameters, for people."""
    return f"{name}({', '.join(NAMES[name])})"
