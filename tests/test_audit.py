"""The audit's parts, each against a second derivation: claims, bets, views, laws, the other questions."""

import copy
import math
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scipy import integrate, optimize, special
from scipy.stats import binom, laplace, norm

import noiseaudit
from noiseaudit import stats
from noiseaudit.audit import (
    betting,
    cards,
    claims,
    dependence,
    examination,
    fit,
    laws,
    paper,
    search,
    subjects,
    views,
)
from noiseaudit.audit.claims import Approximate, Concentrated, Gaussian
from noiseaudit.audit.outputs import Outputs

PROBABILITIES = st.floats(0.01, 0.99)


def outputs(values):
    return Outputs.of(np.asarray(values))


class TestClaims:
    def test_mu_gives_the_curve_of_the_gaussian_mechanism(self):
        """δ(ε) by integration of ``max(0, p − e^ε q)``."""
        epsilons, deltas = Gaussian(0.7).lines(0.7)
        for epsilon, delta in list(zip(epsilons, deltas, strict=True))[::40]:
            excess = lambda x, e=epsilon: max(norm.pdf(x, 0.7) - math.exp(e) * norm.pdf(x), 0.0)  # noqa: E731
            assert delta == pytest.approx(integrate.quad(excess, -10, 20, limit=500)[0], abs=1e-8)

    def test_rho_gives_the_best_conversion_over_the_order(self):
        epsilons, deltas = Concentrated(0.1).lines(0.1)
        for epsilon, delta in list(zip(epsilons, deltas, strict=True))[20::40]:

            def log_delta(a, epsilon=epsilon):
                return (a - 1) * (a * 0.1 - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)

            best = optimize.minimize_scalar(log_delta, bounds=(1 + 1e-6, 1e4), method="bounded")
            assert math.exp(best.fun) * (1 - 1e-9) <= delta <= math.exp(best.fun) * 1.01
            assert (
                delta < math.exp(-((epsilon - 0.1) ** 2) / 0.4) or epsilon < 0.1
            )  # the classic bound

    def test_the_gaussian_mechanism_keeps_the_rho_that_it_is_known_for(self):
        epsilons, deltas = Concentrated(0.5).lines(0.5)
        assert (deltas >= claims.gaussian_delta(epsilons, 1.0)).all()

    @pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e4, "1", True])
    def test_no_parameter_is_taken_that_nobody_claims(self, value):
        with pytest.raises(claims.ClaimError, match="epsilon"):
            claims.of(value, None, None, None)


def bet(left=(0.5, 0.1), right=None):
    events = [rates and betting.Event("event", *rates) for rates in (left, right)]
    return betting.Bet(*events)


