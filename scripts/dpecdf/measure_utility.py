"""Measure how far private ECDFs are from the column's own (results/dpecdf/utility.tsv)."""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, stats, tables
from noiseaudit.dpecdf import utility


@click.command(help=__doc__)
@click.option("--epsilon", "epsilons", required=True, multiple=True, type=float)
@click.option("--bins", "grids", required=True, multiple=True, type=click.IntRange(min=2))
@click.option("--rows", "sizes", required=True, multiple=True, type=click.IntRange(min=2))
@click.option("--repetitions", required=True, type=click.IntRange(min=2), help="Of each setting.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of each interval.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def measure_utility(
    epsilons: tuple[float, ...],
    grids: tuple[int, ...],
    sizes: tuple[int, ...],
    repetitions: int,
    alpha: float,
    seed: int,
    table: Path,
) -> None:
    settings = utility.settings(epsilons, grids, sizes)
    rows = []
    with jobs.progress(len(utility.COLUMNS) * len(settings), "utility", "setting") as bar:
        for column in utility.COLUMNS:
            for over, epsilon, bins, size in settings:
                generator = entropy.generator(seed, "dpecdf", "utility", column.name, size)
                values = column.draw(size, generator)
                truth = utility.Truth.of(column, values)
                for kind in utility.CLASSES:
                    errors = np.array(
                        [
                            truth.errors(
                                utility.fitted(kind, column, values, epsilon, bins, seed, run)
                            )
                            for run in range(repetitions)
                        ]
                    )
                    row = {"column": column.name, "class": kind, "over": over, "epsilon": epsilon}
                    row |= {"bins": bins, "rows": size, "repetitions": repetitions}
                    for name, sample in zip(utility.ERRORS, errors.T, strict=True):
                        mean = stats.mean_and_sd(sample, alpha)["mean"]
                        row |= {
                            name: mean.value,
                            f"{name}_low": mean.low,
                            f"{name}_high": mean.high,
                        }
                    rows.append(row)
                bar.update()
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(measure_utility)
