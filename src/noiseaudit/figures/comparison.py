"""How far every printed number, and ours beside it, lies from what is exactly expected."""

from __future__ import annotations

import re
from math import isfinite
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from noiseaudit.figures import style
from noiseaudit.published.numbers import (
    CONSISTENT,
    DIFFERS,
    LARGEST_DEVIATION,
    REPRODUCED,
    kind_of,
)

_STUDIES = {
    "dptext": "Habernal (2022)",
    "opendp": "Gerolimetto Fabrello et al. (2026)",
    "dpecdf": "synthpriv's DPEcdf",
}

_WIDEST = 4.6
"""Where the axis of deviations ends."""

_GAP = 0.55
"""Rows left free above each study, for its name."""


_LETTERS = 50
"""In a line beside the axes."""


@style.applied()
def comparison(rows: pd.DataFrame) -> Figure:
    """Deviations of all numbers, a row a place of print, with their verdicts counted beside it.

    Parameters
    ----------
    rows : DataFrame
        ``comparison.tsv``.
    """
    places = list(rows.groupby(["source", "location"], sort=False))
    figure = Figure(figsize=(10.5, 1.6 + 0.36 * len(places)))
    figure.get_layout_engine().set(rect=(0, 0, 0.9, 1))  # what is told beside the axes needs room
    ax = figure.subplots()
    heights, previous = [], None
    for (source, _), found in places:
        y = heights[-1] + 1 if heights else 0
        if source != previous:
            y += _GAP
            ax.axhline(y - 0.5 - _GAP, color=style.PALE, linewidth=0.8)
            ax.annotate(
                _STUDIES[source], (-_WIDEST, y - 0.5 - _GAP), xytext=(3, -2), va="top",
                fontsize=8, textcoords="offset points", fontweight="bold",
            )  # fmt: skip
        _draw_deviations(ax, y, found)
        _tell_verdicts(ax, y, found)
        heights.append(y)
        previous = source
    names = [f"{location} ({len(found)})" for (_, location), found in places]
    ax.set_yticks(heights, names)
    ax.set_ylim(heights[-1] + 0.6, -0.5)
    for bound in (-LARGEST_DEVIATION, LARGEST_DEVIATION):
        ax.axvline(bound, color=style.CLAIMED, linewidth=0.8, linestyle=style.DASHED)
    ax.axvline(0, color=style.PALE, linewidth=0.8, zorder=0)
    ax.set_xlim(-_WIDEST, _WIDEST)
    ax.set_xlabel("standard deviations from what is exactly expected (4 are allowed)")
    counts = rows["verdict"].map(kind_of).value_counts()
    ax.set_title(
        f"{len(rows)} printed numbers and promises: {counts.get(REPRODUCED, 0)} {REPRODUCED},"
        f" {counts.get(CONSISTENT, 0)} {CONSISTENT}, {counts.get(DIFFERS, 0)} differ"
    )
    ax.plot([], [], "o", markerfacecolor="none", color=style.GREY, markersize=5, label="printed")
    ax.plot([], [], "o", color=style.BLUE, markersize=3, label="ours")
    ax.legend(loc="lower left", bbox_to_anchor=(1.0, -0.1), ncols=2)
    return figure


def _draw_deviations(ax: Axes, y: float, rows: pd.DataFrame) -> None:
    """Printed above the row's line, ours below; spread a little, since many lie on one spot."""
    spread = 0.1 * np.cos(np.pi * np.arange(len(rows)))
    printed = rows["deviation_sigma"].to_numpy(dtype=float)
    ours = rows["our_deviation_sigma"].to_numpy(dtype=float)
    for beyond, marker in ((printed > _WIDEST, ">"), (printed < -_WIDEST, "<")):
        ends = np.full(int(beyond.sum()), np.copysign(0.98 * _WIDEST, 1 if marker == ">" else -1))
        ax.plot(ends, y - 0.14 + spread[beyond], marker, color=style.VERMILION, markersize=5)
    ax.plot(printed, y - 0.14 + spread, "o", markerfacecolor="none", color=style.GREY,
            markersize=4.5, markeredgewidth=0.8)  # fmt: skip
    ax.plot(ours, y + 0.2 + spread, "o", color=style.BLUE, markersize=2.6)
    if not np.isfinite(printed).any():
        ax.annotate(_why_none(rows), (0, y), ha="center", va="center", fontsize=7.5,
                    color=style.GREY)  # fmt: skip


def _why_none(rows: pd.DataFrame) -> str:
    if rows["published"].map(np.isinf).all():
        return "infinite in print, and exactly"
    return "promises" if rows["expected"].map(isfinite).any() else "times: no exact value"


def _tell_verdicts(ax: Axes, y: float, rows: pd.DataFrame) -> None:
    kinds = rows["verdict"].map(kind_of)
    shares = [
        f"{np.sum(kinds == kind)} {kind.partition(' with ')[0]}"
        for kind in (REPRODUCED, CONSISTENT)
        if kind in set(kinds)
    ]
    outliers = rows[kinds == DIFFERS]
    beside = {"xycoords": ("axes fraction", "data"), "fontsize": 7.5}
    both = bool(shares) and len(outliers) > 0
    ax.annotate(", ".join(shares), (1.012, y), va="bottom" if both else "center", **beside)
    if len(outliers):
        ax.annotate(
            _names(outliers), (1.012, y + 0.05 * both), va="top" if both else "center",
            color=style.VERMILION, **beside,
        )  # fmt: skip


def _names(outliers: pd.DataFrame) -> str:
    """Which numbers differ, and why."""
    too_large = outliers["published"].map(np.isinf) & outliers["expected"].map(isfinite)
    if too_large.all():
        return f"{len(outliers)} differ: printed as infinite, exactly finite"
    why = [verdict.removeprefix(f"{DIFFERS}: ") for verdict in outliers["verdict"]]
    reasons = dict.fromkeys(re.split("[:,]", reason)[0] for reason in why)
    return fill(f"{len(outliers)} differ: {'; '.join(reasons)}", _LETTERS)
