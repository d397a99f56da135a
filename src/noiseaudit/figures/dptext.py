"""Figures of the sanity check of Habernal (2022)."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter

from noiseaudit.figures import style

PANELS = {
    "copy": "copy: no privacy",
    "random": "random: no information",
    "laplace": "Laplace",
    "adept": "ADePT: wrong sensitivity",
    "dptext": "DPText: wrong sampling",
    "half_laplace": "½·Laplace: a control",
}
"""Titles of the paper's mechanisms, in the order of the panels; others follow under their names."""

_DODGE = 0.16
"""Decades over which the infinite cells of one epsilon are spread sideways, to keep them apart."""

_LOWEST = 1e-5
"""Where the axis begins; smaller losses are drawn on it."""

_BAND_DECADES = 1.5
"""Height of the band for infinite losses, above the largest finite one."""


@style.applied()
def privacy_loss(losses: pd.DataFrame) -> Figure:
    """Privacy loss against epsilon, a panel per mechanism, a line per dimension (the paper's Fig. 1).

    Dots are estimates with certified intervals, lines exact losses, circles the published points. At
    the top, a band for infinite estimates: filled where the exact loss is infinite, hollow where
    one side of the table stayed empty although it is finite.

    Parameters
    ----------
    losses : DataFrame
        ``results/dptext/losses.tsv``.
    """
    titles = _titles(losses)
    rows = -(-len(titles) // _COLUMNS)
    figure = Figure(figsize=(11.5, 0.6 + 3.5 * rows))
    axes = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(titles) :]:
        ax.set_visible(False)
    band = _band_above(losses)
    dimensions = sorted(losses["dimension"].unique())
    colours = dict(zip(dimensions, _shades(len(dimensions)), strict=True))
    for ax, (mechanism, title) in zip(axes.flat, titles.items(), strict=False):
        ax.set_title(title)
        _draw_frame(ax, losses["epsilon"], band)
        for lane, (dimension, colour) in enumerate(colours.items()):
            chosen = (losses["mechanism"] == mechanism) & (losses["dimension"] == dimension)
            lane_height = band[0] * (band[1] / band[0]) ** ((lane + 0.5) / len(colours))
            shift = 10 ** (_DODGE * ((lane + 0.5) / len(colours) - 0.5))
            _draw_cells(ax, losses[chosen], colour, lane_height, shift)
    for ax in axes[-1]:
        ax.set_xlabel("claimed ε")
    for ax in axes[:, 0]:
        ax.set_ylabel("privacy loss")
    figure.legend(handles=_key(colours), loc="outside right center", fontsize=8.5)
    style.label_panels(list(axes.flat[: len(titles)]))
    return figure


_COLUMNS = 3


def _titles(losses: pd.DataFrame) -> dict[str, str]:
    """A title for each mechanism that was run."""
    run = losses["mechanism"].unique()
    known = [name for name in PANELS if name in run]
    return {name: PANELS.get(name, name) for name in dict.fromkeys([*known, *run])}


def _shades(count: int) -> list[tuple[float, float, float, float]]:
    """Ordered colours, dark to light, for ordered dimensions."""
    return list(mpl.colormaps["viridis"](np.linspace(0.0, 0.88, count)))


def _band_above(losses: pd.DataFrame) -> tuple[float, float]:
    finite = losses[["loss", "exact_loss"]].replace(np.inf, np.nan).max().max()
    lower = 2.0 * max(100.0, 0.0 if np.isnan(finite) else finite)
    return lower, lower * 10**_BAND_DECADES


