"""Tabulate every layer of every trace against its law, and name the faulty one (layers.tsv)."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, published, tables
from noiseaudit.cks20 import layers


@click.command(help=__doc__)
@click.option("--published", "printed", required=True, type=click.Path(path_type=Path))
@click.option("--alpha", required=True, type=float, help="Error probability of the whole table.")
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))
def tabulate_layers(traces: tuple[Path, ...], printed: Path, alpha: float, table: Path) -> None:
    parts = []
    for path in traces:
        job = tables.read_provenance(path)["job"]
        scale = Fraction(job["scale"])
        tally = layers.Tally.of(tables.read_columns(path), scale, job["draws"])
        rows = layers.examine(tally, scale, job["variant"], alpha / len(traces))
        for place, name in enumerate(("variant", "entropy", "scale")):
            rows.insert(place, name, job[name])
        rows.insert(3, "samples", job["draws"])
        parts.append(rows)
    numbers = published.read(printed)
    tables.write_table(table, published.beside_layers(pd.concat(parts), numbers))


if __name__ == "__main__":
    jobs.run(tabulate_layers)
