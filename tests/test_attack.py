"""The attack against brute force, its exact losses and its evidence."""

import itertools
from fractions import Fraction
from math import comb, exp, inf, isinf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from conftest import ROOT
from noiseaudit import attack, entropy, mechanisms, published

EPSILONS = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
LAPLACE = mechanisms.named("laplace")


def test_neighbours():
    x, other = attack.neighbours(3)
    assert x.tolist() == [0, 0, 0]
    assert other.tolist() == [1, 1, 1]


@given(z=st.lists(st.floats(-3, 3), min_size=1, max_size=12))
def test_the_vote_is_the_majority_of_rounded_coordinates(z):
    ones = sum(value >= 0.5 for value in z)
    assert attack.vote(np.array([z])) == [1 if ones > len(z) - ones else 0]


@given(half=st.integers(1, 8))
def test_a_tie_goes_to_zero(half):
    assert attack.vote(np.array([[0.0] * half + [1.0] * half])) == [0]
    assert attack.vote(np.array([[0.0] * half + [1.0] * (half + 1)])) == [1]


def test_the_threshold_itself_and_what_is_no_number():
    assert attack.vote(np.array([[0.5], [np.nextafter(0.5, 0)], [np.nan], [np.inf]])).tolist() == [
        1, 0, 0, 1,
    ]  # fmt: skip


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_exact_loss_against_brute_force(name, n, epsilon):
    """Every combination of a noise discretised to 60 equally likely values, through the real vote.

    The uniform is discretised at the middle of its cells, so a coordinate's vote is wrong by at most
    one cell; the combinations are then exact for that coordinate's probability.
    """
    cells = 60
    mechanism = mechanisms.named(name)
    b = mechanism.scale(n, epsilon)
    middles = (np.arange(cells) + 0.5) / cells
    units = [mechanism.noise.py_func(Fixed(u)) if name != "copy" else 0.0 for u in middles]
    logs = []
    for x in (0, 1):
        z = np.array([mechanism.output(float(x), b, s) for s in units])
        p = float((z >= 0.5).mean())
        assert p == pytest.approx(exp(mechanism.log_votes(x, b)[1]), abs=1 / cells)
        wins = sum(
            int(attack.vote(np.array([choice]))[0])
            for choice in itertools.product(z if n < 3 else z[::3], repeat=n)
        )
        share = wins / (cells if n < 3 else cells // 3) ** n
        q = p if n < 3 else float((z[::3] >= 0.5).mean())
        binomial = sum(comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1) if 2 * k > n)
        assert share == pytest.approx(binomial)
        with np.errstate(divide="ignore"):
            logs.append(attack._log_majority(*np.log([1 - q, q]), n))
    for (log_zero, log_one), x in zip(logs, (0, 1), strict=True):
        assert exp(log_zero) + exp(log_one) == pytest.approx(1), x


class Fixed:
    """A source of noise that always gives the same uniform."""

    def __init__(self, u):
        self.u = u

    def random(self):
        return self.u


@given(n=st.integers(1, 40), p=st.fractions(0, 1, max_denominator=50))
def test_majority_in_log_space_against_fractions(n, p):
    above = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if 2 * k > n)
    logs = [log(q) if q else -inf for q in (1 - p, p)]
    log_zero, log_one = attack._log_majority(*logs, n)
    assert exp(log_one) == pytest.approx(float(above), rel=1e-11, abs=1e-300)
    assert exp(log_zero) == pytest.approx(float(1 - Fraction(above)), rel=1e-11, abs=1e-300)


def test_losses_far_below_the_smallest_float_keep_their_digits():
    """ADePT at n = 2: P(1 | X) = (½e^(−ε/2))², with no float anywhere near."""
    exact = attack.exact_votes(mechanisms.named("adept"), 5000.0, 2)
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
    exact = attack.exact_votes(mechanisms.named(name), epsilon, n)
    assert exact.loss == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 8, 32, 64, 128])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_is_private_and_what_is_not(epsilon, n):
    exact = {
        name: attack.exact_votes(mechanism, epsilon, n).loss
        for name, mechanism in mechanisms.MECHANISMS.items()
    }
    assert exact["copy"] == exact["dptext"] == inf
    assert exact["random"] == 0
    assert exact["laplace"] <= epsilon
    assert exact["half_laplace"] <= epsilon * (1 + 1e-12)
    assert (exact["adept"] > epsilon) == (n > 1)


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
@pytest.mark.parametrize("n", [1, 2, 7, 128])
def test_the_compiled_simulation_is_the_attack_on_the_black_box(name, n):
    mechanism = mechanisms.named(name)
    compiled = attack.simulate(mechanism, [0.5, 2.0, 5.0], n, 3000, seed=4)
    for place, epsilon in enumerate([0.5, 2.0, 5.0]):
        plain = attack.attack(mechanism, epsilon, n, 3000, 4, name)
        assert np.array_equal(compiled[place], plain)


