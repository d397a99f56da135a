"""Printed numbers and the comparison with them."""

import pytest

from conftest import ROOT
from noiseaudit import stats, tables
from noiseaudit.published import numbers


@pytest.mark.parametrize(
    ("printed", "half_unit"), [("0.58", 0.005), ("2.1e3", 50), ("128", 0.5), ("-0.68", 0.005)]
)
def test_resolution(printed, half_unit):
    assert numbers.resolution(printed) == pytest.approx(half_unit)


def test_reading_keeps_numbers_as_printed():
    shown = numbers.read(ROOT / "resources/published/opendp.tsv")
    assert len(shown) == 39
    chosen = shown[(shown["layer"] == "discrete_laplace") & (shown["variant"] == "faulty")]
    assert dict(zip(chosen["quantity"], chosen["published"], strict=True)) == {
        "mean_z": "-0.68",
        "mean_p": "0.49",
        "chi2": "2.1e3",
        "time_us": "14.68",
    }


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("2.1e3", 2050.0, "reproduced"),
        ("2.1e3", 3000.0, "differs: ours is +10.0 sigma from the exact model"),
        ("2.9e3", 2050.0, "differs: the printed number is +8.6 sigma from the exact model"),
    ],
)
def test_verdicts(printed, ours, verdict):
    estimate = stats.Estimate.normal(ours, 100.0, 0.05)
    row = numbers.compare(printed, estimate, stats.Moments(2000.0, 100.0))
    assert row["verdict"] == verdict
    assert row["ours_low"] == pytest.approx(ours - 196, abs=0.01)


def test_other_settings_are_not_judged():
    estimate = stats.Estimate.normal(1.0, 100.0, 0.05)
    row = numbers.compare("2.1e3", estimate, stats.Moments(2000.0, 100.0), unlike="10 draws")
    assert row["verdict"] == "not comparable: 10 draws"


def test_every_printed_number_of_opendp_is_answered(finished):
    shown = numbers.read(ROOT / "resources/published/opendp.tsv")
    compared = tables.read_table(finished.folder / "results/opendp/comparison.tsv")
    for number in shown.itertuples():
        rows = compared[compared["published"] == float(number.published)]
        layer = "microseconds" if number.quantity == "time_us" else number.layer
        assert rows["quantity"].str.contains(layer).any(), number
    ratios = compared["quantity"].str.startswith("time of")
    assert compared["published"][ratios].tolist() == pytest.approx([1.0272, 1.1572], abs=5e-5)


def test_theory_is_compared_to_its_printed_digits():
    estimate = stats.Estimate.normal(0.664253, 0.0, 0.05)
    right = numbers.compare("0.6643", estimate, stats.Moments(0.664253, 0.0))
    assert right["verdict"] == "reproduced"
    wrong = numbers.compare("0.6655", estimate, stats.Moments(0.664253, 0.0))
    assert wrong["verdict"].startswith("differs: the printed number is +43.2 sigma")
