"""Examine many healthy traces, and count how often the diagnosis names a layer that is not faulty.

Each trace is examined at several error probabilities; the alarms at each must be no more than its
binomial law allows. Traces are seeded by their number, half of them fixed and half taylor.
"""

from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, stats, tables
from noiseaudit.cks20 import kernels, layers

ALPHAS = (0.1, 0.01, 0.001, 1e-6)

SCALES = (Fraction(3), Fraction(10), Fraction(7, 3), Fraction(32))

VARIANTS = ("fixed", "taylor")


def alarms(trace: int, draws: int, seed: int) -> np.ndarray:
    """Whether the diagnosis of one trace names a layer, at each of `ALPHAS`."""
    variant, scale = VARIANTS[trace % 2], SCALES[trace // 2 % len(SCALES)]
    source = entropy.byte_source("pcg64", seed, "false alarms", trace)
    cascade = kernels.Cascade(variant, scale, source)
    tally = layers.Tally.of([cascade.trace(draws)], scale, draws)
    rows = layers.examine(tally, scale, variant, ALPHAS[0])
    smallest = rows[["mean_p", "p_pooled"]].min(axis=None)
    return smallest < np.array(ALPHAS) / (2 * len(rows))


@click.command(help=__doc__)
@click.option("--traces", required=True, type=click.IntRange(min=1), help="How many.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of each trace.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def count_layer_alarms(traces: int, draws: int, seed: int, table: Path) -> None:
    found = np.zeros(len(ALPHAS), dtype=np.int64)
    with jobs.progress(traces, "false alarms", "trace") as bar:
        for trace in range(traces):
            found += alarms(trace, draws, seed)
            bar.update()
    rows = pd.DataFrame(stats.alarm_rates(ALPHAS, found, traces))
    rows.insert(1, "traces", traces)
    rows.insert(2, "draws", draws)
    tables.write_table(table, rows)


if __name__ == "__main__":
    jobs.run(count_layer_alarms)
