"""The private ECDF: our class against the genuine one, the hardened one against its guarantee."""

import copy
import pickle
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from noiseaudit import entropy, stats, tables
from noiseaudit.cks20 import exact
from noiseaudit.dpecdf import DPEcdf, HardenedEcdf, agreement, audit, fit_columns, original, utility
from noiseaudit.verdicts import NOTHING, VIOLATES

COLUMN = np.linspace(0, 10, 101)
BOUNDS = (0.0, 10.0)


def source(*identity):
    return entropy.byte_source("pcg64", 3, *identity)


@pytest.fixture(scope="module")
def genuine(finished):
    return original.load(finished.folder / "resources/synthpriv/0.2.1", "0.2.1")


def test_our_class_is_the_genuine_one_to_the_last_bit(genuine):
    """360 random configurations, the absurd ones included: whatever both take is equal."""
    rows = pd.DataFrame(
        agreement.compare(agreement.case(number, 5), genuine) for number in range(360)
    )
    assert agreement.DIFFERENT not in set(rows["agreement"])
    assert (rows["agreement"] == agreement.EQUAL).sum() >= 150
    refused = rows[rows["agreement"] == agreement.OURS_REFUSES]
    assert set(refused["kind"]) <= {"with NaN", "with infinity"}
    assert (rows["explanation"][rows["agreement"] != agreement.EQUAL] != "").all()


@pytest.mark.parametrize("bounds", [None, BOUNDS])
def test_a_wrong_bit_would_be_seen(genuine, bounds):
    class OffByOneBit(DPEcdf):
        def fit(self, values, rng=None):
            super().fit(values, rng)
            self._released.cdf[1] = np.nextafter(self._released.cdf[1], 1)
            return self

    case = agreement.Case("normal", COLUMN, 1.0, 10, bounds, 1)
    assert agreement.compare(case, genuine)["agreement"] == agreement.EQUAL
    assert agreement._outcome(OffByOneBit, case)[1][1] != agreement._outcome(genuine, case)[1][1]


