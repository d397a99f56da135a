"""Draw the errors of private ECDFs (figures/dpecdf/utility)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import dpecdf, style


@click.command(help=__doc__)
@click.option("--table", required=True, type=jobs.PATH, help="utility.tsv.")
@jobs.FIGURE
def plot_utility(table: Path, figure: Path) -> None:
    rows = tables.read_table(table)
    style.save(dpecdf.errors(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_utility)
