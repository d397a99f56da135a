"""Audit healthy configurations many times, and count how often one is flagged as broken.

Each audit releases two neighbouring data sets from the hardened class and from ours of the original
contract with a private generator, and is judged at several error probabilities.
"""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, stats, tables
from noiseaudit.dpecdf import DPEcdf, audit

ALPHAS = (0.5, 0.1, 0.01, 1e-6)

EPSILON = 1.0

HEALTHY = ("public bounds", "row replaced", "two columns")
"""Attacks with a finite exact loss, which no certified bound should exceed."""


@click.command(help=__doc__)
@click.option("--audits", required=True, type=click.IntRange(min=1), help="How many.")
@click.option("--repeats", required=True, type=click.IntRange(min=1), help="Of each data set.")
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def count_attack_alarms(audits: int, repeats: int, seed: int, table: Path) -> None:
    attacks = [each for each in audit.ATTACKS if each.name in HEALTHY]
    subjects = (audit.Original("DPEcdf", DPEcdf, EPSILON), audit.Hardened(EPSILON))
    flagged = np.zeros(len(ALPHAS), dtype=np.int64)
    with jobs.progress(audits, "false alarms", "audit") as bar:
        for number in range(audits):
            own = entropy.derived_seed(seed, "dpecdf", "false alarms", number)
            attack = attacks[number // 2 % len(attacks)]
            found = list(audit.looks(attack, subjects[number % 2], repeats, own))
            lows = [[audit.loss_of(look, alpha).low for look in found] for alpha in ALPHAS]
            flagged += np.max(lows, axis=1) > attack.exact * EPSILON
            bar.update()
    rows = pd.DataFrame(stats.alarm_rates(ALPHAS, flagged, audits))
    rows.insert(1, "audits", audits)
    rows.insert(2, "repeats", repeats)
    tables.write_table(table, rows)


if __name__ == "__main__":
    jobs.run(count_attack_alarms)
