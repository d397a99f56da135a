"""Inversion: its table against an independent sum, its law exactly, and undecided draws by force."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from noiseaudit import entropy
from noiseaudit.cks20 import exact, gaussian, inversion

KINDS = (inversion.LAPLACE, inversion.GAUSSIAN)

SCALES = [Fraction(1, 3), Fraction(7, 3), Fraction(10), Fraction(100)]


def law_of(kind, scale):
    made = exact.discrete_laplace if kind == inversion.LAPLACE else gaussian.discrete_gaussian
    return made(scale, "fixed")


def sums(kind, scale, count):
    """``T_0 … T_(count − 1)``: the Laplace's in closed form, the Gaussian's term by term."""
    s = Decimal(scale.numerator) / scale.denominator
    if kind == inversion.LAPLACE:
        return [1 - (-(j + 1) / s).exp() for j in range(count)]
    weights = [(-(Decimal(j) ** 2) / (2 * s * s)).exp() for j in range(20 * int(s + 1))]
    return [sum(weights[: j + 1]) / sum(weights) for j in range(count)]


@pytest.mark.parametrize("bits", [8, 63, 127])
@pytest.mark.parametrize("scale", SCALES[:3])
@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_against_another_formula(kind, scale, bits):
    with localcontext(prec=80):
        found = inversion.thresholds(kind, scale, bits)
        due = [int(t * 2**bits) for t in sums(kind, scale, len(found))]
    assert found == due
    assert found[-1] == 2**bits - 1


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_law_is_exact_to_the_width_of_what_is_undecided(kind, scale):
    """Of 2^63 words without their sign, those that decide for j are all that its probability asks for but
    one at either end."""
    table = inversion.thresholds(kind, scale, inversion.BITS)
    decided = [table[0]] + [after - before - 1 for before, after in pairwise(table)]
    law = law_of(kind, scale)
    single = law.pmf(np.arange(len(table)))
    shares = single / (0.5 + single[0] / 2)  # each magnitude with one sign
    for j in range(min(len(table) - 1, 200)):
        assert abs(max(decided[j], 0) / 2**63 - shares[j]) <= 2 / 2**63 + 1e-12 * shares[j]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_law(kind, scale):
    """Chi-square over 300 000 seeded draws; a false alarm has probability 10⁻⁴."""
    words = entropy.word_source("pcg64", 5, kind, str(scale))
    assert pvalue(kind, scale, inversion.Inversion(kind, scale, words).draw(300_000)) > 1e-4


def pvalue(kind, scale, drawn):
    reach = int(4 * scale) + 3
    x = np.arange(-reach, reach + 1)
    counts = np.bincount(drawn[np.abs(drawn) <= reach] + reach, minlength=x.size)
    p = law_of(kind, scale).pmf(x)
    expected = p / p.sum() * counts.sum()
    enough = expected > 20
    return chisquare(
        counts[enough], expected[enough] * (counts[enough].sum() / expected[enough].sum())
    ).pvalue


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [1, 4, 9])
def test_undecided_draws_follow_it_too(kind, bits):
    """With so few bits most draws need further ones; a false alarm has probability 10⁻⁴."""
    words = entropy.word_source("pcg64", 7, kind, bits)
    drawn = inversion.Inversion(kind, Fraction(3), words, bits).draw(40_000)
    assert pvalue(kind, Fraction(3), drawn) > 1e-4


def scripted(*words):
    left = list(words)
    return lambda count: np.array([left.pop(0) for _ in range(count)], dtype=np.uint64)


def test_bits_that_equal_a_threshold_are_compared_further():
    """By hand, at two bits and scale 1: T_0 = 1 − 1/e = 0.6321…, whose first two bits are 10.

    The next 64 bits of U are set to those of T_0, one less and one more: the last bit decides for the
    magnitudes 0 and 1; where all 66 agree, another word does.
    """
    table = inversion.thresholds(inversion.LAPLACE, Fraction(1), 2)
    assert table[0] == 0b10
    (digits,) = [
        t & (2**64 - 1) for t in inversion.thresholds(inversion.LAPLACE, Fraction(1), 66)[:1]
    ]
    undecided = 0b10 << 62
    for words, magnitude in (
        ((undecided, digits - 1), 0),
        ((undecided, digits + 1), 1),
        ((undecided, digits, 0), 0),
        ((undecided, digits, 2**64 - 1), 1),
    ):
        sampler = inversion.Inversion(inversion.LAPLACE, Fraction(1), scripted(*words), bits=2)
        assert sampler.draw(1).tolist() == [magnitude]


def test_a_negative_zero_is_drawn_again():
    zero, two = 0, int(0.9 * 2**64)
    sampler = inversion.Inversion(inversion.LAPLACE, Fraction(1), scripted(zero | 1, two | 1))
    assert sampler.draw(1).tolist() == [-2]


@given(sizes=st.lists(st.integers(0, 30_000), min_size=1, max_size=4))
def test_how_many_are_asked_for_at_a_time_changes_nothing(sizes):
    whole, parts = (
        inversion.Inversion(inversion.LAPLACE, Fraction(10), entropy.word_source("pcg64", 3))
        for _ in range(2)
    )
    joined = np.concatenate([parts.draw(size) for size in sizes])
    assert np.array_equal(whole.draw(sum(sizes)), joined)


@pytest.mark.parametrize("name", entropy.WORD_SOURCES)
def test_words_use_all_of_their_bits(name):
    words = entropy.word_source(name, 1)(2000)
    assert words.dtype == np.uint64
    shares = [float(np.mean(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
    assert 0.4 < min(shares) < max(shares) < 0.6  # nine standard deviations


@pytest.mark.parametrize(
    ("making", "message"),
    [
        (lambda: inversion.Inversion("cauchy", Fraction(1), None), "kind: 'cauchy' found"),
        (lambda: inversion.Inversion("laplace", Fraction(20_000), None), "scale: 20000 found"),
        (lambda: inversion.Inversion("laplace", Fraction(0), None), "scale: 0 found"),
        (lambda: inversion.Inversion("laplace", Fraction(1), None, 64), "bits: 64 found"),
        (lambda: inversion.Inversion("laplace", Fraction(1), None).draw(-1), "count: -1 found"),
        (
            lambda: entropy.word_source("mt19937"),
            "entropy source: 'mt19937' found, one of os, pcg64",
        ),
    ],
)
def test_bad_input(making, message):
    with pytest.raises(ValueError, match=message):
        making()
