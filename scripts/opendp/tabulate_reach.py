"""Test what the mechanisms of the OpenDP wheels drew, against the claimed law and the faulty one."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import reach


@click.command(help=__doc__)
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--delta", required=True, type=jobs.PROBABILITY, help="Where rho becomes an epsilon.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("counts", nargs=-1, required=True, type=jobs.PATH)
def tabulate_reach(counts: tuple[Path, ...], alpha: float, delta: float, table: Path) -> None:
    text, numbers = ["mechanism", "release"], ["scale", "x", "count"]
    read = pd.concat([tables.read_table(path, text=text, numbers=numbers) for path in counts])
    drawn = list(read.groupby(["mechanism", "release", "scale"], sort=False))
    rows = []
    with jobs.progress(len(drawn), "reach", "row") as bar:
        for (mechanism, release, scale), own in drawn:
            found = dict(zip(own["x"].tolist(), own["count"].tolist(), strict=True))
            share = alpha / len(drawn)
            rows.append(reach.row(mechanism, release, Fraction(scale), found, share, delta))
            bar.update()
    table_of = pd.DataFrame(rows)
    order = {name: place for place, name in enumerate(reach.MECHANISMS)}
    tables.write_table(
        table, table_of.sort_values("mechanism", key=lambda names: names.map(order), kind="stable")
    )


if __name__ == "__main__":
    jobs.run(tabulate_reach)
