"""Trace the cascade: draws of a variant, with the first output of every layer in each."""

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
@click.option("--scale", required=True, help="A rational, such as 10 or 7/3.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="How many.")
@click.option("--seed", required=True, type=int, help="Master seed; unused by the source os.")
@click.option("--samples", required=True, type=click.Path(path_type=Path), help="Parquet to write.")
def draw_trace(variant: str, source: str, scale: str, draws: int, seed: int, samples: Path) -> None:
    own_bytes = entropy.byte_source(source, seed, "opendp", variant, scale)
    cascade = kernels.Cascade(variant, reference.rational(scale), own_bytes)
    job = {"variant": variant, "entropy": source, "scale": scale, "draws": draws}
    packages = ["numpy", "numba", "pyarrow"]
    origin = samplefiles.provenance(
        job, samplefiles.OPERATING_SYSTEM if source == "os" else seed, packages
    )
    samplefiles.write(samples, batches(cascade, draws), origin)


def batches(cascade: kernels.Cascade, draws: int) -> Iterator[dict[str, np.ndarray]]:
    with jobs.progress(draws, "trace", "draw") as bar:
        for start in range(0, draws, BATCH):
            count = min(BATCH, draws - start)
            trace = cascade.trace(count)
            yield {name: np.ascontiguousarray(values) for name, values in trace.items()}
            bar.update(count)


if __name__ == "__main__":
    jobs.run(draw_trace)
