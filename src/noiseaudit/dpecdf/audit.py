"""Attacks on the whole release path of a private ECDF, each with what it certifies.

An attack fixes two neighbouring data sets and an event that an attacker sees in what is published: the
distribution on its grid, or the report. Both are released many times; the exact intervals of the
event's two probabilities bound the privacy loss from below. What this cannot see: leaks through the
lowest bits of floating-point noise (Mironov 2012), since all events are of binned outcomes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import inf, nan
from typing import Any, Protocol

import numpy as np
import pandas as pd

from noiseaudit import entropy, stats
from noiseaudit.dpecdf.agreement import grid
from noiseaudit.dpecdf.ecdf import LEAST_PAD, PAD, BoundsRequired, HardenedEcdf, fit_columns
from noiseaudit.verdicts import NOTHING, UNJUDGED, VIOLATES

Data = np.ndarray
"""A column, shape (n,), or a table, shape (n, columns)."""


@dataclass(frozen=True)
class Use:
    """How a class is used: with which public bounds (None: it takes them from the data), and noise."""

    bins: int = 2
    bounds: tuple[float, float] | None = (0.0, 2.0)
    default_noise: bool = False


class Subject(Protocol):
    """A class under attack: releases a column again and again."""

    name: str
    epsilon: float

    def releases(self, data: Data, use: Use, seed: int) -> Iterator[Any]:
        """Fitted ECDFs of the same data, without end."""


@dataclass(frozen=True)
class Original:
    """The genuine class, or ours of the same contract."""

    name: str
    ecdf_class: type
    epsilon: float

    def releases(self, data: Data, use: Use, seed: int) -> Iterator[Any]:
        generator = entropy.generator(seed, "dpecdf", "audit")
        rng = None if use.default_noise else generator

        def unfitted(_: str, epsilon: float) -> Any:  # noqa: ANN401
            return self.ecdf_class(epsilon, use.bins, bounds=use.bounds)

        if data.ndim == 1:
            while True:
                yield _fitted(unfitted("", self.epsilon), data, rng)
        frame = {str(place): column for place, column in enumerate(data.T)}
        while True:
            yield fit_columns(frame, self.epsilon, unfitted, rng)


def _fitted(ecdf: Any, data: Data, rng: np.random.Generator | None) -> Any:  # noqa: ANN401
    """The fitted class, or the error by which it refuses the data: whoever calls it sees that too."""
    try:
        return ecdf.fit(data, rng)
    except ValueError as refusal:
        return refusal


@dataclass(frozen=True)
class Hardened:
    """`HardenedEcdf`; its noise is seeded, but where its default is attacked."""

    epsilon: float
    name: str = "hardened"

    def releases(self, data: Data, use: Use, seed: int) -> Iterator[Any]:
        # Its default noise is the operating system's, which no seed and no other user repeats.
        source = (
            None if use.default_noise else entropy.byte_source("pcg64", seed, "dpecdf", "audit")
        )
        if data.ndim == 1:
            ecdf = HardenedEcdf(self.epsilon, use.bounds, use.bins, source)
            while True:
                yield ecdf.fit(data)
        frame = {str(place): column for place, column in enumerate(data.T)}
        share = self.epsilon / len(frame)
        unfitted = {name: HardenedEcdf(share, use.bounds, use.bins, source) for name in frame}
        while True:
            yield fit_columns(frame, self.epsilon, lambda name, _: unfitted[name])


_BASE = np.full(20, 1.5)

A_LOSS, SOMETHING_ELSE, NO_PROMISE = "a loss", "something else", "nothing"


@dataclass(frozen=True)
class Attack:
    """Two neighbouring data sets, and an event by which an attacker tells them apart.

    Attributes
    ----------
    promise : str
        What the original's text says of it.
    does : str
        What its code does.
    remedy : str
        What to do about it.
    event : callable
        ``event(released, own)``: whether an attacker sees it in what was released; ``own`` is what the
        attacker gets from the class with the first data set and its default noise.
    neighbours : str
        How the data sets differ.
    one, other : array
        The data sets; of the event, ``ln P(one)/P(other)`` is estimated.
    use : Use
        Of the class.
    claimed, claimed_hardened : float
        The loss that either class's text allows, in units of epsilon; NaN where no loss is at stake.
    exact, exact_hardened : float
        The exact loss of the event, in units of epsilon, of either class; NaN where the event is
        impossible on both data sets, or comes by chance and loses less than is claimed.
    implied : float
        The loss that the event would have if the code did what the text says of values outside.
    promised : str
        What the original's text promises here: `A_LOSS`, `SOMETHING_ELSE` or, where it warns or says
        nothing, `NO_PROMISE`.
    """

    name: str
    promise: str
    does: str
    remedy: str
    event: Callable[[Any, Any], bool]
    neighbours: str = "one row added"
    one: Data = field(default_factory=lambda: _BASE)
    other: Data = field(default_factory=lambda: np.append(_BASE, 0.5))
    use: Use = field(default_factory=Use)
    claimed: float = 1.0
    claimed_hardened: float = 1.0
    exact: float = inf
    exact_hardened: float = nan
    implied: float = -inf
    promised: str = A_LOSS

    def claimed_by(self, hardened: bool) -> float:
        """The loss that either class's text allows, in units of epsilon."""
        return self.claimed_hardened if hardened else self.claimed


