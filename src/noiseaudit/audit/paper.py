"""The claim, on paper: does the stated law keep it at these neighbours? Before anything is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from noiseaudit.audit.claims import Approximate, Claim, Concentrated, Gaussian, gaussian_delta
from noiseaudit.audit.laws import Continuous, Discrete, Law, is_numeric

_ROUNDING = 1e-9
"""By which what is paid may exceed the claim, relative to it, and still be called kept."""


def paid(
    law: Law,
    claim: Claim,
    left: Any,  # noqa: ANN401 - JSON values
    right: Any,  # noqa: ANN401
    width: int = 0,
) -> float | None:
    """The smallest parameter with which the claim holds, if noise follows the law; None if not known.

    For ``epsilon`` with a delta: the smallest epsilon at that delta. Closed forms for the named laws; for
    other laws of integers, the losses of two shifted mass functions by dp-accounting.

    Parameters
    ----------
    law : Law
    claim : Claim
    left, right : JSON values
        Numbers, or vectors of numbers, to which independent noise of the law is added.
    width : int
        Coordinates of an output; 0 of a single number. A vector as input with a number as output is a
        data set, of which nothing follows.
    """
    if law.name == "randomised_response" and left != right:
        return _responses(law, claim)
    if not (is_numeric(left) and is_numeric(right)):
        return None
    one, other = np.atleast_1d(np.asarray(left, float)), np.atleast_1d(np.asarray(right, float))
    if one.shape != other.shape or one.size != max(width, 1):
        return None
    away = np.abs(one - other)
    away = away[away > 0]
    if away.size == 0:
        return 0.0
    if law.name in ("laplace", "discrete_laplace"):
        return _laplace(law, claim, away)
    if law.name in ("gaussian", "discrete_gaussian"):
        return _gaussian(law, claim, float(np.sqrt((away**2).sum())))
    if isinstance(law, Discrete) and away.size == 1 and isinstance(claim, Approximate):
        return _integers(law, claim, away[0])
    return None


def _laplace(law: Law, claim: Claim, away: np.ndarray) -> float | None:
    """Pure: the L1 distance over the scale. With a delta, of one coordinate: ``1 − e^((ε−Δ/b)/2)``."""
    loss = float(away.sum()) / law.parameters["scale"]
    if not isinstance(claim, Approximate):
        return None
    if claim.delta == 0:
        return loss
    if away.size > 1 or isinstance(law, Discrete):
        return (
            _integers(law, claim, away[0]) if isinstance(law, Discrete) and away.size == 1 else None
        )
    return max(0.0, loss + 2 * math.log1p(-claim.delta))


def _gaussian(law: Law, claim: Claim, distance: float) -> float | None:
    """``μ = Δ/σ``; ``ρ = Δ²/2σ²``, of the discrete law too (CKS 2020, Thm. 14); δ(ε) by bisection."""
    mu = distance / law.parameters["scale"]
    if isinstance(claim, Concentrated):
        return mu**2 / 2
    if isinstance(claim, Gaussian):
        return mu if isinstance(law, Continuous) else None
    if claim.delta == 0:
        return math.inf
    if isinstance(law, Discrete):
        return _integers(law, claim, distance)
    low, high = 0.0, mu**2 / 2 + 40 * mu
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > claim.delta else (low, middle)
    return high


def _integers(law: Discrete, claim: Approximate, away: float) -> float | None:
    shift = away / (law.lattice or 1.0)
    cells = law.cells()
    if shift != round(shift) or cells.integers is None or shift > cells.integers.size:
        return None
    from dp_accounting.pld import privacy_loss_distribution  # noqa: PLC0415 - few laws need it

    shift = round(shift)
    with np.errstate(divide="ignore"):
        logs = np.log(cells.probabilities[1:-1])
    kept = np.isfinite(logs)
    k, logs = cells.integers[kept], logs[kept]
    one = dict(zip(k.tolist(), logs.tolist(), strict=True))
    other = dict(zip((k + shift).tolist(), logs.tolist(), strict=True))
    losses = [
        privacy_loss_distribution.from_two_probability_mass_functions(
            *pair, pessimistic_estimate=False, value_discretization_interval=1e-5, symmetric=True
        ).get_epsilon_for_delta(max(claim.delta, 1e-14))
        for pair in ((one, other), (other, one))
    ]
    return float(max(losses))


def _responses(law: Law, claim: Claim) -> float | None:
    """``ln(p·(k − 1)/(1 − p))`` with k answers, in either direction."""
    if not isinstance(claim, Approximate) or claim.delta:
        return None
    p, answers = law.parameters["p"], law.parameters["answers"]
    return abs(float(special.logit(p)) + math.log(answers - 1))


def keeps(paid_parameter: float, claim: Claim) -> bool:
    """Whether what is paid is within what is claimed, but for rounding."""
    return paid_parameter <= claim.parameter * (1 + _ROUNDING) + 1e-12