def test_shards_add_up_whoever_runs_them(monkeypatch):
    monkeypatch.setattr(attack, "SHARD", 700)
    whole = attack.simulate(LAPLACE, EPSILONS, 3, 5000, seed=2)
    assert np.all(whole.sum(axis=2) == 5000)
    for parts in (2, 3, 8, 20):
        shards = [attack.part_of(part, parts, 5000) for part in range(1, parts + 1)]
        assert sorted(itertools.chain(*shards)) == list(range(8))
        counts = [attack.simulate(LAPLACE, EPSILONS, 3, 5000, 2, own) for own in shards]
        assert np.array_equal(sum(counts), whole)


def test_more_repeats_keep_the_whole_shards_of_fewer(monkeypatch):
    monkeypatch.setattr(attack, "SHARD", 500)
    few = attack.simulate(LAPLACE, [1.0], 2, 1000, seed=2)
    more = attack.simulate(LAPLACE, [1.0], 2, 1700, seed=2, shards=range(2))
    assert np.array_equal(few, more)


def test_seeds_tell_everything_apart():
    streams = {
        attack.shard_generator(seed, name, n, d, shard).random()
        for seed in (1, 2)
        for name in ("laplace", "adept")
        for n in (1, 2)
        for d in (0, 1)
        for shard in (0, 1)
    }
    assert len(streams) == 32


def test_loss_looks_at_both_columns():
    assert attack.loss([[90, 10], [40, 60]]) == pytest.approx(log(6))
    assert attack.loss([[90, 10], [10, 90]]) == pytest.approx(log(9))
    assert attack.loss([[100, 0], [40, 60]]) == inf
    assert attack.loss([[60, 40], [0, 100]]) == inf
    assert attack.loss([[100, 0], [100, 0]]) == 0
    assert attack.loss(np.array([[[90, 10], [40, 60]]] * 2)).shape == (2,)


@given(p=st.floats(0.001, 0.999), q=st.floats(0.001, 0.999))
def test_loss_intervals_cover(p, q):
    """400 seeded tables at alpha = 0.1: at most 10 % may miss, five standard errors allowed."""
    generator = np.random.default_rng(3)
    truth = max(abs(log(p / q)), abs(log((1 - p) / (1 - q))))
    missed = 0
    for a, b in zip(generator.binomial(500, p, 100), generator.binomial(500, q, 100), strict=True):
        interval = attack.loss_interval([[500 - a, a], [500 - b, b]], 0.1)
        missed += not interval.low <= truth * (1 + 1e-12) + 1e-12
        missed += not truth * (1 - 1e-12) - 1e-12 <= interval.high
    assert missed <= 10 + 5 * 3


@pytest.mark.parametrize(
    ("name", "epsilon", "n", "repeats"),
    [("laplace", 0.1, 1, 10**6), ("random", 1.0, 2, 10**6), ("adept", 1.0, 32, 10**4)],
)
def test_scores_are_standard_normal(name, epsilon, n, repeats):
    """Ties, a loss of zero, a few dozen counts: 300 seeded tables, a false alarm at 10⁻⁴."""
    exact = attack.exact_votes(mechanisms.named(name), epsilon, n)
    generator = entropy.generator(8, "scores", name)
    on_x, on_other = (
        generator.binomial(repeats, exp(row[1]), 300) for row in exact.log_probability
    )
    scores = []
    for a, b in zip(on_x, on_other, strict=True):
        estimate = float(attack.loss([[repeats - a, a], [repeats - b, b]]))
        scores.append(exact.score(estimate, repeats))
    assert stats.kstest(scores, "norm").pvalue > 1e-4


