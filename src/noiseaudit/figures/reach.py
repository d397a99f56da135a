"""How far OpenDP's fault reaches: which mechanisms, which releases, and what they pay."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from packaging.version import Version

from noiseaudit.cks20 import diagnosis
from noiseaudit.cks20.reach import EPSILON, MECHANISMS, ON_ALL_RELEASES, RHO, is_faulty
from noiseaudit.figures import style

_NO_EXCESS = 1.005
"""Multiples of the claim below it are not written."""

_MARKERS = "osD^vP*X"
"""Of the scales, the smallest first."""


@style.applied()
def reach(rows: pd.DataFrame) -> Figure:
    """Chi-squares by mechanism and by release against the claimed law, and the excess that is paid.

    Parameters
    ----------
    rows : DataFrame
        ``reach.tsv``.
    """
    figure = Figure(figsize=(11.5, 6.4))
    left, right = figure.add_gridspec(1, 2, width_ratios=[1.25, 1])
    upper, lower = right.subgridspec(2, 1, height_ratios=[1.15, 1])
    axes = [figure.add_subplot(spot) for spot in (left, upper, lower)]
    every = rows.groupby("mechanism")["release"].nunique()
    few = sorted(set.intersection(*map(set, _by_mechanism(rows, every.min()))), key=Version)
    _draw_mechanisms(axes[0], rows[rows["release"].isin(few)])
    _draw_releases(axes[1], rows[rows["mechanism"] == ON_ALL_RELEASES])
    _draw_excess(axes[2], rows)
    style.label_panels(axes)
    return figure


def _by_mechanism(rows: pd.DataFrame, fewest: int) -> list[pd.Series]:
    """The releases of each mechanism that was drawn from in the fewest."""
    groups = rows.groupby("mechanism")["release"]
    return [own for _, own in groups if own.nunique() == fewest]


def _draw_mechanisms(ax: Axes, rows: pd.DataFrame) -> None:
    names = [name for name in MECHANISMS if name in set(rows["mechanism"])]
    releases = sorted(rows["release"].unique(), key=Version)
    for row in rows.itertuples(index=False):
        place = names.index(row.mechanism) + 0.2 * (
            releases.index(row.release) - (len(releases) - 1) / 2
        )
        _draw_point(ax, row, rows, place, upright=False)
    ax.set_yticks(range(len(names)), [MECHANISMS[name].call for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xscale("log")
    ax.set_xlabel("chi-square against the claimed law, per degree of freedom")
    ax.axvline(1, color=style.CLAIMED, linestyle=style.DASHED, linewidth=0.8)
    scales = sorted(rows["scale"].unique())
    handles = [
        Line2D(
            [], [], marker=marker, linestyle="", color=style.GREY, label=f"{scale:g}", markersize=5
        )
        for marker, scale in zip(_MARKERS, scales, strict=False)
    ]
    handles += [
        Line2D([], [], marker="o", linestyle="", color=colour, label=name, markersize=5)
        for name, colour in (
            ("release with the fault", style.FAULTY),
            ("release without", style.FIXED),
        )
    ]
    handles.append(
        Line2D([], [], marker="|", linestyle="", color=style.BLACK, label="expected", markersize=9)
    )
    ax.legend(
        handles=handles,
        title="scale",
        loc="lower right",
        bbox_to_anchor=(1, 0.15),
        alignment="left",
    )
    ax.set_title(f"mechanisms of OpenDP {', '.join(releases)} (top to bottom)")


def _draw_releases(ax: Axes, rows: pd.DataFrame) -> None:
    releases = sorted(rows["release"].unique(), key=Version)
    for row in rows.itertuples(index=False):
        scales = sorted(rows["scale"].unique())
        shift = 0.14 * (scales.index(row.scale) - (len(scales) - 1) / 2)
        _draw_point(ax, row, rows, releases.index(row.release) + shift, upright=True)
    ax.set_xticks(range(len(releases)), releases, rotation=35, ha="right", rotation_mode="anchor")
    ax.set_yscale("log")
    ax.set_ylabel("chi-square per degree")
    ax.axhline(1, color=style.CLAIMED, linestyle=style.DASHED, linewidth=0.8)
    ax.set_title(f"{MECHANISMS[ON_ALL_RELEASES].call}, by release")


def _draw_point(ax: Axes, row: tuple, rows: pd.DataFrame, place: float, upright: bool) -> None:
    """A row's chi-square, and a bar at what its release's law is exactly expected to give."""
    faulty = is_faulty(row.release)
    marker = _MARKERS[sorted(rows["scale"].unique()).index(row.scale) % len(_MARKERS)]

    def draw(chi2: float, mark: str, **look: object) -> None:
        x, y = (place, chi2 / row.dof) if upright else (chi2 / row.dof, place)
        ax.plot(x, y, mark, **look)

    draw(
        row.chi2, marker, color=style.FAULTY if faulty else style.FIXED, markersize=4.5, alpha=0.85,
        markeredgecolor="white", markeredgewidth=0.4,
    )  # fmt: skip
    if faulty and row.measure:
        draw(
            row.expected_chi2, "_" if upright else "|", color=style.BLACK, markersize=7,
            markeredgewidth=0.9, zorder=1.5,
        )  # fmt: skip


def _draw_excess(ax: Axes, rows: pd.DataFrame) -> None:
    faulty = rows[rows["release"].map(is_faulty)]
    ends = {}
    for measure, colour, name in (
        (EPSILON, style.FAULTY, "integer Laplace, ε"),
        (RHO, style.ORANGE, "integer Gaussian, ρ"),
    ):
        own = faulty[(faulty["measure"] == measure)].groupby("scale")[["exact", "claimed"]].first()
        if own.empty:
            continue
        multiple = own["exact"] / own["claimed"]
        ax.plot(own.index, multiple, "o-", color=colour, markersize=4)
        for scale, value in multiple[multiple > _NO_EXCESS].items():
            ax.annotate(
                f"{value:.3g}", (scale, value), xytext=(0, 5), textcoords="offset points",
                ha="center", fontsize=7.5, color=style.BLACK,
            )  # fmt: skip
        ends[name] = (own.index[-1], multiple.iloc[-1], colour)
    for name, (scale, value, colour) in ends.items():
        ax.annotate(
            name, (scale, value), xytext=(8, -2), textcoords="offset points", color=colour,
            fontsize=8.5, va="center",
        )  # fmt: skip
    scales = sorted(faulty["scale"].unique())
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(scales))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(scales, [f"{scale:g}" for scale in scales])
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.08, y=0.18)
    ax.set_xlim(right=max(scales) * 20)
    ax.axhline(1, color=style.CLAIMED, linestyle=style.DASHED, linewidth=0.8)
    ax.annotate(
        "claimed", (max(scales) * 18, 1), xytext=(0, -3), textcoords="offset points", ha="right",
        va="top", fontsize=7.5,
    )  # fmt: skip
    ax.set_xlabel("scale")
    ax.set_ylabel("exact loss / claimed loss")
    first, last = diagnosis.FIRST_FAULTY, faulty["release"].map(Version).max()
    ax.set_title(f"what releases {first} to {last} pay")
