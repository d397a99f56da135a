"""Set each promise of the DPEcdf's text beside what was found (comparison.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.published import dpecdf, numbers


@click.command(help=__doc__)
@click.option("--audit", required=True, type=jobs.PATH, help="audit.tsv.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def compare_dpecdf(audit: Path, table: Path) -> None:
    attacks = tables.read_table(audit)
    rows = dpecdf.compare_promises(attacks)
    tables.write_table(table, pd.DataFrame(rows, columns=numbers.COLUMNS))


if __name__ == "__main__":
    jobs.run(compare_dpecdf)
