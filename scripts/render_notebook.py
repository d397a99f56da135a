"""Render an executed notebook as one HTML page that asks the network for nothing."""

from pathlib import Path

import click
from nbconvert import HTMLExporter

from noiseaudit import jobs, tables


@click.command(help=__doc__)
@click.option("--notebook", required=True, type=click.Path(path_type=Path), help="Executed copy.")
@click.option("--templates", required=True, type=click.Path(path_type=Path), help="Their folder.")
@click.option("--page", required=True, type=click.Path(path_type=Path), help="HTML to write.")
def render_notebook(notebook: Path, templates: Path, page: Path) -> None:
    exporter = HTMLExporter(
        template_name="offline",
        extra_template_basedirs=[str(templates.resolve())],
        embed_images=True,
    )
    body, _ = exporter.from_filename(str(notebook))
    with tables.replacing(page) as temporary:
        temporary.write_text(body, encoding="utf-8")


if __name__ == "__main__":
    jobs.run(render_notebook)
