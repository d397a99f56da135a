"""Draw what the five sampling panels show: Laplace noise, right and as DPText makes it."""

from pathlib import Path

import click
import numpy as np

from noiseaudit import entropy, jobs, mechanisms, samplefiles


@click.command(help=__doc__)
@click.option("--draws", required=True, type=click.IntRange(min=1), help="How many of each.")
@click.option("--seed", required=True, type=int, help="Master seed.")
@click.option("--samples", required=True, type=jobs.PATH, help="Parquet to write.")
def draw_transforms(draws: int, seed: int, samples: Path) -> None:
    own = {
        name: entropy.generator(seed, "dptext", "transforms", name)
        for name in ("numpy_laplace", "uniform", "positive_uniform")
    }
    uniform = own["uniform"].uniform(-0.5, 0.5, draws)
    positive = own["positive_uniform"].uniform(0.0, 1.0, draws)
    kept = mechanisms.laplace_from_uniform(positive)
    columns = {
        "numpy_laplace": own["numpy_laplace"].laplace(size=draws),
        "uniform": uniform,
        "transform": mechanisms.laplace_from_uniform(uniform),
        "dptext_nan": kept,
        "dptext_zero": np.where(np.isnan(kept), 0.0, kept),
    }
    origin = samplefiles.provenance({"draws": draws}, seed, ["numpy"])
    samplefiles.write(samples, [columns], origin)


if __name__ == "__main__":
    jobs.run(draw_transforms)
