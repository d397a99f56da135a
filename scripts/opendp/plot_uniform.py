"""Draw the uniform layers of a trace against their law (figures/opendp/uniform)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--trace", required=True, type=jobs.PATH, help="Trace of the cascade.")
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@jobs.FIGURE
def plot_uniform(trace: Path, layers: Path, figure: Path) -> None:
    style.save(cascade.uniform(cascade.Trace.read(trace, layers)), figure)


if __name__ == "__main__":
    jobs.run(plot_uniform)
