"""What Gerolimetto Fabrello et al. (2026) print of OpenDP's sampler, beside ours."""

from __future__ import annotations

from fractions import Fraction
from math import hypot, isnan, nan, sqrt
from operator import itemgetter

import pandas as pd
import scipy

from noiseaudit import stats, tables
from noiseaudit.cks20 import exact, layers, noise
from noiseaudit.published.numbers import (
    DIFFERS,
    Normal,
    TailProbability,
    compare,
    resolution,
    stated,
    value,
)

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
    keys = ["layer", "variant", "quantity"]
    first = printed.drop_duplicates(keys)  # where a number is printed again, it has fewer digits
    numbers = first.set_index(keys)["published"].map(value).to_dict()

    def look_up(row: tuple, *names: str) -> float:
        if (str(row.scale), row.samples) != (PAPER_SCALE, PAPER_DRAWS):
            return nan
        found = [numbers.get((row.layer, row.variant, name), nan) for name in names]
        return next((number for number in found if not isnan(number)), nan)

    z = [look_up(row, "mean_z", "z") for row in rows.itertuples(index=False)]
    chi_squares = [look_up(row, "chi2") for row in rows.itertuples(index=False)]
    beside = rows.copy()
    for name, values in (("published_mean_z", z), ("published_chi2", chi_squares)):
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
    scale = Fraction(PAPER_SCALE)
    answered = [
        number
        for number in printed.itertuples(index=False)
        if number.quantity in _STATISTICS and (number.variant, number.layer) in by_layer.index
    ]
    sizes = {PAPER_DRAWS, *ours["samples"]}
    expected = {
        (variant, draws): layers.expectations(scale, variant, draws)
        for variant in ours["variant"].unique()
        for draws in sizes
    }
    compared = []
    for number in answered:
        row = by_layer.loc[number.variant, number.layer]
        column, model_of = _STATISTICS[number.quantity]
        statistic = _BEHIND_P.get(number.quantity)
        at_paper, at_ours = (
            model_of(expected[number.variant, draws][number.layer])
            for draws in (PAPER_DRAWS, row["samples"])
        )
        spread = at_ours.sd if isinstance(at_ours, Normal) else 0.0  # a p-value estimates nothing
        estimate = stats.Estimate.normal(column(row), spread, alpha / len(answered))
        own = None if row["samples"] == PAPER_DRAWS else at_ours
        compared.append(
            {
                "source": "opendp",
                "location": number.location,
                "quantity": f"{number.layer} {number.quantity}, {number.variant} cascade",
                **compare(
                    number.published,
                    estimate,
                    at_paper,
                    own,
                    at_ours.score_of(abs(row[statistic])) if statistic else None,
                ),
            }
        )
    return compared


def _z(expected: layers.Expected) -> Normal:
    return Normal(expected.mean_z, 1.0)


def _chi2(expected: layers.Expected) -> Normal:
    return Normal(expected.chi2.mean, expected.chi2.sd)


def _chi2_reduced(expected: layers.Expected) -> Normal:
    return Normal(expected.chi2.mean / expected.dof, expected.chi2.sd / expected.dof)


def _mean_p(expected: layers.Expected) -> TailProbability:
    shift = stats.Moments(abs(expected.mean_z), 1.0) if expected.mean_z else None
    return TailProbability(scipy.stats.halfnorm(), shift)


def _chi2_p(expected: layers.Expected) -> TailProbability:
    """By its own moments even where the law holds: far tails expect too little for chi-square's."""
    return TailProbability(scipy.stats.chi2(expected.dof), expected.chi2)


def _mean(expected: layers.Expected) -> Normal:
    return Normal(expected.mean.mean, expected.mean.sd)


def _variance(expected: layers.Expected) -> Normal:
    return Normal(expected.variance.mean, expected.variance.sd)


