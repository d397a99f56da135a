"""Join tables of the same columns, one under the other."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables


@click.command(help=__doc__)
@click.argument("parts", nargs=-1, required=True, type=jobs.PATH)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def join_tables(parts: tuple[Path, ...], table: Path) -> None:
    read = [tables.read_table(part, text=tables.header(part)) for part in parts]
    for part, rows in zip(parts, read, strict=True):
        if list(rows.columns) != list(read[0].columns):
            raise ValueError(f"{part}: other columns than in {parts[0]}")
    tables.write_table(table, pd.concat(read))


if __name__ == "__main__":
    jobs.run(join_tables)
