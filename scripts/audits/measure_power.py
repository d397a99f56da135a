"""Audit faulty specimens again and again: how many draws until each is found (power.tsv)?"""

import runpy
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, tables
from noiseaudit.audit import cards, examination, subjects

ALPHAS = (0.05, 1e-6)


@click.command(help=__doc__)
@click.option("--specimens", required=True, type=jobs.PATH, help="Their module.")
@click.option("--runs", required=True, type=click.IntRange(min=1), help="Of each specimen.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of each side, at most.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def measure_power(specimens: Path, runs: int, draws: int, seed: int, table: Path) -> None:
    module = runpy.run_path(str(specimens))
    measured = [one for one in module["SPECIMENS"] if one.in_power]
    rows = []
    with jobs.progress(len(measured) * len(ALPHAS) * runs, "power", "audit") as bar:
        for specimen in measured:
            for alpha in ALPHAS:
                found = np.array(
                    [
                        found_after(
                            specimen, module, alpha, draws, entropy.derived_seed(seed, run), bar
                        )
                        for run in range(runs)
                    ]
                )
                rows.append(row(specimen, alpha, draws, found))
    tables.write_table(table, pd.DataFrame(rows))


def found_after(
    specimen: object, module: dict, alpha: float, draws: int, seed: int, bar: jobs.tqdm
) -> float:
    """Draws of each side; infinite where the specimen was not found."""
    content = specimen.card | {"draws": min(draws, specimen.draws)}
    (setting,) = cards.of(content, Path.cwd(), "specimen").settings()
    draw = module[specimen.draw]
    subject = subjects.Callback(draw, specimen.neighbours, specimen.arguments)
    found = examination.found_after(setting, subject, alpha, seed)
    bar.update()
    return np.inf if found is None else float(found)


def row(specimen: object, alpha: float, draws: int, found: np.ndarray) -> dict[str, object]:
    low, median, high = np.quantile(found, [0.1, 0.5, 0.9], method="inverted_cdf")
    return {
        "specimen": specimen.number,
        "mechanism": specimen.draw,
        "truth": specimen.truth,
        "alpha": alpha,
        "runs": found.size,
        "found": int(np.isfinite(found).sum()),
        "draws": min(draws, specimen.draws),
        "draws_tenth": low,
        "draws_median": median,
        "draws_ninth": high,
    }


if __name__ == "__main__":
    jobs.run(measure_power)
