"""Figures of the sampler hierarchy, layer by layer (Gerolimetto Fabrello et al. 2026, Sec. IV on)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import exp
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter

from noiseaudit import samplefiles, stats, tables
from noiseaudit.cks20 import exact, layers, reference
from noiseaudit.figures import style

_INTERVAL = 0.0027
"""Error probability of the bars: 3σ of a normal law."""


@dataclass(frozen=True)
class Trace:
    """A trace to draw: counted, with its rows of ``layers.tsv``."""

    variant: str
    scale: Fraction
    tally: layers.Tally
    rows: pd.DataFrame

    @classmethod
    def read(cls, path: Path, table: Path) -> Trace:
        """Count a trace file and find its rows in ``layers.tsv``.

        Raises
        ------
        DamagedFile
            If either is damaged.
        ValueError
            If the table has no rows of this trace.
        """
        job = samplefiles.read_provenance(path)["job"]
        scale = Fraction(job["scale"])
        tally = layers.Tally.of(samplefiles.read_columns(path), scale, job["draws"])
        rows = tables.read_table(table, text=["scale"])
        own = {name: job[name] for name in ("variant", "entropy", "scale")}
        return cls(job["variant"], scale, tally, tables.select(rows, **own, samples=job["draws"]))

    @property
    def colour(self) -> str:
        return style.colour_of(self.variant)

    def row(self, layer: str) -> pd.Series:
        return self.rows.set_index("layer").loc[layer]


@style.applied()
def uniform(trace: Trace) -> Figure:
    """The two uniform layers (Sec. VI-A): residuals of every byte, counts of every integer below d."""
    figure = Figure(figsize=(10, 3.6))
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    law = layers.uniform(256)
    counts = law.inside(trace.tally.histograms["uniform_bits"])
    _draw_residuals(
        left, np.arange(256), counts, trace.tally.draws * law.probabilities, style.FIXED
    )
    left.set_title("uniform_bits: the bytes of the entropy source")
    left.set_xlabel("byte")
    left.set_ylabel("(draws − expected) / σ")
    left.set_xlim(-3, 258)
    left.set_ylim(-4.9, 4.9)
    d = trace.scale.numerator
    law = layers.uniform(d)
    counts = law.inside(trace.tally.histograms["uniform_below"])
    expected = trace.tally.draws * law.probabilities
    percent = 100 * (counts / expected - 1)
    sigma = 100 / np.sqrt(expected) * np.sqrt(1 - law.probabilities)
    right.axhline(0, color=style.CLAIMED, linewidth=1, linestyle=style.DASHED)
    right.errorbar(
        np.arange(counts.size), percent, 3 * sigma, fmt="o", color=style.FIXED, capsize=3
    )
    right.set_title(f"uniform_below({d}): thresholded integers")
    right.set_xlabel("integer" if d <= layers.LARGEST_UNIFORM else "bin of integers")
    right.set_ylabel("deviation from the uniform law (%)")
    reach = 1.4 * (np.abs(percent) + 3 * sigma).max()
    right.set_ylim(-reach, reach)
    right.annotate(
        "bars: ±3σ", (0.98, 0.03), xycoords="axes fraction", ha="right", color=style.GREY
    )
    for ax, layer in ((left, "uniform_bits"), (right, "uniform_below")):
        row = trace.row(layer)
        _remark(
            ax, f"χ² = {row['chi2']:.0f} on {row['dof']} degrees of freedom, p = {row['p']:.2f}"
        )
    style.label_panels([left, right])
    return figure


_FEWEST = 5
"""Expected draws from which a residual is drawn."""


def _draw_residuals(
    ax: Axes, x: np.ndarray, counts: np.ndarray, expected: np.ndarray, colour: str
) -> None:
    """Residuals in standard deviations, where enough draws are expected."""
    shown = expected >= _FEWEST
    residual = (counts[shown] - expected[shown]) / np.sqrt(expected[shown])
    small = np.abs(residual).max() < 5
    style.shade_sigmas(ax, {3: 3, 1: 1} if small else {3: 3})
    ax.vlines(x[shown], 0, residual, color=colour, linewidth=1.1)
    if small:
        ax.set_ylim(-5, 5)


def _remark(ax: Axes, text: str, colour: str = style.BLACK) -> None:
    ax.annotate(text, (0.015, 0.97), xycoords="axes fraction", va="top", fontsize=8, color=colour)


@style.applied()
def bernoulli_exp(traces: Sequence[Trace]) -> Figure:
    """The exponential coins (the paper's Fig. 4, and Fig. 7 for the corrections), a row per variant.

    Left, how often the coin of each first proposal ``u`` held, relative to ``e^−u/s``, with the
    variant's exact law; right, what is left of it over all proposals.
    """
    figure = Figure(figsize=(10, 0.5 + 3.2 * len(traces)))
    axes = figure.subplots(len(traces), 2, width_ratios=[1.7, 1], squeeze=False)
    for (left, right), trace in zip(axes, traces, strict=True):
        _draw_coins(left, trace)
        _draw_success(right, trace)
    reach = max(abs(limit) for ax in axes[:, 0] for limit in ax.get_ylim())
    for ax in axes[:, 0]:
        ax.set_ylim(-reach, reach)
    widest = max(abs(limit) for ax in axes[:, 1] for limit in ax.get_xlim())
    for ax in axes[:, 1]:
        ax.set_xlim(-widest, widest)
    axes[-1, 0].set_xlabel("first proposal u: the coin should hold with probability $e^{-u/s}$")
    axes[-1, 1].set_xlabel("success probability − theory, in σ")
    style.label_panels([ax for line in axes for ax in line])
    return figure


def _draw_coins(ax: Axes, trace: Trace) -> None:
    d = trace.scale.numerator
    theory, own = (layers.coarse_coins(d, variant) for variant in ("fixed", trace.variant))
    held, thrown = trace.tally.coins[:, 1], trace.tally.coins.sum(axis=1)
    interval = stats.clopper_pearson(held, thrown, _INTERVAL)
    share = held / thrown
    x = np.arange(theory.size)
    ax.axhline(0, color=style.CLAIMED, linewidth=1, linestyle=style.DASHED)
    ax.stairs(
        100 * (own / theory - 1),
        np.arange(theory.size + 1) - 0.5,
        baseline=None,
        color=style.SKY,
        linewidth=1.8,
        label=f"exact for {trace.variant}",
    )
    ax.errorbar(
        x,
        100 * (share / theory - 1),
        100 * np.array([share - interval.low, interval.high - share]) / theory,
        fmt="o",
        markersize=3.5,
        linewidth=1,
        capsize=2,
        color=trace.colour,
        label=f"{trace.tally.draws:,} draws, ±3σ",
    )
    ax.legend(loc="lower left", ncols=2)
    ax.set_title(f"bernoulli_exp1, {trace.variant} (scale {trace.scale})")
    ax.set_ylabel("deviation from $e^{-u/s}$ (%)")


def _draw_success(ax: Axes, trace: Trace) -> None:
    """z of every coin with a ±3σ band; the two exponential ones are the same coin here."""
    coins = [layer for layer in reference.LAYERS if layer.startswith("bernoulli")]
    known = [layer for layer in coins if layer in set(trace.rows["layer"])]
    z = np.array([trace.row(layer)["mean_z"] for layer in known])
    expected = np.array([trace.row(layer)["expected_mean_z"] for layer in known])
    y = np.arange(len(known))
    ax.axvspan(-3, 3, color=style.PALE, alpha=0.6, linewidth=0)
    ax.axvline(0, color=style.GREY, linewidth=0.6)
    ax.plot(expected, y, "|", color=style.SKY, markersize=16, markeredgewidth=2.2)
    ax.plot(z, y, "o", color=trace.colour, markersize=5)
    names = []
    for value, layer in zip(z, known, strict=True):
        row = trace.row(layer)
        text = f"{layer}\nz = {value:+.2f}"
        if layer.startswith("bernoulli_exp"):
            text += f", χ² = {row['chi2']:.1f}\n{_p(row['p'])}, p̂ = {row['mean']:.4f}"
        names.append(text.replace("-", "−"))
    ax.set_yticks(y, names, linespacing=1.3)
    ax.set_ylim(-0.6, len(known) - 0.3)
    reach = max(6.0, 1.7 * np.abs(z).max())
    ax.set_xlim(-reach, reach)
    theory = trace.row("bernoulli_exp1")["theory_mean"]
    ax.set_title(f"over all proposals (theory {theory:.4f})")
    ax.annotate(
        "band: ±3σ; tick: expected",
        (0.98, 0.02),
        xycoords="axes fraction",
        ha="right",
        fontsize=7,
        color=style.GREY,
    )


@style.applied()
def fits(traces: Sequence[Trace], shown: Sequence[str]) -> Figure:
    """Layers against their laws, a column per trace: counts on a log axis, residuals under them.

    With the geometric layers of ``faulty`` this is the paper's Fig. 5, with those of the corrections
    and the final noise its Fig. 8.
    """
    wide = len(traces) == 1
    figure = Figure(
        figsize=(5.2 * len(shown), 5) if wide else (5.4 * len(traces), 3.5 * len(shown))
    )
    grid = figure.add_gridspec(*((1, len(shown)) if wide else (len(shown), len(traces))))
    tops = []
    for place, layer in enumerate(shown):
        for column, trace in enumerate(traces):
            cell = grid[0, place] if wide else grid[place, column]
            pair = cell.subgridspec(2, 1, height_ratios=[1.7, 1])
            top, bottom = pair.subplots(sharex=True)
            _draw_fit(top, bottom, trace, layer)
            tops.append(top)
    style.label_panels(tops)
    return figure


def _draw_fit(top: Axes, bottom: Axes, trace: Trace, layer: str) -> None:
    law = layers.laws(trace.scale, "fixed", trace.tally.draws)[layer]
    counts = law.inside(trace.tally.histograms[layer])
    x = np.arange(law.lowest, law.highest + 1)
    expected = trace.tally.draws * law.probabilities
    edges = np.append(x - 0.5, x[-1] + 0.5)
    top.stairs(
        np.maximum(counts, 0.1), edges, baseline=0.1, fill=True, color=trace.colour, alpha=0.4
    )
    top.plot(x, expected, color=style.CLAIMED, linewidth=1)
    top.set_yscale("log")
    top.set_ylim(0.5, 30 * expected.max())
    top.yaxis.set_major_locator(LogLocator(numticks=6))
    top.yaxis.set_minor_formatter(NullFormatter())
    top.set_title(f"{layer}, {trace.variant}")
    top.set_ylabel("draws")
    row = trace.row(layer)
    verdict = f"χ² = {row['chi2']:.1f} on {row['dof']} ({_p(row['p'])}), {trace.variant} law: "
    verdict += f"{row['expected_chi2']:.0f} ± {row['expected_chi2_sd']:.0f}"
    moments = f"mean z = {row['mean_z']:+.2f} ({_p(row['mean_p'])}), {trace.variant} law: "
    moments += f"{row['expected_mean_z']:+.2f} ± 1"
    if np.isfinite(row["published_mean_z"]):
        moments += f", printed {row['published_mean_z']:+.2f}"
    if np.isfinite(row["published_chi2"]):
        verdict += f", printed {row['published_chi2']:.4g}"
    _remark(top, f"{verdict}\n{moments}".replace("-", "−"), trace.colour)
    _draw_residuals(bottom, x, counts, expected, trace.colour)
    reach = x[expected >= _FEWEST]
    bottom.set_xlim(reach[0] - 1, reach[-1] + 1)
    bottom.set_ylabel("(draws − law) / σ")
    bottom.set_xlabel("output; line above: the law as it should be")


def _p(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.001 else f"p = {p:.0e}" if p > 0 else "p < 5e−324"


_ARGUMENTS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))

_STEPS = 14


@style.applied()
def taylor_bracket() -> Figure:
    """Partial sums closing in on e^−x (the paper's Fig. 6), and how fast the coin is decided."""
    figure = Figure(figsize=(10, 3.8))
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    x = Fraction(1)
    below, above = map(np.array, zip(*islice(_brackets(x), 8), strict=True))
    step = np.arange(1, below.size + 1)
    left.fill_between(step, 0, below, step="mid", color=style.FIXED, alpha=0.25, linewidth=0)
    left.fill_between(step, above, 1, step="mid", color=style.FAULTY, alpha=0.25, linewidth=0)
    left.step(step, above, where="mid", color=style.FAULTY)
    left.step(step, below, where="mid", color=style.FIXED)
    left.axhline(exp(-x), color=style.CLAIMED, linewidth=1, linestyle=style.DASHED)
    left.annotate("$e^{-1}$", (1.005, exp(-x)), xycoords=("axes fraction", "data"), va="center")
    left.annotate("H: u at or above is false", (4.4, 0.72), color=style.FAULTY, ha="center")
    left.annotate("L: u below is true", (5.2, 0.14), color=style.FIXED, ha="center")
    left.annotate("undecided", (1.6, 0.2), ha="center", fontsize=8, color=style.GREY)
    left.set_xlim(0.5, step[-1] + 0.5)
    left.set_ylim(0, 1)
    left.set_xlabel("terms of the series")
    left.set_ylabel("uniform u, and bracket of $e^{-x}$")
    left.set_title("The bracket tightens (x = 1)")
    for x, colour in zip(_ARGUMENTS, (style.BLUE, style.ORANGE, style.BLACK), strict=True):
        width = [above - below for below, above in islice(exact.brackets(x, "taylor"), _STEPS)]
        right.plot(
            range(1, _STEPS + 1), [float(w) for w in width], "o-", color=colour, markersize=3
        )
        right.annotate(
            f"x = {float(x):g}", (_STEPS, float(width[-1])), xytext=(6, 0),
            textcoords="offset points", va="center", color=colour, fontsize=8,
        )  # fmt: skip
    right.axhline(2.0**-128, color=style.GREY, linewidth=1, linestyle=style.DASHED)
    right.annotate(
        "$2^{-128}$: one step of u", (1, 2.0**-128), xytext=(0, 4), textcoords="offset points",
        fontsize=8, color=style.GREY,
    )  # fmt: skip
    right.set_yscale("log")
    right.set_ylim(1e-41, 3)
    right.set_xlim(0.5, _STEPS + 2)
    right.set_xlabel("terms of the series")
    right.set_ylabel("chance that the coin is undecided: H − L")
    right.set_title("A few terms decide almost every coin")
    style.label_panels([left, right])
    return figure


def _brackets(x: Fraction) -> list[tuple[float, float]]:
    pairs = islice(exact.brackets(x, "taylor"), _STEPS)
    return [(float(below), float(above)) for below, above in pairs]


_PLACES = {
    "discrete_laplace": (1.0, 6),
    "geometric_fast": (1.0, 5),
    "geometric_slow": (1.75, 4),
    "bernoulli_exp": (1.0, 3),
    "bernoulli_exp1": (1.0, 2),
    "bernoulli_rational": (1.0, 1),
    "uniform_below": (1.75, 0),
    "bernoulli_standard": (0.12, 0),
    "uniform_bits": (1.0, -1),
}
"""Where each layer stands in the call graph, in boxes."""

_TINTS = {layers.HEALTHY: style.PALE, layers.EARLIEST: style.FAULTY, layers.DOWNSTREAM: "#F3C6A5"}


@style.applied()
def hierarchy(rows: pd.DataFrame) -> Figure:
    """The call graph (the paper's Fig. 3), a column per variant, coloured by the diagnosis.

    Parameters
    ----------
    rows : DataFrame
        Of ``layers.tsv``: one source of entropy at one scale.
    """
    variants = list(dict.fromkeys(rows["variant"]))
    figure = Figure(figsize=(4.6 * len(variants), 6.6))
    axes = figure.subplots(1, len(variants), squeeze=False)[0]
    for ax, variant in zip(axes, variants, strict=True):
        chosen = tables.select(rows, variant=variant)
        _draw_graph(ax, chosen.set_index("layer"), variant)
        named = " ".join(chosen["layer"][chosen["verdict"] == layers.EARLIEST])
        ax.set_title(
            f"{variant}: {named} deviates first" if named else f"{variant}: no layer deviates"
        )
    figure.supxlabel(
        "z of the mean and pooled p of every layer's first output in each draw; arrows: calls",
        fontsize=8, color=style.GREY,
    )  # fmt: skip
    return figure


def _draw_graph(ax: Axes, rows: pd.DataFrame, variant: str) -> None:
    calls = layers.CALLS_OF_TAYLOR if variant == "taylor" else layers.CALLS
    for layer in rows.index:
        for callee in calls[layer]:
            *route, last, tip = _ROUTES.get((layer, callee)) or _straight(layer, callee)
            ax.plot(*zip(*route, last, strict=True), color=style.GREY, linewidth=0.9)
            head = {"arrowstyle": "-|>", "color": style.GREY, "linewidth": 0.9}
            ax.annotate("", tip, xytext=last, arrowprops=head | {"shrinkA": 0, "shrinkB": 0})
    for layer, row in rows.iterrows():
        _draw_box(ax, layer, row)
    ax.set_xlim(-0.32, 2.28)
    ax.set_ylim(-1.5, 6.5)
    ax.axis("off")


_WIDE, _HIGH = 0.37, 0.27
"""Half the width and height of a box."""

_ROUTES = {
    ("discrete_laplace", "bernoulli_standard"): [(1 - _WIDE, 6), (0.12, 6), (0.12, _HIGH)],
    ("geometric_fast", "uniform_below"): [
        (1 + _WIDE, 5.1),
        (2.22, 5.1),
        (2.22, 0),
        (1.75 + _WIDE, 0),
    ],
    ("geometric_fast", "geometric_slow"): [(1 + _WIDE, 4.9), (1.75, 4.9), (1.75, 4 + _HIGH)],
    ("geometric_slow", "bernoulli_exp"): [(1.75, 4 - _HIGH), (1.75, 3), (1 + _WIDE, 3)],
    ("bernoulli_rational", "uniform_below"): [(1 + _WIDE, 1), (1.75, 1), (1.75, _HIGH)],
    ("uniform_below", "uniform_bits"): [(1.75, -_HIGH), (1.75, -1), (1 + _WIDE, -1)],
    ("bernoulli_standard", "uniform_bits"): [(0.12, -_HIGH), (0.12, -1), (1 - _WIDE, -1)],
}
"""Corners of the calls that do not go straight down."""


def _straight(layer: str, callee: str) -> list[tuple[float, float]]:
    (x, y), (_, below) = _PLACES[layer], _PLACES[callee]
    return [(x, y - _HIGH), (x, y - _HIGH - 0.01), (x, below + _HIGH)]


def _draw_box(ax: Axes, layer: str, row: pd.Series) -> None:
    x, y = _PLACES[layer]
    earliest = row["verdict"] == layers.EARLIEST
    ax.add_patch(
        FancyBboxPatch(
            (x - _WIDE, y - _HIGH),
            2 * _WIDE,
            2 * _HIGH,
            boxstyle="round,pad=0,rounding_size=0.06",
            mutation_aspect=2,
            facecolor=_TINTS[row["verdict"]],
            edgecolor=style.BLACK if earliest else style.GREY,
            linewidth=2.4 if earliest else 0.8,
            zorder=2,
        )
    )
    centred = {"ha": "center", "va": "center", "zorder": 3}
    centred["color"] = "white" if earliest else style.BLACK
    weight = "bold" if earliest else "normal"
    ax.text(x, y + 0.09, layer, fontsize=8.5, fontweight=weight, **centred)
    numbers = f"z {row['mean_z']:+.1f},  {_p(row['p_pooled'])}".replace("-", "−")
    ax.text(x, y - 0.12, numbers, fontsize=7.5, **centred)


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
    figure = Figure(figsize=(3.2 + max(3.6, 0.16 * len(traces)) * len(variants), 6.4))
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
    frame = Rectangle((0, 0), 1, 1, fill=False, edgecolor=style.BLACK, linewidth=1.6)
    uncalled = Rectangle((0, 0), 1, 1, facecolor=style.PALE)
    figure.legend(
        [frame, uncalled],
        ["earliest layer that deviates, by either test", "never called"],
        loc="outside lower center",
        ncols=2,
    )
    for ax in axes[1]:
        _name_sources(ax, [entropy for entropy, _ in traces])
    for ax, variant in zip(axes[0], variants, strict=True):
        named = diagnosis_of(rows[rows["variant"] == variant])
        ax.set_title(f"{variant}: {named}", fontsize=9)
    return figure


def _name_sources(ax: Axes, sources: list[str]) -> None:
    """Under the scales, once for all traces on one source of entropy."""
    for source in dict.fromkeys(sources):
        places = [place for place, name in enumerate(sources) if name == source]
        ax.annotate(
            source, ((places[0] + places[-1] + 1) / 2, 0), xycoords=("data", "axes fraction"),
            xytext=(0, -16), textcoords="offset points", ha="center", va="top", fontsize=7.5,
        )  # fmt: skip
        ax.axvline(places[-1] + 1, color=style.GREY, linewidth=0.6)
    ax.set_xlabel("scale, source of entropy", labelpad=20)


_STRONGEST = 20

_LAYERS = tuple(reversed(reference.LAYERS))


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
    ax.set_xticks(np.arange(len(traces)) + 0.5, [scale for _, scale in traces], fontsize=6)
    ax.tick_params(length=0)
    return mesh


_HEAT = LinearSegmentedColormap.from_list("deviation", ["#FFFFFF", style.ORANGE, style.FAULTY])
