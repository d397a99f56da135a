"""How far the fault reaches: the mechanisms of OpenDP's Python package, drawn from as released.

A mechanism either draws from the sampler whose coin is faulty, and then has a claimed and a faulty law
on the integers, or it does not, and then has one law. What a release draws is tested against both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import ceil, exp, factorial, inf, log

import numpy as np
from scipy import special

from noiseaudit import stats
from noiseaudit.cks20 import events, exact, gaussian, noise

Pmf = Callable[[np.ndarray], np.ndarray]

CANONICAL_DELTA = 1e-6
"""Of the canonical noise, beside its epsilon of 1/scale."""

MOST_DRAWS = 10**16
"""No more are asked for."""

WINDOW = 60
"""Scales on either side with cells of their own; what is drawn beyond falls into the last."""

_ORDERS = 1 + np.logspace(-2, 4, 121)
"""Rényi orders at which an event is held against a claimed rho; each gives a valid bound."""


@dataclass(frozen=True)
class Measure:
    """What a mechanism that rests on the faulty coin claims, and how draws speak of it.

    Attributes
    ----------
    name : str
        ``epsilon`` or ``rho``.
    law : function (scale, variant) → IntegerLaw
        What is drawn.
    claim : function (scale) → float
        What one draw at sensitivity 1 is said to pay.
    paid : function (law) → Interval
        What it pays exactly.
    event : function (faulty law, scale, draws, alpha) → array
        The outputs at which most is certified of the faulty law.
    certified : function (seen, shifted, draws, alpha) → float
        A lower bound from the counts of the event and of its shift.
    """

    name: str
    law: Callable[[Fraction, str], exact.IntegerLaw]
    claim: Callable[[Fraction], float]
    paid: Callable[[exact.IntegerLaw], stats.Interval]
    event: Callable[[exact.IntegerLaw, Fraction, int, float], np.ndarray]
    certified: Callable[[float, float, int, float], np.ndarray]


def _realised_epsilon(law: exact.PeriodicLaw) -> stats.Interval:
    return stats.Interval(law.realised_epsilon(), law.realised_epsilon())


def _laplace_event(_: exact.PeriodicLaw, scale: Fraction, draws: int, alpha: float) -> np.ndarray:
    cutoff = noise.window_cutoff(scale, draws)
    return events.telling_event(scale, cutoff, draws, 2 * alpha)


def certified_epsilon(seen: int, shifted: int, draws: int, alpha: float) -> np.ndarray:
    """A lower bound of the loss of an event that is disjoint from its shift; 0 if none is certified."""
    return np.maximum(stats.neighbour_loss(seen, shifted, 2 * alpha).low, 0.0)


def _gaussian_event(law: gaussian.Gaussian, _: Fraction, draws: int, alpha: float) -> np.ndarray:
    """The outputs of the largest losses under the faulty law, as many as certify most."""
    x = np.arange(-law.reach, law.reach)
    x = x[law.pmf(x) * draws >= 1]
    falling = x[np.argsort(-law.losses(x), kind="stable")]
    if falling.size == 0:
        return falling
    inside, shifted = (np.cumsum(law.pmf(falling + shift)) * draws for shift in (0, 1))
    bounds = certified_rho(np.minimum(inside, draws), np.minimum(shifted, draws), draws, alpha)
    return falling[: int(np.argmax(bounds)) + 1]


def certified_rho(seen: float, shifted: float, draws: int, alpha: float) -> np.ndarray:
    """A lower bound of rho from the counts of an event and of its shift, elementwise.

    Two one-sided exact binomial bounds, of ``P(S)`` from below and of ``P(S + 1)`` from above, each at
    alpha/2. To post-process outputs into "in S or not" costs nothing, so the Rényi divergence of the two
    coins, which grows as the bounds part, is at most ``a·rho`` at every order a.
    """
    low, high = stats.binomial_bounds(seen, shifted, draws, alpha / 2)
    return np.where(high < low, _rho_of_coins(low, np.minimum(high, low)), 0.0)


def _rho_of_coins(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    a = _ORDERS.reshape(-1, *[1] * np.ndim(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        moments = np.logaddexp(
            a * np.log(p) + (1 - a) * np.log(q), a * np.log1p(-p) + (1 - a) * np.log1p(-q)
        )
    return np.max(np.nan_to_num(moments / (a * (a - 1)), nan=0.0), axis=0)


EPSILON = Measure(
    "epsilon",
    exact.discrete_laplace,
    lambda scale: 1 / float(scale),
    _realised_epsilon,
    _laplace_event,
    certified_epsilon,
)

RHO = Measure(
    "rho",
    gaussian.discrete_gaussian,
    lambda scale: 1 / (2 * float(scale) ** 2),
    lambda law: law.realised_rho(),
    _gaussian_event,
    certified_rho,
)


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the package, and the law of what is drawn from it.

    Attributes
    ----------
    call : str
        What is called, for tables.
    measure : Measure or None
        None where the sampler of the fault is not reached.
    other_law : function (scale) → pmf, optional
        The law where there is no measure, as a function of integers.
    """

    call: str
    measure: Measure | None
    other_law: Callable[[Fraction], Pmf] | None = None

    def claimed_law(self, scale: Fraction) -> Pmf:
        """The law that its documentation gives."""
        return self.measure.law(scale, "fixed").pmf if self.measure else self.other_law(scale)

    def variant(self, release: str, scale: Fraction) -> str:
        """What a release draws with: ``faulty`` or ``fixed``.

        Gaussian noise came from the cascade at every scale, as Laplace noise did above some
        (`noise.variant_of`).
        """
        if self.measure is None:
            return "fixed"
        return noise.variant_of(release, scale if self.measure is EPSILON else inf)


