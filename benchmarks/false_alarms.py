"""Examine many healthy traces, and count how often the diagnosis names a layer that is not faulty.

Each trace is examined at several error probabilities; the alarms at each must be no more than its
binomial law allows. Traces are seeded by their number, half of them fixed and half taylor.
"""

from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.stats import binom

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
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
def count_false_alarms(traces: int, draws: int, seed: int, table: Path) -> None:
    found = np.zeros(len(ALPHAS), dtype=np.int64)
    with jobs.progress(traces, "false alarms", "trace") as bar:
        for trace in range(traces):
            found += alarms(trace, draws, seed)
            bar.update()
    interval = stats.clopper_pearson(found, traces, 1e-3)
    tables.write_table(
        table,
        pd.DataFrame(
            {
                "alpha": ALPHAS,
                "traces": traces,
                "draws": draws,
                "alarms": found,
                "rate": found / traces,
                "rate_low": interval.low,
                "rate_high": interval.high,
                "chance_of_more": binom.sf(found - 1, traces, ALPHAS),
                "verdict": np.where(interval.low <= ALPHAS, "no more than stated", "too many"),
            }
        ),
    )


if __name__ == "__main__":
    jobs.run(count_false_alarms)
