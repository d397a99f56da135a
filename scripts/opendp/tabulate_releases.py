"""Tabulate how the releases' draws fit their law, and what they certify (releases.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, samplefiles, tables
from noiseaudit.cks20 import noise


@click.command(help=__doc__)
@click.option("--plrv", required=True, type=jobs.PATH, help="Their plrv.tsv.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("paths", nargs=-1, required=True, type=jobs.PATH)
def tabulate_releases(paths: tuple[Path, ...], plrv: Path, alpha: float, table: Path) -> None:
    losses = tables.read_table(plrv)
    rows = []
    for path in paths:
        job, sample = samplefiles.read_provenance(path)["job"], noise.Sample.read(path)
        own = tables.select(losses, source=sample.source, scale=job["scale"])
        summary = noise.summarise(sample, own, alpha / len(paths))
        named = {"release": job["release"], "scale": job["scale"], "samples": job["draws"]}
        rows.append(named | summary)
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(tabulate_releases)
