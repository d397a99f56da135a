"""Time and memory of our simulation against a plain NumPy one, interleaved in one run.

Each measurement runs in a child process of its own, forked after everything was compiled; its peak
memory is the operating system's count, less that of a child that does nothing. Each simulation is
measured up to a size: NumPy's is what fits into a gigabyte, ours what takes a few seconds (but its
smallest number of repeats in every dimension).
"""

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import attack, entropy, jobs, mechanisms, tables

LARGEST = {"compiled": 200_000_000, "plain_numpy": 20_000_000}
"""Coordinates of the largest run of each simulation."""

EPSILON = 1.0


def compiled(dimension: int, repeats: int, seed: int) -> None:
    attack.simulate(mechanisms.named("laplace"), [EPSILON], dimension, repeats, seed)


def plain_numpy(dimension: int, repeats: int, seed: int) -> None:
    """The obvious vectorised way: all releases of a data set at once."""
    generator = entropy.generator(seed, "benchmark")
    counts = np.zeros((2, 2), dtype=np.int64)
    for d in (0, 1):
        v = generator.uniform(-0.5, 0.5, size=(repeats, dimension))
        noise = -np.sign(v) * np.log(1 - 2 * np.abs(v))
        z = d + dimension / EPSILON * noise
        guess = np.where(z < 0.5, 0, 1).mean(axis=1) > 0.5
        counts[d] = repeats - guess.sum(), guess.sum()


SIMULATIONS = {"compiled": compiled, "plain_numpy": plain_numpy}


def measured(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds and peak megabytes of some work in a forked child."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:  # whatever happens, the child does not go on in its parent's code
            started = time.perf_counter()
            work()
            os.write(write_end, repr(time.perf_counter() - started).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        seconds = answer.read()
    _, status, usage = os.wait4(child, 0)
    if status != 0 or not seconds:
        raise OSError(f"a measurement ended with status {status}; is there enough memory?")
    return float(seconds), usage.ru_maxrss / 1024


def growth(draws: pd.Series, values: pd.Series) -> float:
    """Exponent of the power law that fits the growth of values with draws; NaN below two sizes."""
    if draws.nunique() < 2 or (values <= 0).any():
        return np.nan
    return float(np.polyfit(np.log(draws), np.log(values), 1)[0])


@click.command(help=__doc__)
@click.option("--dimension", "dimensions", required=True, multiple=True, type=click.IntRange(min=1))
@click.option("--repeats", "sizes", required=True, multiple=True, type=click.IntRange(min=1))
@click.option("--rounds", required=True, type=click.IntRange(min=2), help="Of each size.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def benchmark_attack(
    dimensions: tuple[int, ...], sizes: tuple[int, ...], rounds: int, seed: int, table: Path
) -> None:
    runs = [
        (name, dimension, repeats)
        for dimension in dimensions
        for repeats in sizes
        for name in SIMULATIONS
        if dimension * repeats <= LARGEST[name] or (name == "compiled" and repeats == min(sizes))
    ]
    for dimension in dimensions:
        compiled(dimension, 10, seed)
    measurements = []
    with jobs.progress(rounds * len(runs), "benchmark", "run") as bar:
        for _ in range(rounds):
            _, idle = measured(lambda: None)
            for name, dimension, repeats in runs:
                seconds, peak = measured(
                    lambda run=SIMULATIONS[name], n=dimension, size=repeats: run(n, size, seed)
                )
                measurements.append((name, dimension, repeats, seconds, peak, peak - idle))
                bar.update()
    tables.write_table(table, summarise(measurements))


def summarise(measurements: list[tuple]) -> pd.DataFrame:
    """A row per simulation and size: time and memory, ratio to NumPy, growth over all sizes."""
    columns = ["simulation", "dimension", "repeats", "seconds", "peak_mb", "own_mb"]
    runs = pd.DataFrame(measurements, columns=columns)
    size = ["simulation", "dimension", "repeats"]
    runs["draws"] = 2 * runs["dimension"] * runs["repeats"]
    runs["nanoseconds_per_draw"] = 1e9 * runs["seconds"] / runs["draws"]
    rows = runs.groupby([*size, "draws"], sort=False).agg(
        nanoseconds_per_draw=("nanoseconds_per_draw", "mean"),
        standard_error=("nanoseconds_per_draw", "sem"),
        peak_mb=("peak_mb", "max"),
        own_mb=("own_mb", "max"),
    )
    rows = rows.reset_index()
    numpy = rows[rows["simulation"] == "plain_numpy"].set_index(["dimension", "repeats"])
    key = pd.MultiIndex.from_frame(rows[["dimension", "repeats"]])
    rows["ratio_to_numpy"] = (
        rows["nanoseconds_per_draw"] / numpy["nanoseconds_per_draw"].reindex(key).to_numpy()
    )
    rows["draws_per_second"] = 1e9 / rows["nanoseconds_per_draw"]
    for _, group in rows.groupby("simulation"):
        seconds = group["nanoseconds_per_draw"] * group["draws"]
        rows.loc[group.index, "time_exponent"] = growth(group["draws"], seconds)
        rows.loc[group.index, "memory_exponent"] = growth(group["draws"], group["own_mb"])
    return rows


if __name__ == "__main__":
    jobs.run(benchmark_attack)
