"""Byte sources and seeds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noiseaudit import entropy
from noiseaudit.cks20 import kernels, reference

SEEDED = [name for name in entropy.SOURCES if name != "os"]


@pytest.mark.parametrize("name", SEEDED)
@given(cuts=st.lists(st.integers(0, 3 * entropy.BLOCK // 2), max_size=5))
def test_how_a_stream_is_cut_does_not_change_it(name, cuts):
    whole = entropy.byte_source(name, 7, "job").read(sum(cuts))
    source = entropy.byte_source(name, 7, "job")
    assert np.array_equal(np.concatenate([[], *map(source.read, cuts)]), whole)


@pytest.mark.parametrize("name", SEEDED)
def test_a_job_is_its_seed(name):
    read = entropy.byte_source(name, 7, "study", 8).read(1000)
    assert np.array_equal(read, entropy.byte_source(name, 7, "study", 8).read(1000))
    for other in [(8, "study", 8), (7, "study", 9), (7, "study", "8"), (7, "study8"), (7,)]:
        assert not np.array_equal(read, entropy.byte_source(name, *other).read(1000))


def test_sources_differ_though_seed_and_identity_agree():
    streams = {entropy.byte_source(name, 7, "job").read(64).tobytes() for name in SEEDED}
    assert len(streams) == len(SEEDED)


def test_the_operating_system_never_repeats_itself():
    assert not np.array_equal(
        entropy.byte_source("os").read(64), entropy.byte_source("os").read(64)
    )


@pytest.mark.parametrize("name", entropy.SOURCES)
def test_only_the_faulty_source_is_not_uniform(name):
    """Chi-square over a million bytes; for the operating system, false alarms at 10⁻⁹."""
    counts = np.bincount(entropy.byte_source(name, 1).read(10**6), minlength=256)
    assert (stats.chisquare(counts).pvalue < 1e-9) == (name == "stuck")


def test_the_stuck_bit_is_stuck():
    assert np.all(entropy.byte_source("stuck", 1).read(1000) & entropy.STUCK_BIT)


def test_generators_are_keyed_like_sources():
    assert entropy.generator(1, "a").random() == entropy.generator(1, "a").random()
    assert entropy.generator(1, "a").random() != entropy.generator(1, "b").random()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="entropy source: 'rand' found, one of os, pcg64"):
        entropy.byte_source("rand")
    with pytest.raises(ValueError, match="seed: -1 found"):
        entropy.generator(-1)
    with pytest.raises(ValueError, match="count: -1 found"):
        entropy.byte_source("os").read(-1)


def test_a_source_that_ends_is_an_error():
    source = entropy.ByteSource(lambda count: bytes(min(count, 100)))
    assert source.read(60).size == 60
    with pytest.raises(ValueError, match="entropy source: ended after 100 bytes, 160 expected"):
        source.read(200)
    with pytest.raises(ValueError, match="entropy source: ended"):
        kernels.Cascade("fixed", Fraction(10), source).draw(10)
    with pytest.raises(ValueError, match="entropy source: ended"):
        reference.Fixed(source).uniform_bits(500)
