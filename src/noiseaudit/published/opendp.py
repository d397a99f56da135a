"""What Gerolimetto Fabrello et al. (2026) print of OpenDP's sampler, beside ours."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import hypot, isnan, nan, sqrt

import pandas as pd

from noiseaudit import stats, tables
from noiseaudit.cks20 import diagnosis, exact
from noiseaudit.published.numbers import compare, stated

PAPER_SCALE, PAPER_DRAWS = "10", 1_000_000
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
        if (str(row.scale), row.samples) != (PAPER_SCALE, PAPER_DRAWS):
            return nan
        found = [numbers.get((row.layer, row.variant, name), nan) for name in names]
        return next((value for value in found if not isnan(value)), nan)

    z = [look_up(row, "mean_z", "z") for row in rows.itertuples(index=False)]
    chi2 = [look_up(row, "chi2") for row in rows.itertuples(index=False)]
    beside = rows.copy()
    for name, values in (("published_mean_z", z), ("published_chi2", chi2)):
        beside.insert(beside.columns.get_loc("verdict"), name, values)
    return beside


def compare_layers(
    rows: pd.DataFrame, printed: pd.DataFrame, alpha: float
) -> list[dict[str, float | str]]:
    """The printed statistics of every layer beside those of our cascade.

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
        Rows of `COLUMNS`, each with the statistic's exact moments under its variant.
    """
    ours = rows[(rows["entropy"] == rows["entropy"].iloc[0]) & (rows["scale"] == PAPER_SCALE)]
    by_layer = ours.set_index(["variant", "layer"])
    answered = [
        number
        for number in printed.itertuples(index=False)
        if number.quantity in _STATISTICS and (number.variant, number.layer) in by_layer.index
    ]
    compared = []
    for number in answered:
        row = by_layer.loc[number.variant, number.layer]
        value, expected = _STATISTICS[number.quantity](row)
        estimate = stats.Estimate.normal(value, expected.sd, alpha / len(answered))
        unlike = None if row["samples"] == PAPER_DRAWS else f"{row['samples']} draws"
        if number.quantity in _ANY_VALUE:
            unlike = "a healthy p-value may be any"
        compared.append(
            {
                "source": "opendp",
                "location": number.location,
                "quantity": f"{number.layer} {number.quantity}, {number.variant} cascade",
                **compare(number.published, estimate, expected, unlike),
            }
        )
    return compared


def _z(row: pd.Series) -> tuple[float, stats.Moments]:
    """Under its variant a z has standard deviation 1 but for a per mille."""
    return row["mean_z"], stats.Moments(row["expected_mean_z"], 1.0)


def _chi2(row: pd.Series) -> tuple[float, stats.Moments]:
    return row["chi2"], stats.Moments(row["expected_chi2"], row["expected_chi2_sd"])


def _healthy_p(column: str) -> Callable[[pd.Series], tuple[float, stats.Moments]]:
    """The p-value of a layer that follows its law is uniform."""
    return lambda row: (row[column], stats.Moments(0.5, sqrt(1 / 12)))


def _exact(column: str) -> Callable[[pd.Series], tuple[float, stats.Moments]]:
    return lambda row: (row[column], stats.Moments(row[column], 0.0))


def _mean(row: pd.Series) -> tuple[float, stats.Moments]:
    error = sqrt(row["expected_variance"] / row["samples"])
    return row["mean"], stats.Moments(row["theory_mean"] + row["expected_mean_z"] * error, error)


def _variance(row: pd.Series) -> tuple[float, stats.Moments]:
    return row["variance"], stats.Moments(row["expected_variance"], row["expected_variance_sd"])


_STATISTICS = {
    "z": _z,
    "mean_z": _z,
    "chi2": _chi2,
    "mean_p": _healthy_p("mean_p"),
    "chi2_p": _healthy_p("p"),
    "p_hat": _mean,
    "mean": _mean,
    "variance": _variance,
    "theory_mean": _exact("theory_mean"),
    "theory_variance": _exact("expected_variance"),
}
"""How each printed statistic is read off a row of ``layers.tsv``: our value, its exact moments."""


_ANY_VALUE = ("mean_p", "chi2_p")
"""P-values of healthy layers are uniform: none of them could contradict the model."""


def compare_release(
    rows: pd.DataFrame, release: str, scale: float, printed: pd.DataFrame, alpha: float
) -> list[dict[str, float | str]]:
    """The printed statistics of the original sampler's output beside those of a released wheel.

    Parameters
    ----------
    rows : DataFrame
        ``releases.tsv``.
    release, scale
        The sample to compare.
    printed : DataFrame
        The source's numbers.
    alpha : float
        Error probability that our intervals share.

    Returns
    -------
    list of dict
        Rows of `COLUMNS`.
    """
    ours = tables.select(rows, release=release, scale=scale).iloc[0]
    same = (f"{scale:g}", ours["samples"]) == (PAPER_SCALE, PAPER_DRAWS)
    unlike = None if same else f"{ours['samples']} draws at scale {scale:g}"
    expected = _expected_of_noise(diagnosis.variant_of(release, scale))
    chosen = (printed["layer"] == "discrete_laplace") & (printed["variant"] == "faulty")
    answered = [number for number in printed[chosen].itertuples() if number.quantity in expected]
    compared = []
    for number in answered:
        moments = expected[number.quantity]
        estimate = stats.Estimate.normal(ours[number.quantity], moments.sd, alpha / len(answered))
        quantity = f"discrete_laplace {number.quantity}, {diagnosis.source_name(release)}"
        row = {"source": "opendp", "location": number.location, "quantity": quantity}
        compared.append(row | compare(number.published, estimate, moments, unlike))
    return compared


def _expected_of_noise(variant: str) -> dict[str, stats.Moments]:
    """What the exact model expects the paper's statistics of the final noise to be."""
    scale = Fraction(PAPER_SCALE)
    healthy, own = exact.DiscreteLaplace(scale), exact.discrete_laplace(scale, variant)
    return {
        "mean_z": stats.Moments(0.0, sqrt(own.variance / healthy.variance)),
        "chi2": diagnosis.expected_chi_square(scale, variant, PAPER_DRAWS),
    }