_STATISTICS = {
    "z": (itemgetter("mean_z"), _z),
    "mean_z": (itemgetter("mean_z"), _z),
    "chi2": (itemgetter("chi2"), _chi2),
    "chi2_red": (lambda row: row["chi2"] / row["dof"], _chi2_reduced),
    "dof": (itemgetter("dof"), lambda expected: Normal(expected.dof, 0.0)),
    "mean_p": (itemgetter("mean_p"), _mean_p),
    "chi2_p": (itemgetter("p"), _chi2_p),
    "p_hat": (itemgetter("mean"), _mean),
    "mean": (itemgetter("mean"), _mean),
    "variance": (itemgetter("variance"), _variance),
    "theory_mean": (
        itemgetter("theory_mean"),
        lambda expected: Normal(expected.theory_mean, 0.0),
    ),
    "theory_variance": (
        itemgetter("expected_variance"),  # the same: it is printed of a corrected sampler only
        lambda expected: Normal(expected.theory_variance, 0.0),
    ),
}
"""How each printed statistic is read off a row of ``layers.tsv``, and its model."""


_BEHIND_P = {"mean_p": "mean_z", "chi2_p": "chi2"}
"""The statistic of each printed p-value; a two-sided test looks at its size."""


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
    variant, draws = noise.variant_of(release, scale), int(ours["samples"])
    same = (f"{scale:g}", draws) == (PAPER_SCALE, PAPER_DRAWS)
    expected = _models_of_noise(Fraction(PAPER_SCALE), variant, PAPER_DRAWS)
    own = _models_of_noise(Fraction(scale), variant, draws)
    chosen = (printed["layer"] == "discrete_laplace") & (printed["variant"] == "faulty")
    answered = [number for number in printed[chosen].itertuples() if number.quantity in expected]
    compared = []
    for number in answered:
        name = number.quantity
        estimate = stats.Estimate.normal(ours[name], own[name].sd, alpha / len(answered))
        quantity = f"discrete_laplace {name}, {noise.source_name(release)}"
        row = {"source": "opendp", "location": number.location, "quantity": quantity}
        compared.append(
            row | compare(number.published, estimate, expected[name], None if same else own[name])
        )
    return compared


def _models_of_noise(scale: Fraction, variant: str, draws: int) -> dict[str, Normal]:
    """The exact distributions of the paper's statistics of the final noise."""
    healthy, own = exact.DiscreteLaplace(scale), exact.discrete_laplace(scale, variant)
    chi2_moments = noise.expected_chi_square(scale, variant, draws)
    return {
        "mean_z": Normal(0.0, sqrt(own.variance / healthy.variance)),
        "chi2": Normal(chi2_moments.mean, chi2_moments.sd),
    }


def compare_times(
    rows: pd.DataFrame, faulty: str, fixed: str, printed: pd.DataFrame, alpha: float
) -> list[dict[str, float | str]]:
    """The printed times a draw, and by how many per cent they exceed each other, beside ours.

    Parameters
    ----------
    rows : DataFrame
        ``performance.tsv``.
    faulty, fixed : str
        Releases that answer for the paper's original and its local correction, the first of which
        ratios refer to; ``taylor``, which no wheel contains, is answered by the compiled cascade.
    printed : DataFrame
        The source's numbers.
    alpha : float
        Error probability that our intervals share.

    Returns
    -------
    list of dict
        Five rows of `COLUMNS`. No exact model foresees a time, so none is judged: the verdict says why
        it differs.
    """
    ours = rows.set_index("sampler")
    original, corrected = noise.source_name(faulty), noise.source_name(fixed)
    times = printed[printed["quantity"] == "time_us"].set_index("variant")
    excesses = printed[printed["quantity"] == "excess_percent"].set_index("variant")
    answers = {
        "faulty": (original, _ANOTHER_MACHINE),
        "fixed": (corrected, _ANOTHER_MACHINE),
        "taylor": ("cascade taylor", _ANOTHER_PROGRAM),
    }
    compared = [
        _timed(
            times.loc[variant],
            f"microseconds a draw, {variant}: {sampler}",
            _time(ours.loc[sampler], alpha / 5),
            why,
        )
        for variant, (sampler, why) in answers.items()
    ]
    ratios = [
        ("fixed", "faulty", corrected, original, _ANOTHER_MACHINE),
        ("taylor", "fixed", "cascade taylor", "cascade fixed", _ANOTHER_PROGRAM),
    ]
    for variant, base, sampler, first, why in ratios:
        row = ours.loc[sampler]
        ratio = (
            stats.Estimate.normal(row["ratio_to_first"], row["ratio_standard_error"], alpha / 5)
            if first == original
            else ratio_of_times(row, ours.loc[first], alpha / 5)
        )
        excess = stats.Estimate(
            *(100 * (part - 1) for part in (ratio.value, ratio.low, ratio.high))
        )
        quantity = f"per cent that {variant} takes over {base}: {sampler}, {first.split()[-1]}"
        compared.append(_timed(excesses.loc[variant], quantity, excess, why))
    return compared


