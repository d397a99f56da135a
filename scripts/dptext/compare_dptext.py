"""Set every printed number of Habernal (2022) beside ours (comparison.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.published import dptext, numbers


@click.command(help=__doc__)
@click.option("--losses", required=True, type=jobs.PATH, help="losses.tsv")
@click.option("--repeatability", required=True, type=jobs.PATH)
@click.option("--published", "printed", required=True, type=jobs.PATH)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def compare_dptext(losses: Path, repeatability: Path, printed: Path, table: Path) -> None:
    shown = numbers.read(printed)
    keys = ["mechanism", "epsilon", "dimension"]
    cells = shown[~shown["location"].str.startswith("footnote")]
    printed_of = {
        (cell.mechanism, cell.epsilon, cell.dimension): cell
        for cell in cells.itertuples(index=False)
    }
    rows = [
        dptext.compare_loss(cell, printed_of[place])
        for cell in tables.read_table(losses, numbers=keys).itertuples(index=False)
        if (place := (cell.mechanism, cell.epsilon, cell.dimension)) in printed_of
    ]
    summary = tables.read_table(repeatability)
    rows += dptext.compare_repeatability(summary, shown)
    tables.write_table(table, pd.DataFrame(rows, columns=numbers.COLUMNS))


if __name__ == "__main__":
    jobs.run(compare_dptext)
