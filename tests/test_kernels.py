"""The compiled cascade gives what the reference gives on the same bytes."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from noiseaudit import entropy
from noiseaudit.cks20 import exact, gaussian, kernels, noise, reference
from noiseaudit.stats import Histogram

SCALES = [Fraction(1), Fraction(1, 2), Fraction(2), Fraction(3), Fraction(100), Fraction(22, 7)]
FLOATS = [Fraction(3.3), Fraction(0.1)]


def by_reference(variant, scale, source, count):
    sampler = reference.VARIANTS[variant](source)
    rows = []
    for _ in range(count):
        sampler.discrete_laplace(scale)
        rows.append([sampler.trace.get(name, kernels.UNREACHED) for name in kernels.LAYERS])
    return np.array(rows)


def equal_on(variant, scale, source_name, count):
    source, same = (entropy.byte_source(source_name, 1, variant, str(scale)) for _ in range(2))
    trace = kernels.Cascade(variant, scale, source).trace(count)
    expected = by_reference(variant, scale, same, count)
    return all(
        np.array_equal(trace[name], column)
        for name, column in zip(kernels.LAYERS, expected.T, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("variant", reference.VARIANTS)
@pytest.mark.parametrize(
    "scale", [Fraction(3), Fraction(10), Fraction(32), Fraction(100), Fraction(7, 3)]
)
def test_forty_thousand_draws_are_bit_equal_in_every_layer(variant, scale):
    assert equal_on(variant, scale, "pcg64", 40_000)


@pytest.mark.parametrize("variant", reference.VARIANTS)
@pytest.mark.parametrize("scale", SCALES)
def test_other_scales_are_bit_equal(variant, scale):
    assert equal_on(variant, scale, "philox", 5000)


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
@pytest.mark.parametrize("scale", FLOATS)
def test_floats_at_their_binary_value_are_bit_equal(variant, scale):
    assert equal_on(variant, scale, "sfc64", 2000)


def test_a_faulty_source_is_bit_equal_too():
    assert equal_on("fixed", Fraction(10), "stuck", 5000)


class Prefixed:
    """Given bytes, then PCG64's."""

    def __init__(self, prefix):
        self.prefix, self.rest = np.frombuffer(prefix, dtype=np.uint8), entropy.byte_source("pcg64")

    def read(self, count):
        content, self.prefix = self.prefix[:count], self.prefix[count:]
        return np.concatenate([content, self.rest.read(count - content.size)])


@pytest.mark.parametrize("variant", ["faulty", "fixed"])
def test_terms_beyond_64_bits_go_to_the_reference(variant, monkeypatch):
    """With d = 2^56 − 1 the product d·k reaches 2^64 at k = 257; these bytes lead there."""
    d = 2**56 - 1
    sign, u = bytes(1), (1).to_bytes(7)
    coins = bytes(7) + 255 * bytes(8)  # k = 1 to 256: 0 of k·d is below 1, so none fails
    prefix = sign + u + coins + (1).to_bytes(9)  # k = 257 fails
    expected = by_reference(variant, Fraction(d, 4), Prefixed(prefix), 300)
    sent = []
    of_reference = reference.VARIANTS[variant]
    monkeypatch.setitem(
        reference.VARIANTS, variant, lambda source: sent.append(1) or of_reference(source)
    )
    trace = kernels.Cascade(variant, Fraction(d, 4), Prefixed(prefix)).trace(300)
    assert len(sent) == 1
    for name, column in zip(kernels.LAYERS, expected.T, strict=True):
        assert np.array_equal(trace[name], column)


DRAW = """
from fractions import Fraction
from noiseaudit import entropy
from noiseaudit.cks20 import kernels
print("ready", flush=True)
kernels.Cascade("fixed", Fraction(10), entropy.byte_source("pcg64")).draw(1)
"""


def whole(content):
    return content


def cut(content):
    return content[:-1]


def empty(_):
    return b""


def flipped(content):
    return bytes([content[0] ^ 4]) + content[1:]


@pytest.mark.parametrize("damage", [whole, cut, empty, flipped])
@pytest.mark.parametrize("name", ["kernels._draw-1.nbi", "kernels._draw-1.1.nbc"])
def test_what_is_kept_is_taken_by_its_digest_or_not_at_all(damage, name, tmp_path, monkeypatch):
    """Damaged, or there without a digest, as where a process was killed before it noted one."""
    found = []

    def compiling(*_):
        found.append(sorted(path.name for path in tmp_path.glob("*.nb?")))
        for suffix in ("nbi", "1.nbc"):
            (tmp_path / f"kernels._draw-1.{suffix}").write_bytes(b"compiled")

    compiling.stats = SimpleNamespace(cache_path=str(tmp_path))
    monkeypatch.setattr(kernels, "_draw_many", compiling)
    compile_once = kernels._compile.__wrapped__
    (tmp_path / "kernels._draw-0.nbi").write_bytes(b"of unknown origin")
    compile_once("fixed", False)
    compile_once("fixed", False)
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    compile_once("fixed", False)
    compile_once("fixed", False)
    kept = ["kernels._draw-1.1.nbc", "kernels._draw-1.nbi"]
    assert found == [[], kept, kept if damage is whole else [], kept]


def test_a_process_waits_while_another_compiles():
    with FileLock(Path(kernels._draw_many.stats.cache_path) / "kernels.lock"):
        waiting = subprocess.Popen([sys.executable, "-c", DRAW], stdout=subprocess.PIPE, text=True)
        assert waiting.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(4)
    assert waiting.wait(120) == 0
    waiting.stdout.close()


@pytest.mark.parametrize("variant", reference.VARIANTS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 33])
def test_no_byte_is_lost_where_a_buffer_ends(variant, size, monkeypatch):
    monkeypatch.setattr(kernels, "_BUFFER", size)
    assert equal_on(variant, Fraction(10), "pcg64", 300)


