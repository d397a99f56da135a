"""Render a TSV table as one HTML page, for the report."""

from html import escape
from pathlib import Path

import click

from noiseaudit import files, jobs, tables

TEXT = ("release", "printed")
"""Columns that look like numbers and are none."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; }}
th, td {{ text-align: right; white-space: nowrap; }}
th {{ position: sticky; top: 0; background: #fff; border-bottom: 2px solid #767676; }}
td:first-child, th:first-child {{ text-align: left; }}
tbody tr:hover {{ background: #f4f4f4; }}
</style>
</head>
<body>
<h1>{title}</h1>
{table}
</body>
</html>
"""


@click.command(help=__doc__)
@click.option("--table", required=True, type=click.Path(path_type=Path), help="TSV to read.")
@click.option("--title", required=True, help="Heading of the page.")
@click.option("--column", "columns", multiple=True, help="A column to show; all by default.")
@click.option("--page", required=True, type=click.Path(path_type=Path), help="HTML to write.")
def render_table(table: Path, title: str, columns: tuple[str, ...], page: Path) -> None:
    rows = tables.read_table(table, text=[name for name in TEXT if name in tables.header(table)])
    shown = rows[list(columns)] if columns else rows
    body = shown.to_html(index=False, border=0, na_rep="", float_format=short)
    with files.replacing(page) as temporary:
        temporary.write_text(PAGE.format(title=escape(title), table=body), encoding="utf-8")


def short(value: float) -> str:
    """Five digits."""
    return f"{value:.5g}"


if __name__ == "__main__":
    jobs.run(render_table)
