"""Draw what an audit's card names into a sample file, and see whether its noise is fresh."""

from pathlib import Path

import click

from noiseaudit import jobs
from noiseaudit.audit import cards, opening, processes, recording


@click.command(help=__doc__)
@click.option("--card", required=True, type=jobs.PATH, help="YAML.")
@click.option("--setting", "place", required=True, type=click.IntRange(min=0), help="Its place.")
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of each side, at most.")
@click.option("--seconds", required=True, type=float, help="That drawing may take.")
@click.option("--alpha", required=True, type=jobs.PROBABILITY, help="Error of the card's audits.")
@click.option("--seed", required=True, type=int, help="Master seed.")
@click.option("--samples", required=True, type=jobs.PATH, help="Parquet to write.")
def draw_audit(
    card: Path, place: int, draws: int, seconds: float, alpha: float, seed: int, samples: Path
) -> None:
    read = cards.read(card)
    setting = cards.at(read, place, draws, seconds)
    share = read.share(alpha)
    try:
        with (
            jobs.progress(setting.draws, f"{setting.card} {setting.name}", "draw") as bar,
            opening.subject(setting, seed) as subject,
        ):
            recording.record(samples, setting, subject, share, seed, bar.update)
    except processes.Missing as error:
        if setting.requires is None:
            raise
        # Others' packages come and go, and fit one Python and not another: their row says so.
        jobs.log.warning("%s", error)
        recording.record_failure(samples, setting, str(error), seed)


if __name__ == "__main__":
    jobs.run(draw_audit)