@given(cuts=st.lists(st.integers(0, 50), max_size=6))
def test_how_draws_are_asked_for_does_not_change_them(cuts):
    whole = kernels.Cascade("fixed", Fraction(10), entropy.byte_source("pcg64", 2)).draw(sum(cuts))
    cascade = kernels.Cascade("fixed", Fraction(10), entropy.byte_source("pcg64", 2))
    parts = [cascade.draw(count) for count in cuts]
    assert np.array_equal(np.concatenate([[], *parts]), whole)


@pytest.mark.parametrize("variant", reference.VARIANTS)
@pytest.mark.parametrize("scale", [Fraction(10), Fraction(7, 3), Fraction(1000)])
def test_untraced_draws_are_the_last_column_of_a_trace(variant, scale):
    one, other = (
        kernels.Cascade(variant, scale, entropy.byte_source("pcg64", 2)) for _ in range(2)
    )
    draws, trace = one.draw(300_000), other.trace(300_000)
    assert np.array_equal(draws, trace["discrete_laplace"])
    assert one.unread == other.unread


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(7, 3)])
def test_untabulated_proposals_are_the_same(scale, monkeypatch):
    """Numerators beyond `LARGEST_TABLE` are brought to lowest terms in the kernel itself."""
    tabulated = kernels.Cascade("fixed", scale, entropy.byte_source("pcg64", 3)).draw(20_000)
    monkeypatch.setattr(kernels, "LARGEST_TABLE", 1)
    worked_out = kernels.Cascade("fixed", scale, entropy.byte_source("pcg64", 3)).draw(20_000)
    assert np.array_equal(tabulated, worked_out)


@pytest.mark.parametrize(
    ("variant", "law"), [("faulty", "faulty"), ("fixed", "fixed"), ("taylor", "fixed")]
)
def test_a_million_draws_follow_the_exact_law(variant, law):
    """Residuals of the folded counts, seeded; a false alarm has probability 10⁻⁴."""
    draws = kernels.Cascade(variant, Fraction(10), entropy.byte_source("pcg64", 6, variant)).draw(
        10**6
    )
    counts = Histogram.of([draws], 60).window
    p = exact.discrete_laplace(Fraction(10), law).pmf(np.arange(-60, 61))
    assert chisquare(counts, p / p.sum() * counts.sum()).pvalue > 1e-4
    folded = noise.fold(counts, np.arange(-60, 61), 10)
    healthy = noise.fold(
        exact.DiscreteLaplace(Fraction(10)).pmf(np.arange(-60, 61)), np.arange(-60, 61), 10
    )
    pvalue = chisquare(folded, healthy / healthy.sum() * folded.sum()).pvalue
    assert (pvalue < 1e-12) == (variant == "faulty")


def test_thresholds_of_taylor():
    table = kernels._thresholds(10)
    assert [int(word) for word in table[0]] == [2**64 - 1, 2**64 - 1]
    for u in range(1, 11):
        value = (int(table[u, 0]) << 64) | int(table[u, 1])
        ratio = float(Fraction(value, 2**128))
        assert ratio == pytest.approx(np.exp(-u / 10), rel=1e-15)


@pytest.mark.parametrize(
    ("variant", "scale", "message"),
    [
        ("broken", Fraction(1), "variant: 'broken' found, one of faulty, fixed, taylor"),
        ("fixed", Fraction(0), "scale: 0 found, a rational above 0"),
        ("fixed", Fraction(-1), "scale: -1 found"),
        ("fixed", Fraction(2**60), "a rational with terms below"),
        ("fixed", Fraction(1, 2**60), "a rational with terms below"),
        ("taylor", Fraction(3.3), "a numerator of at most 1000000 for taylor"),
    ],
)
def test_bad_input(variant, scale, message):
    with pytest.raises(ValueError, match=message):
        kernels.Cascade(variant, scale, entropy.byte_source("pcg64", 1))


@pytest.mark.parametrize("scale", [2.5, "10", None])
def test_a_scale_is_a_rational(scale):
    """A float is one only at its binary value, which is the caller's choice."""
    source = entropy.byte_source("pcg64", 1)
    for taking in (
        lambda: kernels.Cascade("faulty", scale, source),
        lambda: kernels.GaussianCascade("faulty", scale, source),
        lambda: reference.Faulty(source).discrete_laplace(scale),
        lambda: reference.Fixed(source).discrete_gaussian(scale),
        lambda: exact.discrete_laplace(scale, "faulty"),
        lambda: gaussian.discrete_gaussian(scale, "fixed"),
        lambda: exact.DiscreteLaplace(scale),
        lambda: exact.FaultyDiscreteLaplace(scale),
    ):
        with pytest.raises(TypeError, match=f"scale: {scale!r} found, a Fraction expected"):
            taking()


@pytest.mark.parametrize("count", [-1, 2.5, "3"])
def test_a_count_is_an_integer_from_0(count):
    cascade = kernels.Cascade("fixed", Fraction(3), entropy.byte_source("pcg64", 1))
    for drawing in (cascade.draw, cascade.trace):
        with pytest.raises(ValueError, match=f"count: {count!r} found, an integer of at least 0"):
            drawing(count)
    assert cascade.draw(0).shape == (0,)


def test_without_its_compiler_it_says_so(monkeypatch):
    monkeypatch.setattr(kernels.config, "DISABLE_JIT", True)
    with pytest.raises(ValueError, match=r"^NUMBA_DISABLE_JIT: set, but the kernels are made by"):
        kernels.Cascade("fixed", Fraction(3), entropy.byte_source("pcg64", 1))
