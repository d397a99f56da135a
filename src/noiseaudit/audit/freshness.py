"""Fresh noise: does a second run repeat the first?

Runs are compared place by place. By chance, two outputs agree as often as those within a run do; so the
atoms of a law raise no alarm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from noiseaudit import stats
from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.processes import Unjudgeable
from noiseaudit.audit.subjects import Subject

RUN = 512
"""Outputs of each run."""

CONDITIONS = ("copied", "forked", "seeded")
"""Under which noise may repeat itself without harm to who does none of them."""

_TESTS = 2 + 3 * len(CONDITIONS)
"""Comparisons at most."""


@dataclass(frozen=True)
class Freshness:
    """What repeated itself.

    Attributes
    ----------
    repeats : str
        ``a second call`` or ``a second process``, where that repeats the first; else empty.
    unsafe : tuple of str
        The conditions under which noise repeats.
    tried : tuple of str
        All that was tried.
    """

    repeats: str
    unsafe: tuple[str, ...]
    tried: tuple[str, ...]


def examine(
    subject: Subject, first: Outputs, seeds: Iterator[int], alpha: float
) -> Freshness | None:
    """Compare runs of the left neighbour.

    None where the subject cannot be run again, or its outputs hardly vary: then no two runs could differ
    enough for it to be seen whether noise is fresh.

    Parameters
    ----------
    subject : Subject
    first : Outputs
        Of the subject's first call.
    seeds : iterator of int
        For generators; no two alike.
    alpha : float
        Error of all comparisons together.
    """
    first = first[:RUN]
    if len(first) < RUN or not subject.repeatable:
        return None
    chance = _coincidence(first, alpha / 2)
    if chance**RUN > alpha / 2 / _TESTS:
        return None
    tried, repeats, unsafe = [], "", []

    def is_repeated(one: Outputs, other: Outputs) -> bool:
        came = int(np.count_nonzero(_equal(one, other)))
        return float(special.bdtrc(came - 1, RUN, chance)) <= alpha / 2 / _TESTS if came else False

    try:
        elsewhere = subject.other_process(RUN, next(seeds))
        subject.ask(0, RUN, next(seeds))
        second = subject.answer(0)
    except Unjudgeable:
        return None
    for name, run in (("a second call", second), ("a second process", elsewhere)):
        if run is None:
            continue
        tried.append(name)
        if not repeats and is_repeated(first, run):
            repeats = name
    for condition in CONDITIONS if not repeats else ():
        try:
            twins = subject.twins(condition, RUN, next(seeds))
        except Unjudgeable:
            twins = None
        if twins is None:
            continue
        tried.append(condition)
        if any(is_repeated(twins[0], twin) for twin in twins[1:]):
            unsafe.append(condition)
    return Freshness(repeats, tuple(unsafe), tuple(tried))


def _equal(one: Outputs, other: Outputs) -> np.ndarray:
    same = one.values == other.values
    same = same.reshape(len(one), -1).all(axis=1)
    return same & (one.marks == other.marks) & ~one.failed


def _coincidence(run: Outputs, alpha: float) -> float:
    """An upper bound of the chance that two outputs agree, from one half of a run and the other."""
    half = len(run) // 2
    if not half:
        return 1.0
    equal = sum(
        int(np.count_nonzero(_equal(run[:half], _rolled(run[half : 2 * half], shift))))
        for shift in range(half)
    )
    # Pairs share outputs; as many as one half is independent.
    return float(stats.clopper_pearson(round(equal / half), half, alpha).high)


def _rolled(run: Outputs, shift: int) -> Outputs:
    return Outputs(np.roll(run.values, shift, axis=0), np.roll(run.marks, shift))
