"""Tabulate the privacy loss of every cell: estimated, certified, exact and published (losses.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, privacy_loss, tables
from noiseaudit.published import dptext, numbers

COLUMNS = ("epsilon", "dimension", "n00", "n01", "n10", "n11")


@click.command(help=__doc__)
@click.option("--published", "printed", required=True, type=jobs.PATH)
@click.option("--repeats", required=True, type=int, help="Releases of each data set in a cell.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("counts", nargs=-1, required=True, type=jobs.PATH)
def tabulate_losses(
    counts: tuple[Path, ...], printed: Path, repeats: int, alpha: float, table: Path
) -> None:
    shown = numbers.read(printed)
    shown = shown[~shown["location"].str.startswith("footnote")]
    votes = pd.concat([tables.read_table(path, numbers=COLUMNS) for path in counts])
    cells = votes.groupby(["mechanism", "epsilon", "dimension"], sort=False).sum().reset_index()
    losses = privacy_loss.tabulate(cells, repeats, alpha / len(cells))
    tables.write_table(table, dptext.beside_losses(losses, shown))


if __name__ == "__main__":
    jobs.run(tabulate_losses)