class TestBetting:
    @pytest.mark.parametrize(
        "claim", [Approximate(0.5), Approximate(1.0, 0.05), Concentrated(0.2), Gaussian(0.8)]
    )
    @examples(max_examples=25)
    @given(q=PROBABILITIES, q_right=PROBABILITIES, seen=PROBABILITIES, both=st.booleans())
    def test_no_bet_gains_where_the_claim_holds(self, claim, q, q_right, seen, both):
        """The factor's expectation over all sixteen outcomes of one pair, at the claim's very edge."""
        lines = list(zip(*claim.lines(claim.parameter), strict=True))
        p, p_right = (
            min([1.0, *(math.exp(e) * side + d for e, d in lines)]) for side in (q, q_right)
        )
        wager = bet((seen, 0.3 * seen), (seen, 0.2 * seen) if both else None)
        expected = 0.0
        for outcome in product((0, 1), repeat=4):
            counts = np.zeros((2, 2, 2, 2), dtype=np.int64)
            counts[outcome] = 1
            a_left, a_right, b_left, b_right = outcome
            chance = (p if a_left else 1 - p) * (q_right if a_right else 1 - q_right)
            chance *= (q if b_left else 1 - q) * (p_right if b_right else 1 - p_right)
            expected += chance * math.exp(
                betting.log_wealth([betting.Block(wager, counts)], claim, claim.parameter)[0]
            )
        assert expected <= 1 + 1e-9

    def test_wealth_passes_a_threshold_as_rarely_as_ville_says(self):
        """4000 streams at the edge of ε = 1, looked at after each block: at most alpha pass 1/alpha."""
        rng, claim, alpha = np.random.default_rng(1), Approximate(1.0), 0.05
        q, passed = 0.2, 0
        for _ in range(4000):
            blocks = []
            for size in (10, 20, 40, 80, 160):
                a, b = rng.random(size) < q * math.e, rng.random(size) < q
                none = np.zeros(size, dtype=bool)
                blocks.append(
                    betting.Block(bet((0.6, 0.2)), betting.count_pairs([a, none, b, none]))
                )
            passed += betting.log_wealth(blocks, claim, 1.0).max() >= -math.log(alpha)
        assert 0 < passed <= binom.isf(1e-6, 4000, alpha)

    def test_a_bound_is_below_the_truth_and_near_what_an_exact_interval_gives(self):
        rng, n = np.random.default_rng(2), 100_000
        blocks = []
        for size in [n // 20] * 20:
            a, b = rng.random(size) < 0.4, rng.random(size) < 0.1
            none = np.zeros(size, dtype=bool)
            blocks.append(betting.Block(bet((0.4, 0.1)), betting.count_pairs([a, none, b, none])))
        low = betting.certified([blocks], Approximate(0.5), 1e-6)
        exact = stats.event_loss(int(0.4 * n), int(0.1 * n), n, 1e-6).low
        assert exact - 0.03 < low < math.log(4)

    def test_what_is_called_detectable_is_detected(self):
        claim, alpha, draws = Approximate(1.0), 1e-4, 20_000
        loss = betting.detectable(claim, 0.5, draws, alpha)
        assert betting.pairs_needed(claim, 0.5, 0.5 * math.exp(-loss), alpha) == pytest.approx(
            draws, rel=1e-3
        )
        assert betting.detectable(claim, 0.5, 20, alpha) == math.inf

    def test_the_speed_is_near_the_growth_at_the_best_share(self):
        for p, q in ((0.3, 0.1), (0.5, 0.17), (0.02, 0.005)):
            best = float(betting.growth(p, q, np.float64(1.0), np.float64(0.0)))
            assert betting.speed(p, q, 1.0, 0.0) == pytest.approx(best, rel=0.5)

    def test_counts_are_of_pairs(self):
        members = [
            np.array(member, dtype=bool) for member in ([1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0])
        ]
        counts = betting.count_pairs(members)
        assert counts[1, 0, 0, 0] == counts[1, 0, 1, 0] == counts[0, 1, 0, 0] == 1
        assert counts.sum() == 3


class TestViews:
    @given(st.lists(st.integers(-50, 50), min_size=2), st.integers(-200, 200))
    def test_integers_have_a_cell_each(self, values, probe):
        (view,) = [
            v for v in views.fitted(outputs(values), outputs(values)) if v.question == views.VALUES
        ]
        cells = view.code(outputs(values))
        assert [view.cell_name(cell) for cell in cells] == [str(value) for value in values]
        (cell,) = view.code(outputs([probe]))
        assert 0 < cell < view.cells

    @given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=50), st.floats(-1e7, 1e7))
    def test_bins_grow_with_the_output_and_atoms_are_alone(self, values, probe):
        view = views.Bins.fitted(np.array(values))
        x = np.sort(np.append(values, probe))
        cells = view.code(outputs(x))
        assert (np.diff(cells) >= 0).all()
        exact = cells % 2 == 0
        assert np.isin(x[exact & (cells > 0)], view.edges).all()

    def test_residues_tell_side_and_class(self):
        view = views.Residues(10, 3)
        x = np.arange(-25, 30)
        names = [view.cell_name(cell) for cell in view.code(outputs(x))]
        assert names == [f"{'−' if v < 3 else '+'}{abs(v - 3) % 10}" for v in x]

    @given(st.integers(1, 2**53 - 1), st.integers(-60, 0))
    def test_the_lowest_bit_is_that_of_the_fraction(self, mantissa, exponent):
        x = math.ldexp(mantissa, exponent)
        numerator, denominator = x.as_integer_ratio()
        expected = (numerator & -numerator).bit_length() - denominator.bit_length()
        assert views.lowest_bit(np.array([x, -x])).tolist() == [expected, expected]

    def test_failures_are_cells_and_nothing_else(self):
        made = Outputs.of(np.array([1.0, np.nan, np.inf, 2.0]), [(3, "ValueError")])
        (failing, *_), kinds = views.fitted(made, made), made.marks
        assert [failing.cell_name(cell) for cell in failing.code(made)] == [
            "an output",
            "NaN",
            "inf",
            "ValueError",
        ]
        assert (kinds > 0).tolist() == [False, True, True, True]

    def test_events_are_told_in_words(self):
        view = views.Integers(0, 9)
        members = np.zeros(view.cells, dtype=bool)
        members[view.code(outputs([2, 3, 4, 8]))] = True
        assert view.describe(members) == "output in {2 to 4, 8}"


