"""What many draws of the same noise cost together, bracketed by a well-kept accountant."""

from __future__ import annotations

from math import ceil

import numpy as np
from dp_accounting.pld import privacy_loss_distribution

from noiseaudit.cks20 import exact
from noiseaudit.stats import Interval

SUPPORT = 40
"""Scales on either side that are accounted for; the law's mass beyond is below 10^−17."""

GRID = 1000
"""Steps per claimed epsilon of the grid to which privacy losses are rounded, up and down."""


def composed_epsilon(
    law: exact.PeriodicLaw, claimed: float, draws: int, delta: float, sensitivity: int = 1
) -> Interval:
    """Bounds of the epsilon that ``draws`` independent draws pay together at a given delta.

    Privacy losses are rounded down for the lower bound and up for the upper one; the accountant of
    the Python package dp-accounting adds them up.

    Parameters
    ----------
    law : exact.PeriodicLaw
    claimed : float
        The claimed epsilon of one draw; sets the grid.
    draws : int
        At least 1.
    delta : float
        Above 10^−15, the accountant's own resolution, and below 1.
    sensitivity : int
        Shift between neighbours, at least 1.

    Raises
    ------
    ValueError
        If draws or delta are out of range.
    """
    if draws < 1:
        raise ValueError(f"draws: {draws} found, an integer of at least 1 expected")
    if not 1e-15 < delta < 1:
        raise ValueError(f"delta: {delta} found, a probability above 1e-15 and below 1 expected")
    low, high = (
        _composed(law, claimed, draws, sensitivity, pessimistic).get_epsilon_for_delta(delta)
        for pessimistic in (False, True)
    )
    return Interval(float(low), float(high))


def _composed(
    law: exact.PeriodicLaw, claimed: float, draws: int, sensitivity: int, pessimistic: bool
) -> privacy_loss_distribution.PrivacyLossDistribution:
    reach = ceil(SUPPORT * law.cycle / law.decay) + sensitivity
    x = np.arange(-reach, reach + 1)
    one = privacy_loss_distribution.from_two_probability_mass_functions(
        dict(zip(x.tolist(), law.log_pmf(x), strict=True)),
        dict(zip(x.tolist(), law.log_pmf(x + sensitivity), strict=True)),
        pessimistic_estimate=pessimistic,
        value_discretization_interval=claimed / GRID,
        symmetric=True,  # an even law: adding the shift and taking it away cost the same
    )
    return one.self_compose(draws)
