"""Repeat one cell's whole experiment, to see how its estimate scatters (repeatability.tsv)."""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import attack, entropy, jobs, mechanisms, privacy_loss, stats, tables


@click.command(help=__doc__)
@click.option("--mechanism", "name", required=True, help="One of noiseaudit.mechanisms.")
@click.option("--epsilon", required=True, type=float)
@click.option("--dimension", required=True, type=int)
@click.option("--repeats", required=True, type=int, help="Releases of each data set, each time.")
@click.option("--repetitions", required=True, type=click.IntRange(min=2), help="How many times.")
@click.option("--seed", required=True, type=int, help="Master seed.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def repeat_attack(
    name: str,
    epsilon: float,
    dimension: int,
    repeats: int,
    repetitions: int,
    seed: int,
    alpha: float,
    table: Path,
) -> None:
    mechanism = mechanisms.named(name)
    alpha_of_row = alpha / (repetitions + 2)
    rows = []
    with jobs.progress(repetitions * repeats, f"{name}, repeated", "repeat") as bar:
        for repetition in range(1, repetitions + 1):
            own_seed = entropy.derived_seed(seed, "repeatability", repetition)
            (counts,) = attack.simulate(
                mechanism, [epsilon], dimension, repeats, own_seed, finished=bar.update
            )
            interval = privacy_loss.loss_interval(counts, alpha_of_row)
            rows.append(
                (str(repetition), float(privacy_loss.loss(counts)), interval.low, interval.high)
            )
    losses = np.array([value for _, value, _, _ in rows])
    for quantity, estimate in stats.mean_and_sd(losses, alpha_of_row).items():
        rows.append((quantity, estimate.value, estimate.low, estimate.high))
    summary = pd.DataFrame(rows, columns=["repetition", "value", "value_low", "value_high"])
    exact = privacy_loss.exact_votes(mechanism, epsilon, dimension)
    summary["exact"] = exact.loss
    summary.loc[summary["repetition"] == "sd", "exact"] = exact.standard_error(repeats)
    summary["repeats"] = repeats
    tables.write_table(table, summary)


if __name__ == "__main__":
    jobs.run(repeat_attack)