def test_data_derived_bounds_warn():
    with pytest.warns(UserWarning, match="give public bounds"):
        DPEcdf().fit(COLUMN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPEcdf(bounds=BOUNDS).fit(COLUMN)


@given(epsilon=st.floats(1e-6, 1e4), bins=st.integers(2, 50), number=st.integers(0, 1000))
def test_what_is_released_is_a_distribution(epsilon, bins, number):
    rng = np.random.default_rng(number)
    values = rng.normal(5, 3, 50)
    both = (
        DPEcdf(epsilon, bins, bounds=BOUNDS).fit(values, rng),
        HardenedEcdf(epsilon, BOUNDS, bins, source(number)).fit(values),
    )
    for ecdf in both:
        assert ecdf.cdf[0] == 0
        assert ecdf.cdf[-1] == 1
        assert np.all(np.diff(ecdf.cdf) >= 0)
        assert np.array_equal(ecdf.edges, np.linspace(*BOUNDS, bins + 1))
        u = np.linspace(0, 1, 20).reshape(4, 5)
        quantiles = ecdf.quantile(u)
        assert quantiles.shape == u.shape
        assert np.all(np.diff(quantiles.ravel()) >= 0)
        assert BOUNDS[0] <= quantiles.min() <= quantiles.max() <= BOUNDS[1]


def test_hardened_noise_is_exactly_discrete_laplace():
    """Noisy counts of an empty column and of a full bin; a false alarm has probability 10⁻⁴."""
    ecdf = HardenedEcdf(0.4, (0, 2), 2, source("noise"))
    law, reach = exact.DiscreteLaplace(ecdf.scale), np.arange(-12, 13)
    drawn = ecdf._noise.draw(40_000)
    counts = np.array([(drawn == x).sum() for x in reach])
    p = law.pmf(reach)
    assert chisquare(counts, p / p.sum() * counts.sum()).pvalue > 1e-4


@given(epsilon=st.floats(1e-10, 2.0**20))
def test_the_hardened_scale_is_never_less_private_than_asked(epsilon):
    ecdf = HardenedEcdf(epsilon, BOUNDS, source=source())
    assert 1 / ecdf.scale <= Fraction(epsilon)
    assert ecdf.scale - 1 / Fraction(epsilon) < Fraction(1, 2**20)
    assert ecdf.epsilon <= epsilon


def test_values_outside_count_at_the_edges():
    values = np.concatenate([np.full(300, -1e9), np.full(500, np.inf), np.full(200, 5.0)])
    ecdf = HardenedEcdf(50.0, BOUNDS, 10, source()).fit(values)
    shares = np.diff(ecdf.cdf)
    assert shares[0] == pytest.approx(0.3, abs=1e-3)
    assert shares[-1] == pytest.approx(0.5, abs=1e-3)
    assert DPEcdf(50.0, 10, bounds=BOUNDS).fit(values[:300].clip(-1e9, 5)).cdf[1] < 1


def test_the_hardened_class_takes_any_number_of_rows_and_tells_none():
    reports = [
        HardenedEcdf(1.0, BOUNDS, 10, source(size)).fit(np.full(size, 5.0)).report()
        for size in (0, 1, 7, 5000)
    ]
    assert all(report == reports[0] for report in reports)


def test_hardened_noise_is_fresh_by_default():
    """Two fits agree with probability below 10⁻²⁰."""
    one, other = (HardenedEcdf(0.1, BOUNDS, 100).fit(COLUMN) for _ in range(2))
    assert not np.array_equal(one.cdf, other.cdf)


def test_copies_share_no_noise():
    """A copy, made after a fit, draws its own; equal with probability below 10⁻²⁰."""
    ecdf = HardenedEcdf(0.1, BOUNDS, 100).fit(COLUMN)
    for twin in (copy.deepcopy(ecdf), pickle.loads(pickle.dumps(ecdf))):
        assert not np.array_equal(twin.fit(COLUMN).cdf, ecdf.fit(COLUMN).cdf)


def test_a_missing_value_counts_nowhere():
    with_nan, without = (
        HardenedEcdf(1.0, BOUNDS, 10, source("nan")).fit(values)
        for values in (np.append(COLUMN, np.nan), COLUMN)
    )
    assert np.array_equal(with_nan.cdf, without.cdf)
    masked = np.ma.masked_array(np.append(COLUMN, 5.0), [*np.zeros(101), 1])
    hidden = HardenedEcdf(1.0, BOUNDS, 10, source("nan")).fit(masked)
    assert np.array_equal(hidden.cdf, without.cdf)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_audit_sees_public_noise_at_any_epsilon(epsilon):
    """Our class of the original contract, with its default generator; at most 6400 releases."""
    (attack,) = [each for each in audit.ATTACKS if each.name == "default generator"]
    finding = audit.run(attack, audit.Original("ours", DPEcdf, epsilon), 6400, 1e-6, 1)
    assert finding.seen == (finding.repeats, 0)
    assert finding.repeats == (100 if epsilon == 0.3 else 400)  # it stops when it is certain


def test_an_attack_is_judged_at_four_looks_of_the_same_releases():
    """The last look is at all of them, and none of the looks at others than a longer attack's."""
    (attack,) = [each for each in audit.ATTACKS if each.name == "public bounds"]
    few, many = (
        list(audit.looks(attack, audit.Hardened(1.0), repeats, 1)) for repeats in (160, 640)
    )
    assert [look.repeats for look in many] == [10, 40, 160, 640]
    assert few[1:] == many[:3]
    assert audit.run(attack, audit.Hardened(1.0), 640, 1e-6, 1) == many[-1]


def test_the_looks_share_the_error():
    """A bound at one of four looks is the interval at a quarter of alpha, two sides included."""
    found = audit.Finding((50, 20), 100)
    loss, single = audit.loss_of(found, 0.04), stats.event_loss(50, 20, 100, 0.01)
    assert (loss.low, loss.high) == (single.low, single.high)


@pytest.mark.parametrize(
    ("name", "seen", "verdict"),
    [
        ("row replaced", (90, 1), audit.EXCEEDS),  # the text speaks of other neighbours
        ("public bounds", (90, 1), VIOLATES),
        ("public bounds", (60, 40), NOTHING),
        ("values outside", (50, 50), audit.DROPPED),
        ("values outside", (0, 0), audit.UNSEEN),
    ],
)
def test_what_counts_settle(name, seen, verdict):
    """At one look, with the error of four."""
    counted = SimpleNamespace(
        attack=name, subject="synthpriv 0.2.1", epsilon=1.0, alpha=1e-6, repeats=100,
        seen=seen[0], seen_neighbour=seen[1],
    )  # fmt: skip
    assert audit.row(counted)["verdict"] == verdict


def test_columns_split_the_budget():
    frame = pd.DataFrame({"a": COLUMN, "b": COLUMN / 2, "c": COLUMN**2})
    rng = np.random.default_rng(1)
    columns = fit_columns(frame, 0.9, lambda _, share: DPEcdf(share, bounds=(0, 100)), rng)
    report = columns.report()
    assert report["epsilon"] == pytest.approx(0.9)
    assert [one["epsilon"] for one in report["columns"].values()] == pytest.approx([0.3] * 3)
    hardened = fit_columns(frame, 0.9, lambda _, share: HardenedEcdf(share, (0, 100)))
    assert hardened.report()["epsilon"] <= 0.9
    with pytest.raises(ValueError, match="column b: values: NaN found"):
        fit_columns(
            {"a": COLUMN, "b": [1, np.nan]}, 1.0, lambda _, share: DPEcdf(share, bounds=BOUNDS)
        )
    with pytest.raises(ValueError, match=r"column a: epsilon: 5 found, at most 0\.3 expected"):
        fit_columns(frame, 0.9, lambda *_: DPEcdf(5, bounds=(0, 100)))
    same = DPEcdf(0.1, bounds=(0, 100))
    with pytest.raises(ValueError, match="column b: ecdf: another column's found"):
        fit_columns(frame, 0.9, lambda *_: same)
    with pytest.raises(ValueError, match="frame: columns a, a found, distinct names"):
        fit_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]), 1.0, lambda *_: same)
    with pytest.raises(ValueError, match="frame: no column found"):
        fit_columns({}, 1.0, lambda *_: DPEcdf())


