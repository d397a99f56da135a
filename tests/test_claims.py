"""The sources' claims: they stand on the released software, and fall where they should."""

import pytest

from noiseaudit import tables
from noiseaudit.published import claims

TABLES = {"releases": ["release"], "layers": ["scale"], "plrv": [], "performance": []}


@pytest.fixture
def opendp(finished):
    folder = finished.folder / "results/opendp"
    return [tables.read_table(folder / f"{name}.tsv", text=text) for name, text in TABLES.items()]


def verdicts(rows):
    return {row["claim"]: row["verdict"] for row in rows}


def test_on_the_released_software_every_claim_stands_but_five_promises(finished):
    rows = tables.read_table(finished.folder / "results/claims.tsv")
    assert list(rows.columns) == claims.COLUMNS
    counts = rows.groupby("source")["verdict"].value_counts()
    assert counts["dptext", claims.STANDS] == 4
    assert counts["opendp", claims.STANDS] == 8
    fallen = rows[rows["verdict"] == claims.FALLS]
    assert set(fallen["location"]) == {
        "default generator", "derived bounds", "count in the report", "row replaced",
        "values outside",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "change", "falls"),
    [
        (0, {"verdict": "no deviation found"}, ["periodic artifacts", "by how much"]),
        (0, {"verdict": "violates epsilon"}, ["periodic artifacts", "either correction"]),
        (1, {"verdict": "earliest faulty layer"}, ["is the earliest", "slow geometric", "either"]),
        (1, {"verdict": "follows its law"}, ["is the earliest", "across entropy"]),
        (2, {"within_3sigma": True}, ["losses exceed"]),
        (2, {"within_3sigma": False}, ["losses exceed"]),
        (3, {"ratio_to_first": 1.5}, ["costs nearly nothing"]),
    ],
)
def test_other_findings_would_overturn_claims(opendp, table, change, falls):
    opendp[table] = opendp[table].assign(**change)
    found = verdicts(claims.of_opendp(*opendp))
    assert len(found) == 8
    for words in falls:
        (claim,) = [claim for claim in found if words in claim]
        assert found[claim] == claims.FALLS


def test_a_certified_violation_of_the_laplace_mechanism_would_overturn_its_claim(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    assert set(verdicts(claims.of_dptext(losses)).values()) == {claims.STANDS}
    losses["verdict"] = "violates epsilon"
    fallen = [claim for claim, verdict in verdicts(claims.of_dptext(losses)).items()
              if verdict == claims.FALLS]  # fmt: skip
    assert len(fallen) == 2


def test_mechanisms_that_were_not_run_are_left_out(finished):
    losses = tables.read_table(finished.folder / "results/dptext/losses.tsv")
    assert claims.of_dptext(losses[losses["mechanism"] == "copy"]) == []
