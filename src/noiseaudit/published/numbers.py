"""A printed number beside ours.

A printed number keeps the form in which it was printed: ``2.1e3`` was rounded to hundreds, and is
judged as such. A p-value printed as 0 beside others of three decimals stands as ``0.000``, and what is
only said to be about 1 as ``≈1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isinf, nan, sqrt
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import scipy

from noiseaudit import stats, tables

COLUMNS = [
    "source",
    "location",
    "quantity",
    "published",
    "ours",
    "ours_low",
    "ours_high",
    "expected",
    "expected_sd",
    "deviation_sigma",
    "verdict",
    "our_deviation_sigma",
    "printed",
]
"""Columns of ``results/comparison.tsv``."""

REPRODUCED = "reproduced"
"""Ours equals the printed number to its last printed digit."""

CONSISTENT = "consistent with the exact model"
"""Both are draws of one exact distribution, and neither lies far out in it."""

DIFFERS = "differs"
"""How every other verdict begins; why follows after a colon."""

LARGEST_DEVIATION = 4.0
"""Standard errors beyond which a number counts as different: one false alarm in 16 000 numbers."""


def read(path: Path) -> pd.DataFrame:
    """Printed numbers of one source; ``published`` holds them as text, as printed."""
    return tables.read_table(path, text=["published"])


_ABOUT = "≈"


def value(printed: str) -> float:
    """A printed number as a number."""
    return float(printed.removeprefix(_ABOUT))


def resolution(printed: str) -> float:
    """Half a unit in the last printed digit: 0.005 for ``0.58``, 50 for ``2.1e3``."""
    return 0.5 * 10.0 ** Decimal(printed.removeprefix(_ABOUT)).as_tuple().exponent


def same_digits(published: float, ours: float, resolution: float) -> bool:
    """Whether ours rounds to the printed number, which is known to within ``± resolution``."""
    return abs(published - ours) <= resolution * (1 + 1e-9)


class Model(Protocol):
    """The exact distribution of a statistic: what it is expected to be, and how far out a value is."""

    mean: float
    sd: float

    def score(self, value: float, resolution: float = 0.0) -> float:
        """Standard errors from the expectation, for a value known to within ``± resolution``."""


@dataclass(frozen=True)
class Normal:
    """A statistic that is normal, or nearly so; with ``sd`` 0 it is a constant of the theory."""

    mean: float
    sd: float

    def score(self, value: float, resolution: float = 0.0) -> float:
        """See `Model`. Rounding is uniform: its variance is a third of the resolution's square."""
        sd, off = sqrt(self.sd**2 + resolution**2 / 3), value - self.mean
        return off / sd if off else 0.0


@dataclass(frozen=True)
class TailProbability:
    """The p-value of a test.

    Attributes
    ----------
    test : frozen scipy distribution
        Of the statistic under the law tested against: large values are rejected.
    statistic : stats.Moments, optional
        What the statistic is expected to be instead; without it the law holds and p is uniform.
    """

    test: Any
    statistic: stats.Moments | None = None

    @property
    def mean(self) -> float:
        """1/2 where the law holds; elsewhere the p-value of the expected statistic."""
        return float(self.test.sf(self.statistic.mean)) if self.statistic else 0.5

    @property
    def sd(self) -> float:
        """Of a uniform; any other p-value has no useful one."""
        return nan if self.statistic else sqrt(1 / 12)

    def score(self, value: float, resolution: float = 0.0) -> float:
        """See `Model`. What is printed as 0 may be anything up to its resolution."""
        if self.statistic and value <= resolution:
            return max(self.score_of(self.test.isf(resolution)), 0.0)
        return self.score_of(self.test.isf(value))

    def score_of(self, statistic: float) -> float:
        """The same by the statistic itself, which keeps its digits where its p-value has none left.

        Where the law holds it is the normal score of p, down to that of p = 0.999: a mean may hit its
        theory exactly.
        """
        if self.statistic is None:
            return max(float(scipy.stats.norm.isf(self.test.sf(statistic))), _LOWEST_SCORE)
        return float(statistic - self.statistic.mean) / self.statistic.sd


_LOWEST_SCORE = float(scipy.special.ndtri(1e-3))


def compare(
    printed: str,
    ours: stats.Estimate,
    expected: Model,
    own: Model | None = None,
    our_deviation: float | None = None,
) -> dict[str, float | str]:
    """A printed statistic and ours, each beside its exact distribution.

    Parameters
    ----------
    printed : str
        The number as printed.
    ours : stats.Estimate
    expected : Model
        The distribution of the statistic at the paper's settings.
    own : Model, optional
        The same at ours, where these are others.
    our_deviation : float, optional
        Ours, in standard errors; from its value by default.

    Returns
    -------
    dict
        `COLUMNS` from ``published`` on: the deviation is the printed number's from the expected one,
        in standard deviations that allow for its rounding, then ours.
    """
    published, digit = value(printed), resolution(printed)
    deviation = expected.score(published, digit)
    if our_deviation is None:
        our_deviation = (own or expected).score(ours.value, digit if expected.sd == 0 else 0.0)
    exactly = own is None and not printed.startswith(_ABOUT)
    same = exactly and same_digits(published, ours.value, digit)
    return {
        "published": published,
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        "expected": expected.mean,
        "expected_sd": expected.sd,
        "deviation_sigma": deviation,
        "verdict": verdict_on(deviation, our_deviation, same),
        "our_deviation_sigma": our_deviation,
        "printed": printed,
    }


def stated(
    printed: str, ours: stats.Estimate, verdict: str, expected: float = nan
) -> dict[str, float | str]:
    """`COLUMNS` from ``published`` on, of what has no exact distribution to be judged by."""
    return {
        "published": value(printed),
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        "expected": expected,
        "expected_sd": nan,
        "deviation_sigma": nan,
        "verdict": verdict,
        "our_deviation_sigma": nan,
        "printed": printed,
    }


def verdict_on(deviation: float, our_deviation: float, same: bool) -> str:
    """`REPRODUCED` or `CONSISTENT`, or who lies how far from the exact model."""
    if not abs(our_deviation) <= LARGEST_DEVIATION:
        return f"{DIFFERS}: ours is {_sigmas(our_deviation)} from the exact model"
    if not abs(deviation) <= LARGEST_DEVIATION:
        return f"{DIFFERS}: the printed number is {_sigmas(deviation)} from the exact model"
    return REPRODUCED if same else CONSISTENT


def kind_of(verdict: str) -> str:
    """`REPRODUCED`, `CONSISTENT` or `DIFFERS`."""
    return DIFFERS if verdict.startswith(DIFFERS) else verdict


def _sigmas(deviation: float) -> str:
    return "far" if isinf(deviation) else f"{deviation:+.1f} sigma"