def _first_bin_empty(released: Any, _: Any) -> bool:  # noqa: ANN401
    return grid(released)[1][1] == 0


def _first_bins_empty(released: Any, _: Any) -> bool:  # noqa: ANN401
    return all(_first_bin_empty(one, _) for one in released.ecdfs.values())


def _moved(released: Any, _: Any) -> bool:  # noqa: ANN401
    """The first bin holds a row's worth of mass, and the second nothing."""
    cdf = grid(released)[1]
    return cdf[1] >= 1 / _CROWD and cdf[2] == cdf[1]


def _wide(released: Any, _: Any) -> bool:  # noqa: ANN401
    return grid(released)[0][-1] > 3


def _counts_itself(released: Any, _: Any) -> bool:  # noqa: ANN401
    return released.report().get("n") == _BASE.size


def _refused(released: Any, _: Any) -> bool:  # noqa: ANN401
    return isinstance(released, ValueError)


def _tells_the_smallest_value(released: Any, _: Any) -> bool:  # noqa: ANN401
    """Undo the padding of the published range: its low end is then a quantile of the data."""
    low, high = released.report()["range"]
    width = (high - low - 2 * LEAST_PAD) / (1 + 2 * PAD)
    return abs(low + LEAST_PAD + PAD * width - _ATOMS.min()) < 1e-9


def _is_the_attackers_own(released: Any, own: Any) -> bool:  # noqa: ANN401
    return np.array_equal(grid(released)[1], grid(own)[1])


_CROWD = 1000

_UNIT = np.linspace(0, 1, 100)

_ATOMS = np.array([0.0, 0.0, *np.ones(18)])

