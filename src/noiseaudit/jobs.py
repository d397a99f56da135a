"""How a script runs: its command line, its log, its progress and its end.

A script defines a click command and hands it to `run`. Errors end it with one line on the terminal;
their traceback goes to the job's log.
"""

from __future__ import annotations

import logging
import math
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import click
from tqdm import tqdm

log = logging.getLogger("noiseaudit")
log.addHandler(logging.NullHandler())  # without --log, nothing is logged
log.setLevel(logging.INFO)
log.propagate = False
logging.raiseExceptions = False  # a log that cannot be written, on a full disk, is no news


class _Probability(click.FloatRange):
    """Between 0 and 1, and a number, which NaN is not."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not in the range 0<x<1.", param, ctx)
        return found


PROBABILITY = _Probability(0, 1, min_open=True, max_open=True)
"""What an option takes that is a probability, and says something."""

PATH = click.Path(path_type=Path)
"""Of a file to read or to write, or a folder: whoever opens it says what is wrong with it."""

FIGURE = click.option(
    "--figure", required=True, type=PATH, help="PNG to write, with .svg and .pdf."
)
"""The option of all scripts that draw."""


def run(command: click.Command) -> NoReturn:
    """Run a script's command with an added ``--log FILE`` option, and exit.

    Exit status 0, or 1 for any error (2 for a wrong command line) after one line on the terminal:
    the script's name and the error's message. Tracebacks go to the log; without one, only those
    of errors that are not about input (`ValueError`, `OSError`) are shown. A script refuses another
    checkout's library.
    """
    name = Path(sys.argv[0]).stem
    logged = click.Option(
        ["--log", "log_file"],
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_start_log,
        expose_value=False,
        is_eager=True,
        help="File for the job's log and tracebacks.",
    )
    command.params.append(logged)
    signal.signal(signal.SIGTERM, _end)
    started = time.monotonic()
    try:
        _require_own_library(Path(sys.argv[0]))
        status = command.main(standalone_mode=False)
        log.info("done in %.1f s", time.monotonic() - started)
    except click.ClickException as error:
        _fail(f"{name}: {error.format_message()}", 2)
    except (click.Abort, KeyboardInterrupt):
        _fail(f"{name}: interrupted", 130)
    except Exception as error:
        if not _logs_to_file() and not isinstance(error, ValueError | OSError):
            raise
        log.exception("failed")
        _fail(f"{name}: {' '.join(str(error).split()) or type(error).__name__}", 1)
    finally:
        _end_log()
    sys.exit(status or 0)


def _require_own_library(script: Path) -> None:
    """An environment of another checkout brings that one's library: nothing here would take effect."""
    found = Path(__file__).parent.resolve()
    checkouts = (folder / "src/noiseaudit" for folder in script.resolve().parents)
    own = next((library for library in checkouts if library.is_dir()), found)
    if not own.samefile(found):
        raise ValueError(
            f"library: {found} found, {own} expected (`make` here, or set PYTHONPATH to {own.parent})"
        )


def progress(total: int, description: str, unit: str) -> tqdm:
    """A progress bar on the terminal; silent where there is none to draw it on."""
    return tqdm(
        total=total, desc=description, unit=unit, unit_scale=True, disable=None, leave=False
    )


def _start_log(_: click.Context, __: click.Parameter, log_file: Path | None) -> None:
    if log_file is None:
        return
    log_file.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(log_file, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.info("%s", " ".join(sys.argv))


def _end_log() -> None:
    """Close it: the tests run many scripts in one process."""
    for handler in filter(_is_file, list(log.handlers)):
        log.removeHandler(handler)
        handler.close()


def _logs_to_file() -> bool:
    return any(map(_is_file, log.handlers))


def _is_file(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.FileHandler)


def _end(*_: object) -> NoReturn:
    """Let SIGTERM unwind the stack, so that temporary files are removed."""
    sys.exit(143)


def _fail(message: str, status: int) -> NoReturn:
    log.error("%s", message)
    print(message, file=sys.stderr)
    sys.exit(status)
