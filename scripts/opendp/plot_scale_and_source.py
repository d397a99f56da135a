"""Draw what moves the artifacts and what does not (figures/opendp/scale_and_source)."""

from pathlib import Path

import click

from noiseaudit import jobs, samplefiles
from noiseaudit.cks20 import noise
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option(
    "--scaled",
    "scaled",
    required=True,
    multiple=True,
    type=jobs.PATH,
    help="Trace at one scale; may be repeated.",
)
@click.option(
    "--sourced",
    "sourced",
    required=True,
    multiple=True,
    type=jobs.PATH,
    help="Trace on one source of entropy; may be repeated.",
)
@click.option(
    "--centred",
    "centred",
    required=True,
    multiple=True,
    type=jobs.PATH,
    help="Sample around one centre; may be repeated.",
)
@jobs.FIGURE
def plot_scale_and_source(
    scaled: tuple[Path, ...], sourced: tuple[Path, ...], centred: tuple[Path, ...], figure: Path
) -> None:
    by_source = {
        samplefiles.read_provenance(path)["job"]["entropy"]: noise.Sample.read(path)
        for path in sourced
    }
    by_scale = [noise.Sample.read(path) for path in scaled]
    by_centre = [noise.Sample.read(path) for path in centred]
    style.save(opendp.scale_and_source(by_scale, by_source, by_centre), figure)


if __name__ == "__main__":
    jobs.run(plot_scale_and_source)
