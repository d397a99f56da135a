"""Draw how far printed numbers, and ours, lie from what is expected (figures/comparison)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import comparison, style


@click.command(help=__doc__)
@click.option("--comparison", "compared", required=True, type=jobs.PATH)
@jobs.FIGURE
def plot_comparison(compared: Path, figure: Path) -> None:
    rows = tables.read_table(compared)
    style.save(comparison.comparison(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_comparison)
