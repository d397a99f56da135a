"""The sources' claims: they stand on the released software, and fall where they should."""

from types import SimpleNamespace

import pandas as pd
import pytest

from conftest import ROOT
from noiseaudit import tables
from noiseaudit.dpecdf import audit
from noiseaudit.published import claims, numbers
from noiseaudit.verdicts import UNJUDGED

TABLES = {"releases": ["release"], "layers": ["scale"], "plrv": [], "performance": []}

PRINTED = numbers.read(ROOT / "resources/published/opendp.tsv")


@pytest.fixture
def opendp(finished):
    folder = finished.folder / "results/opendp"
    made = [tables.read_table(folder / f"{name}.tsv", text=text) for name, text in TABLES.items()]
    return [*made, PRINTED, "0.14.1", "0.14.2"]


def verdicts(rows):
    return dict(zip(rows["claim"], rows["verdict"], strict=True))


def test_on_the_released_software_claims_stand_and_promises_fall(finished):
    """Small samples have too few releases for ADePT's and one source only.

    Costs are the clock's. That losses exceed ±ε is not decided in one small sample of a hundred.
    """
    rows = tables.read_table(finished.folder / "results/claims.tsv")
    assert list(rows.columns) == claims.COLUMNS
    assert len(rows) == 6 + 11 + 9
    chance = rows["claim"].str.contains("costs nearly nothing|takes longer|losses exceed")
    assert not (rows["verdict"][rows["claim"].str.contains("losses exceed")] == claims.FALLS).any()
    by_verdict = rows[~chance].groupby("verdict")
    assert set(by_verdict.get_group(claims.UNDECIDED)["claim"]) == {
        "ADePT violates its ε, and its loss explodes with the dimension",
        "the artifacts persist across entropy sources",
    }
    assert set(by_verdict.get_group(claims.FALLS)["location"]) == {
        "default generator", "extremes", "single row", "values outside", "Sec. 4", "Sec. VI, VIII",
    }  # fmt: skip
    assert set(by_verdict.get_group(claims.NOT_PROMISED)["location"]) == {
        "derived bounds", "count in the report", "row replaced",
    }  # fmt: skip
    assert len(by_verdict.get_group(claims.STANDS)) == 4 + 6 + 2


def test_a_printed_pair_that_does_not_belong_together_is_named():
    """15 on 13 degrees of freedom has p between 0.277 and 0.340, by chi-square's closed tail."""
    claim = claims._pairs(PRINTED)
    assert claim.verdict == claims.FALLS
    assert claim.evidence == (
        "17 of 18 pairs agree; Fig. 5, geometric_slow: chi2 15 on 13 degrees of freedom has p from "
        "0.277 to 0.340, 0.26 is printed"
    )
    odd = (PRINTED["layer"] == "geometric_slow") & (PRINTED["published"] == "0.26")
    mended = PRINTED.assign(published=PRINTED["published"].mask(odd, "0.31"))
    assert claims._pairs(mended).verdict == claims.STANDS


