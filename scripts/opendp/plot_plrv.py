"""Draw the privacy loss of every output (figures/opendp/plrv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import noise, reference
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--plrv", required=True, type=jobs.PATH, help="plrv.tsv.")
@click.option("--release", "releases", multiple=True, help="To draw under the cascade's variants.")
@click.option("--scale", required=True, type=float, help="Scale to draw.")
@jobs.FIGURE
def plot_plrv(plrv: Path, releases: tuple[str, ...], scale: float, figure: Path) -> None:
    losses = tables.select(tables.read_table(plrv), scale=scale)
    sources = [noise.cascade_name(variant) for variant in reference.VARIANTS]
    sources += [noise.source_name(release) for release in releases]
    shown = pd.concat([tables.select(losses, source=source) for source in sources])
    style.save(opendp.plrv(shown), figure)


if __name__ == "__main__":
    jobs.run(plot_plrv)