class TestSearch:
    def test_the_period_of_a_faulty_law_is_found_without_knowing_the_fault(self):
        rng, n = np.random.default_rng(3), 400_000
        x = np.arange(-200, 201)
        p = np.exp(-np.abs(x) / 20) * np.where(np.abs(x) % 7 == 3, 1.3, 1.0)
        reached = np.cumsum(p) / p.sum()
        noise = [x[np.searchsorted(reached, rng.random(n))] + side for side in (0, 1)]
        tally = search.Tally.empty(views.Integers(-250, 250))
        tally.add([tally.view.code(outputs(x)) for x in noise])
        assert search.period(tally, 0, Approximate(1 / 20)).period == 7

    def test_folded_counts_are_those_of_the_residues(self):
        rng = np.random.default_rng(4)
        sides = tuple(outputs(rng.integers(-40, 40, 1000)) for _ in range(2))
        integers, residues = (
            search.Tally.empty(views.Integers(-40, 40)),
            search.Tally.empty(views.Residues(7, 2)),
        )
        for tally in (integers, residues):
            tally.add([tally.view.code(side) for side in sides])
        assert (search.fold(integers, residues.view).halves == residues.halves).all()

    def test_nothing_is_bet_where_nothing_promises(self):
        rng = np.random.default_rng(5)
        tally = search.Tally.empty(views.Failures(()))
        tally.add([tally.view.code(outputs(rng.integers(0, 9, 500))) for _ in range(2)])
        assert search.wager(search.survey([tally]), search.Refute(Approximate(1.0))) == [None, None]


def total(cells):
    return float(cells.probabilities.sum())


class TestLaws:
    @pytest.mark.parametrize(
        ("name", "parameters", "lattice"),
        [
            ("laplace", {"scale": 2.0}, None),
            ("laplace", {"scale": 2.0}, 2.0**-20),
            ("laplace", {"scale": 2.0}, 1.0),
            ("gaussian", {"scale": 0.5}, None),
            ("discrete_laplace", {"scale": 10}, None),
            ("discrete_laplace", {"scale": 3.3}, None),
            ("discrete_laplace", {"scale": 2**40}, None),
            ("discrete_gaussian", {"scale": 4}, None),
            ("discrete_gaussian", {"scale": 2**40}, None),
            ("bernoulli", {"p": 0.3}, None),
            ("logistic", {"scale": 2.0}, None),
            ("randomised_response", {"p": 0.7, "answers": 4}, None),
        ],
    )
    def test_cells_hold_all_probability(self, name, parameters, lattice):
        cells = laws.named(name, parameters, lattice).cells()
        assert total(cells) == pytest.approx(1, abs=1e-12)
        assert (cells.probabilities >= 0).all()
        assert cells.probabilities.size == cells.edges.size + 1

    def test_integer_laws_are_those_of_the_formulas(self):
        for name, weight in (
            ("discrete_laplace", lambda k: np.exp(-np.abs(k) / 3)),
            ("discrete_gaussian", lambda k: np.exp(-(k**2) / 18)),
        ):
            cells = laws.named(name, {"scale": 3}).cells()
            k = np.arange(-500, 501)
            expected = weight(k) / weight(k).sum()
            inner = np.interp(cells.integers, k, expected)
            assert cells.probabilities[1:-1] == pytest.approx(inner, abs=1e-14)

    def test_a_coarse_lattice_holds_the_law_rounded(self):
        cells = laws.named("laplace", {"scale": 2.0}, 1.0).cells()
        (one,) = cells.probabilities[1:-1][cells.integers == 1]
        assert one == pytest.approx(
            laplace.cdf(1.5, scale=2) - laplace.cdf(0.5, scale=2), abs=1e-14
        )

    def test_noise_is_the_output_less_its_input_in_units_of_the_lattice(self):
        law = laws.named("laplace", {"scale": 1.0}, 0.25)
        assert law.noise(outputs([1.5, 2.0]), 1).tolist() == [2.0, 4.0]
        assert law.noise(outputs([[1.0, 2.0], [1.5, 1.0]]), [1, 2]).tolist() == [0, 0, 2, -4]
        response = laws.named("randomised_response", {"p": 0.7, "answers": 2})
        assert response.noise(Outputs.of_booleans(np.array([1, 0])), True).tolist() == [1, 0]
        assert response.noise(outputs([3, 4, 3]), 3).tolist() == [1, 0, 1]