ATTACKS = (
    Attack(
        name="public bounds",
        promise="pure epsilon-DP with public bounds",
        does="keeps it from two rows on, with a generator of secret entropy",
        remedy="none needed",
        exact=1.0,
        exact_hardened=1.0,
        event=_first_bin_empty,
    ),
    Attack(
        name="default generator",
        promise="strictly pure epsilon-DP with public bounds; no word on generators",
        does="seeds its default generator with 0, as its package's own encoder uses it: no noise at all",
        remedy="give a generator of secret entropy",
        event=_is_the_attackers_own,
        use=Use(default_noise=True),
    ),
    Attack(
        name="derived bounds",
        promise="strict given the support; it warns that the range reveals sample information",
        does="takes the ends of the grid from the data, as it warns: one far row shows",
        remedy="give public bounds",
        one=np.append(_UNIT, 100.0),
        other=_UNIT,
        event=_wide,
        use=Use(bounds=None),
        promised=NO_PROMISE,
    ),
    Attack(
        name="count in the report",
        promise="a summary of the column's privacy state",
        does="reports the exact number of rows",
        remedy="do not publish n",
        event=_counts_itself,
        promised=NO_PROMISE,
    ),
    Attack(
        name="extremes",
        promise="the grid is trimmed to quantiles, so that exact extremes are not published",
        does="publishes a range from which the quantiles follow; where values repeat they are extremes",
        remedy="give public bounds",
        one=_ATOMS,
        other=_ATOMS[1:],
        event=_tells_the_smallest_value,
        use=Use(bounds=None),
        promised=SOMETHING_ELSE,
    ),
    Attack(
        name="single row",
        neighbours="one row added to one",
        promise="pure epsilon-DP with public bounds, whatever the data",
        does="refuses fewer than two rows: the refusal itself tells",
        remedy="use it where two rows or more are public knowledge",
        one=_BASE[:1],
        other=_BASE[:2],
        event=_refused,
    ),
    Attack(
        name="row replaced",
        neighbours="one row replaced",
        promise="speaks of rows added or removed only",
        does="pays up to 2 epsilon where a row is replaced: one removed, one added",
        remedy="ask for half the epsilon where rows are replaced",
        claimed_hardened=2.0,
        exact=2.0,
        exact_hardened=2.0,
        one=np.append(np.full(_CROWD, 2.5), 0.5),
        other=np.append(np.full(_CROWD, 2.5), 1.5),
        event=_moved,
        use=Use(3, (0.0, 3.0)),
        promised=NO_PROMISE,
    ),
    Attack(
        name="two columns",
        promise="columns split the budget and compose",
        does="keeps it, split by our fit_columns: half the epsilon each, the whole together",
        remedy="none needed",
        exact=1.0,
        exact_hardened=1.0,
        one=np.full((20, 2), 1.5),
        other=np.vstack([np.full((20, 2), 1.5), [[0.5, 0.5]]]),
        event=_first_bins_empty,
    ),
    Attack(
        name="values outside",
        neighbours="fifty rows added, all below the bounds",
        promise="values out of range are aggregated at the edges, or not emitted: it says both",
        does="drops them: fifty rows leave no trace, and the distribution is off",
        remedy="clip before fitting",
        claimed=nan,
        claimed_hardened=50.0,
        exact=0.0,
        exact_hardened=50.0,
        other=np.append(_BASE, np.full(50, -5.0)),
        event=_first_bin_empty,
        implied=50.0,
        promised=SOMETHING_ELSE,
    ),
)

REFUSED, DROPPED, UNSEEN = "refused", "rows dropped", "nothing to see"

EXCEEDS = "exceeds epsilon"
"""What would violate a claim, where the text warns or is silent: there is none to violate."""

SETTLED = (VIOLATES, EXCEEDS, DROPPED)
"""Verdicts that further releases would not change."""

_HARDENED_DOES = {
    NOTHING: "keeps what its report states",
    REFUSED: "takes no bounds from the data",
    UNSEEN: "publishes nothing of the kind",
    VIOLATES: "breaks its promise",
    DROPPED: "drops rows",
}


LOOKS = 4
"""How often an attack is judged, each time after four times as many releases: the last time after all."""


@dataclass(frozen=True)
class Finding:
    """How often an attack's event was seen on either data set; both 0 of 0 where it was refused."""

    seen: tuple[int, int]
    repeats: int


def looks(attack: Attack, subject: Subject, repeats: int, seed: int) -> Iterator[Finding]:
    """Release both data sets ``repeats`` times, and tell at each of `LOOKS` looks what was seen so far.

    Each data set has noise of its own. Where the class refuses the configuration, nothing is
    released, and one look tells that.
    """
    streams = [
        _events(
            attack,
            subject,
            data,
            entropy.derived_seed(seed, "dpecdf", attack.name, subject.name, place),
        )
        for place, data in enumerate((attack.one, attack.other))
    ]
    seen, done = [0, 0], 0
    for look in range(LOOKS):
        upto = max(1, repeats // 4 ** (LOOKS - 1 - look))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                seen = [
                    count + sum(islice(stream, upto - done))
                    for count, stream in zip(seen, streams, strict=True)
                ]
        except BoundsRequired:
            yield Finding((0, 0), 0)
            return
        done = upto
        yield Finding((seen[0], seen[1]), done)


def _events(attack: Attack, subject: Subject, data: Data, seed: int) -> Iterator[bool]:
    """Whether the event was seen, release by release."""
    released = subject.releases(data, attack.use, seed)
    attackers = subject.releases(attack.one, attack.use, seed) if attack.use.default_noise else None
    while True:
        yield bool(attack.event(next(released), attackers and next(attackers)))


