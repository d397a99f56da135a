"""Execute a notebook into a copy that is the same, byte for byte, on every run."""

import os
import tempfile
from pathlib import Path

import click
import nbformat
import papermill
from traitlets.config import Config

from noiseaudit import jobs, tables

LONGEST_SOCKET = 103
"""Bytes that the path of a socket may have on every system."""


@click.command(help=__doc__)
@click.option("--notebook", required=True, type=click.Path(path_type=Path), help="Source.")
@click.option("--executed", required=True, type=click.Path(path_type=Path), help="Copy to write.")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    nargs=2,
    multiple=True,
    help="Name and value of a parameter; may be repeated.",
)
def execute_notebook(
    notebook: Path, executed: Path, parameters: tuple[tuple[str, str], ...]
) -> None:
    os.environ["PYTHONHASHSEED"] = "0"
    with tables.replacing(executed) as temporary, tempfile.TemporaryDirectory() as sockets:
        # By files: two kernels that start at once might pick the same free port.
        if len(os.fsencode(f"{sockets}/kernel-ipc-5")) > LONGEST_SOCKET:
            raise ValueError(
                f"TMPDIR: {tempfile.gettempdir()} found, a shorter path expected: a notebook's kernel is "
                "spoken to through files there"
            )
        kernel = {"transport": "ipc", "connection_file": f"{sockets}/kernel.json"}
        try:
            papermill.execute_notebook(
                notebook,
                temporary,
                dict(parameters),
                kernel_name="python3",
                progress_bar=False,
                config=Config(KernelManager=kernel),
                # Else a pause between two prints makes two outputs of one.
                coalesce_streams=True,
                extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
            )
        except papermill.PapermillExecutionError as error:
            jobs.log.exception("the notebook failed")
            message = f"{notebook}, cell {error.exec_count}: {error.ename}: {error.evalue}"
            raise ValueError(message) from error
        content = nbformat.read(temporary, as_version=4)
        remove_traces(content)
        nbformat.write(content, temporary)


def remove_traces(content: nbformat.NotebookNode) -> None:
    """Drop what papermill and the kernel say of this one run: times, paths, random cell names."""
    content.metadata.pop("papermill", None)
    content.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(content.cells):
        cell.id = f"cell-{number}"
        for trace in ("papermill", "execution"):
            cell.metadata.pop(trace, None)


if __name__ == "__main__":
    jobs.run(execute_notebook)
