"""Every printed number beside ours, on one page."""

from __future__ import annotations

from math import isfinite, isinf, isnan
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from noiseaudit.figures import style
from noiseaudit.published.numbers import (
    DIFFERS,
    LARGEST_DEVIATION,
    REPRODUCED,
    WITHIN_MODEL,
    kind_of,
)

_COLOURS = {REPRODUCED: style.BLUE, WITHIN_MODEL: style.SKY, DIFFERS: style.VERMILION}

_MECHANISMS = {
    "laplace": "Laplace",
    "adept": "ADePT",
    "dptext": "DPText",
    "copy": "copy",
    "random": "random",
    "half_laplace": "half Laplace (in the authors' program, not in the paper)",
}

_CELL, _ROW = 0.4, 0.3
"""Inches that a cell of the grids and a row of the lists take at the least."""

_SMALLEST_LOSS, _LARGEST_LOSS = 0.1, 20.0
"""Where the axis of privacy losses ends; what is larger, or infinite, is drawn as an arrow there."""


@style.applied()
def comparison(rows: pd.DataFrame, losses: pd.DataFrame) -> Figure:
    """Printed, ours, exact, deviation and verdict of every number of the three sources.

    Parameters
    ----------
    rows : DataFrame
        ``comparison.tsv``.
    losses : DataFrame
        ``losses.tsv``, which names the mechanism, epsilon and dimension of each printed loss.
    """
    cells = losses.dropna(subset=["published_loss"])
    in_grids = rows["quantity"].str.startswith("loss of ")
    lists = [rows[~in_grids & (rows["source"] == source)] for source in ("dptext", "opendp")]
    listed = pd.concat(lists)
    promises = rows[rows["source"] == "dpecdf"]
    grids = cells.groupby("mechanism")["epsilon"].nunique()
    height = max(
        _CELL * grids.sum() + 0.65 * len(grids), _ROW * (len(listed) + 1.3 * len(promises) + 6), 4
    )
    figure = Figure(figsize=(18, height + 1.2))
    left, right = figure.add_gridspec(1, 2, width_ratios=[0.85, 1.2])
    if len(grids):
        _draw_grids(left, cells, rows[in_grids])
    parts = [len(listed) + 1, *([1.3 * len(promises) + 1] if len(promises) else [])]
    spots = right.subgridspec(len(parts), 1, height_ratios=parts)
    _draw_list(
        figure, spots[0], listed, "Gerolimetto Fabrello et al. (2026), and Habernal's footnote"
    )
    if len(promises):
        _draw_list(figure, spots[1], promises, "synthpriv's DPEcdf: what its text promises")
    _head(figure, rows)
    for ax in figure.axes:
        for text in ax.texts:
            text.set_in_layout(False)  # all stand inside their axes; measuring each takes seconds
    return figure


def _head(figure: Figure, rows: pd.DataFrame) -> None:
    counts = rows["verdict"].map(kind_of).value_counts()
    figure.suptitle(
        f"{len(rows)} printed numbers and promises, beside ours", x=0.005, ha="left",
        fontsize=15, fontweight="bold",
    )  # fmt: skip
    handles = [
        Rectangle((0, 0), 1, 1, facecolor=colour, alpha=0.6, edgecolor="none")
        for colour in _COLOURS.values()
    ]
    names = {
        REPRODUCED: "reproduced to the last printed digit",
        WITHIN_MODEL: "reproduced within the exact model",
        DIFFERS: "differ, for the reason given",
    }
    labels = [f"{counts.get(kind, 0)} {name}" for kind, name in names.items()]
    infinite = int((np.isinf(rows["published"]) & (rows["verdict"] == REPRODUCED)).sum())
    labels[0] += f", {infinite} of them infinite" if infinite else ""
    figure.legend(handles, labels, loc="outside upper right", ncols=3, fontsize=11)


