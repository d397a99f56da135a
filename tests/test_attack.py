"""The attack against brute force, its exact losses and its evidence."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseaudit import attack, mechanisms

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
@pytest.mark.parametrize("n", [1, 2, 7, 128])
def test_counting_uniforms_is_the_attack_on_the_black_box(name, n):
    """Bit for bit, whatever the chunks; the black box draws its noise and rounds it."""
    mechanism = mechanisms.named(name)
    counted = attack.simulate(mechanism, [0.5, 2.0, 5.0], n, 3000, seed=4)
    for place, epsilon in enumerate([0.5, 2.0, 5.0]):
        plain = attack.attack(mechanism, epsilon, n, 3000, 4, name)
        assert np.array_equal(counted[place], plain)


GRID = 2**53


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
@given(
    x=st.sampled_from([0.0, 1.0]),
    b=st.floats(1e-3, 1e7),
    drawn=st.lists(st.integers(0, GRID - 1), max_size=50),
)
def test_votes_of_uniforms_are_the_mechanisms_own(name, x, b, drawn):
    """At any uniform, and at every one of the thousands nearest to where the vote changes."""
    mechanism = mechanisms.named(name)
    low, high = attack.votes_for_one(mechanism, x, b)
    ends = [int(end * GRID) for end in (low, high, 0.5)]
    near = np.concatenate([np.arange(end - 2000, end + 2000) for end in ends])
    u = np.append(near[(near >= 0) & (near < GRID)], drawn) / GRID
    z = mechanism.output(np.full(u.shape, x), b, mechanism.noise(u))
    assert np.array_equal(z >= 0.5, (u >= low) & (u < high))


def test_an_interval_of_votes_holds_its_low_end_and_not_its_high():
    uniforms = np.array([[0.25], [np.nextafter(0.25, 0)], [0.5], [np.nextafter(0.5, 0)]])
    won = np.zeros(1, dtype=np.int64)
    attack._count_majorities(uniforms, np.array([[0.25, 0.5]]), won)
    assert won == [2]


def test_a_noise_whose_votes_lie_in_two_intervals_is_refused():
    folded = dataclasses.replace(
        LAPLACE, noise=lambda u: np.abs(mechanisms.laplace_from_uniform(u - 0.5))
    )
    with pytest.raises(ValueError, match="mechanism laplace: votes for 1 in two intervals"):
        attack.simulate(folded, [1.0], 1, 10, seed=1)


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
