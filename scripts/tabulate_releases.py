"""Tabulate how the releases' draws fit their law, and what they certify (releases.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import diagnosis


@click.command(help=__doc__)
@click.option(
    "--sample",
    "paths",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="Sample file; may be repeated.",
)
@click.option("--plrv", required=True, type=click.Path(path_type=Path), help="Their plrv.tsv.")
@click.option("--alpha", required=True, type=float, help="Error probability of the whole table.")
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
def tabulate_releases(paths: tuple[Path, ...], plrv: Path, alpha: float, table: Path) -> None:
    losses = tables.read_table(plrv, text=["source"])
    rows = []
    for path in paths:
        sample = diagnosis.Sample.read(path)
        release, scale = sample.job["release"], sample.job["scale"]
        own = tables.select(losses, source=sample.source, scale=scale)
        summary = diagnosis.summarise(sample, own, alpha / len(paths), alpha / len(losses))
        rows.append({"release": release, "scale": scale, "samples": sample.job["draws"], **summary})
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(tabulate_releases)
