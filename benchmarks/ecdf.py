"""Time a fit and the quantiles of the original ECDF, ours and the hardened one, interleaved.

Every round times each class once, in turn. A large column's fit is its histogram; the noise must not
show beside it, so its own time is measured too.
"""

import time
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, tables
from noiseaudit.cks20 import kernels
from noiseaudit.dpecdf import DPEcdf, HardenedEcdf, original

BOUNDS, EPSILON = (-5.0, 5.0), 1.0

_NOISES = 200
"""Drawn one after the other in each round: one takes too little time to be measured."""


@click.command(help=__doc__)
@click.option("--site", required=True, type=jobs.PATH, help="Where synthpriv is.")
@click.option("--release", required=True, help="Version of synthpriv that must be there.")
@click.option("--rows", required=True, type=click.IntRange(min=2), help="Of the column.")
@click.option("--bins", required=True, type=click.IntRange(min=2))
@click.option("--rounds", required=True, type=click.IntRange(min=2))
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def benchmark_ecdf(
    site: Path, release: str, rows: int, bins: int, rounds: int, seed: int, table: Path
) -> None:
    generator = entropy.generator(seed, "benchmark", "dpecdf")
    values, u = generator.normal(size=rows), generator.random(rows)
    genuine = original.load(site, release)
    exact_noise = kernels.Cascade("fixed", Fraction(1), entropy.byte_source("os"))
    noise = {
        f"synthpriv {release}": lambda: generator.laplace(0.0, 1.0 / EPSILON, size=bins),
        "DPEcdf": lambda: generator.laplace(0.0, 1.0 / EPSILON, size=bins),
        "HardenedEcdf": lambda: exact_noise.draw(bins),
    }
    fits = {
        f"synthpriv {release}": lambda: genuine(EPSILON, bins, bounds=BOUNDS).fit(
            values, generator
        ),
        "DPEcdf": lambda: DPEcdf(EPSILON, bins, bounds=BOUNDS).fit(values, generator),
        "HardenedEcdf": lambda: HardenedEcdf(EPSILON, BOUNDS, bins).fit(values),
    }
    for fit in fits.values():
        fit().quantile(u[:10])
    measured = []
    with jobs.progress(rounds * len(fits), "benchmark", "fit") as bar:
        for _ in range(rounds):
            for name, fit in fits.items():
                started = time.perf_counter()
                fitted = fit()
                between = time.perf_counter()
                fitted.quantile(u)
                answered = time.perf_counter()
                for _ in range(_NOISES):
                    noise[name]()
                a_noise = (time.perf_counter() - answered) / _NOISES
                measured.append((name, between - started, answered - between, a_noise))
                bar.update()
    tables.write_table(table, summarise(measured).assign(rows=rows, bins=bins, rounds=rounds))


def summarise(measured: list[tuple[str, float, float, float]]) -> pd.DataFrame:
    """Means, standard errors, and the mean ratio to the original's time in the same round."""
    runs = pd.DataFrame(measured, columns=["class", "fit", "quantile", "noise"])
    names = runs["class"].unique()
    table = pd.DataFrame({"class": names})
    for step in ("fit", "quantile", "noise"):
        seconds = np.array([runs[step][runs["class"] == name] for name in names])
        ratio = seconds / seconds[0]
        table[f"{step}_seconds"] = seconds.mean(axis=1)
        table[f"{step}_standard_error"] = seconds.std(axis=1, ddof=1) / np.sqrt(seconds.shape[1])
        table[f"{step}_ratio"] = ratio.mean(axis=1)
        table[f"{step}_ratio_error"] = ratio.std(axis=1, ddof=1) / np.sqrt(seconds.shape[1])
    return table


if __name__ == "__main__":
    jobs.run(benchmark_ecdf)