BAD = [
    (lambda: DPEcdf(0), "epsilon: 0 found"),
    (lambda: DPEcdf(-1.0), "epsilon: -1.0 found"),
    (lambda: DPEcdf(np.nan), "epsilon: nan found"),
    (lambda: DPEcdf(np.inf), "epsilon: inf found"),
    (lambda: DPEcdf("1"), "epsilon: '1' found"),
    (lambda: DPEcdf(bounds=(1, 0)), r"bounds: \(1, 0\) found"),
    (lambda: DPEcdf(bounds=(0, np.inf)), r"bounds: \(0, inf\) found"),
    (lambda: DPEcdf(bounds=3), "bounds: 3 found"),
    (lambda: DPEcdf(bounds=(-1.7e308, 1.7e308)), "finite min < max expected"),
    (lambda: DPEcdf(q_low=2), "q_low: 2 found"),
    (lambda: DPEcdf(bounds=BOUNDS).fit([]), "values: 0 found, at least 2"),
    (lambda: DPEcdf(bounds=BOUNDS).fit([1]), "values: 1 found, at least 2"),
    (lambda: DPEcdf(bounds=BOUNDS).fit(["a", "b"]), "values: <U1 found, numbers expected"),
    (lambda: DPEcdf(bounds=BOUNDS).fit([1, np.nan]), "values: NaN found"),
    (lambda: DPEcdf(bounds=BOUNDS).fit([1, np.inf]), "values: infinity found"),
    (lambda: DPEcdf().fit([1e300, 1e300]), "has no 200 bins in floating point"),
    (lambda: DPEcdf(bounds=BOUNDS).fit(COLUMN).quantile(1.1), r"values in 0\.\.1 expected"),
    (lambda: DPEcdf(bounds=BOUNDS).fit(COLUMN).quantile([0.5, np.nan]), r"values in 0\.\.1"),
    (lambda: HardenedEcdf(0, BOUNDS), "epsilon: 0 found"),
    (lambda: HardenedEcdf(1e9, BOUNDS), r"epsilon: 1000000000\.0 found, from 1e-10"),
    (lambda: HardenedEcdf(1e-13, BOUNDS), "epsilon: 1e-13 found, from 1e-10"),
    (lambda: HardenedEcdf(1, BOUNDS, "x"), "bins: 'x' found, an integer"),
    (lambda: HardenedEcdf(1, BOUNDS).fit(["a"]), "values: <U1 found, numbers expected"),
    (lambda: HardenedEcdf(1, BOUNDS).fit([[1, 2]]), "values: 2 dimensions found, one column"),
    (lambda: HardenedEcdf(1, BOUNDS).fit([10**400]), "values: numbers expected"),
    (lambda: HardenedEcdf(1, BOUNDS).fit(np.array(["2020"], "M8[Y]")), "datetime64.* found"),
    (lambda: DPEcdf(bins="x"), "bins: 'x' found, an integer"),
    (lambda: DPEcdf(q_high="a"), "q_high: 'a' found"),
    (lambda: DPEcdf(bounds=BOUNDS).fit(COLUMN, 3), "rng: 3 found, a numpy.random.Generator"),
    (lambda: DPEcdf(bounds=BOUNDS).fit(np.ma.masked_less(COLUMN, 1)), "values: NaN found"),
    (lambda: HardenedEcdf(1, None), "bounds: none found"),
    (lambda: HardenedEcdf(1, BOUNDS, 1), "bins: 1 found"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("ecdf", [DPEcdf(), HardenedEcdf(1, BOUNDS)])
def test_unfitted_use(ecdf):
    with pytest.raises(RuntimeError, match="not fitted: call fit"):
        ecdf.quantile(0.5)


def test_a_missing_or_other_wheel_is_named(finished, tmp_path):
    with pytest.raises(original.OriginalError, match=r"synthpriv none found, 0\.2\.1 expected"):
        original.load(tmp_path, "0.2.1")
    site = finished.folder / "resources/synthpriv/0.2.1"
    with pytest.raises(original.OriginalError, match=r"synthpriv 0\.2\.1 found, 0\.3\.0 expected"):
        original.load(site, "0.3.0")


def test_the_audit_finds_what_is_broken_and_nothing_else(finished):
    """At 2000 releases; a healthy attack is flagged with a nominal probability of 10⁻⁶."""
    rows = tables.read_table(
        finished.folder / "results/dpecdf/audit.tsv", text=["attack", "subject"]
    )
    verdicts = {(row.subject, row.attack): row.verdict for row in rows.itertuples()}
    assert {name: verdict for (who, name), verdict in verdicts.items() if who != "hardened"} == {
        "public bounds": NOTHING,
        "default generator": VIOLATES,
        "derived bounds": audit.EXCEEDS,
        "count in the report": audit.EXCEEDS,
        "extremes": VIOLATES,
        "single row": VIOLATES,
        "row replaced": audit.EXCEEDS,
        "two columns": NOTHING,
        "values outside": audit.DROPPED,
    }
    assert {name: verdict for (who, name), verdict in verdicts.items() if who == "hardened"} == {
        "public bounds": NOTHING,
        "default generator": NOTHING,
        "derived bounds": audit.REFUSED,
        "count in the report": audit.UNSEEN,
        "extremes": audit.REFUSED,
        "single row": audit.UNSEEN,
        "row replaced": NOTHING,
        "two columns": NOTHING,
        "values outside": NOTHING,
    }
    finite = rows[np.isfinite(rows["exact_loss"]) & (rows["repeats"] > 0)]
    assert (finite["loss_low"] <= finite["exact_loss"]).all()
    assert (finite["exact_loss"] <= finite["loss_high"]).all()


@pytest.mark.parametrize(("noise", "verdict"), [(1.0, NOTHING), (0.4, VIOLATES)])
def test_a_class_with_too_little_noise_is_caught(noise, verdict):
    """A class that draws noise for epsilon 2.5 and claims 1; 5000 releases, seeded."""

    class Quiet(DPEcdf):
        def fit(self, values, rng=None):
            claimed, self.epsilon = self.epsilon, self.epsilon / noise
            super().fit(values, rng)
            self.epsilon = claimed
            return self

    (attack,) = [each for each in audit.ATTACKS if each.name == "public bounds"]
    finding = audit.run(attack, audit.Original("quiet", Quiet, 1.0), 5000, 1e-6, 1)
    loss = audit.loss_of(finding, 1e-6)
    assert (VIOLATES if loss.low > 1 else NOTHING) == verdict


def test_event_losses_against_binomials():
    loss = stats.event_loss(500, 100, 1000, 0.01)
    assert loss.estimate == pytest.approx(np.log(5))
    one, other = stats.clopper_pearson(500, 1000, 0.005), stats.clopper_pearson(100, 1000, 0.005)
    assert (loss.low, loss.high) == pytest.approx(
        (np.log(one.low / other.high), np.log(one.high / other.low))
    )
    assert stats.event_loss(0, 0, 10, 0.01).low == -np.inf
    assert stats.event_loss(10, 0, 10, 0.01).high == np.inf
    detectable = stats.detectable_event_loss(1000, 1.0, 0.01)
    other = round(500 / np.exp(detectable))
    assert stats.event_loss(500, other, 1000, 0.01).low > 1
    assert stats.event_loss(500, other + 1, 1000, 0.01).low <= 1


def test_errors_of_a_known_distribution():
    """A column at 0.5 against a straight line from 0 to 1: KS 1/2, area 1/4."""
    column = utility.Column("point", (0.0, 1.0), lambda n, _: np.full(n, 0.5))
    truth = utility.Truth.of(column, np.full(10, 0.5))
    flat = HardenedEcdf(1.0, (0, 1), 2, source()).fit([])
    flat._released.cdf[:] = [0, 0.5, 1]
    ks, w1 = truth.errors(flat)
    assert ks == pytest.approx(0.5, abs=1e-3)
    assert w1 == pytest.approx(0.25, abs=1e-3)


def test_hardening_costs_no_accuracy(finished):
    rows = tables.read_table(finished.folder / "results/dpecdf/utility.tsv", text=["column"])
    wide = rows.pivot(
        index=["over", "column", "epsilon", "bins", "rows"], columns="class", values="ks"
    )
    assert (wide["HardenedEcdf"] / wide["DPEcdf"]).median() < 1.05
