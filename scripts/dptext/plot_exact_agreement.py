"""Draw every cell's deviation from its exact loss (figures/dptext/exact_agreement)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import dptext, style


@click.command(help=__doc__)
@click.option("--losses", required=True, type=jobs.PATH, help="losses.tsv")
@jobs.FIGURE
def plot_exact_agreement(losses: Path, figure: Path) -> None:
    style.save(dptext.exact_agreement(tables.read_table(losses)), figure)


if __name__ == "__main__":
    jobs.run(plot_exact_agreement)
