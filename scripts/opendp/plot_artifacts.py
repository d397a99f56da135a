"""Draw the periodic artifacts of samples and traces of one scale (figures/opendp/artifacts)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.cks20 import noise
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option(
    "--sample", "samples", required=True, multiple=True, type=jobs.PATH,
    help="Of a trace or a release; a column each.",
)  # fmt: skip
@jobs.FIGURE
def plot_artifacts(samples: tuple[Path, ...], figure: Path) -> None:
    read = [noise.Sample.read(path) for path in samples]
    style.save(opendp.artifacts(read), figure)


if __name__ == "__main__":
    jobs.run(plot_artifacts)
