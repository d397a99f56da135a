"""Our `DPEcdf` against the genuine one on random configurations, the absurd ones included."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from noiseaudit import entropy
from noiseaudit.dpecdf.ecdf import DPEcdf

QUANTILES = np.concatenate([np.linspace(0, 1, 101), [1e-13, 1e-9, 1 - 1e-9]])

EQUAL = "equal to the last bit"
BOTH_REFUSE = "both refuse"
OURS_REFUSES = "ours refuses"
DIFFERENT = "differs"


@dataclass(frozen=True)
class Case:
    """A configuration: a column, the class's parameters and the seed of the noise."""

    kind: str
    values: np.ndarray
    epsilon: float
    bins: int
    bounds: tuple[float, float] | None
    seed: int | None

    @property
    def explanation(self) -> str:
        """What is wrong with the input, where something is."""
        return _WRONG.get(self.kind, "")


_WRONG = {
    "with NaN": "a NaN is no value; with bounds the original drops it, without it finds no support",
    "with infinity": "an infinity is no value; with bounds the original drops it, without it finds none",
    "overflowing": "the support's width overflows",
    "far from zero": "the support is too narrow for that many floats so far from 0",
    "one value": "a distribution needs two values",
    "empty": "a distribution needs two values",
}

KINDS = ("normal", "integers", "heavy-tailed", "skewed", "constant", "two values", *_WRONG)


def case(number: int, seed: int) -> Case:
    """The configuration of that number: kinds in turn, all else drawn from its own seed."""
    generator = entropy.generator(seed, "dpecdf", "agreement", number)
    kind = KINDS[number % len(KINDS)]
    size = int(10 ** generator.uniform(0.31, 4))
    values = _column(kind, size, generator)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    width = min(high - low, 1e300) or 1.0
    middle = low + (high - low) / 2
    inside, outside = (middle - 0.3 * width, middle + 0.3 * width), (low - width, high + width)
    bounds = [None, outside, inside][int(generator.integers(3))]
    if kind in ("far from zero", "overflowing"):
        bounds = None
    epsilon = float(10 ** generator.uniform(-8, 8))
    bins = round(10 ** generator.uniform(np.log10(2), 3))
    own_seed = None if generator.random() < 0.2 else int(generator.integers(2**32))
    return Case(kind, values, epsilon, bins, bounds, own_seed)


def _column(kind: str, size: int, generator: np.random.Generator) -> np.ndarray:
    size = max(size, 3)
    makers: dict[str, Callable[[], np.ndarray]] = {
        "normal": lambda: generator.normal(generator.normal(0, 100), 10, size),
        "integers": lambda: generator.poisson(4, size).astype(float),
        "heavy-tailed": lambda: generator.standard_t(1.5, size),
        "skewed": lambda: generator.lognormal(0, 2, size),
        "constant": lambda: np.full(size, generator.normal()),
        "two values": lambda: generator.normal(size=2),
        "with NaN": lambda: _with(np.nan, generator.normal(size=size)),
        "with infinity": lambda: _with(np.inf, generator.normal(size=size)),
        "overflowing": lambda: np.array([-1.7e308, 1.7e308, 0.0]),
        "far from zero": lambda: np.full(size, 1e300),
        "one value": lambda: generator.normal(size=1),
        "empty": lambda: np.empty(0),
    }
    return makers[kind]()


def _with(intruder: float, values: np.ndarray) -> np.ndarray:
    values[values.size // 2] = intruder
    return values


def compare(one: Case, original: type) -> dict[str, object]:
    """A row of ``results/dpecdf/agreement.tsv``."""
    theirs, ours = _outcome(original, one), _outcome(DPEcdf, one)
    if isinstance(ours, str):
        agreement = BOTH_REFUSE if isinstance(theirs, str) else OURS_REFUSES
    elif isinstance(theirs, str):
        agreement = DIFFERENT
    else:
        same = all(np.array_equal(a, b) for a, b in zip(theirs, ours, strict=True))
        agreement = EQUAL if same else DIFFERENT
    return {
        "kind": one.kind,
        "values": one.values.size,
        "epsilon": one.epsilon,
        "bins": one.bins,
        "bounds": "none" if one.bounds is None else f"{one.bounds[0]:.6g} .. {one.bounds[1]:.6g}",
        "seed": "default" if one.seed is None else one.seed,
        "original": theirs if isinstance(theirs, str) else "fits",
        "ours": ours if isinstance(ours, str) else "fits",
        "agreement": agreement,
        "explanation": one.explanation if agreement in (BOTH_REFUSE, OURS_REFUSES) else "",
    }


def _outcome(ecdf_class: type, one: Case) -> tuple[np.ndarray, ...] | str:
    """Edges, distribution, quantiles, report as an array of text; or the error's words."""
    rng = None if one.seed is None else np.random.default_rng(one.seed)
    try:
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            fitted = ecdf_class(one.epsilon, one.bins, bounds=one.bounds).fit(one.values, rng)
            quantiles = fitted.quantile(QUANTILES)
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    warned = sum(issubclass(each.category, UserWarning) for each in caught)
    report = np.array([f"{name}={value}" for name, value in fitted.report().items()])
    return *grid(fitted), quantiles, report, np.array([warned])


def grid(fitted: object) -> tuple[np.ndarray, np.ndarray]:
    """Edges and distribution of a fitted ECDF, the genuine one's or one of ours."""
    if hasattr(fitted, "cdf"):
        return fitted.edges, fitted.cdf
    return fitted._edges, fitted._cdf


def table(cases: int, seed: int, original: type) -> pd.DataFrame:
    """All rows."""
    return pd.DataFrame(compare(case(number, seed), original) for number in range(cases))
