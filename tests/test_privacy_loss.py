"""Privacy losses against brute force, known values and coverage."""

import dataclasses
import itertools
import re
from fractions import Fraction
from math import comb, exp, inf, isinf, log
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from conftest import ROOT
from noiseaudit import attack, entropy, mechanisms, privacy_loss
from noiseaudit.published import dptext, numbers
from noiseaudit.verdicts import VIOLATES

EPSILONS = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_exact_loss_against_brute_force(name, n, epsilon):
    """Every combination of a noise discretised to a few equally likely values, through the real vote.

    The mechanism is given the vote probabilities of its discretised noise; from them alone
    `exact_votes` must find the loss that counting all combinations finds.
    """
    cells = 60 if n < 3 else 20
    mechanism = mechanisms.named(name)
    b = mechanism.scale(n, epsilon)
    middles = (np.arange(cells) + 0.5) / cells
    units = mechanism.noise(middles)
    outputs = [mechanism.output(np.full(cells, float(x)), b, units) for x in (0, 1)]

    def log_votes(x, _):
        share = Fraction(int((outputs[x] >= 0.5).sum()), cells)
        assert abs(float(share) - exp(mechanism.log_votes(x, b)[1])) <= 1 / cells
        return tuple(log(p) if p else -inf for p in (1 - share, share))

    counts = np.zeros((2, 2), dtype=np.int64)
    for x in (0, 1):
        combinations = np.array(list(itertools.product(outputs[x], repeat=n)))
        counts[x] = np.bincount(attack.vote(combinations), minlength=2)
    discretised = dataclasses.replace(mechanism, log_votes=log_votes)
    exact = privacy_loss.exact_votes(discretised, epsilon, n)
    assert exact.loss == pytest.approx(float(privacy_loss.loss(counts)), rel=1e-12)
    assert np.exp(exact.log_probability) == pytest.approx(counts / cells**n)


@given(n=st.integers(1, 40), p=st.fractions(0, 1, max_denominator=50))
def test_majority_in_log_space_against_fractions(n, p):
    above = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if 2 * k > n)
    logs = [log(q) if q else -inf for q in (1 - p, p)]
    log_zero, log_one = privacy_loss._log_majority(*logs, n)
    assert exp(log_one) == pytest.approx(float(above), rel=1e-11, abs=1e-300)
    assert exp(log_zero) == pytest.approx(float(1 - Fraction(above)), rel=1e-11, abs=1e-300)


def test_losses_far_below_the_smallest_float_keep_their_digits():
    """ADePT at n = 2: P(1 | X) = (½e^(−ε/2))², with no float anywhere near."""
    exact = privacy_loss.exact_votes(mechanisms.named("adept"), 5000.0, 2)
    assert exact.log_probability[0, 1] == pytest.approx(-2 * log(2) - 5000)
    assert exact.loss == pytest.approx(5000 + 2 * log(2))


@pytest.mark.parametrize(
    ("name", "epsilon", "n", "loss"),
    [
        ("adept", 10.0, 128, 284.21),
        ("adept", 1.0, 128, 13.743),
        ("laplace", 1.0, 1, 0.83185),
        ("half_laplace", 10.0, 1, 10.0),
        ("half_laplace", 10.0, 2, 10.0),
    ],
)
def test_known_exact_losses(name, epsilon, n, loss):
    exact = privacy_loss.exact_votes(mechanisms.named(name), epsilon, n)
    assert exact.loss == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 8, 32, 64, 128])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_is_private_and_what_is_not(epsilon, n):
    exact = {
        name: privacy_loss.exact_votes(mechanism, epsilon, n).loss
        for name, mechanism in mechanisms.MECHANISMS.items()
    }
    assert exact["copy"] == exact["dptext"] == inf
    assert exact["random"] == 0
    assert exact["laplace"] <= epsilon
    assert exact["half_laplace"] <= epsilon * (1 + 1e-12)
    assert (exact["adept"] > epsilon) == (n > 1)


