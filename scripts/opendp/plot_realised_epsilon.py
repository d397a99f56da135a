"""Draw what was really paid, exact and certified (figures/opendp/realised_epsilon)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--realised", required=True, type=jobs.PATH, help="realised_privacy.tsv.")
@click.option("--composition", required=True, type=jobs.PATH, help="composition.tsv.")
@click.option("--releases", required=True, type=jobs.PATH, help="releases.tsv.")
@jobs.FIGURE
def plot_realised_epsilon(realised: Path, composition: Path, releases: Path, figure: Path) -> None:
    paid = tables.read_table(realised, numbers=["scale", "realised_epsilon", "realised_delta"])
    composed = tables.read_table(composition, numbers=["scale", "draws", "claimed_epsilon"])
    wheels = tables.read_table(releases)
    style.save(opendp.realised_epsilon(paid, composed, wheels), figure)


if __name__ == "__main__":
    jobs.run(plot_realised_epsilon)
