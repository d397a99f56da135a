"""Drawn samples against the laws they should follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log
from pathlib import Path

import numpy as np
import pandas as pd
from packaging.version import Version

from noiseaudit import samplefiles, stats
from noiseaudit.cks20 import events, exact
from noiseaudit.verdicts import NOTHING, VIOLATES, WRONG_LAW

_SIGMA_BAND = 3

_FIRST_FAULTY, FIRST_FIXED = Version("0.9"), Version("0.14.2")

_FIRST_CASCADE_AT_ALL_SCALES, _CASCADE_ABOVE = Version("0.9.2"), 10

_EXTRA = ("chi2_folded", "dof_folded", "p_folded", "expected_chi2", "expected_chi2_sd")
_EXTRA += ("expected_variance", "expected_variance_sd")
"""Columns of a fit that stand behind the verdict in the table."""

SHARE = 0.25
"""Of a table's error, for each of its kinds: the losses of single outputs, those of the telling
events, the excesses of the spikes, and the tests behind the verdicts."""


@dataclass(frozen=True)
class Sample:
    """Discrete Laplace draws, counted.

    Attributes
    ----------
    source : str
        How tables and figures name where they come from: ``OpenDP 0.14.1``, ``cascade faulty``.
    variant : str
        The variant of the sampler that the source is said to contain.
    scale : Fraction
    histogram : stats.Histogram
        Of the outputs less their centre.
    centre : int
        The value that the noise was added to.
    """

    source: str
    variant: str
    scale: Fraction
    histogram: stats.Histogram
    centre: int = 0

    @classmethod
    def read(cls, path: Path) -> Sample:
        """Count a sample file of a release, or a trace of the cascade, in bounded memory.

        Raises
        ------
        DamagedFile
            If the file is damaged or not what its name says.
        ValueError
            If it holds too few draws for a single pair of outputs.
        """
        job = samplefiles.read_provenance(path)["job"]
        scale = Fraction(job["scale"])
        cutoff = window_cutoff(scale, job["draws"])
        if cutoff < 1:
            raise ValueError(f"{path}: {job['draws']} draws at scale {scale} are too few to test")
        centre = job.get("centre", 0)
        batches = (batch - centre for batch in samplefiles.read_column(path, "discrete_laplace"))
        histogram = stats.Histogram.of(batches, cutoff)
        if "release" in job:
            name, variant = source_name(job["release"]), variant_of(job["release"], scale)
        else:
            name, variant = cascade_name(job["variant"]), job["variant"]
        return cls(name, variant, scale, histogram, centre)

    @property
    def x(self) -> np.ndarray:
        """The outputs with a bin of their own, ``−cutoff … cutoff``, less the centre."""
        return np.arange(-self.histogram.cutoff, self.histogram.cutoff + 1)

    @property
    def expected(self) -> np.ndarray:
        """Expected counts of the discrete Laplace law on `x`."""
        return self.histogram.total * exact.DiscreteLaplace(self.scale).pmf(self.x)


def source_name(release: str) -> str:
    """How tables and figures name a release."""
    return f"OpenDP {release}"


def cascade_name(variant: str) -> str:
    """How tables and figures name a variant of our own cascade."""
    return f"cascade {variant}"


def variant_of(release: str, scale: Fraction | float) -> str:
    """Which variant of the sampler a release is said to contain: ``faulty`` or ``fixed``.

    OpenDP took the faulty rational division in with 0.9 and corrected it in 0.14.2 (Gerolimetto
    Fabrello et al. 2026, Sec. IX). Before 0.9.2 it drew from the cascade only above scale 10, by its own
    documentation of ``make_base_discrete_laplace``, and from a sampler without that division up to
    there. The study tests these claims; no test rests on them.
    """
    version = Version(release)
    if version < _FIRST_CASCADE_AT_ALL_SCALES and scale <= _CASCADE_ABOVE:
        return "fixed"
    return "faulty" if _FIRST_FAULTY <= version < FIRST_FIXED else "fixed"


def variant_of_source(source: str, scale: Fraction | float) -> str:
    """The same by the name of a source, `source_name` or `cascade_name`."""
    kind, name = source.split(" ")
    return variant_of(name, scale) if kind == "OpenDP" else name


def window_cutoff(scale: Fraction, draws: int) -> int:
    """Largest magnitude with a bin of its own: ``⌊s·ln N⌋``, 138 at scale 10 and a million draws.

    It gives the 277 unpooled bins of Gerolimetto Fabrello et al. (2026), Sec. VI, whatever the data.
    """
    return floor(scale * log(draws))


def expected_counts(law: exact.PeriodicLaw, cutoff: int, draws: int) -> np.ndarray:
    """Expected counts in the bins of a `stats.Histogram`: both tails and ``−cutoff … cutoff``."""
    inner = law.pmf(np.arange(-cutoff, cutoff + 1))
    tail = max((1.0 - inner.sum()) / 2, 0.0)
    return draws * np.concatenate([[tail], inner, [tail]])


def fit_discrete_laplace(sample: Sample) -> dict[str, float]:
    """Tests of a sample against the discrete Laplace law that it is meant to follow.

    Parameters
    ----------
    sample : Sample
        Its variant decides what is *expected* of the statistics, never the test.

    Returns
    -------
    dict
        ``mean variance mean_z chi2 dof p`` (unpooled, given that the draws fall into the window:
        the paper's statistic, whose p-value is only indicative, since far bins expect less than
        one draw), ``chi2_pooled dof_pooled p_pooled`` and ``chi2_folded dof_folded p_folded`` (see
        `fold`; NaN where it does not apply), which carry the verdict, and the exact mean and
        standard deviation of the unpooled chi-square and of the variance, ``expected_chi2
        expected_chi2_sd expected_variance expected_variance_sd``, NaN where the variant's law
        cannot be enumerated.
    """
    histogram, law = sample.histogram, exact.DiscreteLaplace(sample.scale)
    expected = expected_counts(law, histogram.cutoff, histogram.total)
    null = expected[1:-1] / expected[1:-1].sum()
    unpooled = stats.chi_square(histogram.window, null * histogram.window.sum())
    pooled = stats.chi_square_pooled(
        histogram.counts, expected * (histogram.total / expected.sum())
    )
    folded = _folded_chi_square(sample)
    mean_z = stats.z_test(histogram.mean, 0.0, np.sqrt(law.variance), histogram.total)
    foreseen = expected_chi_square(sample.scale, sample.variant, histogram.total)
    scatter = expected_variance(sample.scale, sample.variant, histogram.total)
    return {
        "mean": histogram.mean,
        "variance": histogram.variance,
        "mean_z": mean_z.z,
        **unpooled.columns(),
        **pooled.columns("_pooled"),
        **folded.columns("_folded"),
        "expected_chi2": foreseen.mean,
        "expected_chi2_sd": foreseen.sd,
        "expected_variance": scatter.mean,
        "expected_variance_sd": scatter.sd,
    }


def fold(counts: np.ndarray, x: np.ndarray, period: int) -> np.ndarray:
    """Counts by ``|x| mod period``.

    The faulty division acts on the remainder ``u < d`` of the magnitude alone, so all of its bias
    stands in these ``d`` bins (``d`` the scale's numerator), where it is far easier to see than among
    ten or twenty times as many outputs.
    """
    return np.bincount(np.abs(x) % period, weights=counts, minlength=period)


def _folded_chi_square(sample: Sample) -> stats.ChiSquare:
    period = sample.scale.numerator
    if period == 1 or period > sample.histogram.cutoff:
        return stats.ChiSquare(np.nan, 0, np.nan)
    observed = fold(sample.histogram.window, sample.x, period)
    expected = fold(sample.expected, sample.x, period)
    if expected.min() < stats.POOLED_MINIMUM:
        return stats.ChiSquare(np.nan, 0, np.nan)
    return stats.chi_square(observed, expected * (observed.sum() / expected.sum()))


def expected_chi_square(scale: Fraction, variant: str, draws: int) -> stats.Moments:
    """Exact moments of the unpooled chi-square under a variant; NaN where it cannot be enumerated."""
    law = enumerable_law(scale, variant)
    if law is None:
        return stats.Moments(np.nan, np.nan)
    cutoff = window_cutoff(scale, draws)
    x = np.arange(-cutoff, cutoff + 1)
    return stats.chi_square_moments(exact.DiscreteLaplace(scale).pmf(x), law.pmf(x), draws)


def expected_variance(scale: Fraction, variant: str, draws: int) -> stats.Moments:
    """Mean and standard error of the sample variance under a variant; NaN where not enumerable."""
    law = enumerable_law(scale, variant)
    if law is None:
        return stats.Moments(np.nan, np.nan)
    error = np.sqrt((law.moment(4) - law.variance**2) / draws)
    return stats.Moments(law.variance, float(error))


def enumerable_law(scale: Fraction, variant: str) -> exact.PeriodicLaw | None:
    """The law of a variant, or None where the faulty one has too many cases to enumerate.

    That is so for floats such as 3.3, taken at their binary value: there the fault is of relative
    size 2^−51 and no sample shows it.
    """
    if variant == "faulty" and not exact.is_enumerable(scale):
        return None
    return exact.discrete_laplace(scale, variant)


def neighbour_losses(samples: Sequence[Sample], alpha: float) -> list[pd.DataFrame]:
    """Privacy loss ``ln P(x)/P(x+1)`` of each output of each sample, beside the claimed ``±1/s``.

    Parameters
    ----------
    samples : sequence of Sample
        All of a table.
    alpha : float
        Error probability of the table, a `SHARE` of which all outputs share equally.

    Returns
    -------
    list of DataFrame
        One for each sample: ``source scale x count_x count_next loss loss_low loss_high exact_loss bound
        within_3sigma alpha``, a row for each of the ``2·cutoff`` neighbouring pairs. A loss is outside 3σ
        where even three standard errors (delta method) toward zero leave it beyond the bound; ``alpha``
        is the error probability of the row's interval.
    """
    own = SHARE * alpha / sum(2 * sample.histogram.cutoff for sample in samples)
    return [_losses(sample, own) for sample in samples]


def _losses(sample: Sample, alpha: float) -> pd.DataFrame:
    x = sample.x[:-1]
    counts, counts_next = sample.histogram.window[:-1], sample.histogram.window[1:]
    loss = stats.neighbour_loss(counts, counts_next, alpha)
    bound = 1 / float(sample.scale)
    law = enumerable_law(sample.scale, sample.variant)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where an output was never drawn: not outside
        outside = np.abs(loss.estimate) - _SIGMA_BAND * loss_sd(counts, counts_next) > bound
    return pd.DataFrame(
        {
            "source": sample.source,
            "scale": float(sample.scale),
            "x": x,
            "count_x": counts,
            "count_next": counts_next,
            "loss": loss.estimate,
            "loss_low": loss.low,
            "loss_high": loss.high,
            "exact_loss": np.nan if law is None else law.losses(x),
            "bound": bound,
            "within_3sigma": ~outside,
            "alpha": alpha,
        }
    )


def loss_sd(counts: np.ndarray, counts_next: np.ndarray) -> np.ndarray:
    """Standard error of a log-ratio of two counts (delta method); infinite where one is 0."""
    with np.errstate(divide="ignore"):
        return np.sqrt(1 / np.asarray(counts) + 1 / np.asarray(counts_next))


def summarise(sample: Sample, losses: pd.DataFrame, alpha: float) -> dict[str, float | str]:
    """A sample's row of ``results/opendp/releases.tsv``, but for its name and scale.

    Parameters
    ----------
    sample : Sample
    losses : DataFrame
        The sample's rows of ``plrv.tsv``; their bounds are certified for the whole table.
    alpha : float
        Error probability of this sample; its tests, event and spike have a `SHARE` of it each.

    Returns
    -------
    dict
        The tests of `fit_discrete_laplace`, then ``claimed_epsilon``, ``realised_epsilon_exact`` (of the
        variant's law), ``realised_epsilon_low`` (certified from the draws: the best of all outputs
        and the telling event), ``verdict``, ``worst_x`` (the output that certifies most, or the best
        counted if none certifies anything), ``worst_x_loss`` (the estimate there),
        ``detectable_epsilon`` (the smallest estimate, there or at the event, that would have been
        certified as a violation), ``outside_3sigma`` (outputs beyond the bound), then the folded
        chi-square and the exact moments of ``chi2`` and of the variance, then `loss_at_event` and
        `excess_at_spike`.
    """
    fit = fit_discrete_laplace(sample)
    extra = {name: fit.pop(name) for name in _EXTRA}
    claimed = 1 / float(sample.scale)
    law = enumerable_law(sample.scale, sample.variant)
    low = stats.Loss(losses["loss"], losses["loss_low"], losses["loss_high"]).magnitude_low
    total = losses["count_x"] + losses["count_next"]
    worst = total[low == low.max()].idxmax()
    event = loss_at_event(sample, SHARE * alpha)
    certified = float(np.nanmax([low[worst], event["event_epsilon_low"]]))
    detectable = [
        float(stats.detectable_loss(total.max(), claimed, losses["alpha"][worst])),
        event["event_detectable"],
    ]
    return {
        **fit,
        "claimed_epsilon": claimed,
        "realised_epsilon_exact": np.nan if law is None else law.realised_epsilon(),
        "realised_epsilon_low": certified,
        "verdict": judge([fit["p_pooled"], extra["p_folded"]], claimed, certified, SHARE * alpha),
        "worst_x": losses["x"][worst],
        "worst_x_loss": abs(losses["loss"][worst]),
        "detectable_epsilon": float(np.nanmin(detectable)),
        "outside_3sigma": int((~losses["within_3sigma"]).sum()),
        **extra,
        **event,
        **excess_at_spike(sample, SHARE * alpha),
    }


def loss_at_event(sample: Sample, alpha: float) -> dict[str, float]:
    """What a sample certifies at the event where a faulty sampler would pay most visibly.

    Returns
    -------
    dict
        ``event_size`` (outputs in it), ``event_epsilon event_epsilon_low event_epsilon_high`` (the loss
        ``ln P(S)/P(S+1)`` and its ``1 − alpha`` interval) and ``event_detectable`` (the smallest loss
        that would have been certified); NaN and size 0 where a faulty sampler has no fault, or
        none that can be enumerated (see `events.telling_event`).
    """
    columns = ("event_epsilon", "event_epsilon_low", "event_epsilon_high", "event_detectable")
    cutoff = sample.histogram.cutoff
    event = np.empty(0, dtype=np.int64)
    if exact.is_enumerable(sample.scale):
        event = events.telling_event(sample.scale, cutoff, sample.histogram.total, alpha)
    if event.size == 0:
        return {"event_size": 0, **dict.fromkeys(columns, np.nan)}
    inside, shifted = (
        int(sample.histogram.window[event + shift + cutoff].sum()) for shift in (0, 1)
    )
    loss = stats.neighbour_loss(inside, shifted, alpha)
    claimed = 1 / float(sample.scale)
    detectable = stats.detectable_loss(inside + shifted, claimed, alpha)
    values = (loss.estimate, loss.low, loss.high, detectable)
    return {"event_size": event.size, **dict(zip(columns, map(float, values), strict=True))}


def excess_at_spike(sample: Sample, alpha: float) -> dict[str, float]:
    """How much too often the magnitude comes that a faulty sampler prefers, relative to the law.

    Returns
    -------
    dict
        ``spike`` (the magnitude), ``spike_excess`` with its ``1 − alpha`` interval ``spike_excess_low
        spike_excess_high``, and ``spike_excess_exact`` of the sample's variant; NaN where it cannot be
        enumerated.
    """
    columns = ("spike", "spike_excess", "spike_excess_low", "spike_excess_high")
    columns += ("spike_excess_exact",)
    if not exact.is_enumerable(sample.scale):
        return dict.fromkeys(columns, np.nan)
    histogram = sample.histogram
    spike = events.spike(sample.scale, histogram.cutoff)
    places = np.unique([-spike, spike])
    claimed, own = (
        float(exact.discrete_laplace(sample.scale, variant).pmf(places).sum())
        for variant in ("fixed", sample.variant)
    )
    count = int(histogram.window[places + histogram.cutoff].sum())
    interval = stats.clopper_pearson(count, histogram.total, alpha)
    shares = (count / histogram.total, interval.low, interval.high, own)
    return dict(zip(columns, (spike, *(share / claimed - 1 for share in shares)), strict=True))


def judge(pvalues: list[float], claimed: float, realised_low: float, alpha: float) -> str:
    """The verdict on a sample: `VIOLATES`, `WRONG_LAW` or `NOTHING`.

    Parameters
    ----------
    pvalues : list of float
        Of the tests that carry the verdict; NaN where one does not apply.
    claimed, realised_low : float
        The claimed epsilon and the certified lower bound of the realised one.
    alpha : float
        Error probability that the tests share.
    """
    if realised_low > claimed:
        return VIOLATES
    return WRONG_LAW if np.nanmin(pvalues) < alpha / len(pvalues) else NOTHING
