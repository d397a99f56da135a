"""Tabulate the privacy loss of every output of the drawn samples (plrv.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import noise


@click.command(help=__doc__)
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def tabulate_plrv(paths: tuple[Path, ...], alpha: float, table: Path) -> None:
    samples = [noise.Sample.read(path) for path in paths]
    rows = sum(2 * sample.histogram.cutoff for sample in samples)
    alpha_of_row = noise.SHARE * alpha / rows
    parts = []
    for sample in samples:
        losses = noise.neighbour_losses(sample, alpha_of_row)
        losses.insert(0, "source", sample.source)
        losses.insert(1, "scale", float(sample.scale))
        parts.append(losses)
    tables.write_table(table, pd.concat(parts))


if __name__ == "__main__":
    jobs.run(tabulate_plrv)
