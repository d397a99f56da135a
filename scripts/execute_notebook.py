"""Execute a notebook into a copy that is the same, byte for byte, on every run and machine."""

import json
import logging
import os
import re
import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import click
import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.translators import papermill_translators
from traitlets.config import Config

from noiseaudit import files, jobs
from noiseaudit.wheels import gist

LONGEST_SOCKET = 103
"""Bytes that the path of a socket may have on every system."""

FEWEST_FILES = 256
"""That may be open at once: a kernel and its sockets need some seventy."""

KERNEL = (
    'exec "$0" -X faulthandler -m ipykernel_launcher -f "$1" --IPKernelApp.log_level=CRITICAL'
    ' --IPKernelApp.capture_fd_output=False >"$2" 2>&1'
)
"""How the kernel is started: by this Python, whatever kernels the user has; its last words are kept."""


@click.command(help=__doc__)
@click.option("--notebook", required=True, type=jobs.PATH, help="Source.")
@click.option("--executed", required=True, type=jobs.PATH, help="Copy to write.")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    nargs=2,
    multiple=True,
    help="Name and value of a parameter; may be repeated. What reads as JSON (a number, true, a "
    "list) is that, all else is text; quoted JSON is text that looks like a number.",
)
def execute_notebook(
    notebook: Path, executed: Path, parameters: tuple[tuple[str, str], ...]
) -> None:
    logging.getLogger("papermill").addHandler(logging.NullHandler())  # it is silent on the terminal
    values = {name: value_of(text) for name, text in parameters}
    check_names(notebook, values)
    allow_open_files()
    with files.replacing(executed) as temporary, tempfile.TemporaryDirectory() as folder:
        # By files: two kernels that start at once might pick the same free port.
        if len(os.fsencode(f"{folder}/kernel-ipc-5")) > LONGEST_SOCKET:
            raise ValueError(
                f"TMPDIR: {tempfile.gettempdir()} found, a shorter path expected: a notebook's kernel is "
                "spoken to through files there"
            )
        os.environ.update(settings_of_its_own(Path(folder)))
        run(notebook, temporary, values, Path(folder))
        content = nbformat.read(temporary, as_version=4)
        remove_traces(content)
        nbformat.write(content, temporary)


def value_of(text: str) -> object:
    """A parameter's value, as it is written on the command line."""
    with suppress(ValueError):
        return json.loads(text)
    return text


def check_names(notebook: Path, values: dict[str, object]) -> None:
    """Refuse what the notebook's cell of parameters does not set: papermill would pass it by."""
    python = papermill_translators.find_translator("python3", "python")
    cells = nbformat.read(notebook, as_version=4).cells
    tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    known = [parameter.name for cell in tagged for parameter in python.inspect(cell)]
    for name in values:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise ValueError(f"parameter: {name!r} found, {expected} expected")


def allow_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FEWEST_FILES:
        raise ValueError(f"ulimit -n: {hard} open files found, {FEWEST_FILES} or more expected")
    if soft < FEWEST_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEWEST_FILES, hard))


def settings_of_its_own(folder: Path) -> dict[str, str]:
    """An environment in which IPython and Jupyter know none of the user's settings and kernels."""
    kernel = folder / "kernels/python3"
    kernel.mkdir(parents=True)
    words = str(last_words(folder))
    argv = ["/bin/sh", "-c", KERNEL, sys.executable, "{connection_file}", words]
    described = {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    return {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_NO_CONFIG": "1",
        "JUPYTER_PATH": str(folder),  # looked through first
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYTHONHASHSEED": "0",
        "PYTHONSTARTUP": "",
    }


def last_words(folder: Path) -> Path:
    """The file of what the kernel says to nobody."""
    return folder / "stderr"


def run(notebook: Path, temporary: Path, values: dict[str, object], folder: Path) -> None:
    """Execute with papermill; a cell that fails, or a kernel that dies, ends in a `ValueError`."""
    kernel = {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}
    try:
        papermill.execute_notebook(
            notebook,
            temporary,
            values,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            config=Config(KernelManager=kernel),
            # Else a pause between two prints makes two outputs of one.
            coalesce_streams=True,
        )
    except papermill.PapermillExecutionError as error:
        jobs.log.exception("the notebook failed")
        message = f"{notebook}, cell {error.exec_count}: {error.ename}: {error.evalue}"
        raise ValueError(message) from error
    except RuntimeError as error:
        # As where a kernel dies before its first cell, or does not answer in time.
        happened = "its kernel died" if isinstance(error, DeadKernelError) else f"{error}"
        place = f"{notebook}, {cell_at_work(temporary)}"
        raise ValueError(f"{place}: {happened}; its last words: {gist_of(folder)}") from error


def cell_at_work(temporary: Path) -> str:
    """The last cell that papermill had begun when it wrote the copy, by its execution count."""
    with suppress(Exception):  # nothing that can be read was written
        cells = nbformat.read(temporary, as_version=4).cells
        begun = [cell for cell in cells if cell.metadata["papermill"]["start_time"]]
        if numbers := [cell.cell_type for cell in begun].count("code"):
            return f"cell {numbers}"
    return "before its first cell"


def gist_of(folder: Path) -> str:
    """The errors named in what a kernel said, or the end of anything else."""
    words = last_words(folder)
    said = words.read_text(encoding="utf-8", errors="replace") if words.exists() else ""
    errors = re.findall(
        r"^(?:Fatal |(?:\w+\.)*)\w*(?:Error|Exception|Interrupt| error)\b.*", said, re.M
    )
    return "; ".join(dict.fromkeys(errors)) or gist(said)


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
