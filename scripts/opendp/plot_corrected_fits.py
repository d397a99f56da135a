"""Draw geometric layers and noise of several traces (figures/opendp/corrected_fits)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@click.option(
    "--trace", "traces", required=True, multiple=True, type=jobs.PATH,
    help="Of a correction; a row each.",
)  # fmt: skip
@jobs.FIGURE
def plot_corrected_fits(traces: tuple[Path, ...], layers: Path, figure: Path) -> None:
    read = [cascade.Trace.read(trace, layers) for trace in traces]
    shown = ["geometric_slow", "geometric_fast", "discrete_laplace"]
    style.save(cascade.fits(read, shown), figure)


if __name__ == "__main__":
    jobs.run(plot_corrected_fits)
