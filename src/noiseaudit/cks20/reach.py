"""How far the fault reaches: the mechanisms of OpenDP's Python package, drawn from as released.

A mechanism either draws from the sampler whose coin is faulty, and then has a claimed and a faulty law
on the integers, or it does not, and then has one law. What a release draws is tested against both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import exp, factorial, inf, log

import numpy as np
from packaging.version import Version
from scipy import special

from noiseaudit import stats
from noiseaudit.cks20 import diagnosis, events, exact, gaussian

Pmf = Callable[[np.ndarray], np.ndarray]

EPSILON, RHO = "epsilon", "rho"

CANONICAL_DELTA = 1e-6
"""Of the canonical noise, beside its epsilon of 1/scale."""

MOST_DRAWS = 10**16
"""No more are asked for."""

_ORDERS = 1 + np.logspace(-2, 4, 121)
"""Rényi orders at which an event is held against a claimed rho; each gives a valid bound."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the package, and the law of what is drawn from it.

    Attributes
    ----------
    call : str
        What is called, for tables.
    measure : str
        `EPSILON`, `RHO` or, where the sampler of the fault is not reached, an empty string.
    claimed : function (scale) → pmf
        The law that its documentation gives, as a function of integers.
    faulty : function (scale) → IntegerLaw, optional
        The law with the faulty coin.
    """

    call: str
    measure: str
    claimed: Callable[[Fraction], Pmf]
    faulty: Callable[[Fraction], exact.IntegerLaw] | None = None

    def claims(self, scale: Fraction) -> float:
        """What one draw at sensitivity 1 is said to pay."""
        return 1 / float(scale) if self.measure == EPSILON else 1 / (2 * float(scale) ** 2)


def _laplace(call: str) -> Mechanism:
    return Mechanism(
        call,
        EPSILON,
        lambda scale: exact.discrete_laplace(scale, "fixed").pmf,
        lambda scale: exact.discrete_laplace(scale, "faulty"),
    )


def _gaussian(call: str) -> Mechanism:
    return Mechanism(
        call,
        RHO,
        lambda scale: gaussian.discrete_gaussian(scale, "fixed").pmf,
        lambda scale: gaussian.discrete_gaussian(scale, "faulty"),
    )


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
    "laplace": _laplace("make_laplace on integers"),
    "geometric": _laplace("make_geometric"),
    "laplace_lattice": _laplace("make_laplace on floats, k = 0"),
    "laplace_threshold": _laplace("make_laplace_threshold on counts"),
    "gaussian": _gaussian("make_gaussian on integers"),
    "gaussian_lattice": _gaussian("make_gaussian on floats, k = 0"),
    "gaussian_threshold": _gaussian("make_gaussian_threshold on counts"),
    "laplace_floats": Mechanism(
        "make_laplace on floats, rounded down",
        "",
        lambda scale: _binned(lambda x: _laplace_cdf(x, float(scale))),
    ),
    "gaussian_floats": Mechanism(
        "make_gaussian on floats, rounded down",
        "",
        lambda scale: _binned(lambda x: special.ndtr(x / float(scale))),
    ),
    "canonical": Mechanism(
        "make_canonical_noise, rounded down",
        "",
        lambda scale: _binned(lambda x: canonical_cdf(x, 1 / float(scale), CANONICAL_DELTA)),
    ),
    "randomized_response": Mechanism(
        "make_randomized_response_bool(0.75)", "", lambda _: _choices(1, 3)
    ),
    "noisy_max": Mechanism(
        "make_noisy_max on scores 0, 0, 1",
        "",
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


def is_faulty(release: str) -> bool:
    """Whether a release divides rationals wrongly."""
    return diagnosis.FIRST_FAULTY <= Version(release) < diagnosis.FIRST_FIXED


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
        one, tails pooled, each with its exact ``expected_…`` mean and standard deviation (under the law
        that the release draws from); ``deviation`` (exact root mean square by which that law is off,
        relative to the claimed one) and ``detectable_deviation`` (what would have been seen, with even
        chances); ``claimed exact exact_high certified`` in terms of ``measure``; ``epsilon_at_delta``
        that a claimed rho allows, and ``delta_exact``, the delta paid there; ``verdict`` and
        ``draws_needed`` (until the excess would be certified; infinite where no event shows it).
    """
    mechanism, draws = named(name), sum(counts.values())
    drawn_faulty = is_faulty(release) and mechanism.faulty is not None
    x = np.arange(min(counts), max(counts) + 1)
    observed = np.array([counts.get(int(value), 0) for value in x])
    claimed = mechanism.claimed(scale)(x)
    laws = {"": claimed}
    if mechanism.faulty:
        laws["_faulty"] = mechanism.faulty(scale).pmf(x)
    own = laws["_faulty"] if drawn_faulty else claimed
    tests = {suffix: _test(observed, law, own, draws) for suffix, law in laws.items()}
    found = tests[""]
    payment = dict.fromkeys(_PAYMENT, np.nan)
    if mechanism.faulty:
        payment |= _payment(mechanism, scale, drawn_faulty, counts, alpha / 2)
    if mechanism.measure == RHO:
        epsilon = epsilon_of_rho(payment["claimed"], delta)
        drawn = gaussian.discrete_gaussian(scale, "faulty" if drawn_faulty else "fixed")
        payment |= {"epsilon_at_delta": epsilon, "delta_exact": drawn.realised_delta(epsilon)}
    reached = {
        "mechanism": name,
        "call": mechanism.call,
        "release": release,
        "scale": float(scale),
        "draws": draws,
        "verdict": diagnosis.judge(
            [found["p"]], payment["claimed"], payment["certified"], alpha / 2
        ),
        "measure": mechanism.measure,
        **payment,
        "deviation": float(np.sqrt(np.sum((own - claimed) ** 2 / claimed))),
        "detectable_deviation": float(
            np.sqrt((special.chdtri(found["dof"], alpha / 2) - found["dof"]) / draws)
        ),
    }
    for suffix in ("", "_faulty"):
        columns = tests.get(suffix, dict.fromkeys(found, np.nan))
        reached |= {key + suffix: value for key, value in columns.items()}
    return reached


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
        "p": found.pvalue,
        "expected_chi2": foreseen.mean,
        "expected_chi2_sd": foreseen.sd,
    }


