"""Printed numbers and the comparison with them."""

import pytest

from conftest import ROOT
from noiseaudit import published, stats


@pytest.mark.parametrize(
    ("printed", "half_unit"), [("0.58", 0.005), ("2.1e3", 50), ("128", 0.5), ("-0.68", 0.005)]
)
def test_resolution(printed, half_unit):
    assert published.resolution(printed) == pytest.approx(half_unit)


def test_reading_keeps_numbers_as_printed():
    numbers = published.read(ROOT / "resources/published/opendp.tsv")
    assert len(numbers) == 27
    chosen = numbers[(numbers["layer"] == "discrete_laplace") & (numbers["variant"] == "faulty")]
    assert dict(zip(chosen["quantity"], chosen["published"], strict=True)) == {
        "mean_z": "-0.68",
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
    row = published.compare(printed, estimate, stats.Moments(2000.0, 100.0))
    assert row["verdict"] == verdict
    assert row["ours_low"] == pytest.approx(ours - 196, abs=0.01)


def test_other_settings_are_not_judged():
    estimate = stats.Estimate.normal(1.0, 100.0, 0.05)
    row = published.compare("2.1e3", estimate, stats.Moments(2000.0, 100.0), unlike="10 draws")
    assert row["verdict"] == "not comparable: 10 draws"
