"""Events that tell the faulty sampler's privacy loss best, chosen from its exact law.

They are fixed before any draw is seen, so what a sample certifies at one of them needs no share of its
error for having been searched for.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import scipy

from noiseaudit.cks20 import exact

_NO_EXCESS = 1e-9
"""A loss that exceeds the claim by less is rounding: scales 1 and 2 have no fault."""


def telling_event(scale: Fraction, cutoff: int, draws: int, alpha: float) -> np.ndarray:
    """The outputs S at which the faulty sampler's loss ``ln P(S)/P(S+1)`` is best certified.

    The spikes of all periods together are drawn often enough where each alone is not. S and S + 1
    are disjoint, so that one exact binomial interval holds (`stats.neighbour_loss`).

    Parameters
    ----------
    scale : Fraction
        Enumerable (see `exact.is_enumerable`).
    cutoff : int
        S and S + 1 lie in ``−cutoff … cutoff``.
    draws : int
        For how many draws.
    alpha : float
        Error probability of the two-sided interval that will be put on the loss.

    Returns
    -------
    int array
        Empty where the faulty law pays no more than is claimed.
    """
    law = exact.discrete_laplace(scale, "faulty")
    x = np.arange(-cutoff, cutoff)
    losses = law.losses(x)
    falling = np.argsort(-losses, kind="stable")
    beyond = falling[losses[falling] > 1 / float(scale) + _NO_EXCESS]
    candidates = x[_without_neighbours(beyond)]
    if candidates.size == 0:
        return candidates
    p, p_next = (np.cumsum(law.pmf(candidates + shift)) for shift in (0, 1))
    error = np.sqrt((1 / p + 1 / p_next) / draws)
    bound = np.log(p / p_next) - float(scipy.stats.norm.isf(alpha / 2)) * error
    return candidates[: int(np.argmax(bound)) + 1]


def _without_neighbours(places: np.ndarray) -> np.ndarray:
    """In the order given, those that are next to none taken before."""
    taken: set[int] = set()
    for place in places.tolist():
        if place - 1 not in taken and place + 1 not in taken:
            taken.add(place)
    return np.array([place for place in places.tolist() if place in taken], dtype=np.int64)


def spike(scale: Fraction, cutoff: int) -> int:
    """The magnitude whose excess under the faulty law is largest in standard errors.

    8 at scale 10, 800 at scale 1000; 0 where there is no fault.
    """
    magnitudes = np.arange(cutoff + 1)
    claimed = exact.DiscreteLaplace(scale).pmf(magnitudes)
    excess = exact.discrete_laplace(scale, "faulty").pmf(magnitudes) - claimed
    excess[0] /= sqrt(2)  # one sign only
    if np.max(excess / claimed) < _NO_EXCESS:
        return 0
    return int(np.argmax(excess / np.sqrt(claimed)))
