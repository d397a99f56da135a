"""What the sources claim in words, and whether it stands."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pandas as pd

from noiseaudit import privacy_loss
from noiseaudit.cks20 import diagnosis, exact, layers
from noiseaudit.dpecdf import audit
from noiseaudit.published.opendp import PAPER_SCALE

COLUMNS = ["source", "location", "claim", "verdict", "evidence"]
"""Columns of ``results/claims.tsv``."""

STANDS, FALLS = "stands", "does not stand"


def of_dptext(losses: pd.DataFrame) -> list[dict[str, str]]:
    """Claims of Habernal (2022).

    Parameters
    ----------
    losses : DataFrame
        ``losses.tsv``.

    Returns
    -------
    list of dict
        Rows of `COLUMNS`; claims on mechanisms that were not run are left out.
    """
    cells = dict(iter(losses.groupby("mechanism")))
    violates = {
        name: rows["verdict"].str.startswith(privacy_loss.VIOLATION).sum()
        for name, rows in cells.items()
    }
    claims = []
    if "laplace" in cells:
        rows = cells["laplace"]
        share = (rows["exact_loss"] / rows["epsilon"]).max()
        claims.append((
            "Sec. 4",
            "the Laplace mechanism's loss is bounded by ε in every dimension",
            violates["laplace"] == 0,
            f"{violates['laplace']} of {len(rows)} cells certified above ε; the exact loss reaches "
            f"{share:.2f} ε",
        ))  # fmt: skip
    if "adept" in cells:
        rows = cells["adept"]
        wide = rows[rows["dimension"] > 1]
        broken = wide["verdict"].str.startswith(privacy_loss.VIOLATION).sum()
        claims.append((
            "Sec. 4",
            "ADePT violates its ε, and its loss explodes with the dimension",
            len(wide) > 0 and broken == len(wide),
            f"{broken} of {len(wide)} cells with n ≥ 2 certified above ε; but the loss stays finite: "
            f"{rows['exact_loss'].max():.4g} at the most, where it is printed as infinite",
        ))  # fmt: skip
    if "dptext" in cells:
        rows = cells["dptext"]
        infinite = ((rows["exact_loss"] == inf) & (rows["loss"] == inf)).sum()
        claims.append((
            "Sec. 4",
            "DPText's loss is infinite in every dimension",
            infinite == len(rows),
            f"{infinite} of {len(rows)} cells: infinite exactly, and one side never voted for",
        ))  # fmt: skip
    if "random" in cells:
        rows = cells["random"]
        claims.append((
            "Sec. 4",
            "output that ignores the input has no loss",
            violates["random"] == 0 and rows["z_exact"].abs().max() < 5,
            f"largest loss seen {rows['loss'].max():.4f}, exactly 0",
        ))  # fmt: skip
    return [_row("dptext", *claim) for claim in claims]


def of_opendp(
    releases: pd.DataFrame, traced: pd.DataFrame, losses: pd.DataFrame, times: pd.DataFrame
) -> list[dict[str, str]]:
    """Claims of Gerolimetto Fabrello et al. (2026).

    Parameters
    ----------
    releases, traced, losses, times : DataFrame
        ``releases.tsv``, ``layers.tsv``, ``plrv.tsv`` and ``performance.tsv``. The first two wheels
        timed are the contrasted ones.

    Returns
    -------
    list of dict
        Rows of `COLUMNS`.
    """
    names = traced[traced["entropy"] != "stuck"]
    faulty, corrected = names[names["variant"] == "faulty"], names[names["variant"] != "faulty"]
    return [
        _row("opendp", *claim)
        for claim in (
            _artifacts(releases),
            _earliest_layer(faulty),
            _sources(faulty),
            _slow_geometric(faulty),
            _corrections(corrected, releases),
            _losses(losses),
            _cost(times),
            _paid(releases),
        )
    ]


Claim = tuple[str, str, bool, str]
"""Where, what, whether it stands, and what shows it."""


def _artifacts(releases: pd.DataFrame) -> Claim:
    affected = releases[releases["verdict"] != diagnosis.HEALTHY]
    versions = list(dict.fromkeys(affected["release"]))
    said = {
        row.release
        for row in releases.itertuples()
        if diagnosis.variant_of(row.release, row.scale) == "faulty"
    }
    return (
        "Sec. III",
        "released OpenDP draws discrete Laplace noise with periodic artifacts",
        bool(versions) and set(versions) <= said,
        f"law rejected for {', '.join(versions) or 'no release'}; for no other of the "
        f"{releases['release'].nunique()} tested",
    )


def _earliest_layer(faulty: pd.DataFrame) -> Claim:
    found = faulty.loc[faulty["verdict"] == layers.EARLIEST, "layer"]
    traces = len(faulty.drop_duplicates(["entropy", "scale"]))
    right = int((found == "bernoulli_exp1").sum())
    return (
        "Sec. VI",
        "bernoulli_exp1 is the earliest faulty layer",
        right > 0 and right == len(found),
        f"named in {right} of {traces} traces of the faulty cascade, another layer in "
        f"{len(found) - right}",
    )


def _sources(faulty: pd.DataFrame) -> Claim:
    at_scale = faulty[faulty["scale"].astype(str) == PAPER_SCALE]
    shown = at_scale[at_scale["layer"] == "discrete_laplace"]
    deviate = int((shown["verdict"] != layers.HEALTHY).sum())
    return (
        "Sec. III-B",
        "the artifacts persist across entropy sources",
        0 < deviate == len(shown),
        f"noise rejected on {deviate} of {len(shown)} sources at scale {PAPER_SCALE}",
    )


def _slow_geometric(faulty: pd.DataFrame) -> Claim:
    slow = faulty[faulty["layer"] == "geometric_slow"]
    passed = int((slow["verdict"] == layers.HEALTHY).sum())
    return (
        "Sec. VI-C",
        "the slow geometric sampler passes, although it calls the faulty coin",
        passed == len(slow),
        f"{passed} of {len(slow)} faulty traces; its coin, of probability 1/e, is exact",
    )


def _corrections(corrected: pd.DataFrame, releases: pd.DataFrame) -> Claim:
    off = corrected[corrected["verdict"] != layers.HEALTHY]
    traces = len(corrected.drop_duplicates(["variant", "entropy", "scale"]))
    variants = [diagnosis.variant_of(row.release, row.scale) for row in releases.itertuples()]
    fixed = releases[np.array(variants) == "fixed"]
    healthy = int((fixed["verdict"] == diagnosis.HEALTHY).sum())
    return (
        "Sec. VIII",
        "with either correction every layer and the noise follow their laws",
        off.empty and healthy == len(fixed),
        f"no layer deviates in {traces} traces; {healthy} of {len(fixed)} samples of corrected "
        "releases pass",
    )


def _losses(losses: pd.DataFrame) -> Claim:
    at_scale = losses[losses["scale"].astype(float) == float(PAPER_SCALE)]
    beyond = at_scale.groupby("source")["within_3sigma"].agg(lambda within: int((~within).sum()))
    variants = {
        source: diagnosis.variant_of_source(source, int(PAPER_SCALE)) for source in beyond.index
    }
    faulty = {name: count for name, count in beyond.items() if variants[name] == "faulty"}
    sound = {name: count for name, count in beyond.items() if variants[name] != "faulty"}
    most = max(sound.values(), default=0)
    return (
        "Sec. IX-B",
        "the faulty sampler's losses exceed ±ε, those of the corrections do not",
        bool(faulty) and most <= _STRAY < min(faulty.values()),
        f"{min(faulty.values(), default=0)} outputs or more beyond ±ε by 3σ in each of "
        f"{len(faulty)} faulty sources, {most} at the most in the {len(sound)} others",
    )


_STRAY = 3
"""Outputs of a healthy source that chance may put beyond 3σ of their bound: 0.2 are expected."""


def _cost(times: pd.DataFrame) -> Claim:
    original, local = times[times["sampler"].str.startswith("OpenDP")].head(2).itertuples()
    ratio, error = local.ratio_to_first, local.ratio_standard_error
    return (
        "Sec. IX-A",
        "the local correction costs nearly nothing (2.7 %)",
        abs(ratio - 1) < 0.1,
        f"{local.sampler} takes {ratio:.3f} ± {error:.3f} of the time of {original.sampler}",
    )


def _paid(releases: pd.DataFrame) -> Claim:
    violating = releases[releases["verdict"] == diagnosis.VIOLATION]
    worst = violating.assign(times=violating["realised_epsilon_low"] * violating["scale"])
    shown = (
        worst.sort_values("times").iloc[-1] if len(worst) else releases.assign(times=0.0).iloc[0]
    )
    law = exact.discrete_laplace(Fraction(PAPER_SCALE), "faulty")
    return (
        "Sec. IX-B",
        "it is conjectured that the guarantee is violated; the paper leaves open by how much",
        len(violating) > 0,
        f"certified from the draws of {shown['release']} at scale {shown['scale']:g}: "
        f"{shown['realised_epsilon_low']:.3g} paid where {shown['claimed_epsilon']:.3g} is claimed; "
        f"exactly {law.realised_epsilon():.5f} at scale {PAPER_SCALE}",
    )


def of_dpecdf(rows: pd.DataFrame) -> list[dict[str, str]]:
    """Promises of the text of synthpriv's `DPEcdf`.

    Parameters
    ----------
    rows : DataFrame
        ``audit.tsv``; the genuine class's rows are taken.

    Returns
    -------
    list of dict
        Rows of `COLUMNS`.
    """
    genuine = rows[rows["subject"] != audit.Hardened.name]
    return [
        _row(
            "dpecdf",
            row.attack,
            row.promise,
            row.verdict == audit.HOLDS,
            f"{row.does}; at least {row.loss_low:.2f} paid of {row.claimed_epsilon:g}"
            if row.claimed_epsilon == row.claimed_epsilon
            else row.does,
        )
        for row in genuine.itertuples(index=False)
    ]


def _row(source: str, location: str, claim: str, stands: bool, evidence: str) -> dict[str, str]:
    verdict = STANDS if stands else FALLS
    return dict(zip(COLUMNS, (source, location, claim, verdict, evidence), strict=True))
