"""Render a TSV table as one HTML page that can be sorted, filtered and searched, for the report."""

from math import isnan
from pathlib import Path

import click
import pandas as pd
from jinja2 import Template

from noiseaudit import files, jobs, tables

MOST_CHOICES = 12
"""Different words in a column up to which rows can be chosen by it."""


@click.command(help=__doc__)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to read.")
@click.option("--title", required=True, help="Heading of the page.")
@click.option("--template", required=True, type=jobs.PATH, help="Of the page.")
@click.option("--column", "columns", multiple=True, help="A column to show; all by default.")
@click.option("--page", required=True, type=jobs.PATH, help="HTML to write.")
def render_table(
    table: Path, title: str, template: Path, columns: tuple[str, ...], page: Path
) -> None:
    rows = tables.read_table(table)
    shown = rows[list(columns)] if columns else rows
    made = Template(template.read_text(encoding="utf-8")).render(
        title=title,
        columns=[described(place, shown[name]) for place, name in enumerate(shown)],
        rows=[list(map(cell, row)) for row in shown.itertuples(index=False)],
    )
    with files.replacing(page) as temporary:
        temporary.write_text(made, encoding="utf-8")


def described(place: int, column: pd.Series) -> dict:
    """Its head, and the words by which rows can be chosen, if they are few."""
    text = not pd.api.types.is_numeric_dtype(column)
    words = sorted(set(column.dropna().map(str))) if text else []
    chosen = words if 1 < len(words) <= MOST_CHOICES else []
    return {"place": place, "name": column.name, "text": text, "choices": chosen}


def cell(value: object) -> dict:
    """What is shown, to five digits, and the number that rows are sorted by."""
    if isinstance(value, float):
        if isnan(value):
            return {"shown": "", "sort": None}
        return {"shown": f"{value:.5g}", "sort": repr(value).replace("inf", "Infinity")}
    number = isinstance(value, int) and not isinstance(value, bool)
    return {"shown": str(value), "sort": value if number else None}


if __name__ == "__main__":
    jobs.run(render_table)
