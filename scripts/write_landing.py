"""Write the first page of the report: each claim with our verdict, and where it all comes from."""

import base64
import re
from collections import Counter
from importlib import metadata
from pathlib import Path
from textwrap import wrap

import click
import jinja2
import pandas as pd

from noiseaudit import __version__, files, jobs, tables
from noiseaudit.published import numbers

TITLES = {
    "dptext": "DPText and ADePT: Habernal (ACL 2022)",
    "opendp": "OpenDP's discrete Laplace noise: Gerolimetto Fabrello et al. (2026)",
    "dpecdf": "The private ECDF of synthpriv",
}

PACKAGES = ["snakemake", "numpy", "scipy", "numba", "pandas", "pyarrow", "matplotlib"]
PACKAGES += ["dp-accounting"]

LONGEST_LINE = 8000
"""Docutils takes no line of 10 000 characters; white space in base64 means nothing."""


@click.command(help=__doc__)
@click.option("--claims", "claimed", required=True, type=jobs.PATH)
@click.option("--comparison", "compared", required=True, type=jobs.PATH)
@click.option("--audits", required=True, type=jobs.PATH, help="Their verdicts.tsv.")
@click.option("--figure", required=True, type=jobs.PATH, help="Of the comparison.")
@click.option("--template", required=True, type=jobs.PATH)
@click.option("--page", required=True, type=jobs.PATH, help="RST to write.")
@click.argument("pins", nargs=-1, type=jobs.PATH)
def write_landing(
    claimed: Path,
    compared: Path,
    audits: Path,
    figure: Path,
    template: Path,
    page: Path,
    pins: tuple[Path, ...],
) -> None:
    rows, shown = tables.read_table(claimed), tables.read_table(compared)
    text = jinja2.Template(template.read_text(encoding="utf-8")).render(
        studies=[
            study(source, rows, shown) for source in TITLES if (rows["source"] == source).any()
        ],
        audited=audited(tables.read_table(audits)),
        numbers=tally(shown["verdict"]),
        figure=wrap(base64.b64encode(figure.read_bytes()).decode(), LONGEST_LINE),
        versions={"noiseaudit": __version__, **{name: metadata.version(name) for name in PACKAGES}},
        wheels={path.stem: hashes(path) for path in pins},
    )
    with files.replacing(page) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def study(source: str, rows: pd.DataFrame, shown: pd.DataFrame) -> dict[str, object]:
    own = rows[rows["source"] == source]
    return {
        "source": source,
        "title": TITLES[source],
        "claims": own.to_dict("records"),
        "summary": f"{len(own)} claims: {counted(own['verdict'])}. "
        + tally(shown.loc[shown["source"] == source, "verdict"]),
    }


def audited(rows: pd.DataFrame) -> str:
    """What audits of any noise came to, in a sentence."""
    return (
        f"{rows['card'].nunique()} cards name noise of released packages and of textbooks, two inputs "
        f"and a claim, in {len(rows)} settings: {counted(rows['verdict'])}."
    )


def counted(verdicts: pd.Series) -> str:
    """Each verdict and how often it came, the most frequent first."""
    return ", ".join(f"{verdict} {count}" for verdict, count in Counter(verdicts).most_common())


def tally(verdicts: pd.Series) -> str:
    """How many printed numbers are reproduced, in a sentence."""
    kinds = verdicts.map(numbers.kind_of).value_counts()
    return (
        f"Of {len(verdicts)} printed numbers and promises {kinds.get(numbers.REPRODUCED, 0)} are "
        f"reproduced to the last digit, {kinds.get(numbers.CONSISTENT, 0)} are consistent with the "
        f"exact model, and {kinds.get(numbers.DIFFERS, 0)} differ."
    )


def hashes(pins: Path) -> list[str]:
    return re.findall(r"sha256:([0-9a-f]+)", pins.read_text(encoding="utf-8"))


if __name__ == "__main__":
    jobs.run(write_landing)
