"""How far a private ECDF is from the column's own, on columns of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from statsmodels.datasets import randhie

from noiseaudit import entropy
from noiseaudit.dpecdf.ecdf import DPEcdf, HardenedEcdf

RESOLUTION = 20_001
"""Points between the bounds at which distributions are compared."""


@dataclass(frozen=True)
class Column:
    """A kind of column.

    Attributes
    ----------
    name : str
    bounds : (float, float)
        Public bounds that someone who knows what is measured could give.
    draw : callable
        ``draw(n, generator)``: n values; a real column is resampled, or taken whole.
    """

    name: str
    bounds: tuple[float, float]
    draw: Callable[[int, np.random.Generator], np.ndarray]


def _bimodal(n: int, generator: np.random.Generator) -> np.ndarray:
    means = np.where(generator.random(n) < 0.3, -2.0, 2.0)
    return generator.normal(means, 0.7)


def _visits(n: int, generator: np.random.Generator) -> np.ndarray:
    """Visits to a doctor in a year, from the RAND health insurance experiment (20 190 persons)."""
    visits = randhie.load_pandas().data["mdvis"].to_numpy(dtype=float)
    return generator.choice(visits, n)


COLUMNS = (
    Column("normal", (-5.0, 5.0), lambda n, generator: generator.normal(size=n)),
    Column("bimodal", (-6.0, 6.0), _bimodal),
    Column("heavy-tailed", (-50.0, 50.0), lambda n, generator: generator.standard_t(2, n)),
    Column("discrete", (0.0, 20.0), lambda n, generator: generator.poisson(4, n).astype(float)),
    Column("doctor visits", (0.0, 100.0), _visits),
)

CLASSES = ("DPEcdf", "HardenedEcdf")


def fitted(
    kind: str, column: Column, values: np.ndarray, epsilon: float, bins: int, seed: int, run: int
) -> DPEcdf | HardenedEcdf:
    """A private ECDF of a column with public bounds, its noise keyed by the run."""
    identity = ("dpecdf", "utility", kind, column.name, values.size, epsilon, bins, run)
    if kind == "DPEcdf":
        ecdf = DPEcdf(epsilon, bins, bounds=column.bounds)
        return ecdf.fit(values, entropy.generator(seed, *identity))
    source = entropy.byte_source("pcg64", seed, *identity)
    return HardenedEcdf(epsilon, column.bounds, bins, source).fit(values)


@dataclass(frozen=True)
class Truth:
    """A column's own distribution, on a fine grid between its bounds."""

    x: np.ndarray
    cdf: np.ndarray

    @classmethod
    def of(cls, column: Column, values: np.ndarray) -> Truth:
        x = np.linspace(*column.bounds, RESOLUTION)
        ordered = np.sort(values)
        return cls(x, np.searchsorted(ordered, x, side="right") / ordered.size)

    def errors(self, ecdf: DPEcdf | HardenedEcdf) -> tuple[float, float]:
        """`ERRORS`: the largest distance to the private distribution between the bounds
        (Kolmogorov and Smirnov's), and the area between the two as a share of the bounds' width
        (Wasserstein's first).
        """
        distance = np.abs(np.interp(self.x, ecdf.edges, ecdf.cdf) - self.cdf)
        return float(distance.max()), float(distance.mean())


ERRORS = ("ks", "w1")

BASE_EPSILON, BASE_BINS, BASE_ROWS = 1.0, 200, 10_000
"""What stays as it is while another setting is varied."""


def settings(
    epsilons: tuple[float, ...], grids: tuple[int, ...], sizes: tuple[int, ...]
) -> list[tuple[str, float, int, int]]:
    """``over epsilon bins rows``: one setting at a time varied around the base."""
    return [
        *(("epsilon", epsilon, BASE_BINS, BASE_ROWS) for epsilon in epsilons),
        *(("bins", BASE_EPSILON, bins, BASE_ROWS) for bins in grids),
        *(("rows", BASE_EPSILON, BASE_BINS, rows) for rows in sizes),
    ]
