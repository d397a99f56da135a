"""How far OpenDP's fault reaches: which mechanisms, which releases, and what they pay."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from packaging.version import Version

from noiseaudit.cks20.reach import EPSILON, MECHANISMS, ON_ALL_RELEASES, RHO
from noiseaudit.figures import style
from noiseaudit.verdicts import NOTHING

_MARKERS = "osD^vP*X"
"""Of the scales, the smallest first."""

_LINEAR = 4.0
"""Standard deviations up to which the axes are linear; beyond they are logarithmic."""

_TICKS = (-3, 0, 3, 10, 30, 100, 300)

_NO_EXCESS = 1.005
"""Multiples of the claim below it are not written."""


@style.applied()
def reach(rows: pd.DataFrame) -> Figure:
    """Chi-squares by mechanism and by release against the claimed law, and the excess that is paid.

    Parameters
    ----------
    rows : DataFrame
        ``reach.tsv``.
    """
    figure = Figure(figsize=(12, 6.6))
    left, right = figure.add_gridspec(1, 2, width_ratios=[1.25, 1])
    upper, lower = right.subgridspec(2, 1, height_ratios=[1.15, 1])
    axes = [figure.add_subplot(spot) for spot in (left, upper, lower)]
    others = rows[rows["mechanism"] != ON_ALL_RELEASES]
    close = others if len(others) else rows
    releases = sorted(close["release"].unique(), key=Version)
    _draw_mechanisms(axes[0], rows[rows["release"].isin(releases)], releases)
    _draw_releases(axes[1], rows[rows["mechanism"] == ON_ALL_RELEASES])
    _draw_excess(axes[2], rows)
    _explain(figure, sorted(rows["scale"].unique()))
    style.label_panels(axes)
    return figure


def _draw_mechanisms(ax: Axes, rows: pd.DataFrame, releases: list[str]) -> None:
    names = [name for name in MECHANISMS if name in set(rows["mechanism"])]
    for row in rows.itertuples(index=False):
        offset = 0.22 * (releases.index(row.release) - (len(releases) - 1) / 2)
        _draw_point(ax, row, rows, names.index(row.mechanism) + offset, upright=False)
    ax.set_yticks(range(len(names)), [MECHANISMS[name].call for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvspan(-3, 3, color=style.PALE, alpha=0.5, linewidth=0)
    ax.set_xscale("symlog", linthresh=_LINEAR)
    ax.set_xticks(_TICKS, map(str, _TICKS))
    ax.set_xlabel(
        "chi-square against the claimed law, in σ from its degrees of freedom (±3σ shaded)"
    )
    ax.set_title(f"OpenDP {', '.join(releases)}: from top to bottom in each row")


def _draw_releases(ax: Axes, rows: pd.DataFrame) -> None:
    releases = sorted(rows["release"].unique(), key=Version)
    scales = sorted(rows["scale"].unique())
    for row in rows.itertuples(index=False):
        shift = 0.16 * (scales.index(row.scale) - (len(scales) - 1) / 2)
        _draw_point(ax, row, rows, releases.index(row.release) + shift, upright=True)
    ax.set_xticks(range(len(releases)), releases, rotation=35, ha="right", rotation_mode="anchor")
    ax.axhspan(-3, 3, color=style.PALE, alpha=0.5, linewidth=0)
    ax.set_yscale("symlog", linthresh=_LINEAR)
    ax.set_yticks(_TICKS, map(str, _TICKS))
    ax.set_ylabel("chi-square, in σ")
    ax.set_title(f"{MECHANISMS[ON_ALL_RELEASES].call}, by release")


def _draw_point(ax: Axes, row: tuple, rows: pd.DataFrame, place: float, upright: bool) -> None:
    """A row's chi-square, filled where it is flagged, and what its release's law is expected to give."""
    marker = _MARKERS[sorted(rows["scale"].unique()).index(row.scale) % len(_MARKERS)]
    colour = _colour_of(row)

    def draw(chi2: float, mark: str, **look: object) -> None:
        sigmas = (chi2 - row.dof) / np.sqrt(2 * row.dof)
        ax.plot(*((place, sigmas) if upright else (sigmas, place)), mark, **look)

    draw(
        row.chi2, marker, markersize=4.5, markeredgecolor=colour, markeredgewidth=0.9,
        markerfacecolor="white" if row.verdict == NOTHING else colour,
    )  # fmt: skip
    if colour == style.FAULTY:
        draw(
            row.expected_chi2, "_" if upright else "|", color=style.BLACK, markersize=7,
            markeredgewidth=0.9, zorder=1.5,
        )  # fmt: skip


def _is_faulty(row: tuple) -> bool:
    return MECHANISMS[row.mechanism].variant(row.release, row.scale) == "faulty"


def _colour_of(row: tuple) -> str:
    if MECHANISMS[row.mechanism].measure is None:
        return style.GREY
    return style.FAULTY if _is_faulty(row) else style.FIXED


def _explain(figure: Figure, scales: list[float]) -> None:
    """One legend for panels a and b."""
    shapes = [
        (marker, style.GREY, "white", f"scale {scale:g}")
        for marker, scale in zip(_MARKERS, scales, strict=False)
    ]
    colours = [
        ("o", style.FAULTY, style.FAULTY, "faulty coin, flagged"),
        ("o", style.FAULTY, "white", "not flagged"),
        ("o", style.FIXED, "white", "corrected coin"),
        ("o", style.GREY, "white", "does not use the coin"),
        ("|", style.BLACK, style.BLACK, "exactly expected of the faulty coin"),
    ]
    handles = [
        Line2D([], [], linestyle="", marker=marker, markeredgecolor=edge, markerfacecolor=face,
               markersize=8 if marker == "|" else 5, label=label)
        for marker, edge, face, label in (*shapes, *colours)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7.5,
                  handletextpad=0.2, columnspacing=1.2)  # fmt: skip


def _draw_excess(ax: Axes, rows: pd.DataFrame) -> None:
    faulty = rows[[_is_faulty(row) for row in rows.itertuples(index=False)]]
    for measure, colour, name, above in (
        (EPSILON, style.FAULTY, "Laplace noise: ε", True),
        (RHO, style.ORANGE, "Gaussian noise: ρ", False),
    ):
        own = (
            faulty[faulty["measure"] == measure.name].groupby("scale")[["exact", "claimed"]].first()
        )
        if own.empty:
            continue
        multiple = own["exact"] / own["claimed"]
        ax.plot(own.index, multiple, "o-", color=colour, markersize=4)
        for scale, value in multiple[multiple > _NO_EXCESS].items():
            ax.annotate(
                f"{value:.3g}", (scale, value), xytext=(-4, 5) if above else (2, 5),
                textcoords="offset points", ha="right" if above else "left", fontsize=7.5,
            )  # fmt: skip
        ax.annotate(
            name, (own.index[-1], multiple.iloc[-1]), xytext=(8, 0), textcoords="offset points",
            color=colour, fontsize=8.5, va="center",
        )  # fmt: skip
    scales = sorted(rows["scale"].unique())
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(scales))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(scales, [f"{scale:g}" for scale in scales])
    ax.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(min(scales) / 1.4, max(scales) * 12)
    ax.set_ylim(0.7, 25)
    ax.axhline(1, color=style.CLAIMED, linestyle=style.DASHED, linewidth=0.8)
    ax.annotate("claimed", (max(scales) * 11, 1), xytext=(0, -3), textcoords="offset points",
                ha="right", va="top", fontsize=7.5)  # fmt: skip
    ax.set_xlabel("scale")
    ax.set_ylabel("exact loss / claimed loss")
    ax.set_title("what the faulty coin costs")
