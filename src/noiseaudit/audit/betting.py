"""Testing by betting: what pairs of outputs say against a claim, at any time they are looked at.

Before a block of pairs (one output of either neighbour), an event S, a side and a pair (ε, δ) of the
claim are chosen from what came before. On each pair wealth is multiplied by
``1 + λ·(1[a ∈ S] − e^ε·1[b ∈ S] − δ)``, ``0 ≤ λ ≤ 1/(e^ε + δ)``. If the claim holds, the factor's
expectation is at most 1 whatever was chosen, so wealth is a supermartingale and passes ``1/alpha`` with
probability at most alpha, however often one looks (Ville). Averages over bets are such wealth again
(Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from noiseaudit.audit.claims import Approximate, Claim

SHARES = 1.6 ** -np.arange(17.0)
"""The grid of λ, in units of the largest that is allowed; wealth is the average over it."""

BETS = 2
"""Aims of a question, each with half of its wealth: to break the claim, and to bound the loss."""


@dataclass(frozen=True)
class Event:
    """A set of outputs, with its past rates on the side that it is likelier on and on the other.

    The rates choose the pair (ε, δ) of a claim that is a curve.
    """

    text: str
    rate: float
    other_rate: float


@dataclass(frozen=True)
class Bet:
    """What is bet on one block: an event that is likelier on the left, one on the right, or both."""

    left: Event | None
    right: Event | None


@dataclass(frozen=True)
class Block:
    """A bet, and its outcome.

    ``counts``, of shape ``(2, 2, 2, 2)``, says in how many pairs the left output was in the left event,
    and in the right event, and the right output in the left event, and in the right event (0: no,
    1: yes).
    """

    bet: Bet
    counts: np.ndarray

    @property
    def pairs(self) -> int:
        return int(self.counts.sum())


def count_pairs(members: Sequence[np.ndarray]) -> np.ndarray:
    """The counts of a `Block` from its four boolean arrays, in that order."""
    outcome = sum(
        member.astype(np.int64) << place
        for member, place in zip(members, (3, 2, 1, 0), strict=True)
    )
    return np.bincount(outcome, minlength=16).reshape(2, 2, 2, 2)


_LEFT_IN_LEFT, _LEFT_IN_RIGHT, _RIGHT_IN_LEFT, _RIGHT_IN_RIGHT = np.indices((2, 2, 2, 2)).reshape(
    4, 16
)


def log_wealth(blocks: Sequence[Block], claim: Claim, parameter: float) -> np.ndarray:
    """Logarithm of the wealth after each block, for the claim at a value of its parameter.

    Parameters
    ----------
    blocks : sequence of Block
        The record of one aim.

    Returns
    -------
    array, shape (len(blocks),)
    """
    if not blocks:
        return np.zeros(0)
    lines = claim.lines(parameter)
    payoff, worst = np.zeros((len(blocks), 16)), np.zeros(len(blocks))
    for side, inside, outside in (
        ("left", _LEFT_IN_LEFT, _RIGHT_IN_LEFT),
        ("right", _RIGHT_IN_RIGHT, _LEFT_IN_RIGHT),
    ):
        factor, delta = _pairs_of_claim([getattr(block.bet, side) for block in blocks], lines)
        bet_on = np.isfinite(factor)
        factor, delta = np.where(bet_on, factor, 0.0), np.where(bet_on, delta, 0.0)
        payoff += bet_on[:, None] * inside - factor[:, None] * outside - delta[:, None]
        worst += factor + delta
    share = SHARES / np.maximum(worst, 1e-300)[:, None]
    counts = np.array([block.counts.reshape(16) for block in blocks], dtype=float)
    gains = special.xlog1py(counts[:, None, :], share[:, :, None] * payoff[:, None, :]).sum(axis=2)
    return np.logaddexp.reduce(np.cumsum(gains, axis=0), axis=1) - math.log(SHARES.size)


def _pairs_of_claim(
    events: Sequence[Event | None], lines: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """``e^ε`` and ``δ`` of the pair that each event breaks fastest; infinite without an event."""
    rate = np.array([event.rate if event else np.nan for event in events])
    other = np.array([event.other_rate if event else np.nan for event in events])
    chosen = np.argmax(speed(rate[:, None], other[:, None], *lines), axis=1)
    factors, deltas = np.exp(lines[0]), lines[1]
    return np.where(np.isnan(rate), np.inf, factors[chosen]), deltas[chosen]


def speed(p: np.ndarray, q: np.ndarray, epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """About how fast wealth grows by an event of these probabilities; negative where it shrinks.

    With the excess ``d = p − e^ε·q − δ`` the best λ gives ``d²/2V``, as long as it is allowed, and never
    more than ``d/(e^ε + δ)``.
    """
    factor = np.exp(epsilon)
    excess = p - factor * q - delta
    variance = p * (1 - p) + factor**2 * q * np.maximum(1 - q, 0) + 1e-12
    return np.minimum(np.sign(excess) * excess**2 / (2 * variance), excess / (factor + delta))


def joint_log_wealth(
    records: Sequence[Sequence[Block]], claim: Claim, parameter: float
) -> np.ndarray:
    """The wealth of several aims that share it equally, after each block."""
    logs = np.array([log_wealth(blocks, claim, parameter) for blocks in records])
    return np.logaddexp.reduce(logs, axis=0) - math.log(len(records))


_GRID, _PASSES = 50, 3
"""Values of the parameter that are tried, evenly from 0 to what the counts allow at most; then again, as
many between the last refuted and the next."""


def certified(records: Sequence[Sequence[Block]], claim: Claim, alpha: float) -> float:
    """The largest value of the claim's parameter below which every one tried is refuted at ``alpha``.

    If the claim held with a parameter θ, it would with the next one tried above θ; that is refuted with
    probability alpha at most, and the one returned is below it. Pure epsilons: wealth falls as epsilon
    grows, so that only one such value counts, however finely the last interval is divided. Otherwise
    each pass has one, and a share of alpha.

    Returns
    -------
    float
        0 where nothing is refuted.
    """
    if not records or not records[0]:
        return 0.0
    pure = isinstance(claim, Approximate) and claim.delta == 0
    needed = -math.log(alpha if pure else alpha / _PASSES)
    draws = sum(block.pairs for block in records[0])
    highest = _highest(claim, math.log(draws))
    low = 0.0
    for _ in range(_PASSES):
        step = (highest - low) / _GRID
        tried = low + step * np.arange(1, _GRID + 1)
        for value in tried:
            if np.max(joint_log_wealth(records, claim, float(value))) < needed:
                break
            low = float(value)
        else:
            return low
        highest = low + step
    return low


def _highest(claim: Claim, loss: float) -> float:
    """A parameter that no loss seen in so many draws can refute."""
    if isinstance(claim, Approximate):
        return loss
    return max(2 * claim.parameter, 4 * loss)


def threshold(alpha: float) -> float:
    """The log-wealth that one aim's best λ must reach alone for the question's to pass ``1/alpha``."""
    return -math.log(alpha) + math.log(BETS * SHARES.size)


def growth(p: np.ndarray, q: np.ndarray, epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Expected growth of log-wealth a pair at the best λ, for independent outputs; 0 if there is none.

    Parameters
    ----------
    p, q : array or float
        Probabilities of the event on the bounded side and on the other.
    epsilon, delta : array or float
        The pair that is tested. All are broadcast.
    """
    p, q, epsilon, delta = np.broadcast_arrays(p, q, epsilon, delta)
    factor = np.exp(epsilon)
    share = SHARES.reshape(-1, *[1] * p.ndim) / (factor + delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = (
            special.xlog1py(p * q, share * (1 - factor - delta))
            + special.xlog1py(p * (1 - q), share * (1 - delta))
            + special.xlog1py((1 - p) * q, -share * (factor + delta))
            + special.xlog1py((1 - p) * (1 - q), -share * delta)
        )
    return np.maximum(np.nan_to_num(gains, nan=-np.inf, neginf=-np.inf).max(axis=0), 0.0)


def pairs_needed(claim: Claim, p: float, q: float, alpha: float) -> float:
    """About how many pairs refute the claim by an event of these probabilities; infinite if none do."""
    fastest = float(np.max(growth(p, q, *claim.lines(claim.parameter))))
    return threshold(alpha) / fastest if fastest > 0 else math.inf


def detectable(claim: Claim, p: float, draws: int, alpha: float) -> float:
    """The smallest loss ``ln((p − δ)/q)`` by which an event of probability p refutes the claim.

    Returns
    -------
    float
        Infinite where not even an event that never comes on the other side would.
    """
    delta = claim.delta if isinstance(claim, Approximate) else 0.0
    if p <= delta or pairs_needed(claim, p, 0.0, alpha) > draws:
        return math.inf
    low, high = 0.0, p
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if pairs_needed(claim, p, middle, alpha) <= draws else (low, middle)
        )
    return math.log((p - delta) / low) if low > 0 else math.inf
