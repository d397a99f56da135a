"""What the sources claim in words, and whether it stands."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isnan

import numpy as np
import pandas as pd
from packaging.version import Version

from noiseaudit import stats
from noiseaudit.cks20 import exact, layers, noise
from noiseaudit.dpecdf import audit
from noiseaudit.published import opendp
from noiseaudit.published.opendp import PAPER_SCALE
from noiseaudit.verdicts import NOTHING, VIOLATES

COLUMNS = ["source", "location", "claim", "verdict", "evidence"]
"""Columns of ``results/<study>/claims.tsv`` and ``results/claims.tsv``."""

STANDS, FALLS = "stands", "does not stand"

UNDECIDED = "not decided"
"""The evidence points neither way with certainty, for want of draws most often."""

NOT_PROMISED = "not promised"
"""The source warns of it, or says nothing; what was found is worth knowing all the same."""


@dataclass(frozen=True)
class Claim:
    """A claim, its verdict, and what shows it."""

    location: str
    words: str
    verdict: str
    evidence: str


def _judged(falls: bool, stands: bool) -> str:
    return FALLS if falls else STANDS if stands else UNDECIDED


def of_dptext(losses: pd.DataFrame) -> pd.DataFrame:
    """Claims of Habernal (2022).

    Parameters
    ----------
    losses : DataFrame
        ``losses.tsv``.

    Returns
    -------
    DataFrame
        `COLUMNS`; claims on mechanisms that were not run are left out.
    """
    judges = {
        "copy": _copied,
        "random": _silent,
        "laplace": _bounded,
        "adept": _explodes,
        "dptext": _infinite,
    }
    cells = dict(iter(losses.groupby("mechanism")))
    judged = [judge(cells[name]) for name, judge in judges.items() if name in cells]
    return _table("dptext", [*judged, _repeats(losses)])


def _certified(cells: pd.DataFrame) -> int:
    return int(cells["verdict"].str.startswith(VIOLATES).sum())


def _bounded(cells: pd.DataFrame) -> Claim:
    broken, share = _certified(cells), (cells["exact_loss"] / cells["epsilon"]).max()
    detectable = cells["detectable_loss"] / cells["epsilon"]
    return Claim(
        "Sec. 4",
        "the Laplace mechanism's loss is bounded by ε in every dimension",
        STANDS if broken == 0 and share <= 1 else FALLS,
        f"{broken} of {len(cells)} cells certified above ε; the exact loss reaches {share:.2f} ε; "
        f"{detectable.median():.2f} ε would have been certified in half of the cells",
    )


def _explodes(cells: pd.DataFrame) -> Claim | None:
    """Every cell of two dimensions or more is beyond its epsilon, and further the more there are."""
    wide = cells[cells["dimension"] > 1]
    if wide.empty:
        return None
    broken = _certified(wide)
    by_dimension = cells.sort_values("dimension").groupby("epsilon")["exact_loss"]
    grows = by_dimension.apply(lambda loss: loss.is_monotonic_increasing).all()
    evidence = f"{broken} of {len(wide)} cells with n ≥ 2 certified above ε"
    overstated = cells[(cells["published_loss"] == inf) & (cells["exact_loss"] < inf)]
    if len(overstated):
        evidence += f"; {len(overstated)} that are printed as infinite are finite, at most "
        evidence += f"{overstated['exact_loss'].max():.4g}"
    holds = bool(grows and (wide["exact_loss"] > wide["epsilon"]).all())
    return Claim(
        "Sec. 4",
        "ADePT violates its ε, and its loss explodes with the dimension",
        _judged(falls=not holds, stands=broken == len(wide)),
        evidence,
    )


def _infinite(
    cells: pd.DataFrame, words: str = "DPText's loss is infinite in every dimension"
) -> Claim:
    seen = int(((cells["exact_loss"] == inf) & (cells["loss"] == inf)).sum())
    return Claim(
        "Sec. 4",
        words,
        STANDS if seen == len(cells) else FALLS,
        f"{seen} of {len(cells)} cells: infinite exactly, and one side never voted for",
    )


def _copied(cells: pd.DataFrame) -> Claim:
    return _infinite(cells, "a copy of the input keeps no privacy")


_MANY = 10_000_000

_ALPHA = 0.001
"""Error of an interval by which a claim on scatter or on times is judged."""


def _repeats(losses: pd.DataFrame) -> Claim | None:
    """What the printed losses say of the releases behind them: how widely they scatter."""
    finite = np.isfinite(losses["published_loss"]) & np.isfinite(losses["exact_loss"])
    scores = losses[finite & (losses["published_repeats"] < _MANY)]
    if len(scores) < 2:
        return None
    spread = float(scores["z_published"].std())
    factor = (_MANY / scores["published_repeats"].iloc[0]) ** 0.5
    sd = stats.mean_and_sd(scores["z_published"].to_numpy(), _ALPHA)["sd"]
    return Claim(
        "Sec. 4",
        "every data set is released 10 million times",
        _judged(falls=sd.low * factor > 1, stands=sd.high < 1),
        f"above n = 16 the authors' program keeps the last of ten rounds: {len(scores)} finite losses "
        f"printed there scatter by {spread:.2f} of what a million releases make them, and by "
        f"{spread * factor:.2f} of what ten million would",
    )


def _silent(cells: pd.DataFrame) -> Claim:
    silent = _certified(cells) == 0 and (cells["exact_loss"] == 0).all()
    return Claim(
        "Sec. 4",
        "output that ignores the input has no loss",
        STANDS if silent else FALLS,
        f"largest loss seen {cells['loss'].max():.4f}, exactly {cells['exact_loss'].max():g}",
    )


def of_opendp(
    releases: pd.DataFrame,
    traced: pd.DataFrame,
    losses: pd.DataFrame,
    times: pd.DataFrame,
    printed: pd.DataFrame,
    original: str,
    corrected: str,
) -> pd.DataFrame:
    """Claims of Gerolimetto Fabrello et al. (2026).

    Parameters
    ----------
    releases, traced, losses, times : DataFrame
        ``releases.tsv``, ``layers.tsv``, ``plrv.tsv`` and ``performance.tsv``.
    printed : DataFrame
        The source's numbers.
    original, corrected : str
        The releases whose times are contrasted.

    Returns
    -------
    DataFrame
        `COLUMNS`; claims on which nothing was tabulated are left out.
    """
    healthy_sources = traced[traced["entropy"] != "stuck"]
    faulty = healthy_sources[healthy_sources["variant"] == "faulty"]
    corrections = healthy_sources[healthy_sources["variant"].isin(["fixed", "taylor"])]
    found = [
        _source(healthy_sources),
        _artifacts(releases),
        _earliest_layer(faulty),
        _sources(faulty),
        _slow_geometric(faulty),
        _corrections(corrections, releases),
        _losses(losses),
        _cost(times, original, corrected),
        _cost_of_alternative(times),
        _paid(releases),
        _pairs(printed),
    ]
    return _table("opendp", found)


def _source(traced: pd.DataFrame) -> Claim | None:
    bits = traced[traced["layer"] == "uniform_bits"]
    passed = int((bits["verdict"] == layers.HEALTHY).sum())
    if bits.empty:
        return None
    reduced, large = bits["chi2"] / bits["dof"], 100 * (bits["p"] > 0.4).mean()
    return Claim(
        "Sec. III-A",
        "the sources of entropy are uniform",
        STANDS if passed == len(bits) else FALLS,
        f"{passed} of {len(bits)} traces; reduced χ² {reduced.min():.2f} to {reduced.max():.2f} (about 1 "
        f"is printed), {large:.0f} % of p above 0.4, as 60 % should be (p > 0.4 is printed)",
    )


def _artifacts(releases: pd.DataFrame) -> Claim:
    """Stands if every sample that should show the fault does; falls if another does, or none."""
    is_faulty = np.array(
        [noise.variant_of(row.release, row.scale) == "faulty" for row in releases.itertuples()]
    )
    rejected = (releases["verdict"] != NOTHING).to_numpy()
    strays = rejected & ~is_faulty
    falls = strays.any() or not rejected.any()
    versions = list(dict.fromkeys(releases["release"][rejected]))
    return Claim(
        "Sec. III",
        "released OpenDP draws discrete Laplace noise with periodic artifacts",
        _judged(falls=falls, stands=rejected[is_faulty].all()),
        f"law or claim rejected for {', '.join(versions) or 'no release'}: "
        f"{np.sum(rejected & is_faulty)} of {is_faulty.sum()} samples of faulty releases, "
        f"{strays.sum()} of {np.sum(~is_faulty)} others",
    )


def _earliest_layer(faulty: pd.DataFrame) -> Claim | None:
    """Stands if most traces name it; falls if one names another."""
    if faulty.empty:
        return None
    found = faulty.loc[faulty["verdict"] == layers.EARLIEST, "layer"]
    traces = len(faulty.drop_duplicates(["entropy", "scale"]))
    right = int((found == "bernoulli_exp1").sum())
    return Claim(
        "Sec. VI",
        "bernoulli_exp1 is the earliest faulty layer",
        _judged(falls=right < len(found), stands=right > traces / 2),
        f"named in {right} of {traces} traces of the faulty cascade, another layer in "
        f"{len(found) - right}",
    )


def _sources(faulty: pd.DataFrame) -> Claim | None:
    at_scale = faulty[faulty["scale"].astype(str) == PAPER_SCALE]
    shown = at_scale[at_scale["layer"] == "discrete_laplace"]
    deviate = int((shown["verdict"] != layers.HEALTHY).sum())
    if shown.empty:
        return None
    return Claim(
        "Sec. III-B",
        "the artifacts persist across entropy sources",
        _judged(falls=deviate < len(shown), stands=len(shown) > 1),
        f"noise rejected on {deviate} of {len(shown)} sources at scale {PAPER_SCALE}",
    )


def _slow_geometric(faulty: pd.DataFrame) -> Claim | None:
    slow = faulty[faulty["layer"] == "geometric_slow"]
    passed = int((slow["verdict"] == layers.HEALTHY).sum())
    if slow.empty:
        return None
    return Claim(
        "Sec. VI-C",
        "the slow geometric sampler passes, although it calls the faulty coin",
        STANDS if passed == len(slow) else FALLS,
        f"{passed} of {len(slow)} faulty traces; its coin, of probability 1/e, is exact",
    )


def _corrections(corrected: pd.DataFrame, releases: pd.DataFrame) -> Claim | None:
    versions = releases["release"].map(Version)
    fixed = releases[versions >= noise.FIRST_FIXED]
    if corrected.empty or fixed.empty:
        return None
    traces = corrected.groupby(["variant", "entropy", "scale"])["verdict"]
    clean = int(traces.apply(lambda verdicts: (verdicts == layers.HEALTHY).all()).sum())
    healthy = int((fixed["verdict"] == NOTHING).sum())
    sound = clean == traces.ngroups and healthy == len(fixed)
    blind = fixed.assign(times=fixed["detectable_epsilon"] / fixed["claimed_epsilon"])
    blind = blind.loc[blind["times"].idxmax()]
    return Claim(
        "Sec. VIII",
        "with either correction every layer and the noise follow their laws",
        STANDS if sound else FALLS,
        f"no layer deviates in {clean} of {traces.ngroups} traces; {healthy} of {len(fixed)} "
        "samples of corrected releases pass, which would certify epsilons "
        f"from {blind['detectable_epsilon']:.3g} on at the worst (at scale {blind['scale']:g}, where "
        f"{blind['claimed_epsilon']:.3g} is claimed)",
    )


_STRAY = 3
"""Outputs of a healthy source that chance may put beyond 3σ of their bound: 0.2 are expected."""


def _losses(losses: pd.DataFrame) -> Claim | None:
    at_scale = losses[losses["scale"].astype(float) == float(PAPER_SCALE)]
    beyond = at_scale.groupby("source")["within_3sigma"].agg(lambda within: int((~within).sum()))
    is_faulty = [
        noise.variant_of_source(source, int(PAPER_SCALE)) == "faulty" for source in beyond.index
    ]
    faulty, sound = beyond[is_faulty], beyond[~np.array(is_faulty, dtype=bool)]
    if faulty.empty or sound.empty:
        return None
    wrong = sound.max() > _STRAY or not faulty.any()
    return Claim(
        "Sec. IX-B",
        "the faulty sampler's losses exceed ±ε, those of the corrections do not",
        _judged(falls=wrong, stands=faulty.min() > _STRAY),
        f"at scale {PAPER_SCALE}, {faulty.min()} outputs or more beyond ±ε by 3σ in each of "
        f"{len(faulty)} faulty sources, {sound.max()} at the most in the {len(sound)} others",
    )


_NEARLY = 0.1
"""The share of a time that counts as nearly nothing."""


def _cost(times: pd.DataFrame, original: str, corrected: str) -> Claim | None:
    by_name = {row.sampler: row for row in times.itertuples()}
    first, local = (by_name.get(noise.source_name(name)) for name in (original, corrected))
    if first is None or local is None:
        return None
    ratio, error = local.ratio_to_first, local.ratio_standard_error
    low, high = ratio - 3 * error, ratio + 3 * error
    return Claim(
        "Sec. IX-A",
        "the local correction costs nearly nothing (2.7 %)",
        _judged(falls=low >= 1 + _NEARLY, stands=high <= 1 + _NEARLY),
        f"{local.sampler} takes {ratio:.3f} ± {error:.3f} of the time of {first.sampler}; "
        f"nearly nothing: within {100 * _NEARLY:.0f} %",
    )


def _cost_of_alternative(times: pd.DataFrame) -> Claim | None:
    by_name = times.set_index("sampler")
    ratios = {}
    for program in ("cascade", "reference"):
        pair = [f"{program} {variant}" for variant in ("taylor", "fixed")]
        if by_name.index.isin(pair).sum() != 2:
            return None
        taylor, fixed = (by_name.loc[name] for name in pair)
        ratios[program] = opendp.ratio_of_times(taylor, fixed, _ALPHA)
    slower = all(ratio.low > 1 for ratio in ratios.values())
    faster = all(ratio.high < 1 for ratio in ratios.values())
    cascade, reference = (ratio.value for ratio in ratios.values())
    return Claim(
        "Sec. IX-A",
        "the alternative takes longer than the local correction (15.7 %)",
        _judged(falls=faster, stands=slower),
        f"{cascade:.2f} of its time in the compiled cascade, which looks thresholds up, "
        f"{reference:.2f} in the reference, which sums the series",
    )


def _paid(releases: pd.DataFrame) -> Claim:
    """Stands if a release certifies it; falls if a bound exceeds what its exact law allows."""
    words = "the guarantee is violated; by how much, the paper leaves open"
    exactly = exact.discrete_laplace(Fraction(PAPER_SCALE), "faulty").realised_epsilon()
    evidence = f"by the exact law {exactly:.5f} is paid at scale {PAPER_SCALE}; "
    violating = releases[releases["verdict"] == VIOLATES]
    if violating.empty:
        return Claim("Sec. IX-B", words, UNDECIDED, f"{evidence}nothing certified from draws")
    times = violating["realised_epsilon_low"] / violating["claimed_epsilon"]
    worst = violating.loc[times.idxmax()]
    evidence += (
        f"certified from the draws of {worst['release']}, at scale {worst['scale']:g}: "
        f"{worst['realised_epsilon_low']:.3g} where {worst['claimed_epsilon']:.3g} is claimed"
    )
    known = violating[violating["realised_epsilon_exact"].notna()]
    refuted = (known["realised_epsilon_low"] > known["realised_epsilon_exact"]).any()
    return Claim("Sec. IX-B", words, FALLS if refuted else STANDS, evidence)


def _pairs(printed: pd.DataFrame) -> Claim:
    """Whether the printed statistics and p-values belong together, up to their rounding."""
    odd, pairs = opendp.odd_pairs(printed)
    return Claim(
        "Sec. VI, VIII",
        "each printed p-value is that of the statistic beside it",
        FALLS if odd else STANDS,
        f"{pairs - len(odd)} of {pairs} pairs agree" + "".join(f"; {words}" for words in odd),
    )


def of_dpecdf(rows: pd.DataFrame) -> pd.DataFrame:
    """What the text of synthpriv's `DPEcdf` promises, and what it does not.

    Parameters
    ----------
    rows : DataFrame
        ``audit.tsv``; the genuine class's rows are taken.

    Returns
    -------
    DataFrame
        `COLUMNS`.
    """
    found = audit.genuine(rows).itertuples(index=False)
    return _table("dpecdf", [_promise(row) for row in found])


def _promise(row: tuple) -> Claim:
    evidence = row.does
    if not isnan(row.claimed_epsilon):
        evidence += f"; at least {row.loss_low:.2f} paid of {row.claimed_epsilon:g}"
    verdict = STANDS if audit.is_kept(row) else FALLS
    if verdict == STANDS:
        evidence += f", and {row.detectable_epsilon:.2f} would have been certified as too much"
    if row.promised == audit.NO_PROMISE:
        verdict = NOT_PROMISED
    elif row.verdict not in (VIOLATES, audit.DROPPED) and not audit.is_kept(row):
        verdict = UNDECIDED
    return Claim(row.attack, row.promise, verdict, evidence)


def _table(source: str, claims: list[Claim | None]) -> pd.DataFrame:
    rows = [
        (source, claim.location, claim.words, claim.verdict, claim.evidence)
        for claim in claims
        if claim is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS)