def _draw_frame(ax: Axes, epsilons: pd.Series, band: tuple[float, float]) -> None:
    low, high = epsilons.min() / 1.4, epsilons.max() * 1.4
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, high)
    ax.set_ylim(_LOWEST, band[1])
    ax.axhspan(*band, color=style.PALE, alpha=0.5, linewidth=0)
    ax.plot([low, high], [low, high], **_CLAIM)
    decades = [10.0**power for power in range(-5, 9) if 10.0**power < band[0]]
    endless = float(np.sqrt(band[0] * band[1]))
    names = {1.0: "1", 10.0: "10", 0.1: "0.1", endless: "∞"}
    powers = {decade: f"$10^{{{round(np.log10(decade))}}}$" for decade in decades}
    ax.set_yticks([*decades, endless], [(powers | names)[tick] for tick in [*decades, endless]])
    ax.yaxis.set_minor_locator(FixedLocator([]))
    ax.set_xticks(ticks := sorted(epsilons.unique()), [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(FixedLocator([]))


_CLAIM = {"color": style.CLAIMED, "linewidth": 1.1, "linestyle": style.DASHED}


def _draw_cells(
    ax: Axes, cells: pd.DataFrame, colour: object, lane_height: float, shift: float
) -> None:
    """One dimension: infinite cells in a lane of their own, and sideways where no bound is near."""
    exact = cells[np.isfinite(cells["exact_loss"]) & (cells["exact_loss"] > 0)]
    ax.plot(exact["epsilon"], exact["exact_loss"], color=colour, linewidth=1.0)
    aside = cells["epsilon"] * np.where(cells["exact_loss"] == 0, shift, 1.0)
    finite = np.isfinite(cells["loss"])
    shown = np.maximum(cells["loss"], 1.1 * _LOWEST)
    ax.errorbar(
        aside[finite],
        shown[finite],
        [
            np.maximum(shown - cells["loss_low"], 0)[finite],
            np.maximum(cells["loss_high"] - shown, 0)[finite],
        ],
        fmt="o",
        markersize=3.2,
        linewidth=0.9,
        color=colour,
    )
    truly, beyond = np.isinf(cells["exact_loss"]), ~finite & np.isfinite(cells["exact_loss"])
    place = cells["epsilon"] * shift
    ax.vlines(place[beyond], cells["loss_low"][beyond], lane_height, color=colour, linewidth=0.9)
    for chosen, filled in ((truly, True), (beyond, False)):
        height = np.full(int(chosen.sum()), lane_height)
        ax.plot(place[chosen], height, **_band_marker(colour, filled))
    endless = np.isinf(cells["published_loss"])
    ax.plot(
        np.where(endless, place, aside),
        np.where(endless, lane_height, np.maximum(cells["published_loss"], 1.1 * _LOWEST)),
        **_PUBLISHED,
    )


_PUBLISHED = {
    "marker": "o",
    "linestyle": "none",
    "markersize": 6.6,
    "markerfacecolor": "none",
    "markeredgecolor": style.BLACK,
    "markeredgewidth": 0.6,
    "zorder": 1.5,  # under our dots
}


def _band_marker(colour: object, filled: bool) -> dict[str, object]:
    return {
        "marker": "s" if filled else "^",
        "linestyle": "none",
        "markersize": 3.6,
        "markeredgecolor": colour,
        "markerfacecolor": colour if filled else "white",
        "markeredgewidth": 1.0,
        "zorder": 3,
    }


def _key(colours: dict[int, object]) -> list[Line2D]:
    lines = [
        Line2D([], [], color=colour, marker="o", markersize=3.2, label=f"n = {dimension}")
        for dimension, colour in colours.items()
    ]
    return [
        *lines,
        Line2D([], [], **_CLAIM, label="claimed bound"),
        Line2D([], [], color=style.GREY, linewidth=1.0, label="exact loss"),
        Line2D(
            [], [], color=style.GREY, marker="o", markersize=3.2, linestyle="none",
            label="our estimate,\ncertified interval",
        ),
        Line2D([], [], **_PUBLISHED, label="published"),
        Line2D([], [], **_band_marker(style.GREY, True), label="truly infinite"),
        Line2D(
            [], [], **_band_marker(style.GREY, False),
            label="finite, but beyond\nour repeats (line:\nfrom certified bound)",
        ),
    ]  # fmt: skip


@style.applied()
def exact_agreement(losses: pd.DataFrame) -> Figure:
    """Every finite cell's deviation from its exact loss, ours and the published ones.

    Left, cell by cell; right, sorted against the standard normal law that they should follow.
    """
    figure = Figure(figsize=(11.5, 4.6))
    left, right = figure.subplots(1, 2, width_ratios=[2.4, 1])
    shown = losses[np.isfinite(losses["exact_loss"])].copy()
    # An empty cell has a probability, but nothing to deviate: it is judged in the table.
    for loss, score in (("loss", "z_exact"), ("published_loss", "z_published")):
        shown.loc[np.isinf(shown[loss]), score] = np.nan
    start = 0
    for mechanism, title in _titles(losses).items():
        cells = shown[shown["mechanism"] == mechanism].sort_values(["dimension", "epsilon"])
        if cells.empty:
            continue
        place = start + np.arange(len(cells))
        left.plot(place, cells["z_exact"], label="ours", **_OURS)
        left.plot(place, cells["z_published"], label="published", **_THEIRS)
        left.annotate(
            title.split(":")[0],
            (place.mean(), 0.97),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
        )
        start += len(cells) + 3
        left.axvline(start - 2, color=style.PALE, linewidth=0.8)
    style.shade_sigmas(left, {3: 3, 2: 2, 1: 1})
    left.annotate(
        "one experiment serves all ε of a mechanism and dimension",
        (0.99, 0.04),
        xycoords="axes fraction",
        ha="right",
        fontsize=8,
        color=style.GREY,
    )
    scores = shown[["z_exact", "z_published"]].to_numpy()
    reach = np.max(np.abs(scores[np.isfinite(scores)]), initial=0.0)
    left.set_ylim(-max(4.5, reach + 0.5), max(5.2, reach + 1.2))
    left.set_xlim(-3, start - 1)
    left.set_xticks([])
    left.set_xlabel("cells, by mechanism, dimension and ε")
    left.set_ylabel("deviation from the exact loss (σ)")
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles[:2], labels[:2], loc="lower left", ncols=2)
    _draw_quantiles(right, shown)
    style.label_panels([left, right])
    return figure


_OURS = {"marker": "o", "linestyle": "none", "markersize": 3.4, "color": style.BLUE}
_THEIRS = {
    "marker": "o",
    "linestyle": "none",
    "markersize": 5.2,
    "markerfacecolor": "none",
    "markeredgecolor": style.ORANGE,
    "markeredgewidth": 0.9,
}


def _draw_quantiles(ax: Axes, shown: pd.DataFrame) -> None:
    for column, look in (("z_published", _THEIRS), ("z_exact", _OURS)):
        deviations = np.sort(shown[column].dropna().to_numpy())
        expected = scipy.stats.norm.ppf((np.arange(deviations.size) + 0.5) / deviations.size)
        ax.plot(expected, deviations, **look)
    ax.axline((0, 0), slope=1, color=style.CLAIMED, linewidth=0.8)
    ax.annotate(
        "standard\nnormal", (1.9, 1.9), xytext=(14, -26), textcoords="offset points", fontsize=8,
        arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.GREY},
    )  # fmt: skip
    ax.set_xlabel("expected deviation (σ)")
    ax.set_ylabel("sorted deviations (σ)")


