"""The losses that Habernal (2022) prints, beside ours."""

from __future__ import annotations

from math import floor, inf, isinf, isnan, log10, nan, sqrt

import pandas as pd

from noiseaudit import mechanisms, privacy_loss, stats
from noiseaudit.published.numbers import (
    DIFFERS,
    REPRODUCED,
    Normal,
    compare,
    same_digits,
    verdict_on,
)


def loss_resolution(loss: float) -> float:
    """Half a unit in the fourth significant digit: the losses are printed so, without final zeros."""
    return 0.5 * 10.0 ** (floor(log10(loss)) - 3) if 0 < loss < inf else 0.0


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


def compare_loss(cell: tuple, number: tuple) -> dict[str, float | str]:
    """A printed loss as a row of the comparison.

    Parameters
    ----------
    cell : named tuple
        A row of ``losses.tsv``.
    number : named tuple
        Its row among the source's numbers.

    Returns
    -------
    dict
        `COLUMNS`. ``expected`` is the exact loss and ``expected_sd`` the standard error of its
        estimate at the published repeats; the deviation is ``z_published``.
    """
    exact = privacy_loss.exact_votes(mechanisms.named(cell.mechanism), cell.epsilon, cell.dimension)
    return {
        "source": "dptext",
        "location": number.location,
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
        "printed": number.published,
    }


def _verdict_on_loss(cell: tuple) -> str:
    if isinf(cell.exact_loss):
        both = isinf(cell.published_loss) and isinf(cell.loss)
        return REPRODUCED if both else f"{DIFFERS}: the exact loss is infinite"
    digit = loss_resolution(cell.published_loss)
    same = same_digits(cell.published_loss, cell.loss, digit)
    verdict = verdict_on(cell.z_published, cell.z_exact, same)
    if isinf(cell.published_loss) and not verdict.startswith(DIFFERS):
        repeats = int(cell.published_repeats)
        return f"{DIFFERS}: finite, {repeats} repeats left a cell empty"
    return verdict


def _moments_of_repetitions(mean: float, error: float, m: int) -> dict[str, Normal]:
    """How the mean and the standard deviation of m estimates with this standard error scatter."""
    return {
        "mean": Normal(mean, error / sqrt(m)),
        "sd": Normal(error, error / sqrt(2 * (m - 1))),
    }


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
    mean, error = rows.loc["mean", "exact"], rows.loc["sd", "exact"]
    own = _moments_of_repetitions(mean, error, m)
    at_paper = error * sqrt(repeats / PAPER_REPEATS)
    expected = _moments_of_repetitions(mean, at_paper, PAPER_REPETITIONS)
    same = (m, repeats) == (PAPER_REPETITIONS, PAPER_REPEATS)
    notes = printed[printed["location"].str.startswith("footnote")]
    compared = []
    for name, note in zip(("mean", "sd"), notes.itertuples(index=False), strict=True):
        ours = rows.loc[name]
        row = compare(
            note.published,
            stats.Estimate(ours["value"], ours["value_low"], ours["value_high"]),
            expected[name],
            None if same else own[name],
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
