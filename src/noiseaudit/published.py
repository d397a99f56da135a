"""The numbers that the sources print, and how ours stand beside them.

A printed number keeps the form in which it was printed: ``2.1e3`` was rounded to hundreds, and is
judged as such.
"""

from __future__ import annotations

from decimal import Decimal
from math import floor, inf, isinf, isnan, log10, nan, sqrt
from pathlib import Path

import pandas as pd

from noiseaudit import mechanisms, privacy_loss, stats, tables

COLUMNS = [
    "source",
    "location",
    "quantity",
    "published",
    "ours",
    "ours_low",
    "ours_high",
    "expected",
    "expected_sd",
    "deviation_sigma",
    "verdict",
    "our_deviation_sigma",
]
"""Columns of ``results/comparison.tsv``."""

LARGEST_DEVIATION = 4.0
"""Standard errors beyond which a number counts as different: one false alarm in 16 000 numbers."""


def read(path: Path) -> pd.DataFrame:
    """Printed numbers of one source; ``published`` holds them as text, as printed."""
    return tables.read_table(path, text=["location", "published"])


def resolution(printed: str) -> float:
    """Half a unit in the last printed digit: 0.005 for ``0.58``, 50 for ``2.1e3``."""
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def loss_resolution(loss: float) -> float:
    """Half a unit in the fourth significant digit: the losses are printed so, without final zeros."""
    return 0.5 * 10.0 ** (floor(log10(loss)) - 3) if 0 < loss < inf else 0.0


def compare(
    printed: str, ours: stats.Estimate, expected: stats.Moments, unlike: str | None = None
) -> dict[str, float | str]:
    """A printed statistic and ours beside its exact expectation at the paper's settings.

    Parameters
    ----------
    printed : str
        The number as printed.
    ours : stats.Estimate
    expected : stats.Moments
        Exact mean and standard deviation of the statistic at the paper's settings.
    unlike : str, optional
        Our settings, where they are not the paper's: then the verdict says so and judges nothing.

    Returns
    -------
    dict
        `COLUMNS` from ``published`` on: the deviation is the printed number's from the expected one,
        in standard deviations that allow for its rounding, then ours.
    """
    published = float(printed)
    sd = sqrt(expected.sd**2 + resolution(printed) ** 2 / 3)
    deviation = (published - expected.mean) / sd
    our_deviation = (ours.value - expected.mean) / expected.sd
    return {
        "published": published,
        "ours": ours.value,
        "ours_low": ours.low,
        "ours_high": ours.high,
        "expected": expected.mean,
        "expected_sd": expected.sd,
        "deviation_sigma": deviation,
        "verdict": f"not comparable: {unlike}" if unlike else verdict_on(deviation, our_deviation),
        "our_deviation_sigma": nan if unlike else our_deviation,
    }


def verdict_on(deviation: float, our_deviation: float) -> str:
    """``reproduced``, or who lies how far from the exact model."""
    if not abs(our_deviation) <= LARGEST_DEVIATION:
        return f"differs: ours is {our_deviation:+.1f} sigma from the exact model"
    if not abs(deviation) <= LARGEST_DEVIATION:
        return f"differs: the printed number is {deviation:+.1f} sigma from the exact model"
    return "reproduced"


