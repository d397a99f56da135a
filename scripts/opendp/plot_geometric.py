"""Draw the geometric layers of a trace against their laws (figures/opendp/geometric)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--trace", required=True, type=jobs.PATH, help="Trace of the cascade.")
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@jobs.FIGURE
def plot_geometric(trace: Path, layers: Path, figure: Path) -> None:
    read = cascade.Trace.read(trace, layers)
    style.save(cascade.fits([read], ["geometric_slow", "geometric_fast"]), figure)


if __name__ == "__main__":
    jobs.run(plot_geometric)
