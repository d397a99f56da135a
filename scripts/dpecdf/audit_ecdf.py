"""Attack a private ECDF class, and count what the attacker sees (results/dpecdf/audit/)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.dpecdf import audit, original

HARDENED = "hardened"


@click.command(help=__doc__)
@click.option("--subject", required=True, type=click.Choice(["original", HARDENED]))
@click.option("--site", type=jobs.PATH, help="Where synthpriv stands.")
@click.option("--release", help="Version of synthpriv that must be there.")
@click.option("--epsilon", required=True, type=float, help="Claimed by the class.")
@click.option(
    "--repeats", required=True, type=click.IntRange(min=1), help="Of each data set, at most."
)
@click.option(
    "--alpha", required=True, type=jobs.PROBABILITY, help="Error of all attacks together."
)
@click.option("--seed", required=True, type=int)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def audit_ecdf(
    subject: str,
    site: Path | None,
    release: str | None,
    epsilon: float,
    repeats: int,
    alpha: float,
    seed: int,
    table: Path,
) -> None:
    if subject == HARDENED:
        attacked = audit.Hardened(epsilon)
    elif site is None or release is None:
        raise ValueError("site, release: none found, both expected for the original")
    else:
        attacked = audit.Original(f"synthpriv {release}", original.load(site, release), epsilon)
    share, rows = alpha / len(audit.ATTACKS), []
    with jobs.progress(len(audit.ATTACKS), f"audit of {attacked.name}", "attack") as bar:
        for attack in audit.ATTACKS:
            finding = audit.run(attack, attacked, repeats, share, seed)
            rows.append(
                {
                    "attack": attack.name,
                    "subject": attacked.name,
                    "epsilon": epsilon,
                    "alpha": share,
                    "repeats": finding.repeats,
                    "seen": finding.seen[0],
                    "seen_neighbour": finding.seen[1],
                }
            )
            bar.update()
    tables.write_table(table, pd.DataFrame(rows))


if __name__ == "__main__":
    jobs.run(audit_ecdf)