def test_loss_looks_at_both_columns():
    assert privacy_loss.loss([[90, 10], [40, 60]]) == pytest.approx(log(6))
    assert privacy_loss.loss([[90, 10], [10, 90]]) == pytest.approx(log(9))
    assert privacy_loss.loss([[100, 0], [40, 60]]) == inf
    assert privacy_loss.loss([[60, 40], [0, 100]]) == inf
    assert privacy_loss.loss([[100, 0], [100, 0]]) == 0
    assert privacy_loss.loss(np.array([[[90, 10], [40, 60]]] * 2)).shape == (2,)


@given(p=st.floats(0.001, 0.999), q=st.floats(0.001, 0.999))
def test_loss_intervals_cover(p, q):
    """100 seeded tables at alpha = 0.1: at most 10 % may miss, five standard errors allowed."""
    generator = np.random.default_rng(3)
    truth = max(abs(log(p / q)), abs(log((1 - p) / (1 - q))))
    missed = 0
    for a, b in zip(generator.binomial(500, p, 100), generator.binomial(500, q, 100), strict=True):
        interval = privacy_loss.loss_interval([[500 - a, a], [500 - b, b]], 0.1)
        missed += not interval.low <= truth * (1 + 1e-12) + 1e-12
        missed += not truth * (1 - 1e-12) - 1e-12 <= interval.high
    assert missed <= 10 + 5 * 3


@pytest.mark.parametrize(
    ("name", "epsilon", "n", "repeats"),
    [("laplace", 0.1, 1, 10**6), ("random", 1.0, 2, 10**6), ("adept", 1.0, 32, 10**4)],
)
def test_scores_are_standard_normal(name, epsilon, n, repeats):
    """Ties, a loss of zero, a few dozen counts: 300 seeded tables, a false alarm at 10⁻⁴."""
    exact = privacy_loss.exact_votes(mechanisms.named(name), epsilon, n)
    generator = entropy.generator(8, "scores", name)
    on_x, on_other = (
        generator.binomial(repeats, exp(row[1]), 300) for row in exact.log_probability
    )
    scores = []
    for a, b in zip(on_x, on_other, strict=True):
        estimate = float(privacy_loss.loss([[repeats - a, a], [repeats - b, b]]))
        scores.append(exact.score(estimate, repeats))
    assert stats.kstest(scores, "norm").pvalue > 1e-4


def test_a_score_is_the_deviation_in_standard_errors_where_the_loss_is_normal():
    exact = privacy_loss.exact_votes(mechanisms.named("adept"), 0.1, 2)
    error = exact.standard_error(10**7)
    assert error == pytest.approx(0.00078, abs=2e-6)
    for deviation in (-2.0, 0.0, 3.0):
        score = exact.score(exact.loss + deviation * error, 10**7)
        assert score == pytest.approx(deviation, abs=0.01)


def test_loss_intervals_are_clopper_pearsons_of_all_four_cells():
    counts = np.array([[900, 100], [300, 700]])
    low = stats.beta.ppf(0.01 / 8, counts, 1000 - counts + 1)
    high = stats.beta.ppf(1 - 0.01 / 8, counts + 1, 1000 - counts)
    interval = privacy_loss.loss_interval(counts, 0.01)
    assert interval.low == pytest.approx(
        max(log(low[1, 1] / high[0, 1]), log(low[0, 0] / high[1, 0]))
    )
    assert interval.high == pytest.approx(
        max(log(high[1, 1] / low[0, 1]), log(high[0, 0] / low[1, 0]))
    )


