"""Draw every printed number beside ours (figures/comparison)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import comparison, style


@click.command(help=__doc__)
@click.option("--comparison", "compared", required=True, type=click.Path(path_type=Path))
@click.option("--losses", required=True, type=click.Path(path_type=Path), help="losses.tsv.")
@jobs.FIGURE
def plot_comparison(compared: Path, losses: Path, figure: Path) -> None:
    rows = tables.read_table(
        compared, text=["source", "location", "quantity", "verdict", "printed"]
    )
    style.save(comparison.comparison(rows, tables.read_table(losses)), figure)


if __name__ == "__main__":
    jobs.run(plot_comparison)