def _binned(cdf: Callable[[np.ndarray], np.ndarray]) -> Pmf:
    """Of the whole part (rounded down) of a continuous output."""
    return lambda x: cdf(x + 1.0) - cdf(np.asarray(x, dtype=float))


def _laplace_cdf(x: np.ndarray, scale: float) -> np.ndarray:
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0, tail, 1 - tail)


def canonical_cdf(x: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Of the canonical noise of (ε, δ)-DP at sensitivity 1 (Awan and Vadhan 2023, Def. 3.7)."""
    place = np.asarray(x, dtype=float)
    steps = np.maximum(np.ceil(np.abs(place) - 0.5), 0).astype(int)
    middle = np.abs(place) - steps
    fixed = (1 - delta) / (1 + exp(epsilon))
    cdf = fixed * (0.5 - middle) + (1 - fixed) * (middle + 0.5)
    for step in range(steps.max(initial=0)):
        tradeoff = np.maximum(1 - delta - exp(epsilon) * cdf, exp(-epsilon) * (1 - delta - cdf))
        cdf = np.where(step < steps, 1 - np.maximum(tradeoff, 0), cdf)
    return np.where(place < 0, 1 - cdf, cdf)


def permute_and_flip(scores: Sequence[float], scale: float) -> list[float]:
    """Of the largest of scores with exponential noise (Ding et al. 2021, Prop. 5; McKenna and Sheldon).

    Candidates come in random order; each is taken with probability ``e^(score − best)/scale``.
    """
    taken = [exp((score - max(scores)) / scale) for score in scores]
    share = 1 / factorial(len(scores))
    chosen = [0.0] * len(scores)
    for order in permutations(range(len(scores))):
        left = share
        for place in order:
            chosen[place] += left * taken[place]
            left *= 1 - taken[place]
    return chosen


def _choices(*shares: float) -> Pmf:
    """Of the places of a choice, from 0 on."""
    known = np.array(shares) / sum(shares)
    return lambda x: np.where(
        (x >= 0) & (x < known.size), known[np.clip(x, 0, known.size - 1)], 0.0
    )


MECHANISMS = {
    "laplace": Mechanism("make_laplace on integers", EPSILON),
    "geometric": Mechanism("make_geometric", EPSILON),
    "laplace_lattice": Mechanism("make_laplace on floats, k = 0", EPSILON),
    "laplace_threshold": Mechanism("make_laplace_threshold on counts", EPSILON),
    "gaussian": Mechanism("make_gaussian on integers", RHO),
    "gaussian_lattice": Mechanism("make_gaussian on floats, k = 0", RHO),
    "gaussian_threshold": Mechanism("make_gaussian_threshold on counts", RHO),
    "laplace_floats": Mechanism(
        "make_laplace on floats, rounded down",
        None,
        lambda scale: _binned(lambda x: _laplace_cdf(x, float(scale))),
    ),
    "gaussian_floats": Mechanism(
        "make_gaussian on floats, rounded down",
        None,
        lambda scale: _binned(lambda x: special.ndtr(x / float(scale))),
    ),
    "canonical": Mechanism(
        "make_canonical_noise, rounded down",
        None,
        lambda scale: _binned(lambda x: canonical_cdf(x, 1 / float(scale), CANONICAL_DELTA)),
    ),
    "randomized_response": Mechanism(
        "make_randomized_response_bool(0.75)", None, lambda _: _choices(1, 3)
    ),
    "noisy_max": Mechanism(
        "make_noisy_max on scores 0, 0, 1",
        None,
        lambda scale: _choices(*permute_and_flip([0, 0, 1], float(scale))),
    ),
}
"""By the name under which `noiseaudit.releases` draws from them."""

ON_ALL_RELEASES = "gaussian"
"""The mechanism whose verdict is told for every release."""


_PAYMENT = ("claimed", "exact", "exact_high", "certified", "draws_needed")
_PAYMENT += ("epsilon_at_delta", "delta_exact")
"""Columns that hold nothing where the sampler of the fault is not reached."""


def named(name: str) -> Mechanism:
    """The mechanism of that name; `ValueError` if there is none."""
    if name not in MECHANISMS:
        raise ValueError(f"mechanism: {name!r} found, one of {', '.join(MECHANISMS)} expected")
    return MECHANISMS[name]


def row(
    name: str, release: str, scale: Fraction, counts: dict[int, int], alpha: float, delta: float
) -> dict[str, float | str]:
    """What the draws of one mechanism say: a row of ``results/opendp/reach.tsv``.

    Parameters
    ----------
    name, release : str
    scale : Fraction
    counts : dict of int to int
        How often each output came.
    alpha : float
        Error probability of the row: half for the test, half for what is certified.
    delta : float
        At which a claimed rho is turned into an epsilon.

    Returns
    -------
    dict
        ``chi2 dof p`` against the claimed law and ``chi2_faulty dof_faulty p_faulty`` against the faulty
        one, neighbouring cells pooled, each with its exact ``expected_…`` mean and standard deviation
        (under the law that the release draws from); ``deviation`` (exact root mean square by which that
        law is off, relative to the claimed one) and ``detectable_deviation`` (what would have been
        seen, with even chances); ``claimed exact exact_high certified`` in terms of ``measure``;
        ``epsilon_at_delta`` that a claimed rho allows, and ``delta_exact``, the delta paid there;
        ``verdict`` and ``draws_needed`` (until the excess would be certified; infinite where no event
        shows it).
    """
    mechanism, draws = named(name), sum(counts.values())
    variant, measure = mechanism.variant(release, scale), mechanism.measure
    x, observed = _in_window(counts, ceil(WINDOW * scale))
    claimed = own = mechanism.claimed_law(scale)(x)
    laws, payment = {"": claimed}, dict.fromkeys(_PAYMENT, np.nan)
    if measure:
        laws["_faulty"] = measure.law(scale, "faulty").pmf(x)
        own = laws["_faulty"] if variant == "faulty" else claimed
        payment |= _payment(measure, scale, variant, counts, alpha / 2, delta)
    tests = {suffix: _test(observed, law, own, draws) for suffix, law in laws.items()}
    found, possible = tests[""], claimed > 0
    reached = {
        "mechanism": name,
        "call": mechanism.call,
        "release": release,
        "scale": float(scale),
        "draws": draws,
        "verdict": noise.judge([found["p"]], payment["claimed"], payment["certified"], alpha / 2),
        "measure": measure.name if measure else "",
        **payment,
        "deviation": float(np.sqrt(np.sum(((own - claimed)[possible]) ** 2 / claimed[possible]))),
        "detectable_deviation": float(
            np.sqrt((special.chdtri(found["dof"], alpha / 2) - found["dof"]) / draws)
        ),
    }
    for suffix in ("", "_faulty"):
        columns = tests.get(suffix, dict.fromkeys(found, np.nan))
        reached |= {key + suffix: value for key, value in columns.items()}
    return reached


def _in_window(counts: dict[int, int], reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The outputs ``−reach … reach``, whatever was drawn, and how often each came."""
    observed = np.zeros(2 * reach + 1)
    drawn = np.clip(np.array(list(counts)), -reach, reach) + reach
    np.add.at(observed, drawn, list(counts.values()))
    return np.arange(-reach, reach + 1), observed


def _test(observed: np.ndarray, law: np.ndarray, own: np.ndarray, draws: int) -> dict[str, float]:
    expected = law / law.sum() * draws
    starts = stats.pool_neighbours(expected)
    if starts is None:
        raise ValueError(f"chi-square: {draws} draws are too few for two bins; more needed")
    pooled, due = (np.add.reduceat(values, starts) for values in (observed, expected))
    found = stats.chi_square(pooled, due)
    foreseen = stats.chi_square_moments(due, np.add.reduceat(own, starts), draws)
    return {
        "chi2": found.statistic,
        "dof": found.dof,
        "p": 0.0 if observed[law == 0].any() else found.pvalue,  # what cannot come did
        "expected_chi2": foreseen.mean,
        "expected_chi2_sd": foreseen.sd,
    }


def _payment(
    measure: Measure,
    scale: Fraction,
    variant: str,
    counts: dict[int, int],
    alpha: float,
    delta: float,
) -> dict[str, float]:
    """What is claimed, what the law pays exactly, and what the draws certify at the telling event."""
    own, faulty = (measure.law(scale, each) for each in (variant, "faulty"))
    claimed, draws, paid = measure.claim(scale), sum(counts.values()), measure.paid(own)
    event = measure.event(faulty, scale, draws, alpha)
    seen, shifted = (sum(counts.get(int(x) + shift, 0) for x in event) for shift in (0, 1))
    certified = float(measure.certified(seen, shifted, draws, alpha))
    found = {
        "claimed": claimed,
        "exact": paid.low,
        "exact_high": paid.high,
        "certified": certified,
    }
    if certified <= claimed < paid.low * (1 - _ROUNDING):
        found["draws_needed"] = _draws_needed(measure, own, scale, alpha)
    if measure is RHO:
        found["epsilon_at_delta"] = epsilon_of_rho(claimed, delta)
        found["delta_exact"] = own.realised_delta(found["epsilon_at_delta"])
    return found


_ROUNDING = 1e-9
"""Of an exact loss, relatively."""


@cache
def _draws_needed(measure: Measure, law: exact.IntegerLaw, scale: Fraction, alpha: float) -> float:
    """The smallest number of draws, to a tenth, whose expected counts certify more than is claimed."""

    def is_enough(draws: int) -> bool:
        event = measure.event(law, scale, draws, alpha)
        seen, shifted = (float(law.pmf(event + shift).sum()) * draws for shift in (0, 1))
        return bool(measure.certified(seen, shifted, draws, alpha) > measure.claim(scale))

    low, draws = 1, 2
    while not is_enough(draws):
        low, draws = draws, 2 * draws
        if draws > MOST_DRAWS:
            return inf
    while draws > 1.1 * low:
        middle = (low + draws) // 2
        low, draws = (low, middle) if is_enough(middle) else (middle, draws)
    return float(draws)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The epsilon at delta that rho-zCDP implies (Canonne, Kamath and Steinke 2020, Prop. 12)."""
    a = _ORDERS
    return float(np.min(a * rho + (a * np.log1p(-1 / a) - np.log(a - 1) - log(delta)) / (a - 1)))