_ANOTHER_MACHINE = "another machine"
_ANOTHER_PROGRAM = "another program: compiled, with the series' thresholds tabulated"


def _time(row: pd.Series, alpha: float) -> stats.Estimate:
    return stats.Estimate.normal(row["microseconds_per_draw"], row["standard_error"], alpha)


def ratio_of_times(row: pd.Series, first: pd.Series, alpha: float) -> stats.Estimate:
    """Two rows of ``performance.tsv``: time over time, with a ``1 − alpha`` interval.

    By the delta method's standard error; interleaving makes it a generous one.
    """
    ratio = row["microseconds_per_draw"] / first["microseconds_per_draw"]
    shares = [each["standard_error"] / each["microseconds_per_draw"] for each in (row, first)]
    return stats.Estimate.normal(ratio, ratio * hypot(*shares), alpha)


_TESTS = {"chi2_p": "chi2", "mean_p": "z"}
"""The printed statistic of each printed p-value; a mean's may be called ``mean_z`` too."""


def odd_pairs(printed: pd.DataFrame) -> tuple[list[str], int]:
    """Printed p-values that no statistic which rounds to the printed one has, and how many there are.

    Parameters
    ----------
    printed : DataFrame
        The source's numbers.

    Returns
    -------
    list of str, int
        A sentence for each odd pair; the number of pairs.
    """
    expected = layers.expectations(Fraction(PAPER_SCALE), "fixed", PAPER_DRAWS)
    kinds = printed.assign(quantity=printed["quantity"].replace("mean_z", "z"))
    odd, pairs = [], 0
    for (location, layer, _), numbers in kinds.groupby(
        ["location", "layer", "variant"], sort=False
    ):
        shown = dict(zip(numbers["quantity"], numbers["published"], strict=True))
        for name, statistic in _TESTS.items():
            if name not in shown or statistic not in shown:
                continue
            pairs += 1
            middle, digit = abs(value(shown[statistic])), resolution(shown[statistic])
            dof = expected[layer].dof
            test = scipy.stats.halfnorm() if statistic == "z" else scipy.stats.chi2(dof)
            low, high = test.sf(middle + digit), test.sf(middle - digit)
            p, slack = value(shown[name]), resolution(shown[name])
            if not low - slack <= p <= high + slack:
                odd.append(
                    f"{location}, {layer}: {statistic} {shown[statistic]} on {dof} degrees of freedom "
                    f"has p from {low:.3f} to {high:.3f}, {shown[name]} is printed"
                )
    return odd, pairs


def _timed(
    number: pd.Series, quantity: str, ours: stats.Estimate, why: str
) -> dict[str, float | str]:
    row = {"source": "opendp", "location": number["location"], "quantity": quantity}
    return row | stated(number["published"], ours, f"{DIFFERS}: {why}")
