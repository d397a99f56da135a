"""Figures of the OpenDP study (Gerolimetto Fabrello et al. 2026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from packaging.version import Version

from noiseaudit import stats, tables
from noiseaudit.cks20 import noise
from noiseaudit.figures import style
from noiseaudit.verdicts import NOTHING, VIOLATES, WRONG_LAW

_THOUSANDS = FuncFormatter(lambda count, _: f"{count / 1000:g}")

_SIGMA_BARS = 3

_WELL_COUNTED = 400
"""Draws on either side from which a pair's loss is drawn; beyond, the bars would fill the panel.
A sample that never counts so many shows what it counts best."""


def title(source: str, variant: str) -> str:
    """A source as a panel's title: ``OpenDP 0.14.1: faulty``, ``our cascade: taylor``."""
    return f"{source}: {variant}" if source.startswith("OpenDP") else f"our cascade: {variant}"


@style.applied()
def artifacts(samples: Sequence[noise.Sample]) -> Figure:
    """The periodic artifacts (the paper's Fig. 1 and 2): counts, and residuals below them.

    One column per sample, side by side: the histogram against the claimed law, and the residual of
    every output in standard deviations.
    """
    if len({sample.scale for sample in samples}) > 1:
        scales = ", ".join(str(sample.scale) for sample in samples)
        raise ValueError(f"samples of scales {scales} found, of one scale expected")
    figure = Figure(figsize=(4.6 * len(samples), 5.2))
    axes = figure.subplots(
        2, len(samples), sharex=True, sharey="row", height_ratios=[1.7, 1], squeeze=False
    )
    for (top, bottom), sample in zip(axes.T, samples, strict=True):
        _draw_counts(top, sample)
        _draw_residuals(bottom, sample)
    axes[0, 0].set_ylabel("draws per output (thousands)")
    axes[1, 0].set_ylabel("(draws − claimed) / σ")
    style.label_panels(list(axes[0]))
    return figure


def _draw_counts(ax: Axes, sample: noise.Sample) -> None:
    reach = _reach(sample)
    ax.set_title(title(sample.source, sample.variant))
    _draw_steps(ax, sample)
    ax.set_xlim(-reach, reach)
    ax.set_ylim(0, 1.12 * sample.expected.max())
    ax.yaxis.set_major_formatter(_THOUSANDS)
    ax.annotate(
        "claimed law",
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


def _draw_steps(ax: Axes, sample: noise.Sample, filled: bool = True) -> None:
    counts, edges = sample.histogram.window, np.append(sample.x - 0.5, sample.x[-1] + 0.5)
    colour = style.colour_of(sample.variant)
    if filled:
        ax.stairs(counts, edges, fill=True, color=colour, alpha=0.35, linewidth=0)
    ax.stairs(counts, edges, color=colour, linewidth=0.8)
    ax.plot(sample.x, sample.expected, color=style.CLAIMED, linewidth=1.0)


def _draw_residuals(ax: Axes, sample: noise.Sample) -> None:
    shown = np.abs(sample.x) <= _reach(sample)
    residual = (sample.histogram.window - sample.expected) / np.sqrt(sample.expected)
    colour = style.colour_of(sample.variant)
    style.shade_sigmas(ax, {3: 3, 1: -1})
    ax.vlines(sample.x[shown], 0, residual[shown], color=colour, linewidth=1.1)
    worst = np.argmax(np.abs(np.where(shown, residual, 0)))
    ax.annotate(
        f"largest: {residual[worst]:+.1f}σ at {sample.x[worst]:+d}".replace("-", "−"),
        (0.015, 0.94),
        xycoords="axes fraction",
        va="top",
        fontsize=8,
        color=colour,
    )
    ax.set_xlabel("output")


def _reach(sample: noise.Sample) -> int:
    """Outputs drawn: four scales on either side hold 98 % of the draws."""
    return int(np.ceil(4 * sample.scale))


@style.applied()
def plrv(losses: pd.DataFrame) -> Figure:
    """The privacy loss of every output (the paper's Fig. 9), one row per source.

    Left, ``ln P(x)/P(x+1)`` with 3σ bars between the claimed bounds ``±1/scale``; right, its size
    as a multiple of the claimed epsilon, on a log axis.

    Parameters
    ----------
    losses : DataFrame
        Rows of ``results/opendp/plrv.tsv`` at one scale.
    """
    sources = list(dict.fromkeys(losses["source"]))
    figure = Figure(figsize=(11, 2.5 * len(sources)))
    axes = figure.subplots(
        len(sources), 2, sharex=True, sharey="col", width_ratios=[1.25, 1], squeeze=False
    )
    for (left, right), source in zip(axes, sources, strict=True):
        rows = tables.select(losses, source=source)
        scale = rows["scale"].iloc[0]
        variant = noise.variant_of_source(source, scale)
        left.set_title(f"{title(source, variant)} (scale {scale:g})")
        _draw_signed_loss(left, rows, style.colour_of(variant))
        _draw_multiple(right, rows, variant)
        left.set_ylabel("ln P(x) / P(x+1)")
        right.set_ylabel("|loss| / claimed ε")
    for ax in axes[-1]:
        ax.set_xlabel("output x")
    style.label_panels(list(axes[:, 0]))
    return figure


def _draw_signed_loss(ax: Axes, rows: pd.DataFrame, colour: str) -> None:
    bound = rows["bound"].iloc[0]
    shown = _well_counted(rows)
    bars = _SIGMA_BARS * noise.loss_sd(shown["count_x"], shown["count_next"])
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
        f"claimed ε = {bound:.3g}; bars: ±3σ; {len(shown)} outputs drawn often enough\n"
        f"{int((~inside).sum())} of them beyond ε by over 3σ, {int((~rows['within_3sigma']).sum())} of "
        f"all {len(rows)}",
        (0.02, 0.975),
        xycoords="axes fraction",
        va="top",
        fontsize=8,
        color=colour,
    )