@pytest.mark.parametrize(
    ("name", "epsilon", "n"), [("laplace", 1.0, 2), ("half_laplace", 10.0, 2), ("random", 1.0, 8)]
)
def test_detectable_loss_is_where_certification_begins(name, epsilon, n):
    exact = privacy_loss.exact_votes(mechanisms.named(name), epsilon, n)
    found = exact.detectable_loss(epsilon, 10**8, 1e-9)
    probability = np.exp(exact.log_probability)
    deciding = np.argmax(np.abs(exact.log_probability[0] - exact.log_probability[1]))
    common = round(10**8 * probability[:, deciding].max())
    for factor, certified in ((1.005, True), (0.995, False)):
        rare = round(common * exp(-found * factor))
        table = [[10**8 - rare, rare], [10**8 - common, common]]
        assert (privacy_loss.loss_interval(table, 1e-9).low > epsilon) == certified
    assert exact.detectable_loss(30.0, 10**8, 1e-9) == inf


def test_an_empty_cell_is_judged_by_its_probability():
    """ADePT at epsilon 1: at n = 128 a thousand repeats leave a cell empty, at n = 2 they never do."""
    adept = mechanisms.named("adept")
    expected = privacy_loss.exact_votes(adept, 1.0, 128).score(inf, 1000)
    assert abs(expected) < 0.1
    assert privacy_loss.exact_votes(adept, 1.0, 2).score(inf, 1000) > 6
    some = privacy_loss.exact_votes(adept, 1.0, 128)
    rare = exp(some.log_probability[0, 1])
    assert some._probability_of_empty_cell(10**6) == pytest.approx(
        2 * (1 - rare) ** 10**6 - (1 - rare) ** (2 * 10**6), rel=0.5
    )


def test_scores_far_out_do_not_saturate():
    exact = privacy_loss.exact_votes(mechanisms.named("laplace"), 1.0, 8)
    error = exact.standard_error(10**6)
    for deviation in (-30.0, -8.0, 8.0, 50.0):
        assert exact.score(exact.loss + deviation * error, 10**6) == pytest.approx(deviation)


@pytest.mark.parametrize(
    ("exact", "estimate", "low", "verdict"),
    [
        (inf, inf, 3.0, "infinite"),
        (inf, 0.0, 0.0, "infinite, not seen in 10 repeats"),
        (2.0, inf, 1.5, "violates its claim, beyond 10 repeats"),
        (2.0, inf, 0.5, "nothing found, beyond 10 repeats"),
        (2.0, 2.1, 1.5, "violates its claim"),
        (0.5, 1.2, 0.9, "nothing found"),
    ],
)
def test_verdicts(exact, estimate, low, verdict):
    assert privacy_loss.judge(exact, estimate, low, 1.0, 10) == verdict


def test_a_cell_with_missing_repeats_is_named():
    cells = (
        numbers.read(ROOT / "resources/published/dptext.tsv")
        .head(1)
        .assign(n00=5, n01=5, n10=5, n11=4)
    )
    with pytest.raises(ValueError, match=r"adept, epsilon 0\.1, n = 1: \[10, 9\] repeats found"):
        privacy_loss.tabulate(cells, 10, 1e-6)


def test_the_papers_table_from_exact_probabilities():
    """A whole table: 252 cells, every published finite loss near its exact one."""
    shown = numbers.read(ROOT / "resources/published/dptext.tsv")
    cells = shown[~shown["location"].str.startswith("footnote")]
    assert len(cells) == 252
    scores = []
    for cell in cells.itertuples(index=False):
        exact = privacy_loss.exact_votes(
            mechanisms.named(cell.mechanism), cell.epsilon, cell.dimension
        )
        value = float(cell.published)
        if isinf(exact.loss):
            assert isinf(value)
        elif not isinf(value):
            rounding = dptext.loss_resolution(value)
            scores.append(exact.score(value, int(cell.repeats), rounding))
    assert len(scores) == 158
    assert max(map(abs, scores)) < 4
    assert stats.kstest(scores, "norm").pvalue > 0.01


