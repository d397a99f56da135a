"""Render an executed notebook as one HTML page that asks the network for nothing."""

import re
from pathlib import Path

import click
from docutils.utils.math.latex2mathml import tex2mathml
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from noiseaudit import files, jobs

FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?(?:\n[^$\n]+?)?)\$", re.DOTALL)


@click.command(help=__doc__)
@click.option("--notebook", required=True, type=jobs.PATH, help="Executed copy.")
@click.option("--templates", required=True, type=jobs.PATH, help="Their folder.")
@click.option("--page", required=True, type=jobs.PATH, help="HTML to write.")
def render_notebook(notebook: Path, templates: Path, page: Path) -> None:
    exporter = HTMLExporter(
        template_name="offline",
        extra_template_basedirs=[str(templates.resolve())],
        preprocessors=[FormulasToMathML],
    )
    body, _ = exporter.from_filename(str(notebook))
    with files.replacing(page) as temporary:
        temporary.write_text(body, encoding="utf-8")


class FormulasToMathML(Preprocessor):
    """Formulas of the text as MathML, which browsers draw by themselves; MathJax would be fetched."""

    def preprocess_cell(self, cell, resources, index):  # noqa: ANN001, ANN201
        """Only markdown cells hold formulas."""
        if cell.cell_type == "markdown":
            cell.source = FORMULA.sub(mathml, cell.source)
        return cell, resources


def mathml(formula: re.Match) -> str:
    """One formula, on one line: markdown leaves it alone."""
    tex, as_block = formula["block"] or formula["inline"], formula["block"] is not None
    return " ".join(tex2mathml(tex, as_block=as_block).split())


if __name__ == "__main__":
    jobs.run(render_notebook)
