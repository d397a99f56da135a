"""Draw the five sampling panels (figures/dptext/transforms)."""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import jobs, samplefiles
from noiseaudit.figures import dptext, style

COLUMNS = ("numpy_laplace", "uniform", "transform", "dptext_nan", "dptext_zero")


@click.command(help=__doc__)
@click.option("--samples", required=True, type=jobs.PATH, help="Parquet to read.")
@jobs.FIGURE
def plot_transforms(samples: Path, figure: Path) -> None:
    draws = {name: np.concatenate(list(samplefiles.read_column(samples, name))) for name in COLUMNS}
    style.save(dptext.transforms(pd.DataFrame(draws)), figure)


if __name__ == "__main__":
    jobs.run(plot_transforms)
