"""The numbers that the sources print, and how ours stand beside them.

A printed number keeps the form in which it was printed: ``2.1e3`` was rounded to hundreds, and is
judged as such.
"""

from __future__ import annotations

from decimal import Decimal
from math import sqrt
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
]
"""Columns of ``results/comparison.tsv``."""

LARGEST_DEVIATION = 3.0
"""Standard errors beyond which a number counts as different (false-alarm rate 0.27 % each)."""

_NORMAL_95 = 1.959963984540054


def read(path: Path) -> pd.DataFrame:
    """Printed numbers of one source; ``published`` holds them as text, as printed."""
    return tables.read_table(path, text=["location", "layer", "variant", "quantity", "published"])


def resolution(printed: str) -> float:
    """Half a unit in the last printed digit: 0.005 for ``0.58``, 50 for ``2.1e3``."""
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def compare(
    printed: str, ours: float, expected: stats.Moments, unlike: str | None = None
) -> dict[str, float | str]:
    """A printed statistic and ours beside its exact expectation at the paper's settings.

    Parameters
    ----------
    printed : str
        The number as printed.
    ours : float
    expected : stats.Moments
        Exact mean and standard deviation of the statistic at the paper's settings.
    unlike : str, optional
        Our settings, where they are not the paper's: then the verdict says so and judges nothing.

    Returns
    -------
    dict
        ``published ours ours_low ours_high expected expected_sd deviation_sigma verdict``: the
        interval is ours ± 1.96 standard deviations of the statistic; the deviation is the printed
        number's from the expected one, in standard deviations that allow for its rounding.
    """
    published = float(printed)
    sd = sqrt(expected.sd**2 + resolution(printed) ** 2 / 3)
    deviation = (published - expected.mean) / sd
    our_deviation = (ours - expected.mean) / expected.sd
    return {
        "published": published,
        "ours": ours,
        "ours_low": ours - _NORMAL_95 * expected.sd,
        "ours_high": ours + _NORMAL_95 * expected.sd,
        "expected": expected.mean,
        "expected_sd": expected.sd,
        "deviation_sigma": deviation,
        "verdict": f"not comparable: {unlike}" if unlike else _verdict(deviation, our_deviation),
    }


def _verdict(deviation: float, our_deviation: float) -> str:
    if abs(our_deviation) > LARGEST_DEVIATION:
        return f"differs: ours is {our_deviation:+.1f} sigma from the exact model"
    if abs(deviation) > LARGEST_DEVIATION:
        return f"differs: the printed number is {deviation:+.1f} sigma from the exact model"
    return "reproduced"