def _draw_claim(ax: Axes, level: float, name: str) -> None:
    ax.axhline(level, color=style.CLAIMED, linewidth=1.0, linestyle=style.DASHED)
    ax.annotate(name, (1.008, level), xycoords=("axes fraction", "data"), va="center", fontsize=9)


def _draw_multiple(ax: Axes, rows: pd.DataFrame, variant: str) -> None:
    colour = style.colour_of(variant)
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
            label=f"exact for {variant}",
        )
    dot = 3 * max(min(1.0, 100 / len(shown)), 0.4)
    ax.plot(shown["x"], multiple, "o", markersize=dot, color=colour, label="from the draws")
    below = multiple < _LEAST_MULTIPLE
    ax.plot(shown["x"][below], np.full(below.sum(), 1.12 * _LEAST_MULTIPLE), "v", color=colour,
            markersize=dot + 1)  # fmt: skip
    ax.legend(loc="upper right", ncols=2, handlelength=1.2, borderaxespad=0.2)
    worst = certified.idxmax()
    if certified[worst] > 1:
        place = f"{shown['x'][worst]}".replace("-", "−")
        ax.annotate(
            f"best single output, certified: at least {certified[worst]:.2f} ε at x = {place}",
            (shown["x"][worst], multiple[worst]),
            xytext=(0.02, 0.83),
            textcoords="axes fraction",
            va="top",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.GREY},
        )
    _draw_claim(ax, 1, "ε")
    ax.set_yscale("log")
    ax.set_ylim(_LEAST_MULTIPLE, max(25, 4 * multiple.max()))
    ax.yaxis.set_major_locator(FixedLocator([0.1, 0.3, 1, 3, 10, 30, 100]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


_LEAST_MULTIPLE = 0.05
"""Of the claimed epsilon, where the axis ends; what is less is a triangle there."""


def _well_counted(rows: pd.DataFrame) -> pd.DataFrame:
    rarer = rows[["count_x", "count_next"]].min(axis=1)
    return rows[rarer >= max(1, min(_WELL_COUNTED, rarer.max() / 4))]


_REACH = 2.6
"""Scales on either side that relative deviations are drawn over; beyond, counts are too few."""


@style.applied()
def scale_and_source(
    scaled: Sequence[noise.Sample],
    sourced: Mapping[str, noise.Sample],
    centred: Sequence[noise.Sample],
) -> Figure:
    """Relative deviations from the law (the paper's Sec. III-B): what moves the artifacts, what not.

    Columns: the faulty cascade at several scales, with outputs in units of the scale; on several
    sources of entropy; a faulty wheel around several centres.
    """
    figure = Figure(figsize=(14, 1.4 + 1.25 * max(len(scaled), len(sourced))))
    columns = figure.subfigures(1, 3)
    panels = [
        ("Spacing follows the scale", "output / scale", [(f"scale {s.scale}", s) for s in scaled]),
        ("The source does not matter", "output", list(sourced.items())),
        ("Place follows the centre", "output", [(f"centre {s.centre}", s) for s in centred]),
    ]
    tops = []
    for column, (name, unit, samples) in zip(columns, panels, strict=True):
        axes = column.subplots(len(samples), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for ax, (label, sample) in zip(axes, samples, strict=True):
            _draw_relative(ax, sample, label, in_scales=unit != "output")
        axes[0].set_title(f"{name} ({samples[0][1].source})")
        axes[-1].set_xlabel(unit)
        column.supylabel("deviation from the claimed law (%)", fontsize=9)
        tops.append(axes[0])
    style.label_panels(tops)
    return figure


def _draw_relative(ax: Axes, sample: noise.Sample, label: str, in_scales: bool) -> None:
    shown = np.abs(sample.x) <= _REACH * sample.scale
    x, expected = sample.x[shown], sample.expected[shown]
    deviation = 100 * (sample.histogram.window[shown] / expected - 1)
    sigma = 100 / np.sqrt(expected)
    place = x / float(sample.scale) if in_scales else x + sample.centre
    ax.fill_between(place, -3 * sigma, 3 * sigma, color=style.PALE, step="mid", linewidth=0)
    ax.axhline(0, color=style.GREY, linewidth=0.6)
    ax.vlines(place, 0, deviation, color=style.FAULTY, linewidth=max(0.5, 30 / x.size))
    ax.plot(place, deviation, "o", color=style.FAULTY, markersize=max(1, min(3.5, 200 / x.size)))
    ax.annotate("±3σ", (place[-1], -3 * sigma[-1]), xytext=(4, 0), textcoords="offset points",
                va="center", fontsize=7, color=style.GREY, annotation_clip=False)  # fmt: skip
    ax.margins(y=0.16)
    seen = np.any(np.abs(deviation) > 3 * sigma)
    label += "" if seen else ": within 3σ at this N"
    ax.annotate(label, (0.012, 0.95), xycoords="axes fraction", va="top", fontweight="bold")


@style.applied()
def bin_width(sample: noise.Sample) -> Figure:
    """Coarse bins hide the artifacts (the paper's Sec. III-B): counts and residuals by bin width."""
    widths = sorted({1, *(max(round(float(sample.scale) * share), 1) for share in _SHARES)})
    figure = Figure(figsize=(3.6 * len(widths), 5))
    axes = figure.subplots(
        2, len(widths), sharex=True, sharey="row", height_ratios=[1.6, 1], squeeze=False
    )
    for (top, bottom), width in zip(axes.T, widths, strict=True):
        _draw_binned(top, bottom, sample, width)
        bottom.set_xlabel("output")
    axes[0, 0].set_ylabel("draws per output (thousands)")
    axes[1, 0].set_ylabel("(draws − claimed) / σ")
    style.label_panels(list(axes[0]))
    return figure


_SHARES = (0.2, 0.5, 1)
"""Widths of bins, as shares of the scale."""


def binned(sample: noise.Sample, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of bins that begin at the multiples of ``width``, and counts and claimed ones in them."""
    beside = sample.x[-1] // width
    first = sample.x.size // 2 - beside * width
    counts, expected = (
        values[first : first + 2 * beside * width].reshape(-1, width).sum(axis=1)
        for values in (sample.histogram.window, sample.expected)
    )
    return width * np.arange(-beside, beside + 1) - 0.5, counts, expected


def _draw_binned(top: Axes, bottom: Axes, sample: noise.Sample, width: int) -> None:
    edges, counts, expected = binned(sample, width)
    middles = (edges[:-1] + edges[1:]) / 2
    colour = style.colour_of(sample.variant)
    top.stairs(counts / width, edges, fill=True, color=colour, alpha=0.35)
    top.stairs(counts / width, edges, color=colour, linewidth=0.8)
    top.stairs(expected / width, edges, color=style.CLAIMED, linewidth=1)
    top.yaxis.set_major_formatter(_THOUSANDS)
    top.set_title(f"bins {width} wide" if width > 1 else "a bin for each output")
    test = stats.chi_square_pooled(counts, expected * (counts.sum() / expected.sum()))
    chance = f"p = {test.pvalue:.2g}" if test.pvalue > 0 else "p < 5e−324"
    top.annotate(
        f"χ² = {test.statistic:.0f} on {test.dof}\n{chance}".replace("-", "−"),
        (0.02, 0.97),
        xycoords="axes fraction",
        va="top",
        fontsize=8,
        color=colour,
    )
    style.shade_sigmas(bottom, {3: 3, 1: -1})
    residual = (counts - expected) / np.sqrt(expected)
    bottom.vlines(middles, 0, residual, color=colour, linewidth=min(4, 0.9 + 0.35 * width))
    reach = _reach(sample)
    bottom.set_xlim(-reach, reach)


@style.applied()
def performance(times: pd.DataFrame, growth: pd.DataFrame) -> Figure:
    """Time a draw of every sampler (the paper's Sec. IX-A), and its growth with the scale.

    Parameters
    ----------
    times, growth : DataFrame
        ``performance.tsv`` and ``growth.tsv``.
    """
    figure = Figure(figsize=(13, 4.4))
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.5, 1, 1])
    _draw_times(left, times)
    over_scale = growth[growth["over"] == "scale"]
    for sampler, rows in over_scale.groupby("sampler", sort=False):
        colour = _colour_of_sampler(sampler)
        s = rows["scale"].astype(float)
        middle.errorbar(
            s, rows["microseconds_per_draw"], 3 * rows["standard_error"],
            fmt="o-", color=colour, markersize=4, capsize=2,
        )  # fmt: skip
        middle.annotate(
            sampler, (s.iloc[0], rows["microseconds_per_draw"].iloc[0]), xytext=(0, 7),
            textcoords="offset points", color=colour,
        )  # fmt: skip
    middle.set(xscale="log", yscale="log", xlabel="scale", ylabel="microseconds a draw")
    slowest = over_scale["microseconds_per_draw"].max()
    middle.set_ylim(over_scale["microseconds_per_draw"].min() / 4, 4 * slowest)
    middle.set_title("Time by scale")
    for sampler, reader, rise in (
        ("cascade fixed", "the cascade", 26),
        ("inversion", "inversion", -12),
    ):
        rows = over_scale[over_scale["sampler"] == sampler]
        if rows.empty:
            continue  # beyond the largest scale of inversion
        s, colour = rows["scale"].astype(float), _colour_of_sampler(sampler)
        right.plot(s, rows["bytes_per_draw"], "o-", color=colour, markersize=4)
        right.annotate(
            f"read by {reader}", (s.iloc[-1], rows["bytes_per_draw"].iloc[-1]), xytext=(0, rise),
            textcoords="offset points", color=colour, ha="right",
        )  # fmt: skip
    needed = over_scale.drop_duplicates("scale")
    s = needed["scale"].astype(float)
    right.plot(s, needed["entropy_bytes"], "-", color=style.GREY)
    right.annotate("entropy of the law", (s.iloc[0], needed["entropy_bytes"].iloc[0]),
                   xytext=(0, 14), textcoords="offset points", color=style.GREY)  # fmt: skip
    right.set(xscale="log", xlabel="scale", ylabel="bytes of entropy a draw")
    right.set_ylim(0, 1.25 * over_scale["bytes_per_draw"].max())
    right.set_title("Entropy read, and needed")
    style.label_panels([left, middle, right])
    return figure


def _draw_times(ax: Axes, times: pd.DataFrame) -> None:
    order = times.iloc[::-1].reset_index(drop=True)
    colours = [_colour_of_sampler(sampler) for sampler in order["sampler"]]
    mean, error = order["microseconds_per_draw"], order["standard_error"]
    for y, colour in enumerate(colours):
        ax.errorbar(mean[y], y, xerr=3 * error[y], fmt="o", color=colour, capsize=3)
        ratio = order["ratio_to_first"][y]
        ax.annotate(
            f"{mean[y]:.3g} µs, × {ratio:.3g}", (mean[y], y), xytext=(8, 5),
            textcoords="offset points", fontsize=7.5, color=colour,
        )  # fmt: skip
    ax.set_yticks(range(len(order)), order["sampler"])
    ax.set_ylim(-0.6, len(order) - 0.2)
    ax.set_xscale("log")
    ax.set_xlim(mean.min() / 2, mean.max() * 20)
    ax.set_xlabel(f"microseconds a draw at scale {order['scale'][0]} (bars: ±3 standard errors)")
    ax.set_title(f"Time a draw; × {times['sampler'].iloc[0]}'s")


_SAMPLERS = {
    "OpenDP": style.ORANGE,
    "cascade": style.FIXED,
    "reference": style.SKY,
    "inversion": style.BLACK,
}
"""Colours by the first word of a sampler's name."""


def _colour_of_sampler(sampler: str) -> str:
    return _SAMPLERS.get(sampler.split(" ", maxsplit=1)[0], style.GREY)


_DIVISORS = {3: style.PURPLE, 5: style.ORANGE, 7: style.SKY, 11: style.SKY, 4: style.GREEN}
"""A scale is coloured by the first of these that divides it, in the order of what they cost."""


@style.applied()
def realised_epsilon(
    realised: pd.DataFrame, composition: pd.DataFrame, releases: pd.DataFrame
) -> Figure:
    """What was really paid, which the paper leaves open: exact, and certified on the wheels.

    Parameters
    ----------
    realised, composition, releases : DataFrame
        ``realised_privacy.tsv``, ``composition.tsv`` and ``releases.tsv``.
    """
    figure = Figure(figsize=(14, 5))
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.6, 1, 1])
    single = realised[realised["sensitivity"] == 1]
    _draw_realised(left, single, releases)
    paid = single[single["realised_delta"] > 1e-12]
    middle.scatter(paid["scale"], paid["realised_delta"], s=4, color=_by_divisor(paid["scale"]))
    middle.set(xscale="log", yscale="log", xlabel="scale", ylabel="realised δ at the claimed ε")
    middle.set_title("The δ on top of the claimed ε")
    middle.annotate("claimed: δ = 0", (0.03, 0.03), xycoords="axes fraction", fontsize=8)
    _draw_composition(right, composition)
    style.label_panels([left, middle, right])
    return figure


def _by_divisor(scales: pd.Series) -> list[str]:
    return [
        next((colour for d, colour in _DIVISORS.items() if scale % d == 0), style.GREY)
        for scale in scales
    ]


def _draw_realised(ax: Axes, rows: pd.DataFrame, releases: pd.DataFrame) -> None:
    ax.scatter(rows["scale"], rows["realised_epsilon"], s=5, color=_by_divisor(rows["scale"]))
    for divisor, colour in zip(
        ("3", "5", "7 or 11", "4"), dict.fromkeys(_DIVISORS.values()), strict=True
    ):
        ax.plot([], [], "o", color=colour, markersize=3.5, label=f"exact: {divisor} divides it")
    ax.plot([], [], "o", color=style.GREY, markersize=3.5, label="exact: other scales")
    ends = rows["scale"].iloc[[0, -1]].to_numpy()
    ax.plot(ends, 1 / ends, color=style.CLAIMED, linestyle=style.DASHED, label="claimed: 1 / scale")
    pairs = zip(releases["release"], releases["scale"], strict=True)
    faulty = np.array([noise.variant_of(*pair) == "faulty" for pair in pairs])
    shown = releases["realised_epsilon_low"] > 0
    for chosen, marker, colour, name in (
        (faulty & shown, "^", style.BLACK, "certified, affected wheels"),
        (~faulty & shown, "v", style.BLUE, "certified, other wheels"),
    ):
        ax.plot(
            releases["scale"][chosen],
            releases["realised_epsilon_low"][chosen],
            marker,
            color=colour,
            markerfacecolor="white",
            markersize=5,
            label=name,
        )
    ax.set(xscale="log", yscale="log", xlabel="scale", ylabel="realised ε at sensitivity 1")
    ax.set_title("What the faulty sampler pays, by its exact law")
    ax.legend(loc="lower left", ncols=2)


def _draw_composition(ax: Axes, rows: pd.DataFrame) -> None:
    # The largest scale, and the next but one below it: all of them would lie on one another.
    scales = rows["scale"].unique()[::-2][:2][::-1]
    for scale, marker in zip(scales, ("s", "o"), strict=False):
        own = rows[rows["scale"] == scale]
        for variant, colour in (("faulty", style.FAULTY), ("fixed", style.FIXED)):
            high = own[f"{variant}_epsilon_high"]
            ax.plot(own["draws"], high, marker=marker, color=colour, markersize=4)
            if variant == "faulty":
                ax.annotate(
                    f"scale {scale}", (own["draws"].iloc[-1], high.iloc[-1]), xytext=(8, -3),
                    textcoords="offset points", color=style.GREY, fontsize=8,
                )  # fmt: skip
        ax.plot(own["draws"], own["claimed_epsilon"], color=style.CLAIMED, linestyle=style.DASHED)
    ax.plot([], [], color=style.FAULTY, label="faulty")
    ax.plot([], [], color=style.FIXED, label="fixed")
    ax.plot([], [], color=style.CLAIMED, linestyle=style.DASHED, label="ε added up (δ = 0)")
    ax.set(xscale="log", yscale="log", xlabel="draws composed")
    ax.set_xlim(rows["draws"].min() / 1.5, 12 * rows["draws"].max())
    ax.set_ylabel(f"ε at δ = {rows['delta'].iloc[0]:.0e}".replace("e-0", "e−").replace("e-", "e−"))
    ax.set_title("Many draws together (upper bounds)")
    ax.legend(loc="lower right")


_VERDICTS = {
    VIOLATES: (style.FAULTY, "white"),
    WRONG_LAW: (style.ORANGE, style.BLACK),
    NOTHING: ("#DCE9F2", style.BLACK),
}
"""Fill and ink of each verdict."""


@style.applied()
def releases(rows: pd.DataFrame) -> Figure:
    """Which releases are affected, a row per release and a column per scale.

    Parameters
    ----------
    rows : DataFrame
        ``releases.tsv``.
    """
    names = sorted(rows["release"].unique(), key=Version)
    scales = sorted(rows["scale"].unique())
    figure = Figure(figsize=(1.8 + 2.2 * len(scales), 1.4 + 0.62 * len(names)))
    ax = figure.subplots()
    for row in rows.itertuples(index=False):
        x, y = scales.index(row.scale), names.index(row.release)
        fill, ink = _VERDICTS[row.verdict]
        ax.add_patch(Rectangle((x, y), 0.97, 0.94, facecolor=fill))
        multiple = row.realised_epsilon_low / row.claimed_epsilon
        paid = f"at least {multiple:.3g} ε paid" if multiple > 1 else _blind_to(row)
        ax.text(x + 0.485, y + 0.3, row.verdict, ha="center", va="center", color=ink, fontsize=8.5)
        ax.text(x + 0.485, y + 0.65, paid, ha="center", va="center", color=ink, fontsize=7.5,
                linespacing=1.25)  # fmt: skip
    samples = rows.groupby("scale")["samples"].max()
    ax.set_xlim(0, len(scales))
    ax.set_ylim(len(names), 0)
    labels = [
        f"scale {scale:g}, claimed ε = {1 / scale:.3g}\n{samples[scale]:,} draws\n{_exact(rows, scale)}"
        for scale in scales
    ]
    ax.set_xticks(np.arange(len(scales)) + 0.485, labels)
    ax.set_yticks(np.arange(len(names)) + 0.47, [noise.source_name(name) for name in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return figure


def _exact(rows: pd.DataFrame, scale: float) -> str:
    """What the faulty law pays at a scale, so that chance is not read as a difference of versions."""
    paid = rows[rows["scale"] == scale]["realised_epsilon_exact"].max() * scale
    return f"exactly {paid:.3g} ε in the faulty law" if paid > 1.0001 else ""


def _blind_to(row: tuple) -> str:
    """The p-value of the verdict, and what a sample of this size would have shown."""
    smallest = np.nanmin([row.p_pooled, row.p_folded])
    multiple = row.detectable_epsilon / row.claimed_epsilon
    return f"smallest p = {smallest:.2g}\nfrom {multiple:.3g} ε on it would be certified"
