"""Count draws of the cascade or by inversion, in memory that does not grow with them."""

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, tables
from noiseaudit.cks20 import inversion, kernels, reference

BATCH = 1 << 16
"""Draws that a core's own cache holds."""

REACH = 60
"""Scales on either side that are counted; what lies beyond has a probability below 10^−25."""


@click.command(help=__doc__)
@click.option("--variant", required=True, help="faulty, fixed, taylor or inversion.")
@click.option("--entropy", "source", required=True, help="One of noiseaudit.entropy.SOURCES.")
@click.option("--scale", required=True, help="A rational, such as 10 or 7/3.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of all parts together.")
@click.option("--part", required=True, type=int, help="Which part, from 1 on.")
@click.option("--parts", required=True, type=click.IntRange(min=1), help="How many there are.")
@click.option("--seed", required=True, type=int, help="Master seed; unused by the source os.")
@click.option("--counts", required=True, type=jobs.PATH, help="TSV to write.")
def count_draws(
    variant: str,
    source: str,
    scale: str,
    draws: int,
    part: int,
    parts: int,
    seed: int,
    counts: Path,
) -> None:
    if not 1 <= part <= parts:
        raise ValueError(f"part: {part} of {parts} found, one of 1 to {parts} expected")
    s = reference.rational(scale)
    own_entropy = source, seed, "opendp", "deep", variant, scale, part, parts
    if variant == inversion.VARIANT:
        sampler = inversion.Inversion(inversion.LAPLACE, s, entropy.word_source(*own_entropy))
    else:
        sampler = kernels.Cascade(variant, s, entropy.byte_source(*own_entropy))
    own = draws * part // parts - draws * (part - 1) // parts
    cutoff = int(REACH * s) + 1
    found = np.zeros(2 * cutoff + 1, dtype=np.int64)
    for batch in batches(sampler, own):
        if max(-batch.min(), batch.max()) > cutoff:
            raise ValueError(f"draws: one beyond {cutoff} found, none expected at scale {scale}")
        found += np.bincount(batch + cutoff, minlength=found.size)
    drawn = np.flatnonzero(found)
    table = pd.DataFrame({"x": drawn - cutoff, "count": found[drawn]})
    job = {"variant": variant, "entropy": source, "scale": scale, "draws": draws}
    for name, value in (job | {"part": part, "parts": parts}).items():
        table[name] = value
    tables.write_table(counts, table)


def batches(sampler: kernels.Cascade | inversion.Inversion, draws: int) -> Iterator[np.ndarray]:
    with jobs.progress(draws, "count", "draw") as bar:
        for start in range(0, draws, BATCH):
            yield sampler.draw(min(BATCH, draws - start))
            bar.update(min(BATCH, draws - start))


if __name__ == "__main__":
    jobs.run(count_draws)
