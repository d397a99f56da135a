"""Draw discrete Laplace noise from an installed OpenDP wheel into a sample file."""

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from noiseaudit import jobs, releases, samplefiles


@click.command(help=__doc__)
@click.option("--release", required=True, help="Version of opendp that must answer.")
@click.option("--site", required=True, type=jobs.PATH, help="Where it stands.")
@click.option("--scale", required=True, type=float, help="Scale of the noise.")
@click.option("--draws", required=True, type=int, help="How many.")
@click.option("--batch", default=10_000, show_default=True, help="How many a call.")
@click.option("--centre", default=0, show_default=True, help="The value that noise is added to.")
@click.option("--samples", required=True, type=jobs.PATH, help="Parquet to write.")
def draw_release(
    release: str, site: Path, scale: float, draws: int, batch: int, centre: int, samples: Path
) -> None:
    origin = samplefiles.provenance(
        {"release": release, "scale": scale, "draws": draws, "batch": batch, "centre": centre},
        seed=samplefiles.OPERATING_SYSTEM,
        packages=["numpy", "pyarrow"],
    )
    origin["versions"]["opendp"] = releases.answering_version(site, release)
    noise = releases.draw(site, release, scale, draws, batch, centre)
    samplefiles.write(samples, _columns(noise, draws, f"opendp {release}, {scale:g}"), origin)


def _columns(
    noise: Iterator[np.ndarray], draws: int, description: str
) -> Iterator[dict[str, np.ndarray]]:
    with jobs.progress(draws, description, "draw") as bar:
        for values in noise:
            yield {"discrete_laplace": values}
            bar.update(values.size)


if __name__ == "__main__":
    jobs.run(draw_release)
