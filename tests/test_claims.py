"""The sources' claims: they stand on the released software, and fall where they should."""

import pandas as pd
import pytest

from noiseaudit import tables
from noiseaudit.published import claims

TABLES = {"releases": ["release"], "layers": ["scale"], "plrv": [], "performance": []}


@pytest.fixture
def opendp(finished):
    folder = finished.folder / "results/opendp"
    return [tables.read_table(folder / f"{name}.tsv", text=text) for name, text in TABLES.items()]


def verdicts(rows):
    return dict(zip(rows["claim"], rows["verdict"], strict=True))


def test_on_the_released_software_claims_stand_and_promises_fall(finished):
    """Small samples have too few releases for ADePT's and one source only; the cost is the clock's."""
    rows = tables.read_table(finished.folder / "results/claims.tsv")
    assert list(rows.columns) == claims.COLUMNS
    by_verdict = rows[~rows["claim"].str.contains("costs nearly nothing")].groupby("verdict")
    assert set(by_verdict.get_group(claims.UNDECIDED)["claim"]) == {
        "ADePT violates its ε, and its loss explodes with the dimension",
        "the artifacts persist across entropy sources",
    }
    assert set(by_verdict.get_group(claims.FALLS)["location"]) == {
        "default generator", "values outside",
    }  # fmt: skip
    assert set(by_verdict.get_group(claims.NOT_PROMISED)["location"]) == {
        "derived bounds", "count in the report", "row replaced",
    }  # fmt: skip
    assert len(by_verdict.get_group(claims.STANDS)) == 3 + 6 + 2


@pytest.mark.parametrize(
    ("table", "change", "falls"),
    [
        (0, {"verdict": "no deviation found"}, ["periodic artifacts"]),
        (0, {"verdict": "violates epsilon"}, ["periodic artifacts", "either correction"]),
        (1, {"verdict": "earliest faulty layer"}, ["is the earliest", "slow geometric", "either"]),
        (1, {"verdict": "follows its law"}, ["across entropy"]),
        (2, {"within_3sigma": True}, ["losses exceed"]),
        (2, {"within_3sigma": False}, ["losses exceed"]),
        (3, {"ratio_to_first": 1.5, "ratio_standard_error": 0.01}, ["costs nearly nothing"]),
    ],
)
def test_other_findings_would_overturn_claims(opendp, table, change, falls):
    opendp[table] = opendp[table].assign(**change)
    found = verdicts(claims.of_opendp(*opendp))
    assert len(found) == 8
    for words in falls:
        (claim,) = [claim for claim in found if words in claim]
        assert found[claim] == claims.FALLS


@pytest.mark.parametrize(
    ("table", "change", "claim"),
    [
        (0, {"verdict": "no deviation found"}, "the guarantee is violated"),
        (1, {"verdict": "follows its law"}, "bernoulli_exp1 is the earliest"),
        (3, {"ratio_to_first": 1.0, "ratio_standard_error": 0.1}, "the local correction costs"),
    ],
)
def test_without_certainty_a_claim_is_not_decided(opendp, table, change, claim):
    opendp[table] = opendp[table].assign(**change)
    found = verdicts(claims.of_opendp(*opendp))
    (verdict,) = [verdict for words, verdict in found.items() if words.startswith(claim)]
    assert verdict == claims.UNDECIDED


def test_claims_on_what_was_not_tabulated_are_left_out(opendp):
    releases, layers, losses, times = opendp
    none = claims.of_opendp(
        releases[releases["release"] == "0.14.1"],
        layers[layers["scale"] == "3"],
        losses[losses["source"] == "OpenDP 0.14.1"],
        times.head(1),
    )
    assert set(none["location"]) == {"Sec. III", "Sec. IX-B"}


def test_another_variant_does_not_count_as_the_papers_correction(opendp):
    releases, layers, losses, times = opendp
    own = layers[layers["variant"] == "faulty"].assign(variant="ceiling")
    found = claims.of_opendp(releases, pd.concat([layers, own]), losses, times)
    assert verdicts(found) == verdicts(claims.of_opendp(*opendp))


@pytest.mark.parametrize(
    ("mechanism", "change", "verdict"),
    [
        ("laplace", {"verdict": "violates epsilon"}, claims.FALLS),
        ("laplace", {"exact_loss": 11.0}, claims.FALLS),
        ("adept", {"verdict": "violates epsilon"}, claims.STANDS),
        ("adept", {"exact_loss": 0.05}, claims.FALLS),
        ("dptext", {"loss": 3.0}, claims.FALLS),
        ("random", {"verdict": "violates epsilon"}, claims.FALLS),
    ],
)
def test_other_losses_would_overturn_claims(finished, mechanism, change, verdict):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    chosen = losses[losses["mechanism"] == mechanism].assign(**change)
    assert list(claims.of_dptext(chosen)["verdict"]) == [verdict]


def test_a_loss_that_shrinks_with_the_dimension_does_not_explode(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    adept = losses[losses["mechanism"] == "adept"]
    shrinking = adept.assign(exact_loss=10_000 / adept["dimension"])
    assert list(claims.of_dptext(shrinking)["verdict"]) == [claims.FALLS]


def test_mechanisms_that_were_not_run_are_left_out(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    assert claims.of_dptext(losses[losses["mechanism"] == "copy"]).empty
    assert (
        claims.of_dptext(losses[losses["dimension"] == 1])["claim"].str.contains("ADePT").sum() == 0
    )


def test_an_attack_not_carried_far_enough_decides_nothing(finished):
    """With an exact loss beyond the claim, a bound below it is no evidence that a promise is kept."""
    rows = tables.read_table(finished.folder / "results/dpecdf/audit.tsv")
    chosen = rows[(rows["attack"] == "default generator") & (rows["subject"] != "hardened")]
    assert list(claims.of_dpecdf(chosen)["verdict"]) == [claims.FALLS]
    weak = chosen.assign(verdict="holds", claimed_epsilon=10.0)
    assert list(claims.of_dpecdf(weak)["verdict"]) == [claims.UNDECIDED]