def _payment(
    mechanism: Mechanism, scale: Fraction, faulty: bool, counts: dict[int, int], alpha: float
) -> dict[str, float]:
    """What is claimed, what the law pays exactly, and what the draws certify at the telling event."""
    law, claimed, draws = mechanism.faulty(scale), mechanism.claims(scale), sum(counts.values())
    if mechanism.measure == EPSILON:
        exact_low = exact_high = law.realised_epsilon() if faulty else claimed
        event, certify = _laplace_event(law, scale, draws, alpha), certified_epsilon
    else:
        bounds = law.realised_rho() if faulty else stats.Interval(claimed, claimed)
        exact_low, exact_high = bounds.low, bounds.high
        event, certify = _gaussian_event(law, draws, alpha), certified_rho
    seen, shifted = (sum(counts.get(int(x) + shift, 0) for x in event) for shift in (0, 1))
    certified = float(certify(seen, shifted, draws, alpha))
    needed = np.nan
    if faulty and exact_low > claimed * (1 + 1e-9) and certified <= claimed:
        needed = _draws_needed(mechanism, law, scale, claimed, alpha)
    return {
        "claimed": claimed,
        "exact": exact_low,
        "exact_high": exact_high,
        "certified": certified,
        "draws_needed": needed,
    }


def certified_epsilon(seen: float, shifted: float, draws: int, alpha: float) -> np.ndarray:
    """A lower bound of the loss of an event that is disjoint from its shift; elementwise.

    Given their total, the count is binomial: one exact interval.
    """
    total = np.asarray(seen) + shifted
    share = special.betaincinv(np.maximum(seen, 1e-300), shifted + 1, alpha)
    return np.where(total > 0, np.maximum(special.logit(np.where(total > 0, share, 0.5)), 0.0), 0.0)


def certified_rho(seen: float, shifted: float, draws: int, alpha: float) -> np.ndarray:
    """A lower bound of rho from the counts of an event and of its shift, elementwise.

    Two one-sided exact binomial bounds, of ``P(S)`` from below and of ``P(S + 1)`` from above, each at
    alpha/2. To post-process outputs into "in S or not" costs nothing, so the Rényi divergence of the two
    coins, which grows as the bounds part, is at most ``a·rho`` at every order a.
    """
    seen, shifted = np.asarray(seen, dtype=float), np.asarray(shifted, dtype=float)
    low = special.betaincinv(np.maximum(seen, 1e-300), draws - seen + 1, alpha / 2)
    high = special.betainccinv(shifted + 1, np.maximum(draws - shifted, 1e-300), alpha / 2)
    return np.where(high < low, _rho_of_coins(low, np.minimum(high, low)), 0.0)


def _rho_of_coins(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    a = _ORDERS.reshape(-1, *[1] * np.ndim(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        moments = np.logaddexp(
            a * np.log(p) + (1 - a) * np.log(q), a * np.log1p(-p) + (1 - a) * np.log1p(-q)
        )
    return np.max(np.nan_to_num(moments / (a * (a - 1)), nan=0.0), axis=0)


def _laplace_event(law: exact.PeriodicLaw, scale: Fraction, draws: int, alpha: float) -> np.ndarray:
    cutoff = diagnosis.window_cutoff(scale, draws)
    return events.telling_event(scale, cutoff, draws, 2 * alpha)


def _gaussian_event(law: gaussian.Gaussian, draws: int, alpha: float) -> np.ndarray:
    """The outputs of the largest losses under the faulty law, as many as certify most."""
    x = np.arange(-law.reach, law.reach)
    p = law.pmf(x)
    x = x[p * draws >= 1]
    falling = x[np.argsort(-law.losses(x), kind="stable")]
    inside, shifted = (np.cumsum(law.pmf(falling + shift)) * draws for shift in (0, 1))
    bounds = certified_rho(np.minimum(inside, draws), np.minimum(shifted, draws), draws, alpha)
    return falling[: int(np.argmax(bounds)) + 1]


def _draws_needed(
    mechanism: Mechanism,
    law: exact.IntegerLaw,
    scale: Fraction,
    claimed: float,
    alpha: float,
) -> float:
    """The smallest number of draws, to a tenth, whose expected counts certify more than is claimed."""

    def is_enough(draws: int) -> bool:
        if mechanism.measure == EPSILON:
            event, certify = _laplace_event(law, scale, draws, alpha), certified_epsilon
        else:
            event, certify = _gaussian_event(law, draws, alpha), certified_rho
        seen, shifted = (float(law.pmf(event + shift).sum()) * draws for shift in (0, 1))
        return bool(certify(seen, shifted, draws, alpha) > claimed)

    draws, low = 1000, 0
    while not is_enough(draws):
        low, draws = draws, 2 * draws
        if draws > MOST_DRAWS:
            return inf
    while draws > 1.1 * low and low:
        middle = (low + draws) // 2
        low, draws = (low, middle) if is_enough(middle) else (middle, draws)
    return float(draws)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The epsilon at delta that rho-zCDP implies (Canonne, Kamath and Steinke 2020, Prop. 12)."""
    a = _ORDERS
    return float(np.min(a * rho + (a * np.log1p(-1 / a) - np.log(a - 1) - log(delta)) / (a - 1)))
