"""Trace the cascade: draws of a variant, with the first output of every layer in each, a file a scale."""

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from noiseaudit import entropy, jobs, samplefiles
from noiseaudit.cks20 import kernels, reference

BATCH = 100_000


@click.command(help=__doc__)
@click.option("--variant", required=True, help="faulty, fixed or taylor.")
@click.option("--entropy", "source", required=True, help="One of noiseaudit.entropy.SOURCES.")
@click.option(
    "--scale", "scales", required=True, multiple=True, help="A rational, such as 10 or 7/3."
)
@click.option("--draws", required=True, type=click.IntRange(min=1), help="How many.")
@click.option("--seed", required=True, type=int, help="Master seed; unused by the source os.")
@click.option(
    "--samples",
    required=True,
    multiple=True,
    type=jobs.PATH,
    help="Parquet to write, one for each scale.",
)
def draw_traces(
    variant: str,
    source: str,
    scales: tuple[str, ...],
    draws: int,
    seed: int,
    samples: tuple[Path, ...],
) -> None:
    if len(samples) != len(scales):
        raise click.UsageError(
            f"samples: {len(samples)} found, {len(scales)} expected, one for each scale"
        )
    with jobs.progress(draws * len(scales), f"trace {variant} {source}", "draw") as bar:
        for scale, path in zip(scales, samples, strict=True):
            trace(variant, source, scale, draws, seed, path, bar)


def trace(
    variant: str, source: str, scale: str, draws: int, seed: int, samples: Path, bar: jobs.tqdm
) -> None:
    own_bytes = entropy.byte_source(source, seed, "opendp", variant, scale)
    cascade = kernels.Cascade(variant, reference.rational(scale), own_bytes)
    job = {"variant": variant, "entropy": source, "scale": scale, "draws": draws}
    packages = ["numpy", "numba", "pyarrow"]
    origin = samplefiles.provenance(
        job, samplefiles.OPERATING_SYSTEM if source == "os" else seed, packages
    )
    samplefiles.write(samples, batches(cascade, draws, bar), origin)


def batches(
    cascade: kernels.Cascade, draws: int, bar: jobs.tqdm
) -> Iterator[dict[str, np.ndarray]]:
    for start in range(0, draws, BATCH):
        count = min(BATCH, draws - start)
        layers = cascade.trace(count)
        yield {name: np.ascontiguousarray(values) for name, values in layers.items()}
        bar.update(count)


if __name__ == "__main__":
    jobs.run(draw_traces)
