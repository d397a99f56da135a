"""Draw how the Taylor series brackets e^-x (figures/opendp/taylor_bracket)."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import cascade, style


@click.command(help=__doc__)
@jobs.FIGURE
def plot_taylor_bracket(figure: Path) -> None:
    style.save(cascade.taylor_bracket(), figure)


if __name__ == "__main__":
    jobs.run(plot_taylor_bracket)
