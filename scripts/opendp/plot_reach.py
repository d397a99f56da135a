"""Draw how far OpenDP's fault reaches (figures/opendp/reach)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import reach, style


@click.command(help=__doc__)
@click.option("--reach", "table", required=True, type=jobs.PATH, help="reach.tsv.")
@jobs.FIGURE
def plot_reach(table: Path, figure: Path) -> None:
    rows = tables.read_table(table)
    style.save(reach.reach(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_reach)
