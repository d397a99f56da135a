"""Draw every layer of every trace at a glance (figures/opendp/diagnosis)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv")
@jobs.FIGURE
def plot_diagnosis(layers: Path, figure: Path) -> None:
    rows = tables.read_table(layers, text=["scale"])
    style.save(cascade.diagnosis_overview(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_diagnosis)
