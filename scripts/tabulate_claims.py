"""Tabulate what the sources claim in words, and whether it stands (claims.tsv)."""

from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables
from noiseaudit.published import claims

TSV = click.Path(path_type=Path)


@click.command(help=__doc__)
@click.option("--losses", required=True, type=TSV, help="losses.tsv of DPText.")
@click.option(
    "--opendp",
    nargs=4,
    type=TSV,
    help="releases.tsv, layers.tsv, plrv.tsv and performance.tsv; without them no claim on OpenDP.",
)
@click.option("--audit", type=TSV, help="audit.tsv; without it no promise of DPEcdf.")
@click.option("--table", required=True, type=TSV, help="TSV to write.")
def tabulate_claims(
    losses: Path, opendp: tuple[Path, Path, Path, Path] | None, audit: Path | None, table: Path
) -> None:
    rows = claims.of_dptext(tables.read_table(losses))
    if opendp:
        rows += claims.of_opendp(
            tables.read_table(opendp[0], text=["release"]),
            tables.read_table(opendp[1], text=["scale"]),
            *(tables.read_table(path) for path in opendp[2:]),
        )
    if audit:
        rows += claims.of_dpecdf(tables.read_table(audit))
    tables.write_table(table, pd.DataFrame(rows, columns=claims.COLUMNS))


if __name__ == "__main__":
    jobs.run(tabulate_claims)
