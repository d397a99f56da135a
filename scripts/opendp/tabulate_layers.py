"""Tabulate every layer of every trace against its law, and name the faulty one (layers.tsv)."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, samplefiles, tables
from noiseaudit.cks20 import layers
from noiseaudit.published import numbers, opendp


@click.command(help=__doc__)
@click.option("--published", "printed", required=True, type=jobs.PATH)
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--seed", required=True, type=int, help="Master seed that the traces must have.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("traces", nargs=-1, required=True, type=jobs.PATH)
def tabulate_layers(
    traces: tuple[Path, ...], printed: Path, alpha: float, seed: int, table: Path
) -> None:
    parts = []
    for path in traces:
        job = samplefiles.read_seeded(path, seed)["job"]
        scale = Fraction(job["scale"])
        tally = layers.Tally.of(samplefiles.read_columns(path), scale, job["draws"])
        rows = layers.examine(tally, scale, job["variant"], alpha / len(traces))
        for place, name in enumerate(("variant", "entropy", "scale")):
            rows.insert(place, name, job[name])
        rows.insert(3, "samples", job["draws"])
        parts.append(rows)
    shown = numbers.read(printed)
    tables.write_table(table, opendp.beside_layers(pd.concat(parts), shown))


if __name__ == "__main__":
    jobs.run(tabulate_layers)