def compare_times(
    rows: pd.DataFrame, printed: pd.DataFrame, alpha: float
) -> list[dict[str, float | str]]:
    """The printed times a draw, and the two ratios that the paper draws from them, beside ours.

    Parameters
    ----------
    rows : DataFrame
        ``performance.tsv``. The first two wheels in it answer for ``faulty`` and ``fixed``; ``taylor``,
        which no wheel contains, is answered by the compiled cascade.
    printed : DataFrame
        The source's numbers.
    alpha : float
        Error probability that our intervals share.

    Returns
    -------
    list of dict
        Five rows of `COLUMNS`. No exact model foresees a time, so nothing is judged.
    """
    ours = rows.set_index("sampler")
    original, corrected = [name for name in ours.index if name.startswith("OpenDP")][:2]
    times = printed[printed["quantity"] == "time_us"].set_index("variant")
    shown = times["published"].astype(float)
    answers = {"faulty": original, "fixed": corrected, "taylor": "cascade taylor"}
    compared = [
        _unjudged(
            times.loc[variant, "location"],
            f"microseconds a draw, {variant}: {sampler}",
            shown[variant],
            _time(ours.loc[sampler], alpha / 5),
            "another machine",
        )
        for variant, sampler in answers.items()
    ]
    ratios = [
        ("fixed", "faulty", corrected, original, "another machine"),
        ("taylor", "fixed", "cascade taylor", "cascade fixed", "tabulated thresholds, no series"),
    ]
    for variant, base, sampler, first, why in ratios:
        row = ours.loc[sampler]
        ratio = (
            stats.Estimate.normal(row["ratio_to_first"], row["ratio_standard_error"], alpha / 5)
            if first == original
            else _ratio(row, ours.loc[first], alpha / 5)
        )
        quantity = f"time of {variant} over {base}: {sampler} over {first}"
        location = times.loc[variant, "location"]
        compared.append(_unjudged(location, quantity, shown[variant] / shown[base], ratio, why))
    return compared


def _time(row: pd.Series, alpha: float) -> stats.Estimate:
    return stats.Estimate.normal(row["microseconds_per_draw"], row["standard_error"], alpha)


def _ratio(row: pd.Series, first: pd.Series, alpha: float) -> stats.Estimate:
    """The delta method's standard error; interleaving makes it a generous one."""
    value = row["microseconds_per_draw"] / first["microseconds_per_draw"]
    shares = [each["standard_error"] / each["microseconds_per_draw"] for each in (row, first)]
    return stats.Estimate.normal(value, value * hypot(*shares), alpha)


def _unjudged(
    location: str, quantity: str, shown: float, ours: stats.Estimate, why: str
) -> dict[str, float | str]:
    row = {"source": "opendp", "location": location, "quantity": quantity}
    return row | stated(shown, ours, f"not comparable: {why}")
