"""Printed numbers and the comparison with them."""

import pytest
from scipy.stats import chi2, halfnorm

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
    assert len(shown) == 58
    chosen = shown[(shown["layer"] == "discrete_laplace") & (shown["variant"] == "faulty")]
    assert dict(zip(chosen["quantity"], chosen["published"], strict=True)) == {
        "mean_z": "-0.68",
        "mean_p": "0.49",
        "chi2": "2.1e3",
        "chi2_p": "0.000",
        "time_us": "14.68",
    }
    about = shown["published"].str.startswith("≈")
    assert sorted(shown["published"][about]) == ["≈1", "≈1", "≈11"]
    assert numbers.value("≈11") == 11


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("2.1e3", 2050.0, "reproduced"),
        ("2.1e3", 2151.0, "consistent with the exact model"),
        ("2.1e3", 3000.0, "differs: ours is +10.0 sigma from the exact model"),
        ("≈2.1e3", 2050.0, "consistent with the exact model"),
        ("2.9e3", 2050.0, "differs: the printed number is +8.6 sigma from the exact model"),
    ],
)
def test_verdicts(printed, ours, verdict):
    estimate = stats.Estimate.normal(ours, 100.0, 0.05)
    row = numbers.compare(printed, estimate, numbers.Normal(2000.0, 100.0))
    assert row["verdict"] == verdict
    assert row["ours_low"] == pytest.approx(ours - 196, abs=0.01)


def test_at_other_settings_each_is_judged_by_its_own_model():
    estimate = stats.Estimate.normal(205.0, 10.0, 0.05)
    row = numbers.compare(
        "2.1e3", estimate, numbers.Normal(2000.0, 100.0), numbers.Normal(200.0, 10.0)
    )
    assert row["our_deviation_sigma"] == pytest.approx(0.5)
    assert row["verdict"] == "consistent with the exact model"
    off = numbers.compare(
        "2.1e3", estimate, numbers.Normal(2000.0, 100.0), numbers.Normal(100.0, 10.0)
    )
    assert off["verdict"] == "differs: ours is +10.5 sigma from the exact model"


@pytest.mark.parametrize(
    ("p", "score"), [(0.5, 0.0), (0.158655, 1.0), (0.841345, -1.0), (1e-30, 11.46), (1.0, -3.09)]
)
def test_the_p_value_of_a_mean_that_follows_its_law_is_uniform(p, score):
    """One of 1 comes from a mean that hits its theory, and is no news."""
    model = numbers.TailProbability(chi2(3))
    assert (model.mean, model.sd) == (0.5, pytest.approx(0.288675, abs=1e-6))
    assert model.score(p) == pytest.approx(score, abs=0.01)
    assert model.score_of(chi2(3).isf(p)) == pytest.approx(score, abs=0.01)


def test_a_healthy_p_value_is_not_printed_as_zero():
    assert numbers.TailProbability(chi2(3)).score(0.0, 5e-4) == float("inf")


def test_the_p_value_of_a_rejected_law_is_judged_by_its_statistic():
    model = numbers.TailProbability(halfnorm(), stats.Moments(2.83, 1.0))
    assert model.score(6.6e-5) == pytest.approx(3.99 - 2.83, abs=0.01)
    assert model.mean == pytest.approx(0.004655, abs=1e-5)
    beyond_doubt = numbers.TailProbability(chi2(1), stats.Moments(126.4, 22.3))
    assert beyond_doubt.score(0.0, 5e-4) == 0.0
    assert beyond_doubt.score(0.5) == pytest.approx((0.455 - 126.4) / 22.3, abs=0.01)
    assert beyond_doubt.score_of(5000.0) == pytest.approx((5000 - 126.4) / 22.3)
    doubtful = numbers.TailProbability(chi2(1), stats.Moments(3.0, 2.0))
    assert doubtful.score(0.0, 5e-4) == pytest.approx((chi2(1).isf(5e-4) - 3) / 2)


def test_every_printed_number_of_opendp_is_answered(finished):
    """Each by the cascade or, of the final noise and the times, by what a time or a wheel says."""
    shown = numbers.read(ROOT / "resources/published/opendp.tsv")
    compared = tables.read_table(
        finished.folder / "results/opendp/comparison.tsv", text=["printed"]
    )
    answers = set(zip(compared["location"], compared["quantity"], compared["printed"], strict=True))
    times = {
        "time_us": "microseconds a draw, {}: ",
        "excess_percent": "per cent that {} takes over ",
    }
    for number in shown.itertuples():
        place, value = number.location, number.published
        if number.quantity in times:
            begins = times[number.quantity].format(number.variant)
            assert any(row[1].startswith(begins) and row[2] == value for row in answers)
        else:
            name = f"{number.layer} {number.quantity}, {number.variant} cascade"
            assert (place, name, value) in answers
    assert len(compared) == len(shown) + 2  # two of a wheel


def test_theory_is_compared_to_its_printed_digits():
    estimate = stats.Estimate.normal(0.664253, 0.0, 0.05)
    right = numbers.compare("0.6643", estimate, numbers.Normal(0.664253, 0.0))
    assert right["verdict"] == "reproduced"
    wrong = numbers.compare("0.6655", estimate, numbers.Normal(0.664253, 0.0))
    assert wrong["verdict"].startswith("differs: the printed number is +43.2 sigma")
