"""Examine the samples of an audit's card, and write its verdict as the command does (--json)."""

from dataclasses import replace
from pathlib import Path

import click

from noiseaudit import files, jobs
from noiseaudit.audit import cards, examination, recording, report


@click.command(help=__doc__)
@click.option("--card", required=True, type=jobs.PATH, help="YAML.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of each side, at most.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the card's audits.")
@click.option("--seed", required=True, type=int, help="Master seed.")
@click.option("--verdict", required=True, type=jobs.PATH, help="JSON to write.")
@click.argument("samples", nargs=-1, required=True, type=jobs.PATH)
def examine_audit(
    samples: tuple[Path, ...], card: Path, draws: int, alpha: float, seed: int, verdict: Path
) -> None:
    """One file of SAMPLES for each setting, in their order."""
    read, found = cards.read(card), []
    share = read.share(alpha)
    for place, path in enumerate(samples):
        setting = cards.at(read, place, draws)
        drawn = recording.Recorded(path, setting, seed)
        if drawn.reason:
            found.append(examination.unjudged(setting, drawn.reason, share, seed))
            continue
        one = examination.examine(setting, drawn, share, seed, fresh=drawn.fresh)
        found.append(
            replace(one, seconds=drawn.seconds, versions=drawn.versions, digests=drawn.digests)
        )
    with files.replacing(verdict) as temporary:
        temporary.write_text("\n".join(report.json_lines(found)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    jobs.run(examine_audit)
