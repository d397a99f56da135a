"""Draw the exponential coins of a trace (figures/opendp/bernoulli_exp)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--trace", required=True, type=jobs.PATH, help="Trace of the cascade.")
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@jobs.FIGURE
def plot_bernoulli_exp(trace: Path, layers: Path, figure: Path) -> None:
    style.save(cascade.bernoulli_exp([cascade.Trace.read(trace, layers)]), figure)


if __name__ == "__main__":
    jobs.run(plot_bernoulli_exp)
