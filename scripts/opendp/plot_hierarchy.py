"""Draw the call graph, coloured by the diagnosis (figures/opendp/hierarchy)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@click.option("--scale", required=True, help="Of the traces to draw, as in the table.")
@jobs.FIGURE
def plot_hierarchy(layers: Path, scale: str, figure: Path) -> None:
    rows = tables.read_table(layers, text=["scale"])
    rows = tables.select(rows, scale=scale, entropy=rows["entropy"].iloc[0])
    style.save(cascade.hierarchy(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_hierarchy)
