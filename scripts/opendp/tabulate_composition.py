"""Tabulate what many draws cost together, of each variant of the sampler (composition.tsv)."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.cks20 import accounting, exact


@click.command(help=__doc__)
@click.option("--scale", "scales", required=True, multiple=True, type=click.IntRange(min=1))
@click.option("--draws", "sizes", required=True, multiple=True, type=click.IntRange(min=1))
@click.option("--delta", required=True, type=float, help="Delta at which epsilon is asked for.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def tabulate_composition(
    scales: tuple[int, ...], sizes: tuple[int, ...], delta: float, table: Path
) -> None:
    rows = []
    with jobs.progress(len(scales) * len(sizes), "composition", "case") as bar:
        for scale in scales:
            for draws in sizes:
                rows.append(_row(scale, draws, delta))
                bar.update()
    tables.write_table(table, pd.DataFrame(rows))


def _row(scale: int, draws: int, delta: float) -> dict[str, float]:
    claimed = 1 / scale
    row = {"scale": scale, "draws": draws, "delta": delta, "claimed_epsilon": draws * claimed}
    for variant in ("fixed", "faulty"):
        law = exact.discrete_laplace(Fraction(scale), variant)
        bounds = accounting.composed_epsilon(law, claimed, draws, delta)
        row |= {f"{variant}_epsilon_low": bounds.low, f"{variant}_epsilon_high": bounds.high}
    return row


if __name__ == "__main__":
    jobs.run(tabulate_composition)
