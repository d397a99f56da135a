"""Draw the verdicts of all audits at a glance (figures/audits/overview.png)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import audits, style


@click.command(help=__doc__)
@click.option("--verdicts", required=True, type=jobs.PATH, help="TSV to read.")
@jobs.FIGURE
def plot_overview(verdicts: Path, figure: Path) -> None:
    columns = ["epsilon_low", "certified", "claimed", "detectable", "draws", "law_p"]
    rows = tables.read_table(verdicts, numbers=columns)
    style.save(audits.overview(rows), figure)


if __name__ == "__main__":
    jobs.run(plot_overview)
