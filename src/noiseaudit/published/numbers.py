"""A printed number beside ours.

A printed number keeps the form in which it was printed: ``2.1e3`` was rounded to hundreds, and is
judged as such.
"""

from __future__ import annotations

from decimal import Decimal
from math import nan, sqrt
from pathlib import Path

import pandas as pd

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
]
"""Columns of ``results/comparison.tsv``."""

LARGEST_DEVIATION = 4.0
"""Standard errors beyond which a number counts as different: one false alarm in 16 000 numbers."""


def read(path: Path) -> pd.DataFrame:
    """Printed numbers of one source; ``published`` holds them as text, as printed."""
    return tables.read_table(path, text=["location", "published"])


def resolution(printed: str) -> float:
    """Half a unit in the last printed digit: 0.005 for ``0.58``, 50 for ``2.1e3``."""
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def compare(
    printed: str, ours: stats.Estimate, expected: stats.Moments, unlike: str | None = None
) -> dict[str, float | str]:
    """A printed statistic and ours beside its exact expectation at the paper's settings.

    Parameters
    ----------
    printed : str
        The number as printed.
    ours : stats.Estimate
    expected : stats.Moments
        Exact mean and standard deviation of the statistic at the paper's settings.
    unlike : str, optional
        Our settings, where they are not the paper's: then the verdict says so and judges nothing.

    Returns
    -------
    dict
        `COLUMNS` from ``published`` on: the deviation is the printed number's from the expected one,
        in standard deviations that allow for its rounding, then ours.
    """
    published = float(printed)
    sd = sqrt(expected.sd**2 + resolution(printed) ** 2 / 3)
    deviation = (published - expected.mean) / sd
    off = ours.value - expected.mean
    our_deviation = off / expected.sd if off else 0.0
    return {
        "published": published,
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        "expected": expected.mean,
        "expected_sd": expected.sd,
        "deviation_sigma": deviation,
        "verdict": f"not comparable: {unlike}" if unlike else verdict_on(deviation, our_deviation),
        "our_deviation_sigma": nan if unlike else our_deviation,
    }


def stated(
    published: float, ours: stats.Estimate, verdict: str, expected: float = nan
) -> dict[str, float | str]:
    """`COLUMNS` from ``published`` on, of what has no exact distribution to be judged by."""
    return {
        "published": published,
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        "expected": expected,
        "expected_sd": nan,
        "deviation_sigma": nan,
        "verdict": verdict,
        "our_deviation_sigma": nan,
    }


def verdict_on(deviation: float, our_deviation: float) -> str:
    """``reproduced``, or who lies how far from the exact model."""
    if not abs(our_deviation) <= LARGEST_DEVIATION:
        return f"differs: ours is {our_deviation:+.1f} sigma from the exact model"
    if not abs(deviation) <= LARGEST_DEVIATION:
        return f"differs: the printed number is {deviation:+.1f} sigma from the exact model"
    return "reproduced"