def run(attack: Attack, subject: Subject, repeats: int, alpha: float, seed: int) -> Finding:
    """Attack until the promise is certified as broken, but ``repeats`` times at most.

    Parameters
    ----------
    alpha : float
        Error probability of the attack, all looks together.
    """
    hardened = subject.name == Hardened.name
    for finding in looks(attack, subject, repeats, seed):
        loss = loss_of(finding, alpha)
        if _verdict(attack, hardened, finding, loss, subject.epsilon) in SETTLED:
            break
    return finding


def loss_of(finding: Finding, alpha: float) -> stats.Loss:
    """The event's privacy loss; its bounds hold at all looks together with 1 − alpha."""
    if not finding.repeats:
        return stats.Loss(nan, nan, nan)
    return stats.event_loss(*finding.seen, finding.repeats, alpha / LOOKS)


def _verdict(
    attack: Attack, hardened: bool, finding: Finding, loss: stats.Loss, epsilon: float
) -> str:
    claimed = attack.claimed_by(hardened) * epsilon
    if not finding.repeats:
        return REFUSED
    if finding.seen == (0, 0):
        return UNSEEN
    if loss.high < attack.implied * epsilon:
        return DROPPED
    if loss.low > claimed:
        return VIOLATES if hardened or attack.promised != NO_PROMISE else EXCEEDS
    return UNJUDGED if np.isnan(claimed) else NOTHING


def row(counted: tuple) -> dict[str, float | str]:
    """What the counts of one attack certify: a row of ``results/dpecdf/audit.tsv``.

    Parameters
    ----------
    counted : named tuple
        ``attack subject epsilon alpha repeats seen seen_neighbour``; alpha is the error probability of
        the attack.

    Returns
    -------
    dict
        Among others ``loss loss_low loss_high`` (of the event), ``detectable_epsilon`` (the smallest
        loss that would have been certified as beyond the claim, at an event of even chances) and
        ``verdict``: `NOTHING`, `VIOLATES` or `EXCEEDS` (the certified bound exceeds what is claimed, or
        epsilon where nothing is), `DROPPED` (no privacy is lost, but rows that should count do not),
        `UNJUDGED` (too few releases to tell that), `UNSEEN` (the event never came on either data
        set) or `REFUSED`.
    """
    (attack,) = [each for each in ATTACKS if each.name == counted.attack]
    hardened = counted.subject == Hardened.name
    exact = attack.exact_hardened if hardened else attack.exact
    claimed = attack.claimed_by(hardened) * counted.epsilon
    finding = Finding((counted.seen, counted.seen_neighbour), counted.repeats)
    loss = loss_of(finding, counted.alpha)
    verdict = _verdict(attack, hardened, finding, loss, counted.epsilon)
    detectable = nan
    if verdict not in (REFUSED, UNSEEN) and np.isfinite(claimed):
        detectable = stats.detectable_event_loss(counted.repeats, claimed, counted.alpha / LOOKS)
    return {
        "attack": attack.name,
        "subject": counted.subject,
        "neighbours": attack.neighbours,
        "repeats": counted.repeats,
        "seen": counted.seen,
        "seen_neighbour": counted.seen_neighbour,
        "claimed_epsilon": claimed,
        "loss": float(loss.estimate),
        "loss_low": float(loss.low),
        "loss_high": float(loss.high),
        "exact_loss": exact * counted.epsilon,
        "detectable_epsilon": detectable,
        "verdict": verdict,
        "promise": attack.promise,
        "does": _HARDENED_DOES[verdict] if hardened else attack.does,
        "remedy": "none needed" if hardened else attack.remedy,
        "promised": attack.promised,
    }


def genuine(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``audit.tsv`` on the genuine class."""
    return rows[rows["subject"] != Hardened.name]


def is_kept(found: tuple) -> bool:
    """Whether a row of ``audit.tsv`` shows that the class keeps what it claims.

    The certified bound is within the claim, and so is the exact loss: an attack that is not carried
    far enough to certify what is known to be lost shows nothing.
    """
    return found.verdict == NOTHING and not found.exact_loss > found.claimed_epsilon
