"""Figures of the audits: the evidence of one, all verdicts at a glance, and the audit's power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from noiseaudit import stats
from noiseaudit.figures import style
from noiseaudit.verdicts import NOTHING, UNJUDGED, VIOLATES, WRONG_LAW, headline

if TYPE_CHECKING:
    import pandas as pd  # what draws one audit needs no tables

LEFT, RIGHT = style.BLUE, style.ORANGE

COLOURS = {
    VIOLATES: style.VERMILION,
    WRONG_LAW: style.ORANGE,
    NOTHING: style.BLUE,
    UNJUDGED: style.GREY,
}

INK = COLOURS | {WRONG_LAW: "#9A6700"}
"""The same for words: orange is too pale on white."""

_LONGEST_TITLE = 110

_FEWEST_CELLS = 3
"""Of a law, to be drawn: with fewer, its p-value says as much."""


@style.applied()
def evidence(verdict: Mapping[str, Any]) -> Figure:
    """What one audit saw: outputs of both sides, the loss of each range, the law, the lowest bits.

    Parameters
    ----------
    verdict : mapping
        As `Verdict.as_dict` gives it.
    """
    shown = verdict["evidence"]
    panels: list[tuple[Callable[[Axes, Mapping[str, Any]], None], Any]] = []
    if shown.get("outputs"):
        panels += [(_outputs, verdict), (_losses, verdict)]
    if shown.get("law") and len(shown["law"]["x"]) >= _FEWEST_CELLS:
        panels.append((_residuals, verdict))
    if shown.get("bits") and shown["bits"]["exponents"]:
        panels.append((_bits, verdict))
    rows = max(1, -(-len(panels) // 2))
    figure = Figure(figsize=(9.4, 0.7 + 3.0 * rows))
    grid = figure.add_gridspec(rows, 2)
    for place, (draw, content) in enumerate(panels):
        alone = place == len(panels) - 1 and len(panels) % 2 == 1
        draw(
            figure.add_subplot(grid[place // 2, :] if alone else grid[place // 2, place % 2]),
            content,
        )
    _entitle(figure, verdict)
    return figure


def _entitle(figure: Figure | SubFigure, verdict: Mapping[str, Any]) -> None:
    name = verdict["card"] + (f", {verdict['subject']}" if verdict["subject"] else "")
    title = _plain(f"{name}: {_headline(verdict)}")
    figure.suptitle(
        title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…",
        x=0.01, ha="left", fontsize=10, fontweight="bold", color=INK[verdict["verdict"]],
    )  # fmt: skip


def _headline(verdict: Mapping[str, Any]) -> str:
    bound = ""
    if verdict["claimed"] is not None and verdict["draws"]:
        parameter = next(iter(verdict["claim"]))
        bound = (
            f"; {parameter} ≥ {verdict['certified']:.3g} certified, {verdict['claimed']:g} claimed"
        )
    return headline(verdict["verdict"], verdict["by"]) + bound


def _outputs(ax: Axes, verdict: Mapping[str, Any]) -> None:
    shown = verdict["evidence"]["outputs"]
    labels = {
        side: f"{side}, input {_short(verdict['neighbours'][side])}" for side in ("left", "right")
    }
    if "names" in shown:
        places = np.arange(len(shown["names"]))
        for offset, side, colour in ((-0.2, "left", LEFT), (0.2, "right", RIGHT)):
            share = np.array(shown[side]) / max(sum(shown[side]), 1)
            ax.bar(places + offset, share, 0.4, color=colour, label=labels[side])
        _name_places(ax, shown["names"])
        ax.set_ylabel("share of the outputs")
    else:
        edges = np.array(shown["edges"])
        for side, colour, line in (("left", LEFT, "-"), ("right", RIGHT, (0, (4, 1)))):
            density = np.array(shown[side]) / max(sum(shown[side]), 1) / np.diff(edges)
            x, y = np.repeat(edges, 2)[1:-1], np.repeat(density, 2)
            ax.plot(x, y, color=colour, linestyle=line, label=labels[side])
        ax.set_xlim(*_middle(edges, shown))
        ax.set_yscale("log")
        ax.set_ylabel("density")
    ax.set_xlabel(_plain(shown["about"]))
    ax.set_title("What came out")
    ax.legend(loc="best", fontsize=7)


def _plain(text: str) -> str:
    """Without mathematics in it."""
    return text.replace("$", r"\$")


def _short(value: object) -> str:
    text = _plain(str(value))
    return text if len(text) <= _LONGEST_INPUT else f"{text[:_LONGEST_INPUT]}…"


_LONGEST_INPUT = 18


def _name_places(ax: Axes, names: list[str]) -> None:
    kept = np.arange(0, len(names), -(-len(names) // 12))
    ax.set_xticks(
        kept, [_short(names[place]) for place in kept], rotation=30 if len(names) > 4 else 0
    )


def _middle(edges: np.ndarray, shown: Mapping[str, Any]) -> tuple[float, float]:
    """Where all but some thousandths of the outputs lie."""
    counts = np.array(shown["left"]) + np.array(shown["right"])
    reached = np.cumsum(counts) / max(counts.sum(), 1)
    low, high = np.searchsorted(reached, [2e-4, 1 - 2e-4])
    return float(edges[low]), float(edges[min(high + 1, edges.size - 1)])


def _losses(ax: Axes, verdict: Mapping[str, Any]) -> None:
    """The loss of each range or label, with its bounds, each at its share of alpha."""
    shown = verdict["evidence"]["outputs"]
    left, right = np.array(shown["left"]), np.array(shown["right"])
    draws = max(int(left.sum()), int(right.sum()), verdict["draws"])
    if "names" in shown:
        x = np.arange(left.size)
        _name_places(ax, shown["names"])
        ax.set_xlim(-0.6, left.size - 0.4)
    else:
        edges = np.array(shown["edges"])
        x = (edges[:-1] + edges[1:]) / 2
        ax.set_xlim(*_middle(edges, shown))
    alpha = verdict["alpha"] / max(left.size, 1)
    bounds = [
        stats.event_loss(int(max(a, b)), int(min(a, b)), draws, alpha)
        for a, b in zip(left, right, strict=True)
    ]
    low = np.array([max(float(bound.low), 0.0) for bound in bounds])
    high = np.array([float(bound.high) for bound in bounds])
    estimate = np.array(
        [float(bound.estimate) if b else math.nan for bound, b in zip(bounds, right, strict=True)]
    )
    claimed = verdict["claim"].get("epsilon")
    floor = (claimed or 1.0) / 10
    top = 2 * max(
        [claimed or 0.0, verdict["epsilon_low"], *estimate[np.isfinite(estimate)], *low, floor * 10]
    )
    for likelier, colour, label in (
        (left >= right, LEFT, "likelier on the left"),
        (left < right, RIGHT, "likelier on the right"),
    ):
        kept = likelier & (left + right > 0)
        if not kept.any():
            continue
        ax.vlines(
            x[kept],
            np.maximum(low[kept], floor),
            np.minimum(high[kept], top),
            color=colour,
            alpha=0.35,
            linewidth=1,
        )
        seen = kept & np.isfinite(estimate) & (estimate > floor)
        ax.plot(x[seen], estimate[seen], ".", color=colour, markersize=3.5, label=label)
    if claimed:
        _mark(
            ax,
            claimed,
            "claimed ε",
            style.CLAIMED,
            "bottom" if claimed > verdict["epsilon_low"] else "top",
        )
    if claimed and verdict["epsilon_low"] > claimed:
        _mark(
            ax,
            verdict["epsilon_low"],
            f"certified by an event ({verdict['by']})",
            style.VERMILION,
            "bottom",
        )
    ax.set_yscale("log")
    ax.set_ylim(floor, top)
    _plain_log(ax)
    ax.set_xlabel(_plain(shown["about"]))
    ax.set_ylabel("privacy loss |ln P/Q|")
    ax.set_title("What it tells, range by range")


def _mark(ax: Axes, value: float, label: str, colour: str, side: str) -> None:
    """A value on the axis of losses, with its name above or below the line at the right."""
    ax.axhline(value, color=colour, linestyle=style.DASHED)
    ax.annotate(
        label, (0.995, value), xycoords=("axes fraction", "data"), color=colour, ha="right",
        xytext=(0, 3 if side == "bottom" else -3), textcoords="offset points", va=side, fontsize=7,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
    )  # fmt: skip


def _plain_log(ax: Axes) -> None:
    """Plain numbers at 1, 2 and 5 of every decade."""
    ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _residuals(ax: Axes, verdict: Mapping[str, Any]) -> None:
    shown, law = verdict["evidence"]["law"], verdict["law"]
    x, observed, expected = (
        np.array(shown[key], dtype=float) for key in ("x", "observed", "expected")
    )
    sigma = (observed - expected) / np.sqrt(np.maximum(expected, 1))
    ax.axhspan(-3, 3, color=style.PALE, linewidth=0)
    ax.axhline(0, color=style.GREY, linewidth=0.6)
    ax.plot(x, sigma, ".", color=style.BLUE, markersize=3)
    reach = max(5.0, 1.15 * float(np.abs(sigma).max()))
    ax.set_ylim(-reach, reach)
    ax.annotate(
        "±3σ",
        (1.005, 3),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=7,
        color=style.GREY,
    )
    period = f", period {law['period']}" if law["period"] else ""
    p = law["p"]
    said = "" if p is None else f"p < 1e-300{period}" if p == 0 else f"p = {p:.2g}{period}"
    ax.set_xlabel(
        "noise: output less input" if law["name"] != "randomised_response" else "the true answer"
    )
    ax.set_ylabel("deviation from the law, in σ")
    ax.set_title(f"The stated law: {said}")


def _bits(ax: Axes, verdict: Mapping[str, Any]) -> None:
    shown = verdict["evidence"]["bits"]
    exponents = np.array(shown["exponents"])
    for side, colour, marker in (("left", LEFT, "o"), ("right", RIGHT, "x")):
        counts = np.array(shown[side])
        share = counts / max(counts.sum(), 1)
        seen = counts > 0
        ax.plot(
            exponents[seen],
            share[seen],
            marker,
            color=colour,
            markersize=3.5,
            label=side,
            fillstyle="none",
        )
    ax.set_yscale("log")
    ax.set_xlabel("exponent of the lowest set bit")
    ax.set_ylabel("share of the outputs")
    ax.set_title("The lowest bits")
    ax.legend(loc="best", fontsize=7)


@style.applied()
def settings(verdicts: Sequence[Mapping[str, Any]]) -> Figure:
    """A card of several settings, a row each: the loss of each range, and the law or the lowest bits."""
    figure = Figure(figsize=(9.4, 0.5 + 2.6 * len(verdicts)))
    for part, verdict in zip(
        figure.subfigures(len(verdicts), 1, squeeze=False)[:, 0], verdicts, strict=True
    ):
        shown = verdict["evidence"]
        if shown.get("outputs"):  # else the title says why there are none
            left, right = part.subplots(1, 2)
            _losses(left, verdict)
            if shown["law"] and shown["law"]["x"]:
                _residuals(right, verdict)
            elif shown["bits"]:
                _bits(right, verdict)
            else:
                _outputs(right, verdict)
        _entitle(part, verdict)
    return figure


_BEYOND = 300.0
"""Times the claim, beyond which a bound is drawn at the edge."""


@style.applied()
def overview(rows: pd.DataFrame) -> Figure:
    """All verdicts: what is certified, and what would have been found, in units of what is claimed.

    Parameters
    ----------
    rows : DataFrame
        ``verdicts.tsv``.
    """
    rows = rows.iloc[::-1].reset_index(drop=True)
    figure = Figure(figsize=(9.4, 1.2 + 0.3 * len(rows)))
    ax = figure.subplots()
    for place, row in rows.iterrows():
        colour = COLOURS[row["verdict"]]
        claimed = row["claimed"]
        if claimed > 0:
            low = min(row["certified"] / claimed, _BEYOND)
            # What would have been found is an epsilon, of whatever kind the claim is.
            would = row["detectable"] / claimed if row["claim"].startswith("epsilon") else math.nan
            if low > 0:
                ax.plot(
                    [max(low, 0.1)], [place], "D" if low > 1 else "o", color=colour, markersize=5
                )
            if not math.isnan(would):
                ax.plot([min(would, _BEYOND)], [place], "|", color=style.GREY, markersize=9)
        ax.annotate(
            headline(row["verdict"], "" if row["by"] == "none" else row["by"]),
            (1.01, place), xycoords=("axes fraction", "data"),
            va="center", fontsize=8, color=INK[row["verdict"]],
        )  # fmt: skip
    names = [
        row["card"] if row["subject"] == row["card"] else f"{row['card']}, {row['subject']}"
        for _, row in rows.iterrows()
    ]
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.axvline(1, color=style.CLAIMED, linestyle=style.DASHED)
    ax.annotate(
        "claimed",
        (1, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        fontsize=8,
    )
    ax.set_xscale("log")
    farthest = max(10.0, *np.minimum((rows["certified"] / rows["claimed"]).fillna(0), _BEYOND))
    ax.set_xlim(0.08, 1.5 * farthest)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.plot([], [], "D", color=style.GREY, markersize=5, label="certified, beyond the claim")
    ax.plot([], [], "o", color=style.GREY, markersize=5, label="certified, within it")
    ax.plot(
        [],
        [],
        "|",
        color=style.GREY,
        markersize=9,
        label="would have been found, at an event of probability ½",
    )
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    ax.set_xlabel("privacy loss, in units of what is claimed")
    return figure


@style.applied()
def power(found: pd.DataFrame, alarms: pd.DataFrame) -> Figure:
    """Draws of each side after which each faulty specimen is found; and false alarms, in words.

    Parameters
    ----------
    found, alarms : DataFrame
        ``power.tsv`` and ``false_alarms.tsv``.
    """
    order = found.groupby("specimen")["draws_median"].max().sort_values(ascending=False).index
    figure = Figure(figsize=(9.4, 1.4 + 0.24 * len(order)))
    ax = figure.subplots()
    largest, least = found["alpha"].max(), found["alpha"].min()
    for place, specimen in enumerate(order):
        own = found[found["specimen"] == specimen]
        for _, row in own.iterrows():
            colour, shift = (style.SKY, 0.14) if row["alpha"] == largest else (style.BLUE, -0.14)
            if np.isfinite(row["draws_ninth"]):
                ax.plot([row["draws_tenth"], row["draws_ninth"]], [place + shift] * 2, color=colour)
            if np.isfinite(row["draws_median"]):
                ax.plot([row["draws_median"]], [place + shift], "o", color=colour, markersize=4)
            else:
                ax.annotate(
                    "not found", (row["draws"], place + shift), fontsize=7, va="center", ha="right"
                )
    first = found.drop_duplicates("specimen").set_index("specimen")
    ax.set_yticks(
        range(len(order)),
        [f"{first.loc[name, 'mechanism'].replace('_', ' ')} ({name})" for name in order],
    )
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xscale("log")
    ax.set_xlim(100, 1.5 * found["draws"].max())
    ax.set_xlabel("draws of each side until found: median, and from the first to the ninth tenth")
    for alpha, colour in ((largest, style.SKY), (least, style.BLUE)):
        ax.plot([], [], "o-", color=colour, markersize=4, label=f"alpha {alpha:g}")
    ax.legend(loc="lower right", fontsize=8)
    said = "; ".join(
        f"{int(row['alarms'])} at alpha {row['alpha']:g}" for _, row in alarms.iterrows()
    )
    ax.set_title(
        f"False alarms in {int(alarms['audits'].iloc[0])} audits of healthy noise: {said}",
        fontsize=9,
    )
    return figure
