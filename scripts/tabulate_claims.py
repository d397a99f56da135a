"""Tabulate what one source claims in words, and whether it stands (claims.tsv)."""

from pathlib import Path

import click

from noiseaudit import jobs, tables
from noiseaudit.published import claims


@click.command(help=__doc__)
@click.option("--dptext", "losses", type=jobs.PATH, help="losses.tsv.")
@click.option(
    "--opendp",
    nargs=5,
    type=jobs.PATH,
    help="releases.tsv, layers.tsv, plrv.tsv, performance.tsv and the printed numbers.",
)
@click.option("--release", help="Which of the times is the paper's original, with --opendp;")
@click.option("--corrected", help="and which its local correction.")
@click.option("--dpecdf", "audited", type=jobs.PATH, help="audit.tsv.")
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
def tabulate_claims(
    losses: Path | None,
    opendp: tuple[Path, Path, Path, Path, Path] | None,
    release: str | None,
    corrected: str | None,
    audited: Path | None,
    table: Path,
) -> None:
    if sum(map(bool, (losses, opendp, audited))) != 1:
        raise click.UsageError("one of --dptext, --opendp and --dpecdf expected")
    if opendp and not (release and corrected):
        raise click.UsageError("--release and --corrected expected with --opendp")
    if losses:
        found = claims.of_dptext(tables.read_table(losses))
    elif opendp:
        text = (["release"], ["scale"], [], [], ["published"])
        found = claims.of_opendp(*map(tables.read_table, opendp, text), release, corrected)
    else:
        found = claims.of_dpecdf(tables.read_table(audited))
    tables.write_table(table, found)


if __name__ == "__main__":
    jobs.run(tabulate_claims)