class TestFit:
    def fitted(self, law, noise, value=0):
        fitting = fit.Fitting(law, (value, value))
        half = len(noise) // 2
        fitting.add((outputs(noise[:half]), outputs(noise[half:])))
        return fitting.fit()

    def test_a_right_law_fits_as_often_as_it_should(self):
        """200 samples: p-values are at most as small as uniform ones (a false alarm in 10^6 tests)."""
        law = laws.named("discrete_laplace", {"scale": 5})
        small = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            p = -math.expm1(-1 / 5)
            small += (
                self.fitted(law, rng.geometric(p, 20_000) - rng.geometric(p, 20_000)).pvalue < 0.05
            )
        assert small <= binom.isf(1e-6, 200, 0.05)

    @pytest.mark.parametrize(("scale", "direction"), [(0.97, fit.TOO_LITTLE), (1.03, fit.TOO_MUCH)])
    def test_too_much_and_too_little_noise_are_told_apart(self, scale, direction):
        found = self.fitted(
            laws.named("laplace", {"scale": 1.0}),
            np.random.default_rng(6).laplace(scale=scale, size=200_000),
        )
        assert found.pvalue < 1e-6
        assert found.direction == direction

    def test_values_that_repeat_are_told(self):
        u = np.random.default_rng(7).integers(1, 2**24, 200_000) / 2.0**24
        found = self.fitted(laws.named("logistic", {}), special.logit(u))
        assert (found.test, found.pvalue < 1e-12) == ("values that repeat", True)

    def test_what_a_law_excludes_is_told(self):
        noise = np.random.default_rng(8).laplace(size=100_000)
        lattice = np.rint(noise * 16) / 16
        assert self.fitted(laws.named("laplace", {"scale": 1.0}, 1 / 16), lattice).pvalue > 1e-6
        found = self.fitted(laws.named("laplace", {"scale": 1.0}, 1 / 16), np.append(lattice, 0.01))
        assert (found.test, found.pvalue) == ("outputs that the law excludes", 0.0)

    def test_pooled_cells_expect_enough_and_lose_nothing(self):
        expected = np.exp(-np.arange(60) / 4) * 5000
        counts = np.arange(60)
        starts = stats.pool_neighbours(expected)
        observed, due = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
        assert due.min() >= stats.POOLED_MINIMUM
        assert due.sum() == pytest.approx(expected.sum())
        assert observed.sum() == counts.sum()


class TestPaper:
    def test_closed_forms(self):
        for law, claim, expected in (
            (("laplace", {"scale": 2.0}), Approximate(1.0), 0.5),
            (("discrete_laplace", {"scale": 2.0}), Approximate(1.0), 0.5),
            (("gaussian", {"scale": 2.0}), Gaussian(1.0), 0.5),
            (("gaussian", {"scale": 2.0}), Concentrated(1.0), 0.125),
            (("discrete_gaussian", {"scale": 2.0}), Concentrated(1.0), 0.125),
            (("randomised_response", {"p": 0.75, "answers": 2}), Approximate(1.0), math.log(3)),
        ):
            assert paper.paid(laws.named(*law), claim, 0, 1) == pytest.approx(expected)
        vector = paper.paid(
            laws.named("laplace", {"scale": 8.0}), Approximate(1.0), [0] * 8, [1] * 8, 8
        )
        assert vector == pytest.approx(1.0)
        assert (
            paper.paid(laws.named("gaussian", {"scale": 1.0}), Approximate(1.0), 0, 1) == math.inf
        )

    def test_the_classic_gaussian_formula_breaks_at_epsilon_10(self):
        sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / 10
        law, claim = laws.named("gaussian", {"scale": sigma}), Approximate(10.0, 1e-5)
        paid = paper.paid(law, claim, 0, 1)
        assert not paper.keeps(paid, claim)
        assert claims.gaussian_delta(10.0, 1 / sigma) == pytest.approx(2.3e-5, rel=0.02)
        assert claims.gaussian_delta(paid, 1 / sigma) == pytest.approx(1e-5, rel=1e-6)

    def test_a_delta_helps_laplace_noise_as_much_as_an_accountant_says(self):
        paid = paper.paid(laws.named("laplace", {"scale": 2.0}), Approximate(1.0, 0.01), 0, 1)
        accountant = privacy_loss_distribution.from_laplace_mechanism(
            2.0, value_discretization_interval=1e-5
        )
        assert paid == pytest.approx(accountant.get_epsilon_for_delta(0.01), abs=1e-4)

    def test_laws_of_integers_are_accounted_for(self):
        law, claim = laws.named("discrete_gaussian", {"scale": 3}), Approximate(1.0, 1e-4)
        paid = paper.paid(law, claim, 0, 1)
        k = np.arange(-60, 61)
        p, q = (np.exp(-((k - shift) ** 2) / 18) for shift in (0, 1))
        delta = np.maximum(p - math.exp(paid) * q, 0).sum() / p.sum()
        assert delta == pytest.approx(1e-4, rel=0.01)


