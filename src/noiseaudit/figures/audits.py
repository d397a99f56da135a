"""Figures of the audits: the evidence of one, all verdicts at a glance, and the audit's power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from noiseaudit import stats
from noiseaudit.audit.verdict import NOTHING, UNJUDGED, VIOLATES, WRONG_LAW
from noiseaudit.figures import style

LEFT, RIGHT = style.BLUE, style.ORANGE

COLOURS = {
    VIOLATES: style.VERMILION,
    WRONG_LAW: style.ORANGE,
    NOTHING: style.BLUE,
    UNJUDGED: style.GREY,
}

_LONGEST_TITLE = 110


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
    if shown.get("law") and shown["law"]["x"]:
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
    name = verdict["card"] + (f" [{verdict['subject']}]" if verdict["subject"] else "")
    title = f"{name}: {_headline(verdict)}"
    figure.suptitle(
        title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…",
        x=0.01, ha="left", fontsize=10, fontweight="bold", color=COLOURS[verdict["verdict"]],
    )  # fmt: skip
    return figure


def _headline(verdict: Mapping[str, Any]) -> str:
    by = f" ({verdict['by']})" if verdict["by"] else ""
    bound = ""
    if verdict["claimed"] is not None and verdict["draws"]:
        parameter = next(iter(verdict["claim"]))
        bound = (
            f"; {parameter} ≥ {verdict['certified']:.3g} certified, {verdict['claimed']:g} claimed"
        )
    return f"{verdict['verdict']}{by}{bound}"


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
    ax.set_xlabel(shown["about"])
    ax.set_title("What came out")
    ax.legend(loc="best", fontsize=7)


def _short(value: object) -> str:
    text = str(value)
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
    floor = (claimed or 1.0) / 30
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
    ax.set_xlabel(shown["about"])
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
    period = f", folded by {law['period']}" if law["period"] else ""
    p = law["p"]
    said = "" if p is None else f"p < 1e-300{period}" if p == 0 else f"p = {p:.2g}{period}"
    ax.set_xlabel(
        "noise: output less input" if law["name"] != "randomised_response" else "the true answer"
    )
    ax.set_ylabel("deviation from the law, in σ")
    ax.set_title(f"Against {law['stated'].split(' on ')[0]}: {said}")


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