def _draw_grids(spot: SubplotSpec, cells: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Habernal's Fig. 1 in numbers: a grid per mechanism, a cell per epsilon and dimension."""
    by_quantity = rows.set_index("quantity")
    grouped = dict(iter(cells.groupby("mechanism")))
    names = [name for name in _MECHANISMS if name in grouped]
    heights = [grouped[name]["epsilon"].nunique() for name in names]
    axes = spot.subgridspec(len(names), 1, height_ratios=heights).subplots(squeeze=False)[:, 0]
    for ax, name in zip(axes, names, strict=True):
        _draw_grid(ax, grouped[name], by_quantity)
        ax.set_title(_MECHANISMS[name], fontsize=10)
    axes[0].set_title(f"Habernal (2022), Fig. 1: {_MECHANISMS[names[0]]}", fontsize=10)
    axes[-1].set_xlabel(
        "dimension n. In a cell: printed; ours; exact, with the printed number's deviation from it"
    )


def _draw_grid(ax: Axes, cells: pd.DataFrame, rows: pd.DataFrame) -> None:
    epsilons = sorted(cells["epsilon"].unique())
    dimensions = sorted(cells["dimension"].unique())
    for cell in cells.itertuples(index=False):
        row = rows.loc[f"loss of {cell.mechanism}, epsilon {cell.epsilon:g}, n = {cell.dimension}"]
        x, y = dimensions.index(cell.dimension), epsilons.index(cell.epsilon)
        colour = _COLOURS[kind_of(row["verdict"])]
        ax.add_patch(
            Rectangle((x - 0.49, y - 0.47), 0.98, 0.94, facecolor=colour, alpha=0.3, linewidth=0)
        )
        ax.text(x, y + 0.29, _short(row["published"]), ha="center", va="center", fontsize=7.5,
                fontweight="bold")  # fmt: skip
        ax.text(x, y, _short(row["ours"]), ha="center", va="center", fontsize=7)
        deviation = row["deviation_sigma"]
        remark = f"  {deviation:+.1f}σ" if isfinite(deviation) else ""
        if isinf(row["published"]) and isfinite(row["expected"]):
            remark = "  a cell empty"
        exact = f"{_short(row['expected'])}{remark}".replace("-", "−")
        ax.text(x, y - 0.29, exact, ha="center", va="center", fontsize=6.5, color="#444444")
    ax.set_xlim(-0.5, len(dimensions) - 0.5)
    ax.set_ylim(-0.5, len(epsilons) - 0.5)
    ax.set_xticks(range(len(dimensions)), dimensions)
    ax.set_yticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
    ax.set_ylabel("claimed ε")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


_COLUMNS = {"location": 0.0, "quantity": 0.11, "printed": 0.665, "ours": 0.77, "exact": 0.995}
"""Where the text columns of a list stand, as shares of their width; numbers end there."""


def _draw_list(figure: Figure, spot: SubplotSpec, rows: pd.DataFrame, title: str) -> None:
    """A line per number: what it is, printed, ours, exact, deviations or losses, verdict."""
    left, middle, right = spot.subgridspec(1, 3, width_ratios=[6.4, 1.7, 2.6]).subplots()
    for ax in (left, middle, right):
        ax.set_ylim(len(rows) - 0.4, -1.2)
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    for ax in (left, right):
        ax.set_xlim(0, 1)
        ax.set_xticks([])
    left.set_title(title, fontsize=10)
    for name, x in _COLUMNS.items():
        left.text(x, -0.9, name, fontweight="bold", va="center", ha=_side(name), fontsize=9)
    right.text(0.03, -0.9, "verdict", fontweight="bold", va="center", fontsize=9)
    for y, row in enumerate(rows.itertuples(index=False)):
        written = {
            "location": row.location.split(",")[0],
            "quantity": fill(row.quantity, 46),
            "printed": "∞" if row.printed == "inf" else row.printed.replace("-", "−"),
            "ours": _short(row.ours),
            "exact": _expected(row),
        }
        for name, text in written.items():
            left.text(
                _COLUMNS[name], y, text, ha=_side(name), va="center",
                fontsize=8.5, fontweight="bold" if name == "printed" else None,
            )  # fmt: skip
        kind = kind_of(row.verdict)
        right.add_patch(
            Rectangle((0, y - 0.45), 1, 0.9, facecolor=_COLOURS[kind], alpha=0.3, linewidth=0)
        )
        verdict, size = fill(row.verdict, 42), 7.5
        if verdict.count("\n") > 1:
            verdict, size = fill(row.verdict, 54), 6
        right.text(0.03, y, verdict, va="center", fontsize=size)
    if (rows["source"] == "dpecdf").all():
        _draw_losses(middle, rows)
    else:
        _draw_deviations(middle, rows)


_FARTHEST = 4.4
"""Standard deviations where the axis ends; what lies beyond is an arrow there."""


def _draw_deviations(ax: Axes, rows: pd.DataFrame) -> None:
    ax.axvspan(-3, 3, color=style.PALE, alpha=0.45, linewidth=0)
    ax.axvspan(-1, 1, color=style.PALE, alpha=0.9, linewidth=0)
    for edge in (-LARGEST_DEVIATION, LARGEST_DEVIATION):
        ax.axvline(edge, color=style.CLAIMED, linestyle=style.DASHED, linewidth=0.8)
    y = np.arange(len(rows))
    ours = {"color": style.BLUE, "markersize": 3.5}
    printed = {"markerfacecolor": "white", "markeredgecolor": style.BLACK, "markersize": 3.5}
    for column, look, label in (
        ("our_deviation_sigma", ours, "ours"),
        ("deviation_sigma", printed, "printed"),
    ):
        deviations = rows[column].to_numpy()
        inside = np.abs(deviations) <= _FARTHEST
        ax.plot(deviations[inside], y[inside], "o", label=label, **look)
        for beyond, marker, end in (
            (deviations > _FARTHEST, ">", _FARTHEST),
            (deviations < -_FARTHEST, "<", -_FARTHEST),
        ):
            ax.plot(np.full(beyond.sum(), end), y[beyond], marker, **{**look, "markersize": 5})
    ax.set_xlim(-_FARTHEST - 0.3, _FARTHEST + 0.3)
    ax.set_xticks([-4, -2, 0, 2, 4])
    ax.set_xlabel("deviation from the exact model (σ)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 0.985), ncols=2, handletextpad=0.1)


def _draw_losses(ax: Axes, rows: pd.DataFrame) -> None:
    y = np.arange(len(rows))
    losses = rows["quantity"].str.startswith("privacy loss").to_numpy()
    low, high = rows["ours_low"].to_numpy(), rows["ours_high"].to_numpy()
    for place in y[losses]:
        start, end = np.clip([low[place], high[place]], _SMALLEST_LOSS, _LARGEST_LOSS)
        colour = _COLOURS[kind_of(rows["verdict"].iloc[place])]
        ax.plot([start, end], [place, place], color=colour, linewidth=2.5)
        if isinf(high[place]):
            ax.plot(end, place, ">", color=colour, markersize=5)
    ax.plot(
        rows["published"][losses], y[losses], "|", color=style.CLAIMED, markersize=11,
        markeredgewidth=1.5,
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(0.8 * _SMALLEST_LOSS, 1.3 * _LARGEST_LOSS)
    ax.set_xticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("certified loss; black: promised")


def _side(column: str) -> str:
    return "left" if column in ("location", "quantity") else "right"


def _short(value: float) -> str:
    """Four or five digits, however large."""
    if isnan(value):
        return "none"
    if isinf(value):
        return "∞"
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}".replace("-0", "-").replace("-", "−")
    digits = 5 if abs(value) >= 1 else 4 if abs(value) >= 0.01 else 3
    return f"{value:.{digits}g}".replace("-", "−")


def _expected(row: tuple) -> str:
    if isnan(row.expected_sd) or row.expected_sd == 0:
        return _short(row.expected)
    return f"{row.expected:.4g} ± {_short(float(f'{row.expected_sd:.2g}'))}"