class TestDependence:
    def table(self, x):
        view = views.Bins.fitted(x)
        tally = search.Tally.empty(view)
        tally.add([view.code(outputs(x[:1000]))] * 2)
        pairing = dependence.Pairing((view, tally.counts))
        pairing.add((outputs(x), outputs(x[::-1])))
        return pairing.test()

    def test_independent_draws_pass_as_often_as_they_should(self):
        small = sum(
            self.table(np.random.default_rng(seed).normal(size=20_000)).pvalue < 0.05
            for seed in range(100)
        )
        assert small <= binom.isf(1e-6, 100, 0.05)

    def test_a_moving_average_does_not(self):
        noise = np.random.default_rng(9).normal(size=20_001)
        assert self.table(noise[1:] + 0.3 * noise[:-1]).pvalue < 1e-9


def test_coordinates_that_share_their_noise_are_told():
    def draw(x, count, rng):
        noise = rng.normal(size=(count, 3))
        noise[:, 2] = noise[:, 1]
        return np.asarray(x) + noise

    law = {"name": "gaussian", "scale": 1.0}
    found = noiseaudit.audit(draw, [0, 0, 0], [1, 0, 0], mu=1.0, law=law, draws=20_000)
    assert found.dependence["pair"].startswith("coordinates 1 and 2")
    assert found.by == "dependent draws"


def test_the_package_can_be_called():
    rng = np.random.default_rng(10)
    verdict = noiseaudit.audit(
        lambda x, count: x + rng.geometric(0.9, count) - rng.geometric(0.9, count),
        epsilon=1.0,
        draws=20_000,
    )
    assert verdict.verdict == noiseaudit.audit.VIOLATES
    assert verdict.by == "values"
    assert verdict.epsilon_low > 1.2
    assert "violates its claim, by values" in repr(verdict)
    assert not verdict.is_healthy
    with pytest.raises(AttributeError):
        verdict.by = "nothing"


def test_a_function_may_give_one_output_at_a_time_or_raise():
    rng = np.random.default_rng(11)

    def one(x):
        if rng.random() < 0.01:
            raise ZeroDivisionError
        return x + int(rng.geometric(0.6)) - int(rng.geometric(0.6))

    verdict = noiseaudit.audit(one, epsilon=1.0, draws=5000)
    assert verdict.is_healthy
    assert 10 < verdict.failures["ZeroDivisionError"][0] < 120


def test_texts_booleans_and_none_are_labels():
    rng = np.random.default_rng(12)

    def answer(x, count):
        return [
            None if u < 0.1 else bool(u < 0.2) if u < 0.3 else "yes" if (u < 0.35) == x else "no"
            for u in rng.random(count)
        ]

    verdict = noiseaudit.audit(answer, False, True, epsilon=1.0, draws=20_000)
    assert (verdict.verdict, verdict.by) == (noiseaudit.audit.VIOLATES, "values")
    assert "'yes'" in verdict.event or "'no'" in verdict.event