def beside_losses(losses: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Set the printed losses of Habernal (2022) beside ours.

    Parameters
    ----------
    losses : DataFrame
        From `privacy_loss.tabulate`.
    printed : DataFrame
        ``published mechanism epsilon dimension repeats``, a row a cell.

    Returns
    -------
    DataFrame
        With ``published_loss``, ``published_repeats`` and, at the end, ``z_published``: the printed
        loss's `privacy_loss.ExactVotes.score` at its own repeats. NaN for cells that are not printed.
    """
    keys = ["mechanism", "epsilon", "dimension"]
    beside = losses.merge(
        printed[[*keys, "published", "repeats"]].rename(columns={"repeats": "published_repeats"}),
        on=keys,
        how="left",
        validate="one_to_one",
    )
    beside["published_loss"] = beside["published"].astype(float)
    beside["z_published"] = [_score_printed(cell) for cell in beside.itertuples(index=False)]
    order = "mechanism epsilon dimension repeats n00 n01 n10 n11 loss loss_low loss_high exact_loss"
    order += " published_loss published_repeats z_exact verdict z_published detectable_loss"
    return beside[order.split()]


def _score_printed(cell: tuple) -> float:
    loss = cell.published_loss
    if isnan(loss):
        return nan
    exact = privacy_loss.exact_votes(mechanisms.named(cell.mechanism), cell.epsilon, cell.dimension)
    return exact.score(loss, int(cell.published_repeats), loss_resolution(loss))


def compare_loss(cell: tuple, location: str) -> dict[str, float | str]:
    """A printed loss as a row of the comparison.

    Parameters
    ----------
    cell : named tuple
        A row of ``losses.tsv``.
    location : str
        Where it is printed.

    Returns
    -------
    dict
        `COLUMNS`. ``expected`` is the exact loss and ``expected_sd`` the standard error of its
        estimate at the published repeats; the deviation is ``z_published``.
    """
    exact = privacy_loss.exact_votes(mechanisms.named(cell.mechanism), cell.epsilon, cell.dimension)
    return {
        "source": "dptext",
        "location": location,
        "quantity": f"loss of {cell.mechanism}, epsilon {cell.epsilon:g}, n = {cell.dimension}",
        "published": cell.published_loss,
        "ours": cell.loss,
        "ours_low": cell.loss_low,
        "ours_high": cell.loss_high,
        "expected": cell.exact_loss,
        "expected_sd": exact.standard_error(int(cell.published_repeats)),
        "deviation_sigma": cell.z_published,
        "verdict": _verdict_on_loss(cell),
        "our_deviation_sigma": cell.z_exact,
    }


def _verdict_on_loss(cell: tuple) -> str:
    if isinf(cell.exact_loss):
        both = isinf(cell.published_loss) and isinf(cell.loss)
        return "reproduced" if both else "differs: the exact loss is infinite"
    verdict = verdict_on(cell.z_published, cell.z_exact)
    if isinf(cell.published_loss) and verdict == "reproduced":
        repeats = int(cell.published_repeats)
        return f"differs: finite, {repeats} repeats left a cell empty"
    return verdict


PAPER_REPETITIONS, PAPER_REPEATS = 100, 10_000_000


def compare_repeatability(
    summary: pd.DataFrame, printed: pd.DataFrame
) -> list[dict[str, float | str]]:
    """The printed mean and standard deviation over repeated experiments beside ours.

    Parameters
    ----------
    summary : DataFrame
        ``repeatability.tsv``.
    printed : DataFrame
        The footnote's rows among the source's numbers, mean first.

    Returns
    -------
    list of dict
        Two rows of `COLUMNS`. The mean of m estimates has ``1/√m`` of an estimate's standard error,
        and their standard deviation scatters by ``1/√(2(m − 1))`` of it.
    """
    rows = summary.set_index("repetition")
    m, repeats = len(rows) - 2, int(rows["repeats"].iloc[0])
    error = rows.loc["sd", "exact"]
    expected = {
        "mean": stats.Moments(rows.loc["mean", "exact"], error / sqrt(m)),
        "sd": stats.Moments(error, error / sqrt(2 * (m - 1))),
    }
    same = (m, repeats) == (PAPER_REPETITIONS, PAPER_REPEATS)
    notes = printed[printed["location"].str.startswith("footnote")]
    compared = []
    for name, note in zip(("mean", "sd"), notes.itertuples(index=False), strict=True):
        ours = rows.loc[name]
        row = compare(
            note.published,
            stats.Estimate(ours["value"], ours["value_low"], ours["value_high"]),
            expected[name],
            unlike=None if same else f"{m} times {repeats} repeats",
        )
        where = f"{note.mechanism}, epsilon {note.epsilon:g}, n = {note.dimension}"
        compared.append(
            {
                "source": "dptext",
                "location": note.location,
                "quantity": f"{name} of {PAPER_REPETITIONS} losses of {where}",
                **row,
            }
        )
    return compared


GEROLIMETTO_SCALE, GEROLIMETTO_DRAWS = "10", 1_000_000
"""Scale and draws of the paper's layer-by-layer analysis (Sec. V and VI)."""


def beside_layers(rows: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Set the printed statistics of Gerolimetto Fabrello et al. (2026) beside ours.

    Parameters
    ----------
    rows : DataFrame
        Of ``results/opendp/layers.tsv``.
    printed : DataFrame
        ``layer variant quantity published``.

    Returns
    -------
    DataFrame
        With ``published_mean_z`` and ``published_chi2`` before the verdict, at the paper's scale and
        draws; a coin's z is its mean's.
    """
    numbers = {
        (number.layer, number.variant, number.quantity): float(number.published)
        for number in printed.itertuples(index=False)
    }

    def look_up(row: tuple, *names: str) -> float:
        if (str(row.scale), row.samples) != (GEROLIMETTO_SCALE, GEROLIMETTO_DRAWS):
            return nan
        found = [numbers.get((row.layer, row.variant, name), nan) for name in names]
        return next((value for value in found if not isnan(value)), nan)

    z = [look_up(row, "mean_z", "z") for row in rows.itertuples(index=False)]
    chi2 = [look_up(row, "chi2") for row in rows.itertuples(index=False)]
    verdicts = rows["verdict"]
    return rows.drop(columns="verdict").assign(
        published_mean_z=z, published_chi2=chi2, verdict=verdicts
    )


def compare_layers(
    rows: pd.DataFrame, printed: pd.DataFrame, alpha: float
) -> list[dict[str, float | str]]:
    """The printed z and chi-square of every layer beside those of our cascade.

    Parameters
    ----------
    rows : DataFrame
        ``layers.tsv``; the first entropy source in it, at the paper's scale.
    printed : DataFrame
        The source's numbers.
    alpha : float
        Error probability that our intervals share.

    Returns
    -------
    list of dict
        Rows of `COLUMNS`. Under its variant a z has standard deviation 1 but for a per mille.
    """
    ours = rows[(rows["entropy"] == rows["entropy"].iloc[0]) & (rows["scale"] == GEROLIMETTO_SCALE)]
    by_layer = ours.set_index(["variant", "layer"])
    columns = {"z": "mean_z", "mean_z": "mean_z", "chi2": "chi2"}
    answered = [
        number
        for number in printed.itertuples(index=False)
        if number.quantity in columns and (number.variant, number.layer) in by_layer.index
    ]
    compared = []
    for number in answered:
        row = by_layer.loc[number.variant, number.layer]
        expected = (
            stats.Moments(row["expected_chi2"], row["expected_chi2_sd"])
            if number.quantity == "chi2"
            else stats.Moments(row["expected_mean_z"], 1.0)
        )
        estimate = stats.Estimate.normal(
            row[columns[number.quantity]], expected.sd, alpha / len(answered)
        )
        same = row["samples"] == GEROLIMETTO_DRAWS
        unlike = None if same else f"{row['samples']} draws"
        compared.append(
            {
                "source": "opendp",
                "location": number.location,
                "quantity": f"{number.layer} {number.quantity}, {number.variant} cascade",
                **compare(number.published, estimate, expected, unlike),
            }
        )
    return compared
