"""The readable sampler against its byte tree, its formulas and the exact laws."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noiseaudit import entropy
from noiseaudit.cks20 import exact, layers, reference

X = st.integers(1, 40).flatmap(lambda b: st.integers(0, b).map(lambda a: Fraction(a, b)))


class Bytes:
    """A source of given bytes that raises EOFError at their end."""

    def __init__(self, content):
        self.content, self.position = bytes(content), 0

    def read(self, count):
        if self.position + count > len(self.content):
            raise EOFError
        self.position += count
        taken = self.content[self.position - count : self.position]
        return np.frombuffer(taken, dtype=np.uint8)


def tree(run, depth):
    """Outcomes over all byte strings of a depth, as exact probabilities; what is undecided apart."""
    outcomes, undecided, prefixes = {}, Fraction(0), [b""]
    for level in range(1, depth + 1):
        longer = []
        for content in (prefix + bytes([byte]) for prefix in prefixes for byte in range(256)):
            source = Bytes(content)
            try:
                output = run(source)
            except EOFError:
                longer.append(content)
                continue
            assert source.position == level  # no byte is read and left unused
            outcomes[output] = outcomes.get(output, Fraction(0)) + Fraction(1, 256**level)
        prefixes = longer
    undecided = Fraction(len(prefixes), 256**depth)
    assert sum(outcomes.values()) + undecided == 1
    return outcomes, undecided


@pytest.mark.parametrize("m", [1, 2, 3, 10, 127, 255])
def test_uniform_below_is_uniform_over_the_byte_tree(m):
    outcomes, undecided = tree(lambda source: reference.Fixed(source).uniform_below(m), 1)
    assert set(outcomes) == set(range(m))
    assert len(set(outcomes.values())) == 1
    assert undecided == Fraction(1 + 255 % m, 256)


@given(m=st.integers(1, 2**40), seed=st.integers(0, 9))
def test_uniform_below_takes_the_fewest_whole_bytes(m, seed):
    class Counting(Bytes):
        sizes = ()

        def read(self, count):
            self.sizes += (count,)
            return entropy.byte_source("pcg64", seed, len(self.sizes)).read(count)

    source = Counting(b"")
    assert 0 <= reference.Fixed(source).uniform_below(m) < m
    (size,) = set(source.sizes)
    assert 256 ** (size - 1) <= m < 256**size or (m == 1 and size == 1)


def test_bernoulli_standard_is_the_lowest_bit():
    outcomes, _ = tree(lambda source: reference.Fixed(source).bernoulli_standard(), 1)
    assert outcomes == {False: Fraction(1, 2), True: Fraction(1, 2)}


@pytest.mark.parametrize(
    ("variant", "kind"), [("faulty", reference.Faulty), ("fixed", reference.Fixed)]
)
@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(9, 10), Fraction(1)]
)
def test_bernoulli_exp1_over_the_byte_tree_brackets_its_exact_probability(variant, kind, x):
    outcomes, undecided = tree(lambda source: kind(source).bernoulli_exp1(x), 2)
    true = outcomes.get(True, Fraction(0))
    assert true <= exact.bernoulli_exp1(x, variant) <= true + undecided
    assert undecided < Fraction(3, 5)


def test_the_papers_example():
    assert reference.Faulty.divide(Fraction(4, 5), 2) == (2, 4)
    assert reference.Fixed.divide(Fraction(4, 5), 2) == (2, 5)


@given(x=X.filter(bool), k=st.integers(1, 60))
def test_the_faulty_quotient_is_wrong_exactly_where_a_factor_cancels(x, k):
    faulty = Fraction(*reference.Faulty.divide(x, k))
    assert Fraction(*reference.Fixed.divide(x, k)) == x / k
    assert (faulty != x / k) == (
        gcd(x.numerator, k) > 1 and x.denominator % gcd(x.numerator, k) > 0
    )
    assert 0 < faulty <= Fraction(1, k)


@given(x=X, u=st.integers(0, 2**128 - 1))
def test_taylor_decides_by_the_exponential(x, u):
    """U is 128 bits; the coin is U < 2^128·e^−x, up to where 50 digits of e^−x can tell."""
    coin = reference.Taylor(Bytes(u.to_bytes(16, "big"))).bernoulli_exp1(x)
    with localcontext(prec=50):
        bound = (-Decimal(x.numerator) / x.denominator).exp() * 2**128
        if x == 0:
            assert coin
        elif abs(bound - u) > Decimal("1e-8"):
            assert coin == (u < bound)


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(7, 3)])
def test_draws_follow_the_exact_law(variant, scale):
    """Chi-square over 20 000 seeded draws; a false alarm has probability 10⁻⁴."""
    sampler = reference.VARIANTS[variant](entropy.byte_source("pcg64", 3, variant, str(scale)))
    draws = np.array([sampler.discrete_laplace(scale) for _ in range(20_000)])
    x = np.arange(-12, 13)
    p = exact.discrete_laplace(scale, variant).pmf(x)
    counts = np.array([(draws == value).sum() for value in x])
    inside = counts.sum()
    assert stats.chisquare(counts, p / p.sum() * inside).pvalue > 1e-4


def test_gaussian_draws_follow_their_law():
    """Chi-square over 5000 seeded draws at s = 5/2; a false alarm has probability 10⁻⁴."""
    sampler = reference.Fixed(entropy.byte_source("pcg64", 4))
    scale = Fraction(5, 2)
    draws = np.array([sampler.discrete_gaussian(scale) for _ in range(5000)])
    x = np.arange(-7, 8)
    p = np.exp(-(x**2) / (2 * float(scale) ** 2))
    counts = np.array([(draws == value).sum() for value in x])
    assert stats.chisquare(counts, p / p.sum() * counts.sum()).pvalue > 1e-4


def test_a_trace_holds_the_first_output_of_each_layer():
    sampler = reference.Fixed(entropy.byte_source("pcg64", 5))
    for _ in range(200):
        x = sampler.discrete_laplace(Fraction(10))
        trace = sampler.trace
        assert trace["discrete_laplace"] == x
        assert trace["bernoulli_standard"] == trace["uniform_bits"] % 2
        assert 0 <= trace["uniform_below"] < 10
        assert trace["bernoulli_exp"] == trace["bernoulli_exp1"]
        if x and abs(x) == trace["geometric_fast"]:
            assert trace["geometric_fast"] // 10 == trace["geometric_slow"]


@pytest.mark.parametrize("variant", reference.VARIANTS)
def test_the_call_graph_is_what_is_called(variant, monkeypatch):
    """Each layer's callees over 300 draws, recorded by wrapping every layer."""
    calls, stack = {}, []

    def watched(name, method):
        def call(self, *arguments):
            if stack:
                calls.setdefault(stack[-1], set()).add(name)
            stack.append(name)
            try:
                return method(self, *arguments)
            finally:
                stack.pop()

        return call

    sampler_class = reference.VARIANTS[variant]
    for name in layers.CALLS:
        monkeypatch.setattr(sampler_class, name, watched(name, getattr(sampler_class, name)))
    sampler = sampler_class(entropy.byte_source("pcg64", 8))
    for _ in range(300):
        sampler.discrete_laplace(Fraction(10))
    graph = layers.CALLS_OF_TAYLOR if variant == "taylor" else layers.CALLS
    reached = {name: set(callees) for name, callees in graph.items() if name in calls}
    assert calls == reached


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "ten", "1/0", ""])
def test_what_is_no_rational_is_refused(text):
    with pytest.raises(ValueError, match="a rational such as 10 or 7/3 expected"):
        reference.rational(text)
