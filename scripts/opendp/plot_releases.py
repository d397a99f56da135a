"""Draw which releases are affected (figures/opendp/releases)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--releases", required=True, type=jobs.PATH, help="releases.tsv.")
@jobs.FIGURE
def plot_releases(releases: Path, figure: Path) -> None:
    rows = tables.read_table(releases)
    style.save(opendp.releases(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_releases)
