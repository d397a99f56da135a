"""Draw what the audit of one card saw (figures/audits/)."""

import json
from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.figures import audits, style


@click.command(help=__doc__)
@click.option("--verdict", required=True, type=jobs.PATH, help="JSON to read.")
@jobs.FIGURE
def plot_audit_evidence(verdict: Path, figure: Path) -> None:
    card = json.loads(verdict.read_text(encoding="utf-8"))
    shown = card.get("settings", [card])
    style.save(audits.evidence(card) if len(shown) == 1 else audits.settings(shown), figure)


if __name__ == "__main__":
    jobs.run(plot_audit_evidence)
