"""Draw time and entropy a draw (figures/opendp/performance)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--performance", required=True, type=jobs.PATH, help="performance.tsv.")
@click.option("--growth", required=True, type=jobs.PATH, help="growth.tsv.")
@jobs.FIGURE
def plot_performance(performance: Path, growth: Path, figure: Path) -> None:
    times = tables.read_table(performance, text=["scale"])
    grown = tables.read_table(growth, text=["scale"])
    style.save(opendp.performance(times, grown), figure)


if __name__ == "__main__":
    jobs.run(plot_performance)
