"""Set every printed number of Habernal (2022) beside ours (comparison.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, published, tables


@click.command(help=__doc__)
@click.option("--losses", required=True, type=click.Path(path_type=Path), help="losses.tsv")
@click.option("--repeatability", required=True, type=click.Path(path_type=Path))
@click.option("--published", "printed", required=True, type=click.Path(path_type=Path))
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
def compare_dptext(losses: Path, repeatability: Path, printed: Path, table: Path) -> None:
    numbers = published.read(printed)
    keys = ["mechanism", "epsilon", "dimension"]
    cells = numbers[~numbers["location"].str.startswith("footnote")]
    places = cells.set_index(keys)["location"]
    rows = [
        published.compare_loss(cell, places[cell.mechanism, cell.epsilon, cell.dimension])
        for cell in tables.read_table(losses).itertuples(index=False)
        if (cell.mechanism, cell.epsilon, cell.dimension) in places.index
    ]
    summary = tables.read_table(repeatability)
    rows += published.compare_repeatability(summary, numbers)
    tables.write_table(table, pd.DataFrame(rows, columns=published.COLUMNS))


if __name__ == "__main__":
    jobs.run(compare_dptext)
