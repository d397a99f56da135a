"""Draw the exponential coins of several traces (figures/opendp/corrected_bernoulli)."""

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
def plot_corrected_bernoulli(traces: tuple[Path, ...], layers: Path, figure: Path) -> None:
    read = [cascade.Trace.read(trace, layers) for trace in traces]
    style.save(cascade.bernoulli_exp(read), figure)


if __name__ == "__main__":
    jobs.run(plot_corrected_bernoulli)