def test_a_forked_copy_of_the_auditor_is_no_concern_of_its_caller():
    state = copy.deepcopy(np.random.get_state()[1])  # noqa: NPY002
    noiseaudit.audit(
        lambda x, count: x + np.random.default_rng().integers(0, 5, count), epsilon=5.0, draws=1000
    )
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_seeds_differ_between_sides_calls_and_cards():
    asked = []

    class Silent(subjects.Callback):
        def ask(self, side, count, seed, singly=False):
            asked.append(seed)
            super().ask(side, count, seed, singly)

    (setting,) = cards.of(
        {"draw": {"python": "this:process"}, "claim": {"epsilon": 1.0}, "draws": 10_000},
        noiseaudit.__file__,
        "a",
    ).settings()
    draw = lambda x, count, rng: x + rng.integers(0, 5, count)  # noqa: E731
    examination.examine(setting, Silent(draw, (0, 1)), seed=1)
    assert len(asked) == len(set(asked)) >= 7


def dlap(scale, count, rng):
    success = -math.expm1(-1 / scale)
    return rng.geometric(success, count) - rng.geometric(success, count)


def verdict(draw, left=0, right=1, **more):
    return noiseaudit.audit(draw, left, right, **({"epsilon": 1.0, "draws": 50_000} | more))


class TestHealthyNoiseIsNotConvicted:
    """Nothing of these tells the sides apart, and each was called a violation or a wrong law once."""

    @pytest.mark.parametrize("seed", range(5))
    def test_calls_that_fail_now_and_then(self, seed):
        rng = np.random.default_rng(seed)

        def draw(x, count):
            if rng.random() < 0.02:
                raise TimeoutError
            return x + dlap(1.0, count, rng)

        found = verdict(draw, draws=20_000)
        assert found.is_healthy, found
        assert min(found.failures.get("TimeoutError", [1])) > 0

    @pytest.mark.parametrize("seed", range(3))
    def test_integers_among_which_a_half_is_rare(self, seed):
        rng = np.random.default_rng(seed)

        def draw(x, count):
            noise = dlap(3.0, count, rng).tolist()
            return [x + n + (0.5 if rng.random() < 3e-5 else 0) for n in noise]

        assert verdict(draw, draws=100_000).is_healthy

    @pytest.mark.parametrize("seed", range(3))
    def test_booleans_among_which_a_number_is_rare(self, seed):
        rng = np.random.default_rng(seed)

        def draw(x, count):
            flips = rng.random(count) < 1 / (1 + math.e)
            return [-1 if rng.random() < 5e-5 else bool(x) ^ bool(flip) for flip in flips]

        assert verdict(draw).is_healthy

    @pytest.mark.parametrize("scale", [20_000, 2**18])
    def test_wide_integer_noise_with_its_law(self, scale):
        found = verdict(
            lambda x, count, rng: x + dlap(scale, count, rng),
            law={"name": "discrete_laplace", "scale": scale},
        )
        assert found.is_healthy, found

    def test_doubles_far_from_zero_repeat_themselves(self):
        found = verdict(
            lambda x, count, rng: x + rng.laplace(size=count),
            10**6,
            10**6 + 1,
            epsilon=None,
            law={"name": "laplace", "scale": 1},
            draws=300_000,
        )
        assert found.is_healthy, found

    def test_single_precision_repeats_itself(self):
        found = verdict(
            lambda x, count, rng: (x + rng.laplace(size=count)).astype(np.float32),
            epsilon=None,
            law={"name": "laplace", "scale": 1},
            draws=100_000,
        )
        assert found.is_healthy, found

    def test_a_lattice_is_of_the_outputs(self):
        found = verdict(
            lambda x, count, rng: np.rint((x + rng.laplace(size=count)) * 2**20) / 2**20,
            0.1,
            1.1,
            law={"name": "laplace", "scale": 1, "lattice": 2**-20},
        )
        assert found.is_healthy, found

    def test_inputs_may_be_tuples_and_arrays(self):
        for left, right in (((0, 0), (1, 1)), (np.zeros(2), np.ones(2))):
            found = verdict(
                lambda x, count, rng: np.asarray(x) + dlap(2.0, 2 * count, rng).reshape(count, 2),
                left,
                right,
                law={"name": "discrete_laplace", "scale": 2},
                draws=10_000,
            )
            assert found.is_healthy, found

    def test_dependent_draws_are_called_that(self):
        found = verdict(
            lambda x, count, rng: x + np.repeat(dlap(1.0, count // 32 + 1, rng), 32)[:count]
        )
        assert (found.verdict, found.by) == (noiseaudit.audit.WRONG_LAW, "dependent draws")


class TestNothingHides:
    def test_texts_in_vectors_are_told_apart_by_all_of_their_letters(self):
        found = verdict(
            lambda x, count, rng: [
                ("answer_yes" if x else "answer_no", float(noise))
                for noise in rng.laplace(size=count)
            ],
            draws=5000,
        )
        assert found.by == "values"

    def test_numbers_among_texts_stay_numbers(self):
        found = verdict(
            lambda x, count, rng: [
                "*" if rng.random() < 0.01 else x + noise
                for noise in rng.laplace(scale=0.1, size=count)
            ],
        )
        assert found.by == "values"
        assert found.certified > 3

    def test_a_not_a_number_among_coordinates(self):
        found = verdict(
            lambda x, count, rng: np.column_stack([np.full(count, np.nan), np.full(count, x)]),
            draws=5000,
        )
        assert found.by == "values"

    def test_wide_vectors_are_drawn_in_smaller_calls(self):
        found = verdict(lambda x, count, rng: rng.integers(0, 2, (count, 3000)), draws=3000)
        assert found.is_healthy
        assert found.draws == 3000

    @pytest.mark.parametrize(
        ("law", "stray"),
        [({"name": "bernoulli", "p": 0.3}, 7), ({"name": "binom", "n": 10, "p": 0.5}, 11)],
    )
    def test_outputs_beyond_the_support(self, law, stray):
        def draw(x, count, rng):
            made = rng.binomial(law.get("n", 1), law["p"], count) + x
            made[rng.random(count) < 1e-4] = stray + x
            return made

        found = verdict(draw, epsilon=None, law=law)
        assert found.verdict == noiseaudit.audit.WRONG_LAW
        assert found.law["test"] == "outputs that the law excludes"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda x, count: [10**400] * count, "integers beyond 64 bits"),
        (lambda x, count: np.zeros((count, 0)), "one or two axes expected"),
        (lambda x, count: [0] * count if x else [[0, 0]] * count, "outputs of one kind expected"),
    ],
)
def test_outputs_of_no_use_are_named(draw, said):
    with pytest.raises(noiseaudit.audit.SubjectError, match=said):
        verdict(draw)


