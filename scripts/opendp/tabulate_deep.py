"""Add up counted draws and test them as releases are tested (deep_draws-*.tsv)."""

from fractions import Fraction
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, stats, tables
from noiseaudit.cks20 import inversion, noise

JOB = ["variant", "entropy", "scale", "draws"]


@click.command(help=__doc__)
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the whole table.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("counts", nargs=-1, required=True, type=jobs.PATH)
def tabulate_deep(counts: tuple[Path, ...], alpha: float, table: Path) -> None:
    text, numbers = ["variant", "entropy", "scale"], ["x", "count", "draws", "part", "parts"]
    parts = pd.concat([tables.read_table(path, text, numbers) for path in counts])
    groups = dict(list(parts.groupby(JOB, sort=False)))
    rows = [summarise(job, group, alpha / len(groups)) for job, group in groups.items()]
    tables.write_table(table, pd.DataFrame(rows))


def summarise(job: tuple[str, str, str, int], parts: pd.DataFrame, alpha: float) -> dict:
    variant, entropy, scale, draws = job
    if parts["count"].sum() != draws:
        raise ValueError(
            f"counts of {variant}, scale {scale}: {parts['count'].sum()} draws found, {draws} expected"
        )
    s = Fraction(scale)
    histogram = stats.Histogram.counted(
        parts["x"].to_numpy(), parts["count"].to_numpy(), noise.window_cutoff(s, draws)
    )
    sample = noise.Sample(noise.cascade_name(variant), law_of(variant), s, histogram)
    (losses,) = noise.neighbour_losses([sample], alpha)
    named = {"variant": variant, "entropy": entropy, "scale": scale, "samples": draws}
    return named | noise.summarise(sample, losses, alpha)


def law_of(variant: str) -> str:
    """What is said to be drawn from: by inversion the law as it should be."""
    return "fixed" if variant == inversion.VARIANT else variant


if __name__ == "__main__":
    jobs.run(tabulate_deep)