def test_the_printed_losses_tell_how_many_releases_they_rest_on(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    assert claims._repeats(losses).verdict == claims.FALLS
    few = losses.assign(z_published=losses["z_published"] / 10**0.5)
    assert claims._repeats(few).verdict == claims.STANDS
    wide = losses.assign(z_published=losses["z_published"] * 10**0.5)
    assert claims._repeats(wide).verdict == claims.FALLS


@pytest.mark.parametrize(
    ("table", "change", "falls"),
    [
        (0, {"verdict": "nothing found"}, ["periodic artifacts"]),
        (0, {"verdict": "violates its claim"}, ["periodic artifacts", "either correction"]),
        (1, {"verdict": "earliest faulty layer"}, ["is the earliest", "slow geometric", "either"]),
        (1, {"verdict": "follows its law"}, ["across entropy"]),
        (2, {"within_3sigma": True}, ["losses exceed"]),
        (2, {"within_3sigma": False}, ["losses exceed"]),
        (1, {"verdict": "earliest faulty layer"}, ["sources of entropy are uniform"]),
        (
            0,
            {"verdict": "violates its claim", "realised_epsilon_low": 9.0},
            ["the guarantee is violated"],
        ),
        (3, {"ratio_to_first": 1.5, "ratio_standard_error": 0.01}, ["costs nearly nothing"]),
        (3, {"microseconds_per_draw": range(20, 9, -1), "standard_error": 0.01}, ["takes longer"]),
    ],
)
def test_other_findings_would_overturn_claims(opendp, table, change, falls):
    opendp[table] = opendp[table].assign(**change)
    found = verdicts(claims.of_opendp(*opendp))
    assert len(found) == 11
    for words in falls:
        (claim,) = [claim for claim in found if words in claim]
        assert found[claim] == claims.FALLS


@pytest.mark.parametrize(
    ("table", "change", "claim"),
    [
        (0, {"verdict": "nothing found"}, "the guarantee is violated"),
        (1, {"verdict": "follows its law"}, "bernoulli_exp1 is the earliest"),
        (3, {"ratio_to_first": 1.0, "ratio_standard_error": 0.1}, "the local correction costs"),
        (3, {"microseconds_per_draw": 1.0, "standard_error": 0.1}, "the alternative takes longer"),
    ],
)
def test_without_certainty_a_claim_is_not_decided(opendp, table, change, claim):
    opendp[table] = opendp[table].assign(**change)
    found = verdicts(claims.of_opendp(*opendp))
    (verdict,) = [verdict for words, verdict in found.items() if words.startswith(claim)]
    assert verdict == claims.UNDECIDED


def test_one_trace_of_many_names_no_layer():
    """A claim on where the fault enters needs most traces; one that names another layer overturns it."""
    named = ["bernoulli_exp1"] + ["uniform_bits"] * 24
    rows = pd.DataFrame({"layer": named, "entropy": "pcg64", "scale": range(25)})
    rows["verdict"] = ["earliest faulty layer"] + ["follows its law"] * 24
    assert claims._earliest_layer(rows).verdict == claims.UNDECIDED
    most = rows.assign(layer="bernoulli_exp1", verdict=["earliest faulty layer"] * 13 + ["-"] * 12)
    assert claims._earliest_layer(most).verdict == claims.STANDS
    other = rows.assign(verdict=["earliest faulty layer"] * 2 + ["follows its law"] * 23)
    assert claims._earliest_layer(other).verdict == claims.FALLS


def test_a_faulty_sample_that_shows_nothing_leaves_the_artifacts_undecided(opendp):
    releases = opendp[0].copy()
    faulty = releases.index[releases["verdict"] != "nothing found"]
    releases.loc[faulty[0], "verdict"] = "nothing found"
    assert len(faulty) > 1
    assert claims._artifacts(releases).verdict == claims.UNDECIDED


def test_claims_on_what_was_not_tabulated_are_left_out(opendp):
    releases, layers, losses, times, *others = opendp
    none = claims.of_opendp(
        releases[releases["release"] == "0.14.1"],
        layers[layers["scale"] == "3"],
        losses[losses["source"] == "OpenDP 0.14.1"],
        times.head(1),
        *others,
    )
    assert set(none["location"]) == {"Sec. III", "Sec. IX-B", "Sec. VI, VIII"}


def test_another_variant_does_not_count_as_the_papers_correction(opendp):
    releases, layers, losses, times, *others = opendp
    own = layers[layers["variant"] == "faulty"].assign(variant="ceiling")
    found = claims.of_opendp(releases, pd.concat([layers, own]), losses, times, *others)
    assert verdicts(found) == verdicts(claims.of_opendp(*opendp))


@pytest.mark.parametrize(
    ("mechanism", "change", "verdict"),
    [
        ("laplace", {"verdict": "violates its claim"}, claims.FALLS),
        ("laplace", {"exact_loss": 11.0}, claims.FALLS),
        ("adept", {"verdict": "violates its claim"}, claims.STANDS),
        ("adept", {"exact_loss": 0.05}, claims.FALLS),
        ("dptext", {"loss": 3.0}, claims.FALLS),
        ("random", {"verdict": "violates its claim"}, claims.FALLS),
    ],
)
def test_other_losses_would_overturn_claims(finished, mechanism, change, verdict):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    chosen = losses[losses["mechanism"] == mechanism].assign(**change)
    assert claims.of_dptext(chosen)["verdict"].iloc[0] == verdict


def test_a_loss_that_shrinks_with_the_dimension_does_not_explode(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    adept = losses[losses["mechanism"] == "adept"]
    shrinking = adept.assign(exact_loss=10_000 / adept["dimension"])
    assert claims.of_dptext(shrinking)["verdict"].iloc[0] == claims.FALLS


def test_mechanisms_that_were_not_run_are_left_out(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    assert claims.of_dptext(losses[losses["mechanism"] == "half_laplace"].head(1)).empty
    assert (
        claims.of_dptext(losses[losses["dimension"] == 1])["claim"].str.contains("ADePT").sum() == 0
    )


def test_an_attack_not_carried_far_enough_decides_nothing(finished):
    """With an exact loss beyond the claim, a bound below it is no evidence that a promise is kept."""
    rows = tables.read_table(finished.folder / "results/dpecdf/audit.tsv")
    chosen = rows[(rows["attack"] == "default generator") & (rows["subject"] != "hardened")]
    assert list(claims.of_dpecdf(chosen)["verdict"]) == [claims.FALLS]
    weak = chosen.assign(verdict="nothing found", claimed_epsilon=10.0)
    assert list(claims.of_dpecdf(weak)["verdict"]) == [claims.UNDECIDED]


def test_too_few_releases_to_see_rows_dropped_decide_nothing():
    counted = SimpleNamespace(
        attack="values outside", subject="synthpriv 0.2.1", epsilon=0.01, alpha=1e-6,
        repeats=100, seen=50, seen_neighbour=50,
    )  # fmt: skip
    row = pd.DataFrame([audit.row(counted)])
    assert list(row["verdict"]) == [UNJUDGED]
    assert list(claims.of_dpecdf(row)["verdict"]) == [claims.UNDECIDED]
