"""Set every number that the OpenDP paper prints beside ours (comparison.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.published import numbers, opendp


@click.command(help=__doc__)
@click.option("--releases", required=True, type=jobs.PATH, help="releases.tsv.")
@click.option("--layers", required=True, type=jobs.PATH, help="layers.tsv.")
@click.option("--performance", required=True, type=jobs.PATH)
@click.option("--published", "printed", required=True, type=jobs.PATH)
@click.option("--release", required=True, help="The release that stands for the paper's original.")
@click.option("--corrected", required=True, help="The one that stands for its local correction.")
@click.option("--scale", required=True, type=float, help="The scale to compare.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def compare_opendp(
    releases: Path,
    layers: Path,
    performance: Path,
    printed: Path,
    release: str,
    corrected: str,
    scale: float,
    alpha: float,
    table: Path,
) -> None:
    shown = numbers.read(printed)
    wheels = tables.read_table(releases)
    cascade = tables.read_table(layers, text=["scale"])
    times = tables.read_table(performance)
    compared = [
        *opendp.compare_layers(cascade, shown, alpha),
        *opendp.compare_release(wheels, release, scale, shown, alpha),
        *opendp.compare_times(times, release, corrected, shown, alpha),
    ]
    tables.write_table(table, pd.DataFrame(compared, columns=numbers.COLUMNS))


if __name__ == "__main__":
    jobs.run(compare_opendp)
