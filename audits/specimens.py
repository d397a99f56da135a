"""Noise whose truth is known: faults in the spirit of public bug reports, and their healthy twins.

Every function is a subject of an audit, `draw(value, count, rng)` unless the fault is about randomness
itself; `SPECIMENS` says what each claims and what a perfect auditor finds. Tests and the benchmark of the
audit's power use them.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

LATTICE = 2.0**-20


def on_lattice(x: np.ndarray) -> np.ndarray:
    return np.rint(x / LATTICE) * LATTICE


def discrete_laplace(scale: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """The difference of two geometrics."""
    success = -math.expm1(-1 / scale)
    return rng.geometric(success, count) - rng.geometric(success, count)


@cache
def cascade(scale: int) -> tuple[np.ndarray, np.ndarray]:
    """Magnitudes of the faulty cascade of opendp 0.9 to 0.14.1, and how likely each is (a table)."""
    reach = 45 * scale
    u = np.arange(scale)
    g = np.gcd(u, scale)
    a, b = u // g, scale // g
    coin, product = np.ones(scale), np.ones(scale)
    for k in range(1, 20):
        shared = np.gcd(a, k)
        product = product * (a // shared) / (b // shared * k).clip(1)
        coin += product if k % 2 == 0 else -product
    weights = np.concatenate([coin * math.exp(-v) for v in range(reach // scale)])
    weights[0] /= 2  # of the two zeros one is drawn again
    return np.arange(weights.size), np.cumsum(weights) / weights.sum()


def faulty_cascade(x, count, rng, scale=10):
    """1 (opendp#2638)"""
    magnitudes, reached = cascade(scale)
    size = magnitudes[np.searchsorted(reached, rng.random(count))]
    return x + size * rng.choice([-1, 1], count)


def fails_once_in(x, rng, probability, only=None):
    """2 (dashu#55): a division by zero, rarely"""
    if (only is None or x == only) and rng.random() < probability:
        raise ZeroDivisionError
    return x + int(rng.geometric(-math.expm1(-1.0))) - int(rng.geometric(-math.expm1(-1.0)))


def fails_rarely(x, count, rng):
    if count > 1:
        raise ArithmeticError  # asked again one by one, so that a failure is an output
    return [fails_once_in(x, rng, 1e-5)]


def fails_on_one(x, count, rng):
    if count > 1:
        raise ArithmeticError
    return [fails_once_in(x, rng, 1e-3, only=1)]


def uniform_with_zero(x, count, rng):
    """3 (opendp#182): the inverse transform of a uniform that can be 0"""
    noise = on_lattice(rng.laplace(size=count))
    noise[rng.random(count) < 2.0**-12] = np.nan
    return x + noise


def bernoulli_off_by_one(_, count, rng, p=0.3):
    """4 (smartnoise-core#278): the bit of p at a geometric index, one too far"""
    index = rng.geometric(0.5, count) + 1
    return [bool(math.floor(p * 2.0**i) % 2) for i in index.tolist()]


def bernoulli(_, count, rng, p=0.3):
    return rng.random(count) < p


def float_laplace(x, count, rng, scale=1.0):
    """5, 6 (smartnoise-core#242, diffprivlib#19): noise in doubles"""
    return x + rng.laplace(scale=scale, size=count)


def lattice_laplace(x, count, rng, scale=1.0):
    return x + on_lattice(rng.laplace(scale=scale, size=count))


def rounded_to_input(x, count, rng):
    """8 (opendp#414): noise rounded to the precision of the input"""
    unit = np.spacing(float(x)) if x else 2.0**-50
    return x + np.rint(rng.laplace(scale=2.0**20, size=count) / unit) * unit


def variance_for_deviation(x, count, rng, sigma=0.5):
    """9 (smartnoise-core#316): the variance where the deviation is meant"""
    return x + on_lattice(rng.normal(scale=sigma**2, size=count))


def lattice_gaussian(x, count, rng, sigma=0.5):
    return x + on_lattice(rng.normal(scale=sigma, size=count))


def empty_interval(x, count, _):
    """10 (smartnoise-core#318): no noise at all"""
    return np.full(count, float(x))


def wraps(x, count, rng):
    """11 (opendp... smartnoise-core#358): noise that wraps round at 2^31"""
    return (x + discrete_laplace(10, count, rng)).astype(np.int64).astype(np.int32).astype(np.int64)


def vector_of_scale_one(x, count, rng, scale=1.0):
    """14 (smartnoise-sdk#472): every coordinate as if it were the only one"""
    return np.asarray(x) + on_lattice(rng.laplace(scale=scale, size=(count, len(x))))


def marginals(x, count, rng, epsilon=1.0, n=20, factor=1):
    """15 (DataSynthesizer#34): 2/(n·epsilon) where 2d/(n·epsilon) is due"""
    return np.asarray(x) + on_lattice(
        rng.laplace(scale=2 * factor / (n * epsilon), size=(count, len(x)))
    )


def inverse_scale(x, count, rng, parameter=0.5):
    """16, 34 (mlforhealthlabpub#36, attribution-reporting#1329): the scale and its inverse confused"""
    return x + on_lattice(rng.laplace(scale=parameter, size=count))


def lies_with_the_truth(x, count, rng, p=0.7, answers=4):
    """19 (opendp#480): a lie that is drawn among all answers, the truth included"""
    truth = rng.random(count) < p
    return np.where(truth, x, rng.integers(answers, size=count))


def honest_response(x, count, rng, p=0.7, answers=4):
    truth = rng.random(count) < p
    return np.where(truth, x, (x + rng.integers(1, answers, size=count)) % answers)


def bits(x, count, rng, released=1):
    """21 (opendp#2708): bits by randomised response of epsilon 1, the last released as it is"""
    flip = rng.random((count, len(x))) > 1 / (1 + math.exp(-1))
    if released:
        flip[:, -released:] = False
    return np.asarray(x) ^ flip


def threshold(x, count, rng, delta=1e-3, epsilon=1.0, rounds=False):
    """23, 24 (opendp#2922, google#101): the key of a single row is told where its noisy count is large"""
    limit = 1 + math.log(1 / (2 * delta)) / epsilon
    limit = math.floor(limit) if rounds else limit
    noisy = x + on_lattice(rng.laplace(scale=1 / epsilon, size=count))
    return [value if x and value >= limit else None for value in noisy.tolist()]


def nan_on_nan(x, count, rng):
    """25 (google#405): NaN in, NaN out"""
    return (np.nan if x == "missing" else x) + on_lattice(rng.laplace(size=count))


def integer_noise(x, count, rng, scale=1.0):
    """26 (google#40), 40, 47, 48: healthy integer noise"""
    return x + discrete_laplace(scale, count, rng)


def huge_integer_noise(x, count, rng, scale=2**40):
    """48: of scale 2^40"""
    return x + np.rint(rng.laplace(scale=scale, size=count)).astype(np.int64)


def tenth_without_noise(x, count, rng, share=0.1):
    """28 (NVFlare#343): a fixed tenth of the coordinates gets no noise"""
    noise = on_lattice(rng.laplace(scale=1.0, size=(count, len(x))))
    noise[:, : max(1, int(share * len(x)))] = 0
    return np.asarray(x) + noise


def all_with_noise(x, count, rng):
    return np.asarray(x) + on_lattice(rng.laplace(scale=1.0, size=(count, len(x))))


def raises_on_nan(x, _, __):
    """30 (diffprivlib#107): refuses NaN, whichever neighbour brings it"""
    raise ValueError(f"{x} is not a number")


def rounded_first(x, count, rng):
    """32 (Tor 23414): the input rounded up to a multiple of 8 before noise for a sensitivity of 1"""
    return -(-x // 8) * 8 + discrete_laplace(1.0, count, rng)


def rounded_after(x, count, rng):
    """36, 37 (tf-privacy#88, privcount#71): an integer plus noise, rounded to integers"""
    return np.rint(x + rng.laplace(size=count))


def folded(x, count, rng, low=0.0, high=1.0):
    """39 (diffprivlib#99): folded at the ends of a bounded domain"""
    z = (x + on_lattice(rng.laplace(size=count)) - low) % (2 * (high - low))
    return low + np.minimum(z, 2 * (high - low) - z)


def one_far_out(x, count, rng, scale=3.0):
    """40 (opendp#2669): healthy, but for a draw from far out in the tail"""
    noise = discrete_laplace(scale, count, rng)
    if count > 60_000:
        noise[0] = 60 * scale
    return x + noise


def halved(x, count, rng):
    """43: post-processing of healthy noise"""
    return 0.5 * (x + on_lattice(rng.laplace(size=count)))


def fixed_seed(x, count):
    """44: a seed inside the mechanism"""
    return x + on_lattice(np.random.default_rng(12345).laplace(size=count))


def global_generator(x, count):
    """45: NumPy's global generator"""
    return x + on_lattice(np.random.laplace(size=count))  # noqa: NPY002


def truncated(x, count, rng, bound=3.0):
    """46: Laplace noise cut off beyond a bound"""
    u = rng.random(count) * -np.expm1(-bound)
    return x + on_lattice(-np.log1p(-u) * rng.choice([-1, 1], count))


def reused(x, count, rng, scale=10):
    """49: a draw shares half of its randomness with the next; each alone is healthy

    A discrete Laplace draw is a sum of two independent, infinitely divisible parts of equal law.
    """
    success = -math.expm1(-1 / scale)
    half = rng.negative_binomial(0.5, success, count + 1) - rng.negative_binomial(
        0.5, success, count + 1
    )
    return x + half[:-1] + half[1:]


def from_32_bits(x, count, rng):
    """50: noise from 32 uniform bits"""
    u = (rng.integers(1, 2**32, size=count) / 2.0**32) - 0.5
    return x - np.sign(u) * np.log1p(-2 * np.abs(u))


class Buffered:
    """51: entropy fetched once and kept in the object."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(int.from_bytes(os.urandom(16), "big"))

    def __call__(self, x: float, count: int) -> np.ndarray:
        return x + on_lattice(self._rng.laplace(size=count))


V, B, W, F, E = (
    "violates its claim",
    "lowest bits",
    "wrong law",
    "nothing found",
    "cannot be judged",
)


@dataclass(frozen=True)
class Specimen:
    """A mechanism under audit, and its truth.

    Attributes
    ----------
    number : str
        In the list of reports; a healthy twin has a letter.
    draw : str
        A function of this module.
    truth : str
        `V`, `B` (a violation by lowest bits only), `W`, `F` or `E`.
    by : str
        What must show it, where that is known.
    """

    number: str
    draw: str
    truth: str
    claim: dict[str, float] = field(default_factory=dict)
    law: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    neighbours: tuple[Any, Any] = (0, 1)
    by: str = ""
    unsafe: tuple[str, ...] = ()
    draws: int = 1_000_000

    @property
    def in_power(self) -> bool:
        """Whether its fault shows in draws that a seed decides: that can be timed again and again."""
        return self.truth in (V, B, W) and self.number not in ("2b", "44")

    @property
    def in_alarms(self) -> bool:
        """Whether it is healthy, draws fast, and is decided by a seed."""
        scalar = not isinstance(self.neighbours[0], list)
        return self.truth == F and scalar and self.number not in ("2", "45", "47", "51")

    @property
    def card(self) -> dict[str, Any]:
        """As a card in this folder has it."""
        left, right = self.neighbours
        drawing = {"python": f"specimens.py:{self.draw}", "arguments": self.arguments}
        content = {
            "name": f"specimen-{self.number}",
            "draw": drawing,
            "neighbours": {"left": left, "right": right},
            "draws": self.draws,
        }
        return (
            content
            | ({"claim": self.claim} if self.claim else {})
            | ({"law": self.law} if self.law else {})
        )


def laplace(scale: float) -> dict[str, Any]:
    return {"name": "laplace", "scale": scale, "lattice": LATTICE}


def integers(scale: float) -> dict[str, Any]:
    return {"name": "discrete_laplace", "scale": scale}


ONE = {"epsilon": 1.0}
ZEROS, ONES = [0.0] * 8, [1.0] * 8
MARGINALS = [0.5, 0.25, 0.125, 0.125], [0.5625, 0.1875, 0.1875, 0.0625]

SPECIMENS = (
    Specimen("1", "faulty_cascade", V, {"epsilon": 0.1}, integers(10), {"scale": 10}, by="values"),
    Specimen("1b", "faulty_cascade", F, {"epsilon": 0.5}, integers(2), {"scale": 2}),
    Specimen("2", "fails_rarely", F, ONE, draws=200_000),
    Specimen("2b", "fails_on_one", V, ONE, by="failures", draws=200_000),
    Specimen("3", "uniform_with_zero", W, ONE, laplace(1)),
    Specimen("4", "bernoulli_off_by_one", W, law={"name": "bernoulli", "p": 0.3}),
    Specimen("4b", "bernoulli", F, law={"name": "bernoulli", "p": 0.3}),
    Specimen("5", "float_laplace", B, ONE, {"name": "laplace", "scale": 1}),
    Specimen("5b", "lattice_laplace", F, ONE, laplace(1)),
    Specimen("8", "rounded_to_input", B, ONE, neighbours=(0, 2**20)),
    Specimen("9", "variance_for_deviation", V, {"mu": 2.0}, {"name": "gaussian", "scale": 0.5, "lattice": LATTICE}, by="values"),
    Specimen("9b", "lattice_gaussian", F, {"mu": 2.0}, {"name": "gaussian", "scale": 0.5, "lattice": LATTICE}),
    Specimen("10", "empty_interval", V, ONE, by="values"),
    Specimen("11", "wraps", W, law=integers(10), neighbours=(2**31 - 5, 2**31 - 4)),
    Specimen("14", "vector_of_scale_one", V, ONE, neighbours=(ZEROS, ONES), by="values"),
    Specimen("14b", "vector_of_scale_one", F, ONE, arguments={"scale": 8.0}, neighbours=(ZEROS, ONES)),
    Specimen("15", "marginals", V, ONE, neighbours=MARGINALS, by="values"),
    Specimen("15b", "marginals", F, ONE, arguments={"factor": 4}, neighbours=MARGINALS),
    Specimen("16", "inverse_scale", V, {"epsilon": 0.5}, arguments={"parameter": 0.5}, by="values"),
    Specimen("16b", "inverse_scale", F, {"epsilon": 2.0}, arguments={"parameter": 2.0}),
    Specimen("19", "lies_with_the_truth", W, law={"name": "randomised_response", "p": 0.7, "answers": 4}),
    Specimen("19b", "honest_response", F, {"epsilon": math.log(7.0)}, {"name": "randomised_response", "p": 0.7, "answers": 4}),
    Specimen("21", "bits", V, ONE, neighbours=([0, 0, 0, 0], [0, 0, 0, 1]), by="values"),
    Specimen("21b", "bits", F, ONE, arguments={"released": 0}, neighbours=([0, 0, 0, 0], [0, 0, 0, 1])),
    Specimen("22", "lattice_laplace", V, {"rho": 0.1}, by="values"),
    Specimen("22b", "lattice_laplace", F, {"rho": 0.5}),
    Specimen("23", "threshold", V, {"epsilon": 1.0, "delta": 1e-6}, by="values"),
    Specimen("23b", "threshold", F, {"epsilon": 1.0, "delta": 1e-3}),
    Specimen("24", "threshold", V, {"epsilon": 0.5, "delta": 0.01}, arguments={"delta": 0.01, "epsilon": 0.5, "rounds": True}, by="values"),
    Specimen("25", "nan_on_nan", V, ONE, neighbours=(0, "missing"), by="failures"),
    Specimen("26", "integer_noise", F, ONE, arguments={"scale": 3.0}),
    Specimen("28", "tenth_without_noise", V, ONE, neighbours=([0.0] * 16, [1 / 16] * 16), by="values"),
    Specimen("28b", "all_with_noise", F, ONE, neighbours=([0.0] * 16, [1 / 16] * 16)),
    Specimen("29", "lattice_gaussian", V, {"mu": 1.0}, arguments={"sigma": 1.0}, neighbours=(-1, 1), by="values"),
    Specimen("30", "raises_on_nan", E, ONE, neighbours=(math.nan, math.nan), draws=2000),
    Specimen("32", "rounded_first", V, ONE, neighbours=(8, 9), by="values"),
    Specimen("34", "inverse_scale", V, {"epsilon": 0.5}, arguments={"parameter": 0.5}, by="values"),
    Specimen("34b", "inverse_scale", F, {"epsilon": 2.0}, arguments={"parameter": 2.0}),
    Specimen("36", "rounded_after", F, ONE),
    Specimen("39", "folded", F, ONE),
    Specimen("40", "one_far_out", F, {"epsilon": 1 / 3}, integers(3)),
    Specimen("41", "lattice_laplace", F, law=laplace(1)),
    Specimen("43", "halved", F, ONE),
    Specimen("44", "fixed_seed", V, ONE, by="repeats"),
    Specimen("45", "global_generator", F, ONE, unsafe=("forked", "seeded")),
    Specimen("46", "truncated", V, ONE, by="values"),
    Specimen("46b", "truncated", F, {"epsilon": 1.0, "delta": 0.5 * math.expm1(1) / math.expm1(3)}),
    Specimen("47", "integer_noise", F, {"epsilon": 1e-4}, integers(10**4), {"scale": 10**4}, draws=100_000),
    Specimen("48", "huge_integer_noise", F, {"epsilon": 2.0**-40}, integers(2**40)),
    Specimen("49", "reused", W, {"epsilon": 0.1}, integers(10), by="dependent draws"),
    Specimen("50", "from_32_bits", W, law={"name": "laplace", "scale": 1}),
    Specimen("51", "buffered", F, ONE, unsafe=("copied", "forked")),
)  # fmt: skip

buffered = Buffered()
