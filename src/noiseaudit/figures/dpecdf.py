"""Figures of the private ECDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from noiseaudit.dpecdf import audit, utility
from noiseaudit.dpecdf.ecdf import DPEcdf, HardenedEcdf
from noiseaudit.figures import style
from noiseaudit.verdicts import NOTHING, UNJUDGED, VIOLATES

_COLOURS = {"DPEcdf": style.ORANGE, "HardenedEcdf": style.BLUE}

_LINES = {"DPEcdf": (0, (4, 2)), "HardenedEcdf": "-"}


@dataclass(frozen=True)
class Fit:
    """A column's own distribution and private ones, to draw over each other."""

    column: utility.Column
    truth: utility.Truth
    epsilon: float
    private: dict[str, DPEcdf | HardenedEcdf]


@style.applied()
def fits(drawn: Sequence[Sequence[Fit]]) -> Figure:
    """Private ECDFs over the true one: a row per epsilon, a column per kind of data."""
    rows, columns = len(drawn), len(drawn[0])
    figure = Figure(figsize=(3.1 * columns, 0.6 + 2.5 * rows))
    axes = figure.subplots(rows, columns, sharey=True, sharex="col", squeeze=False)
    for line, fitted in zip(axes, drawn, strict=True):
        for ax, fit in zip(line, fitted, strict=True):
            ax.plot(fit.truth.x, fit.truth.cdf, color=style.CLAIMED, linewidth=2.6, alpha=0.35)
            for kind, ecdf in fit.private.items():
                ax.plot(ecdf.edges, ecdf.cdf, color=_COLOURS[kind], linewidth=1)
            for place, (kind, ecdf) in enumerate(fit.private.items()):
                error, _ = fit.truth.errors(ecdf)
                ax.annotate(
                    f"KS {error:.3f}", (0.97, 0.55 - 0.1 * place), xycoords="axes fraction",
                    ha="right", fontsize=8, color=_COLOURS[kind],
                )  # fmt: skip
        line[0].set_ylabel(f"distribution, ε = {fitted[0].epsilon:g}")
    for ax, fit in zip(axes[0], drawn[0], strict=True):
        ax.set_title(fit.column.name)
    for ax in axes[-1]:
        ax.set_xlabel("value, between public bounds")
    last = axes[0, -1]
    last.plot([], [], color=style.CLAIMED, linewidth=2.6, alpha=0.35, label="the column's own")
    for kind, colour in _COLOURS.items():
        last.plot([], [], color=colour, label=kind)
    last.legend(loc="lower right")
    return figure


_OVER = ("epsilon", "bins", "rows")

_MEASURES = {"ks": "Kolmogorov–Smirnov error", "w1": "Wasserstein-1 error / width"}


@style.applied()
def errors(rows: pd.DataFrame) -> Figure:
    """Error against epsilon, bins and rows, a line per kind of column and class.

    Parameters
    ----------
    rows : DataFrame
        ``utility.tsv``.
    """
    figure = Figure(figsize=(12, 6.6))
    axes = figure.subplots(len(_MEASURES), len(_OVER), sharey="row", squeeze=False)
    markers = dict(zip(rows["column"].unique(), "osD^v", strict=False))
    for line, (measure, name) in zip(axes, _MEASURES.items(), strict=True):
        for ax, over in zip(line, _OVER, strict=True):
            chosen = rows[rows["over"] == over]
            for (column, kind), own in chosen.groupby(["column", "class"], sort=False):
                low, high = (
                    own[measure] - own[f"{measure}_low"],
                    own[f"{measure}_high"] - own[measure],
                )
                ax.errorbar(
                    own[over], own[measure], [np.maximum(low, 0), np.maximum(high, 0)],
                    color=_COLOURS[kind], marker=markers[column], markersize=4, linewidth=0.9,
                    linestyle=_LINES[kind], capsize=2,
                )  # fmt: skip
            ax.set(xscale="log", yscale="log")
        line[0].set_ylabel(name)
    base = {"epsilon": f"ε = {utility.BASE_EPSILON:g}", "bins": f"{utility.BASE_BINS} bins"}
    base["rows"] = f"{utility.BASE_ROWS:,} rows"
    for ax, over in zip(axes[0], _OVER, strict=True):
        ax.set_title("; ".join(text for name, text in base.items() if name != over))
    for ax, over in zip(axes[1], _OVER, strict=True):
        ax.set_xlabel(over)
    for kind, colour in _COLOURS.items():
        axes[0, 0].plot([], [], color=colour, linestyle=_LINES[kind], label=kind)
    for column, marker in markers.items():
        axes[0, 0].plot([], [], marker, color=style.GREY, markersize=4, label=column)
    axes[0, 0].legend(loc="lower left", ncols=2)
    style.label_panels(list(axes[0]))
    return figure


