"""Draw after how many draws the audit finds each specimen (figures/audits/power.png)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.figures import audits, style


@click.command(help=__doc__)
@click.option("--power", required=True, type=jobs.PATH, help="TSV to read.")
@click.option("--alarms", required=True, type=jobs.PATH, help="TSV to read.")
@jobs.FIGURE
def plot_power(power: Path, alarms: Path, figure: Path) -> None:
    columns = ["alpha", "draws", "draws_tenth", "draws_median", "draws_ninth"]
    found = tables.read_table(power, numbers=columns)
    rates = tables.read_table(alarms, numbers=["alpha", "audits", "alarms"])
    style.save(audits.power(found, rates), figure)


if __name__ == "__main__":
    jobs.run(plot_power)
