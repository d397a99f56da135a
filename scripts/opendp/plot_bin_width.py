"""Draw how coarse bins hide the artifacts (figures/opendp/bin_width)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.cks20 import noise
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--sample", required=True, type=jobs.PATH, help="Sample file.")
@jobs.FIGURE
def plot_bin_width(sample: Path, figure: Path) -> None:
    style.save(opendp.bin_width(noise.Sample.read(sample)), figure)


if __name__ == "__main__":
    jobs.run(plot_bin_width)
