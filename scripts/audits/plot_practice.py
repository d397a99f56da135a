"""Draw every audited noise against every question (figures/audits/practice)."""

import json
from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import practice, style


@click.command(help=__doc__)
@click.option(
    "--verdict", "verdicts", required=True, multiple=True, type=jobs.PATH,
    help="JSON of a card; may be repeated.",
)  # fmt: skip
@jobs.FIGURE
def plot_practice(verdicts: tuple[Path, ...], figure: Path) -> None:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in verdicts]
    settings = [one for card in found for one in card.get("settings", [card])]
    style.save(practice.practice(settings), figure)


if __name__ == "__main__":
    jobs.run(plot_practice)