_VERDICTS = {
    VIOLATES: style.FAULTY,
    audit.EXCEEDS: style.FAULTY,
    NOTHING: style.FIXED,
    audit.DROPPED: style.ORANGE,
    audit.REFUSED: style.GREY,
    audit.UNSEEN: style.GREY,
    UNJUDGED: style.GREY,
}


@style.applied()
def attacks(rows: pd.DataFrame) -> Figure:
    """What each attack certifies against the claim, a panel per class.

    Parameters
    ----------
    rows : DataFrame
        ``audit.tsv``.
    """
    subjects = list(dict.fromkeys(rows["subject"]))
    names = list(dict.fromkeys(rows["attack"]))
    figure = Figure(figsize=(6.4 * len(subjects), 0.9 + 0.62 * len(names)))
    axes = figure.subplots(1, len(subjects), sharex=True, sharey=True, squeeze=False)[0]
    largest = np.nanmax(rows["claimed_epsilon"])
    for ax, subject in zip(axes, subjects, strict=True):
        own = rows[rows["subject"] == subject].set_index("attack", drop=False).loc[names]
        for place, row in enumerate(own.itertuples()):
            _draw_attack(ax, place, row)
        ax.set_title(subject)
        ax.set(xscale="log", xlim=(0.012, 25 * largest), xlabel="privacy loss of the event")
        ax.set_xticks([0.1, 0.3, 1, 3, 10, 100], ["0.1", "0.3", "1", "3", "10", "100"])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_yticks(
            range(len(names)),
            [
                f"{name}\n({row.neighbours})"
                for name, row in zip(names, own.itertuples(), strict=True)
            ],
        )
        ax.set_ylim(len(names) - 0.4, -0.7)
    axes[0].plot([], [], "|", color=style.CLAIMED, markersize=12, label="what the text allows")
    axes[0].plot([], [], ":", color=style.GREY, label="ε, where it warns or is silent")
    axes[0].plot([], [], "o", color=style.GREY, markerfacecolor="white", label="estimate")
    axes[0].plot([], [], "|-", color=style.GREY, markersize=7, label="certified: at least, at most")
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _draw_attack(ax: Axes, place: int, row: tuple) -> None:
    colour = _VERDICTS[row.verdict]
    if np.isfinite(row.claimed_epsilon):
        claim = [row.claimed_epsilon] * 2
        said = row.promised == audit.A_LOSS or row.subject == audit.Hardened.name
        look = {"color": style.CLAIMED} if said else {"color": style.GREY, "linestyle": ":"}
        ax.plot(claim, [place - 0.3, place + 0.3], linewidth=1.6, **look)
    if row.verdict == audit.REFUSED:
        text = "refused: bounds are required"
    elif row.verdict == audit.UNSEEN:
        text = f"{row.verdict}, in either"
    elif row.loss_low > 0:
        ends = [row.loss_low, min(row.loss_high, 1e4)]
        ax.plot(ends, [place] * 2, "|-", color=colour, markersize=8, markeredgewidth=1.5)
        if np.isfinite(row.loss):
            ax.plot(row.loss, place, "o", color=colour, markersize=4, markerfacecolor="white")
        text = f"{row.verdict}: {row.loss_low:.2f} to {row.loss_high:.2f}"
        if np.isinf(row.loss_high):
            text = f"{row.verdict}: {row.loss_low:.2f} or more, without an upper bound"
        if np.isinf(row.exact_loss):
            text = f"{row.verdict}: told apart every time"
    else:
        ax.plot(0.014, place, "<", color=colour, markersize=5)  # left of a log axis
        text = f"{row.verdict}: loss {row.loss:+.2f}, nothing is seen of them".replace("-", "−")
    ax.annotate(
        text,
        (0.0135, place),
        xytext=(0, 9),
        textcoords="offset points",
        fontsize=8,
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )
