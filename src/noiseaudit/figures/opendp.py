"""Figures of the OpenDP study (Gerolimetto Fabrello et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from noiseaudit import stats, tables
from noiseaudit.cks20 import diagnosis, kernels, layers
from noiseaudit.figures import style

_THOUSANDS = FuncFormatter(lambda count, _: f"{count / 1000:g}")

_SIGMA_BARS = 3

_FEWEST_IN_INSET = 8
"""Outputs that an inset shows at least, where one period is shorter."""

_WELL_COUNTED = 400
"""Draws on either side from which a pair's loss is drawn; beyond, the bars would fill the panel.
A sample that never counts so many shows what it counts best."""


@dataclass(frozen=True)
class Entry:
    """One source to draw: its name, a remark for the title and its colour."""

    source: str
    remark: str
    colour: str

    @property
    def title(self) -> str:
        return f"{self.source}: {self.remark}"


def entry(release: str) -> Entry:
    """A release, titled and coloured by the variant that it is said to contain."""
    variant = diagnosis.variant_of(release)
    colour = style.FAULTY if variant == "faulty" else style.FIXED
    return Entry(diagnosis.source_name(release), variant, colour)


@style.applied()
def artifacts(entries: Sequence[Entry], samples: Sequence[diagnosis.Sample]) -> Figure:
    """The periodic artifacts (the paper's Fig. 1): counts, two zoomed insets and residuals.

    One column per entry. Above, the histogram against the exact law, with insets on either flank
    and 1σ bars; below, the residual of every output in standard deviations.
    """
    if len({sample.scale for sample in samples}) > 1:
        scales = ", ".join(str(sample.scale) for sample in samples)
        raise ValueError(f"samples of scales {scales} found, of one scale expected")
    figure = Figure(figsize=(5.2 * len(entries), 5.6))
    axes = figure.subplots(
        2, len(entries), sharex=True, sharey="row", height_ratios=[2.4, 1], squeeze=False
    )
    for (top, bottom), entry, sample in zip(axes.T, entries, samples, strict=True):
        _draw_counts(top, entry, sample)
        _draw_residuals(bottom, entry, sample)
    axes[0, 0].set_ylabel("draws per output (thousands)")
    axes[1, 0].set_ylabel("(draws − exact) / σ")
    style.label_panels(list(axes[0]))
    return figure


def _draw_counts(ax: Axes, entry: Entry, sample: diagnosis.Sample) -> None:
    reach = _reach(sample)
    ax.set_title(entry.title)
    _draw_steps(ax, entry, sample)
    ax.set_xlim(-reach, reach)
    ax.set_ylim(0, 1.12 * sample.expected.max())
    ax.yaxis.set_major_formatter(_THOUSANDS)
    ax.annotate(
        "exact law",
        (0.12 * float(sample.scale), sample.expected.max() * np.exp(-0.12)),
        xytext=(16, 4),
        textcoords="offset points",
        fontsize=8,
        arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.GREY},
    )
    ax.annotate(
        f"N = {sample.histogram.total:,}\nscale {sample.scale}",
        (0.985, 0.97),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=style.GREY,
        fontsize=8,
    )
    scale = float(sample.scale)
    width = max(scale, _FEWEST_IN_INSET)
    for left, place in ((-1.35 * scale - width, 0.085), (0.35 * scale, 0.69)):
        _draw_inset(ax, entry, sample, (left, left + width), place)


def _draw_inset(
    ax: Axes, entry: Entry, sample: diagnosis.Sample, span: tuple[float, float], place: float
) -> None:
    """One period of the artifacts, enlarged, with 1σ bars."""
    inset = ax.inset_axes((place, 0.38, 0.29, 0.40))
    _draw_steps(inset, entry, sample, filled=False)
    shown = (sample.x > span[0]) & (sample.x < span[1])
    counts, expected = sample.histogram.window[shown], sample.expected[shown]
    inset.errorbar(
        sample.x[shown],
        counts,
        np.sqrt(np.maximum(counts, 1)),
        fmt="none",
        color=style.BLACK,
        linewidth=0.8,
        capsize=2,
        capthick=0.8,
    )
    inset.set_xlim(*span)
    inset.set_ylim(0.8 * expected.min(), 1.08 * max(counts.max(), expected.max()))
    inset.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    inset.yaxis.set_major_formatter(_THOUSANDS)
    inset.tick_params(labelsize=7)
    ax.indicate_inset_zoom(inset, edgecolor=style.GREY, alpha=0.5, linewidth=0.7)


def _draw_steps(ax: Axes, entry: Entry, sample: diagnosis.Sample, filled: bool = True) -> None:
    counts, edges = sample.histogram.window, np.append(sample.x - 0.5, sample.x[-1] + 0.5)
    if filled:
        ax.stairs(counts, edges, fill=True, color=entry.colour, alpha=0.35, linewidth=0)
    ax.stairs(counts, edges, color=entry.colour, linewidth=0.8)
    ax.plot(sample.x, sample.expected, color=style.CLAIMED, linewidth=1.0)


def _draw_residuals(ax: Axes, entry: Entry, sample: diagnosis.Sample) -> None:
    shown = np.abs(sample.x) <= _reach(sample)
    residual = (sample.histogram.window - sample.expected) / np.sqrt(sample.expected)
    style.shade_sigmas(ax, {3: 3, 1: -1})
    ax.vlines(sample.x[shown], 0, residual[shown], color=entry.colour, linewidth=1.1)
    worst = np.argmax(np.abs(np.where(shown, residual, 0)))
    ax.annotate(
        f"largest: {residual[worst]:+.1f}σ at {sample.x[worst]:+d}".replace("-", "−"),
        (0.015, 0.94),
        xycoords="axes fraction",
        va="top",
        fontsize=8,
        color=entry.colour,
    )
    ax.set_xlabel("output")


def _reach(sample: diagnosis.Sample) -> int:
    """Outputs drawn: six scales on either side hold 99.8 % of the draws."""
    return int(np.ceil(6 * sample.scale))


@style.applied()
def plrv(entries: Sequence[Entry], losses: pd.DataFrame) -> Figure:
    """The privacy loss of every output (the paper's Fig. 9), one column per entry.

    Above, ``ln P(x)/P(x+1)`` with 3σ bars between the claimed bounds ``±1/scale``; below, its size
    as a multiple of the claimed epsilon, on a log axis.

    Parameters
    ----------
    entries : sequence of Entry
    losses : DataFrame
        Rows of ``results/opendp/plrv.tsv`` at one scale.
    """
    figure = Figure(figsize=(5.2 * len(entries), 5.6))
    axes = figure.subplots(
        2, len(entries), sharex=True, sharey="row", height_ratios=[1.5, 1], squeeze=False
    )
    for (top, bottom), entry in zip(axes.T, entries, strict=True):
        rows = tables.select(losses, source=entry.source)
        top.set_title(f"{entry.title} (scale {rows['scale'].iloc[0]:g})")
        _draw_signed_loss(top, rows, entry.colour)
        _draw_multiple(bottom, rows, entry.colour)
    axes[0, 0].set_ylabel("privacy loss  ln P(x) / P(x+1)")
    axes[1, 0].set_ylabel("|loss| / claimed ε")
    style.label_panels(list(axes[0]))
    return figure


def _draw_signed_loss(ax: Axes, rows: pd.DataFrame, colour: str) -> None:
    bound = rows["bound"].iloc[0]
    shown = _well_counted(rows)
    bars = _SIGMA_BARS * diagnosis.loss_sd(shown["count_x"], shown["count_next"])
    inside = shown["within_3sigma"].to_numpy()
    thin = min(1.0, 100 / len(shown))  # thousands of bars must not merge into a wall
    for chosen, tint in ((inside, style.GREY), (~inside, colour)):
        ax.errorbar(
            shown["x"][chosen],
            shown["loss"][chosen],
            bars[chosen],
            fmt="o",
            markersize=2.2 * max(thin, 0.4),
            linewidth=0.7 * thin,
            color=tint,
        )
    for side, name in ((bound, "+ε"), (-bound, "−ε")):
        _draw_claim(ax, side, name)
    reach = float(shown["x"].abs().max())
    ax.set_xlim(-1.05 * reach, 1.05 * reach)
    tallest = max(4.6 * bound, 1.4 * float(np.quantile(np.abs(shown["loss"]) + bars, 0.95)))
    ax.set_ylim(-tallest, tallest)
    ax.annotate(
        f"claimed ε = {bound:.3g}; bars: ±3σ\n"
        f"{int((~inside).sum())} of {len(shown)} outputs beyond ε by over 3σ",
        (0.02, 0.975),
        xycoords="axes fraction",
        va="top",
        fontsize=8,
        color=colour,
    )


def _draw_claim(ax: Axes, level: float, name: str) -> None:
    ax.axhline(level, color=style.CLAIMED, linewidth=1.0, linestyle=(0, (5, 2)))
    ax.annotate(name, (1.008, level), xycoords=("axes fraction", "data"), va="center", fontsize=9)


def _draw_multiple(ax: Axes, rows: pd.DataFrame, colour: str) -> None:
    shown = _well_counted(rows)
    bound = rows["bound"].iloc[0]
    multiple = shown["loss"].abs() / bound
    loss = stats.Loss(shown["loss"], shown["loss_low"], shown["loss_high"])
    certified = loss.magnitude_low / bound
    if shown["exact_loss"].notna().any():
        exact_multiple = shown["exact_loss"].abs() / bound
        ax.plot(
            shown["x"],
            exact_multiple,
            color=style.SKY,
            linewidth=1.8,
            label="exact for the release",
        )
    dot = 3 * max(min(1.0, 100 / len(shown)), 0.4)
    ax.plot(shown["x"], multiple, "o", markersize=dot, color=colour, label="from the draws")
    ax.legend(loc="upper right", ncols=2, handlelength=1.2, borderaxespad=0.2)
    worst = certified.idxmax()
    if certified[worst] > 1:
        place = f"{shown['x'][worst]}".replace("-", "−")
        ax.annotate(
            f"certified from the draws: at least {certified[worst]:.2f} ε at x = {place}",
            (shown["x"][worst], multiple[worst]),
            xytext=(0.02, 0.83),
            textcoords="axes fraction",
            va="top",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.GREY},
        )
    _draw_claim(ax, 1, "ε")
    ax.set_yscale("log")
    ax.set_ylim(0.05, max(25, 4 * multiple.max()))
    ax.yaxis.set_major_locator(FixedLocator([0.1, 0.3, 1, 3, 10, 30, 100]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("output x")


def _well_counted(rows: pd.DataFrame) -> pd.DataFrame:
    rarer = rows[["count_x", "count_next"]].min(axis=1)
    return rows[rarer >= max(1, min(_WELL_COUNTED, rarer.max() / 4))]


@style.applied()
def diagnosis_overview(rows: pd.DataFrame) -> Figure:
    """Every layer of every trace at a glance: chi-square above, z of the mean below.

    A column of panels per variant, a row of cells per layer from the bottom up, a column of cells
    per source and scale. The earliest faulty layer of a trace is framed.

    Parameters
    ----------
    rows : DataFrame
        ``results/opendp/layers.tsv``.
    """
    variants = list(dict.fromkeys(rows["variant"]))
    traces = list(dict.fromkeys(zip(rows["entropy"], rows["scale"], strict=True)))
    figure = Figure(figsize=(3.2 + 0.16 * len(traces) * len(variants), 6.4))
    axes = figure.subplots(2, len(variants), sharex=True, sharey=True, squeeze=False)
    with np.errstate(divide="ignore"):
        strength = np.minimum(-np.log10(rows["p_pooled"]), _STRONGEST)
    panels = (
        (strength, _STRONGEST, "−log₁₀ p of chi-square"),
        (rows["mean_z"].abs(), 12, "|z| of the mean"),
    )
    for line, (values, top, name) in zip(axes, panels, strict=True):
        for ax, variant in zip(line, variants, strict=True):
            chosen = rows["variant"] == variant
            mesh = _draw_cells(ax, rows[chosen].assign(value=values[chosen]), traces, top)
        figure.colorbar(mesh, ax=list(line), label=name, pad=0.01, extend="max")
    for ax, variant in zip(axes[0], variants, strict=True):
        named = diagnosis_of(rows[rows["variant"] == variant])
        ax.set_title(f"{variant}: {named}", fontsize=9)
    return figure


_STRONGEST = 20

_LAYERS = tuple(reversed(kernels.LAYERS))


def diagnosis_of(rows: pd.DataFrame) -> str:
    """The earliest faulty layers of some traces, in words."""
    earliest = rows[rows["verdict"] == layers.EARLIEST]
    traces = rows[["entropy", "scale"]].drop_duplicates()
    if earliest.empty:
        return f"no layer deviates in {len(traces)} traces"
    counts = earliest["layer"].value_counts()
    return ", ".join(f"{name} in {count} of {len(traces)}" for name, count in counts.items())


def _draw_cells(
    ax: Axes, rows: pd.DataFrame, traces: list[tuple[str, str]], top: float
) -> QuadMesh:
    grid = np.full((len(_LAYERS), len(traces)), np.nan)
    for row in rows.itertuples(index=False):
        place = _LAYERS.index(row.layer), traces.index((row.entropy, row.scale))
        grid[place] = row.value
        if row.verdict == layers.EARLIEST:
            ax.add_patch(
                Rectangle((place[1], place[0]), 1, 1, fill=False, zorder=3,
                          edgecolor=style.BLACK, linewidth=1.6)
            )  # fmt: skip
    mesh = ax.pcolormesh(grid, vmin=0, vmax=top, cmap=_HEAT, edgecolors="white", linewidth=0.4)
    ax.set_facecolor(style.PALE)
    ax.set_yticks(np.arange(len(_LAYERS)) + 0.5, _LAYERS)
    ax.set_xticks(
        np.arange(len(traces)) + 0.5,
        [f"{entropy} {scale}" for entropy, scale in traces],
        rotation=90,
        fontsize=6.5,
    )
    ax.tick_params(length=0)
    return mesh


_HEAT = LinearSegmentedColormap.from_list("deviation", ["#FFFFFF", style.ORANGE, style.FAULTY])