@style.applied()
def transforms(draws: pd.DataFrame) -> Figure:
    """The five sampling panels: how DPText's uniform goes wrong.

    Parameters
    ----------
    draws : DataFrame
        Columns ``numpy_laplace uniform transform dptext_nan dptext_zero``.
    """
    figure = Figure(figsize=(12.5, 3.1))
    axes = figure.subplots(1, 5)
    x = np.linspace(-6, 6, 601)
    laplace = 0.5 * np.exp(-np.abs(x))
    exponential = np.where(x >= 0, np.exp(-x), np.nan)
    panels: Sequence[tuple[str, str, str, np.ndarray]] = (
        ("numpy_laplace", "NumPy's Laplace", style.BLUE, laplace),
        ("uniform", "uniform v", style.BLUE, np.where(np.abs(x) <= 0.5, 1.0, np.nan)),
        ("transform", "correct: v ~ U(−½, ½)", style.BLUE, laplace),
        ("dptext_nan", "DPText: v ~ U(0, 1)", style.FAULTY, exponential / 2),
        ("dptext_zero", "DPText: NaN set to 0", style.FAULTY, exponential / 2),
    )
    for ax, (column, title, colour, density) in zip(axes, panels, strict=True):
        _draw_density(ax, draws[column].to_numpy(), colour)
        ax.plot(x, density, color=style.CLAIMED, linewidth=1.0)
        ax.set_title(title, fontsize=9)
        ax.set_ylim(0, 1.15)
        ax.set_xlim(-6, 6)
        ax.xaxis.set_major_locator(FixedLocator([-5, 0, 5]))
        ax.set_xlabel("value")
    lost = float(np.isnan(draws["dptext_nan"]).mean())
    zeros = float((draws["dptext_zero"] == 0).mean())
    for ax, text in ((axes[3], f"{lost:.1%} NaN"), (axes[4], f"{zeros:.1%} at 0")):
        ax.annotate(text, (0.05, 0.62), xycoords="axes fraction", color=style.FAULTY)
    axes[4].annotate(
        "", (0, 1.12), (0, 0.5), arrowprops={"arrowstyle": "->", "color": style.FAULTY}
    )
    axes[0].set_ylabel("density (black: exact)")
    style.label_panels(list(axes))
    return figure


def _draw_density(ax: Axes, values: np.ndarray, colour: str) -> None:
    """A histogram of density per draw, NaN and exact zeros included in the count but not drawn."""
    edges = np.linspace(-6, 6, 121)
    inside = values[np.isfinite(values) & (values != 0)]
    counts, _ = np.histogram(inside, edges)
    ax.stairs(counts / (values.size * 0.1), edges, fill=True, color=colour, alpha=0.45)
