"""Draw the privacy loss of every mechanism (figures/dptext/privacy_loss)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import dptext, style


@click.command(help=__doc__)
@click.option("--losses", required=True, type=jobs.PATH, help="losses.tsv")
@jobs.FIGURE
def plot_privacy_loss(losses: Path, figure: Path) -> None:
    style.save(dptext.privacy_loss(tables.read_table(losses)), figure)


if __name__ == "__main__":
    jobs.run(plot_privacy_loss)