def test_functions_of_every_signature_are_called_as_they_want():
    class Noise:
        def __call__(self, value, count):
            return value + np.random.default_rng().integers(0, 9, count)

    def by_name(value, *, count, rng):
        return value + rng.integers(0, 9, count)

    def one(value, rng=None):
        return value + int(rng.integers(0, 9))

    def generated(value, count):
        yield from (value + np.random.default_rng().integers(0, 9, count)).tolist()

    for draw in (Noise, Noise(), Noise().__call__, by_name, one, generated):
        found = verdict(draw, epsilon=5.0, draws=1500)
        assert found.draws == 1500
        assert not found.failures, found


def test_any_neighbour_can_be_written_down():
    found = verdict(lambda x, count, rng: rng.integers(0, 9, count), {1}, {1, 2}, draws=1500)
    assert found.as_dict()["neighbours"] == {"left": "{1}", "right": "{1, 2}"}


@pytest.mark.parametrize(
    "claim", [{"epsilon": 40.0}, {"epsilon": 1.0, "delta": 0.5}, {"epsilon": None, "mu": 20.0}]
)
def test_a_claim_that_nothing_could_break_is_not_judged(claim):
    found = verdict(lambda x, count, rng: rng.integers(0, 9, count), **claim, draws=1500)
    assert found.verdict == noiseaudit.audit.UNJUDGED


@pytest.mark.parametrize("shares", [1, 2])
def test_outputs_that_hardly_vary_cannot_show_whether_noise_is_fresh(shares):
    """One output always: no comparison is claimed to have been made; two outputs: it is made."""
    found = noiseaudit.audit(
        lambda value, count, rng: value + rng.integers(0, shares, count),
        0,
        10,
        epsilon=1.0,
        draws=4096,
    )
    assert found.verdict == noiseaudit.audit.VIOLATES
    assert (found.fresh is None) == (shares == 1)