def test_a_table_is_certified_at_the_alpha_it_is_given():
    """Cells at their expected counts, at the papers' scale: who violates, and by which bounds."""
    rows = []
    for name in mechanisms.MECHANISMS:
        for epsilon, n in itertools.product(EPSILONS, [1, 2, 8, 32, 64, 128]):
            exact = privacy_loss.exact_votes(mechanisms.named(name), epsilon, n)
            ones = np.round(10**7 * np.exp(exact.log_probability[:, 1])).astype(int)
            rows.append((name, epsilon, n, 10**7 - ones[0], ones[0], 10**7 - ones[1], ones[1]))
    columns = ["mechanism", "epsilon", "dimension", "n00", "n01", "n10", "n11"]
    table = privacy_loss.tabulate(pd.DataFrame(rows, columns=columns), 10**7, 1e-6 / len(rows))
    for row in table.itertuples(index=False):
        counts = np.array([[row.n00, row.n01], [row.n10, row.n11]])
        interval = privacy_loss.loss_interval(counts, 1e-6 / len(rows))
        assert (row.loss_low, row.loss_high) == (interval.low, interval.high)
    certified = table[table["verdict"].str.startswith(VIOLATES)]
    assert set(certified["mechanism"]) == {"adept"}
    assert len(certified) == 7 * 5  # every epsilon, every n of at least 2
    infinite = table[table["verdict"] == privacy_loss.INFINITE]
    assert set(infinite["mechanism"]) == {"copy", "dptext"}
    finite = table[np.isfinite(table["exact_loss"]) & np.isfinite(table["loss"])]
    ordinary = finite[finite["mechanism"] != "random"]  # an estimate of exactly 0 is too good
    assert ordinary["z_exact"].abs().max() < 1.5


CELL = {"mechanism": "adept", "epsilon": 1.0, "dimension": 32, "loss": 5.1, "z_exact": 0.3,
        "loss_low": 5.0, "loss_high": 5.2, "exact_loss": 5.114, "published_loss": 5.12,
        "published_repeats": 10**6, "z_published": 0.2}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "consistent with the exact model"),
        ({"z_published": 5.0}, "differs: the printed number is +5.0 sigma"),
        ({"z_exact": -6.0}, "differs: ours is -6.0 sigma"),
        ({"z_exact": float("nan")}, "differs: ours is +nan sigma"),
        ({"loss": inf, "z_exact": 7.0}, "differs: ours is +7.0 sigma"),
        (
            {"published_loss": inf, "z_published": 0.1},
            "differs: finite, 1000000 repeats left a cell",
        ),
        ({"published_loss": inf, "z_published": 9.0}, "differs: the printed number is +9.0 sigma"),
        ({"exact_loss": inf, "published_loss": inf, "loss": inf}, "reproduced"),
        ({"exact_loss": inf, "published_loss": 3.0, "loss": inf}, "differs: the exact loss is inf"),
    ],
)
def test_comparison_of_a_loss(change, verdict):
    cell = pd.DataFrame([CELL | change])
    number = SimpleNamespace(location="Fig. 1", published=f"{cell['published_loss'].iloc[0]}")
    (row,) = (dptext.compare_loss(one, number) for one in cell.itertuples(index=False))
    assert list(row) == numbers.COLUMNS
    assert (row["location"], row["printed"]) == (number.location, number.published)
    assert row["verdict"].startswith(verdict)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[0, 0], [0, 0]], "votes on both data sets expected"),
        ([[3, 1], [0, 0]], "votes on both data sets expected"),
        ([[3, -1], [2, 2]], "numbers of at least 0 expected"),
        ([[3, float("nan")], [2, 2]], "numbers of at least 0 expected"),
        ([[1, 0]], "tables of shape (…, 2, 2) expected"),
        ([["a", "b"], ["c", "d"]], "tables of shape (…, 2, 2) expected"),
    ],
)
def test_counts_are_tables_of_votes(counts, words):
    for reading in (privacy_loss.loss, lambda counts: privacy_loss.loss_interval(counts, 0.1)):
        with pytest.raises(ValueError, match=re.escape(words)):
            reading(counts)


def test_an_interval_is_of_one_table():
    with pytest.raises(ValueError, match=r"shape \(3, 2, 2\) found, one table"):
        privacy_loss.loss_interval(np.ones((3, 2, 2)), 0.1)
