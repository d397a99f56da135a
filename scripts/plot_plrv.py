"""Draw the privacy loss of every output, a faulty release beside a fixed one (figures/opendp/plrv)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--plrv", required=True, type=click.Path(path_type=Path), help="plrv.tsv.")
@click.option("--faulty", required=True, help="Release to draw on the left.")
@click.option("--fixed", required=True, help="Release to draw on the right.")
@click.option("--scale", required=True, type=float, help="Scale to draw.")
@click.option(
    "--figure",
    required=True,
    type=click.Path(path_type=Path),
    help="PNG to write, with .svg and .pdf.",
)
def plot_plrv(plrv: Path, faulty: str, fixed: str, scale: float, figure: Path) -> None:
    losses = tables.select(tables.read_table(plrv, text=["source"]), scale=scale)
    entries = [opendp.entry(faulty), opendp.entry(fixed)]
    style.save(opendp.plrv(entries, losses), figure)


if __name__ == "__main__":
    jobs.run(plot_plrv)
