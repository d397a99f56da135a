"""Draw private ECDFs over the true ones (figures/dpecdf/fits)."""

from pathlib import Path

import click

from noiseaudit import entropy, jobs
from noiseaudit.dpecdf import utility
from noiseaudit.figures import dpecdf, style


@click.command(help=__doc__)
@click.option("--epsilon", "epsilons", required=True, multiple=True, type=float, help="A row each.")
@click.option("--rows", required=True, type=click.IntRange(min=2), help="Of each column of data.")
@click.option("--bins", required=True, type=click.IntRange(min=2))
@click.option("--seed", required=True, type=int)
@jobs.FIGURE
def plot_fits(epsilons: tuple[float, ...], rows: int, bins: int, seed: int, figure: Path) -> None:
    drawn = [
        [fit(column, epsilon, rows, bins, seed) for column in utility.COLUMNS]
        for epsilon in epsilons
    ]
    style.save(dpecdf.fits(drawn), figure)


def fit(column: utility.Column, epsilon: float, rows: int, bins: int, seed: int) -> dpecdf.Fit:
    values = column.draw(rows, entropy.generator(seed, "dpecdf", "fits", column.name, rows))
    private = {
        kind: utility.fitted(kind, column, values, epsilon, bins, seed, 0)
        for kind in utility.CLASSES
    }
    return dpecdf.Fit(column, utility.Truth.of(column, values), epsilon, private)


if __name__ == "__main__":
    jobs.run(plot_fits)
