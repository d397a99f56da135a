"""Draw what the attacks on private ECDFs certify (figures/dpecdf/audit)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import dpecdf, style


@click.command(help=__doc__)
@click.option("--table", required=True, type=jobs.PATH, help="audit.tsv.")
@jobs.FIGURE
def plot_audit(table: Path, figure: Path) -> None:
    rows = tables.read_table(table)
    style.save(dpecdf.attacks(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_audit)
