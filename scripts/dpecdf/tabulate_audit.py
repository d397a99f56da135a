"""Tabulate what the attacks on the private ECDFs certify (results/dpecdf/audit.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.dpecdf import audit

COUNTS = ("epsilon", "alpha", "repeats", "seen", "seen_neighbour")


@click.command(help=__doc__)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("counts", nargs=-1, required=True, type=jobs.PATH)
def tabulate_audit(counts: tuple[Path, ...], table: Path) -> None:
    counted = pd.concat([tables.read_table(path, numbers=COUNTS) for path in counts])
    rows = [audit.row(one) for one in counted.itertuples(index=False)]
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(tabulate_audit)
