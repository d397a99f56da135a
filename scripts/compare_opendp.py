"""Set the printed numbers that a wheel or the cascade can answer beside ours (comparison.tsv)."""

from fractions import Fraction
from math import sqrt
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, published, stats, tables
from noiseaudit.cks20 import diagnosis, exact

PAPER_SCALE, PAPER_DRAWS = 10, 1_000_000  # Sec. V and VI


@click.command(help=__doc__)
@click.option("--releases", "ours", required=True, type=click.Path(path_type=Path))
@click.option("--layers", "cascade", required=True, type=click.Path(path_type=Path))
@click.option("--published", "printed", required=True, type=click.Path(path_type=Path))
@click.option("--release", required=True, help="The release that stands for the paper's original.")
@click.option("--scale", required=True, type=float, help="The scale to compare.")
@click.option("--alpha", required=True, type=float, help="Error probability of the whole table.")
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to write.")
def compare_opendp(
    ours: Path, cascade: Path, printed: Path, release: str, scale: float, alpha: float, table: Path
) -> None:
    rows = tables.read_table(ours, text=["release"])
    measured = tables.select(rows, release=release, scale=scale).iloc[0]
    same = scale == PAPER_SCALE and measured["samples"] == PAPER_DRAWS
    expected = expected_moments(diagnosis.variant_of(release))
    numbers = published.read(printed)
    chosen = (numbers["layer"] == "discrete_laplace") & (numbers["variant"] == "faulty")
    compared = [
        {
            "source": "opendp",
            "location": number.location,
            "quantity": f"discrete_laplace {number.quantity}, {diagnosis.source_name(release)}",
            **published.compare(
                number.published,
                stats.Estimate.normal(
                    measured[number.quantity], expected[number.quantity].sd, alpha / len(expected)
                ),
                expected[number.quantity],
                unlike=None if same else f"{measured['samples']} draws at scale {scale:g}",
            ),
        }
        for number in numbers[chosen].itertuples()
        if number.quantity in expected
    ]
    layers = tables.read_table(cascade, text=["variant", "entropy", "scale", "layer"])
    compared += published.compare_layers(layers, numbers, alpha)
    tables.write_table(table, pd.DataFrame(compared, columns=published.COLUMNS))


def expected_moments(variant: str) -> dict[str, stats.Moments]:
    """What the exact model expects the paper's statistics to be."""
    scale = Fraction(PAPER_SCALE)
    variance = exact.discrete_laplace(scale, variant).variance
    return {
        "mean_z": stats.Moments(0.0, sqrt(variance / exact.DiscreteLaplace(scale).variance)),
        "chi2": diagnosis.expected_chi_square(scale, variant, PAPER_DRAWS),
    }


if __name__ == "__main__":
    jobs.run(compare_opendp)
