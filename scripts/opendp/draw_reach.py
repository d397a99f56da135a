"""Draw from the mechanisms of an installed OpenDP wheel, and count each output."""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import jobs, releases, tables


@click.command(help=__doc__)
@click.option("--release", required=True, help="Version of opendp that must answer.")
@click.option("--site", required=True, type=jobs.PATH, help="Where it stands.")
@click.option("--mechanism", "names", required=True, multiple=True, help="One of cks20.reach.")
@click.option("--gaussian", required=True, type=click.IntRange(min=1), help="Draws at each scale,")
@click.option("--vectors", required=True, type=click.IntRange(min=1), help="of other noise,")
@click.option("--floats", required=True, type=click.IntRange(min=1), help="on finer lattices,")
@click.option(
    "--answers", required=True, type=click.IntRange(min=1), help="of single answers, at the first."
)
@click.option("--scale", "scales", required=True, multiple=True, type=float)
@click.option("--counts", required=True, type=jobs.PATH, help="TSV to write.")
def draw_reach(
    release: str,
    site: Path,
    names: tuple[str, ...],
    gaussian: int,
    vectors: int,
    floats: int,
    answers: int,
    scales: tuple[float, ...],
    counts: Path,
) -> None:
    found = []
    special = {"gaussian": gaussian, **dict.fromkeys(releases.ONE_A_CALL, answers)}
    # On the default lattice a draw takes up to ten times as long.
    special |= {name: floats for name in names if name.endswith("_floats")}
    orders = {name: special.get(name, vectors) for name in names}
    # At large scales one canonical draw takes a quarter of a second.
    scales_of = {name: scales[:1] if name in releases.ONE_A_CALL else scales for name in names}
    total = sum(draws * len(scales_of[name]) for name, draws in orders.items())
    with jobs.progress(total, f"opendp {release}", "draw") as bar:
        for mechanism, draws in orders.items():
            for scale in scales_of[mechanism]:
                batches = releases.draw(site, release, scale, draws, mechanism=mechanism)
                noise = np.concatenate(list(batches))
                x, times = np.unique(noise, return_counts=True)
                found.append(
                    pd.DataFrame(
                        {
                            "mechanism": mechanism,
                            "release": release,
                            "scale": scale,
                            "x": x,
                            "count": times,
                        }
                    )
                )
                bar.update(draws)
    tables.write_table(counts, pd.concat(found))


if __name__ == "__main__":
    jobs.run(draw_reach)
