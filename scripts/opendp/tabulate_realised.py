"""Tabulate what the faulty sampler's exact law pays, scale by scale (realised_privacy.tsv)."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import exact


@click.command(help=__doc__)
@click.option(
    "--largest-scale",
    required=True,
    type=click.IntRange(1, exact.LARGEST_NUMERATOR),
    help="Integer scales from 1 to this.",
)
@click.option(
    "--sensitivity",
    "sensitivities",
    required=True,
    multiple=True,
    type=click.IntRange(min=1),
    help="Shift between neighbours; may be repeated.",
)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def tabulate_realised(largest_scale: int, sensitivities: tuple[int, ...], table: Path) -> None:
    rows = []
    with jobs.progress(largest_scale, "realised privacy", "scale") as bar:
        for scale in range(1, largest_scale + 1):
            law = exact.discrete_laplace(Fraction(scale), "faulty")
            rows += [_row(law, scale, sensitivity) for sensitivity in sensitivities]
            bar.update()
    tables.write_table(table, pd.DataFrame(rows))


def _row(law: exact.PeriodicLaw, scale: int, sensitivity: int) -> dict[str, float]:
    claimed = sensitivity / scale
    realised = law.realised_epsilon(sensitivity)
    return {
        "scale": scale,
        "sensitivity": sensitivity,
        "claimed_epsilon": claimed,
        "realised_epsilon": realised,
        "ratio": realised / claimed,
        "realised_delta": law.realised_delta(claimed, sensitivity),
    }


if __name__ == "__main__":
    jobs.run(tabulate_realised)
