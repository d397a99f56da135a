"""Draw the periodic artifacts of a faulty release beside a fixed one (figures/opendp/artifacts)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.cks20 import diagnosis
from noiseaudit.figures import opendp, style


@click.command(help=__doc__)
@click.option("--faulty", required=True, type=click.Path(path_type=Path), help="Sample file.")
@click.option("--fixed", required=True, type=click.Path(path_type=Path), help="Sample file.")
@click.option(
    "--figure",
    required=True,
    type=click.Path(path_type=Path),
    help="PNG to write, with .svg and .pdf.",
)
def plot_artifacts(faulty: Path, fixed: Path, figure: Path) -> None:
    samples = [diagnosis.Sample.read(path) for path in (faulty, fixed)]
    entries = [opendp.entry(sample.job["release"]) for sample in samples]
    style.save(opendp.artifacts(entries, samples), figure)


if __name__ == "__main__":
    jobs.run(plot_artifacts)
