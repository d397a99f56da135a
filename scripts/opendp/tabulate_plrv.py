"""Tabulate the privacy loss of every output of the drawn samples (plrv.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import noise


@click.command(help=__doc__)
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("paths", nargs=-1, required=True, type=jobs.PATH)
def tabulate_plrv(paths: tuple[Path, ...], alpha: float, table: Path) -> None:
    samples = [noise.Sample.read(path) for path in paths]
    tables.write_table(table, pd.concat(noise.neighbour_losses(samples, alpha)))


if __name__ == "__main__":
    jobs.run(tabulate_plrv)
