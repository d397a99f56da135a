"""Set our DPEcdf against the genuine one on random configurations (agreement.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.dpecdf import agreement, original


@click.command(help=__doc__)
@click.option("--site", required=True, type=jobs.PATH, help="Where synthpriv is.")
@click.option("--release", required=True, help="Version of synthpriv that must be there.")
@click.option("--configurations", required=True, type=click.IntRange(min=1), help="How many.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def compare_classes(site: Path, release: str, configurations: int, seed: int, table: Path) -> None:
    genuine, rows = original.load(site, release), []
    with jobs.progress(configurations, "agreement", "configuration") as bar:
        for number in range(configurations):
            rows.append(agreement.compare(agreement.case(number, seed), genuine))
            bar.update()
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(compare_classes)
