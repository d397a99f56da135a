"""Audit healthy specimens many times: how often is one called anything else (false_alarms.tsv)?"""

import runpy
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, stats, tables
from noiseaudit.audit import cards, examination, subjects

ALPHAS = (0.1, 0.01)


@click.command(help=__doc__)
@click.option("--specimens", required=True, type=jobs.PATH, help="Their module.")
@click.option(
    "--audits", required=True, type=click.IntRange(min=1), help="How many, at each alpha."
)
@click.option("--draws", required=True, type=click.IntRange(min=1), help="Of each side.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def count_audit_alarms(specimens: Path, audits: int, draws: int, seed: int, table: Path) -> None:
    module = runpy.run_path(str(specimens))
    healthy = [one for one in module["SPECIMENS"] if one.in_alarms]
    alarms = np.zeros(len(ALPHAS), dtype=np.int64)
    with jobs.progress(audits * len(ALPHAS), "false alarms", "audit") as bar:
        for number in range(audits):
            specimen = healthy[number % len(healthy)]
            own = entropy.derived_seed(seed, "audits", "false alarms", number)
            for place, alpha in enumerate(ALPHAS):
                alarms[place] += is_flagged(specimen, module, alpha, draws, own)
                bar.update()
    rows = pd.DataFrame(stats.alarm_rates(ALPHAS, alarms, audits))
    rows.insert(1, "audits", audits)
    rows.insert(2, "draws", draws)
    tables.write_table(table, rows)


def is_flagged(specimen: object, module: dict, alpha: float, draws: int, seed: int) -> bool:
    (setting,) = cards.of(specimen.card | {"draws": draws}, Path.cwd(), "specimen").settings()
    draw = module[specimen.draw]
    subject = subjects.Callback(draw, specimen.neighbours, specimen.arguments)
    return examination.is_alarmed(setting, subject, alpha, seed)


if __name__ == "__main__":
    jobs.run(count_audit_alarms)