def test_a_score_is_the_deviation_in_standard_errors_where_the_loss_is_normal():
    exact = attack.exact_votes(mechanisms.named("adept"), 0.1, 2)
    error = exact.standard_error(10**7)
    assert error == pytest.approx(0.00078, abs=2e-6)
    for deviation in (-2.0, 0.0, 3.0):
        score = exact.score(exact.loss + deviation * error, 10**7)
        assert score == pytest.approx(deviation, abs=0.01)


def test_detectable_loss_is_where_certification_begins():
    found = attack.detectable_loss(1.0, 10**6, 1e-9)
    for factor, certified in ((1.001, True), (0.999, False)):
        p = 1 / (1 + exp(-found * factor))
        common = round(10**6 * p)
        table = [[common, 10**6 - common], [10**6 - common, common]]
        assert (attack.loss_interval(table, 1e-9).low > 1.0) == certified
    assert attack.detectable_loss(30.0, 10**6, 1e-9) == inf


@pytest.mark.parametrize(
    ("exact", "estimate", "low", "verdict"),
    [
        (inf, inf, 3.0, "infinite"),
        (2.0, inf, 1.5, "violates epsilon, beyond 10 repeats"),
        (2.0, inf, 0.5, "no violation found, beyond 10 repeats"),
        (2.0, 2.1, 1.5, "violates epsilon"),
        (0.5, 1.2, 0.9, "no violation found"),
    ],
)
def test_verdicts(exact, estimate, low, verdict):
    assert attack.judge(exact, estimate, low, 1.0, 10) == verdict


def test_a_cell_with_missing_repeats_is_named():
    cells = (
        published.read(ROOT / "resources/published/dptext.tsv")
        .head(1)
        .assign(n00=5, n01=5, n10=5, n11=4)
    )
    with pytest.raises(ValueError, match=r"adept, epsilon 0\.1, n = 1: \[10, 9\] repeats found"):
        attack.tabulate(cells, 10, 1e-6)


def test_the_papers_table_from_exact_probabilities():
    """A whole table: 252 cells, every published finite loss near its exact one."""
    numbers = published.read(ROOT / "resources/published/dptext.tsv")
    numbers = numbers[~numbers["location"].str.startswith("footnote")]
    assert len(numbers) == 252
    scores = []
    for cell in numbers.itertuples(index=False):
        exact = attack.exact_votes(mechanisms.named(cell.mechanism), cell.epsilon, cell.dimension)
        value = float(cell.published)
        if isinf(exact.loss):
            assert isinf(value)
        elif not isinf(value):
            rounding = published.loss_resolution(value)
            scores.append(exact.score(value, int(cell.repeats), rounding))
    assert len(scores) == 158
    assert max(map(abs, scores)) < 4
    assert stats.kstest(scores, "norm").pvalue > 0.01


BLACK_BOXES = {
    "list": (lambda x, epsilon, generator: x.tolist(), "mechanism list: list returned, an array"),
    "int": (lambda x, epsilon, generator: x.astype(int), "an array of int64 returned"),
    "flat": (lambda x, epsilon, generator: x[:, 0], r"shape \(5,\) returned, \(5, 2\) expected"),
}


@pytest.mark.parametrize("name", BLACK_BOXES)
def test_a_black_box_that_returns_something_else(name):
    mechanism, message = BLACK_BOXES[name]
    with pytest.raises(ValueError, match=message):
        attack.attack(mechanism, 1.0, 2, 5, 1, name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": 0}, "dimension: 0 found"),
        ({"dimension": 1.5}, r"dimension: 1\.5 found"),
        ({"epsilons": [1.0, -1.0]}, r"epsilon: -1\.0 found"),
        ({"repeats": 0}, "repeats: 0 found"),
        ({"repeats": 2**63}, f"repeats: {2**63} found"),
        ({"shards": [1]}, "shard: 1 found, one of 0 to 0"),
    ],
)
def test_bad_arguments(change, message):
    arguments = {"epsilons": [1.0], "dimension": 2, "repeats": 10, "seed": 1} | change
    with pytest.raises(ValueError, match=message):
        attack.simulate(LAPLACE, **arguments)
