"""From a card's setting to the subject that draws for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from noiseaudit import wheels
from noiseaudit.audit.cards import Setting
from noiseaudit.audit.processes import Missing
from noiseaudit.audit.subjects import Clock, Program, PythonFunction, Samples, Subject

SITES = "NOISEAUDIT_SITES"
"""Names the folder where what cards require is installed; by default it is in the user's cache."""


def subject(setting: Setting, seed: int) -> Subject:
    """What draws for a setting; a context manager. The seed orders files of outputs.

    Raises
    ------
    SubjectError
        If the card names what is not there, or what it requires cannot be installed.
    """
    draw, folder, values = setting.draw, setting.folder, (setting.left, setting.right)
    if "samples" in draw:
        return Samples((draw["samples"]["left"], draw["samples"]["right"]), folder, seed)
    arguments, clock = draw.get("arguments", {}), Clock(setting.seconds)
    if "command" in draw:
        return Program(draw["command"], folder, values, clock, arguments)
    interpreter = _interpreter(setting)
    sites = [site(folder / setting.requires, interpreter)] if setting.requires else []
    clock = Clock(setting.seconds)  # installing took its own
    return PythonFunction(draw["python"], folder, values, clock, arguments, interpreter, sites)


def _interpreter(setting: Setting) -> str:
    if setting.interpreter is None:
        return sys.executable
    path = Path(setting.interpreter).expanduser()
    found = path if path.is_absolute() or len(path.parts) == 1 else setting.folder / path
    return str(found)


def site(pins: Path, interpreter: str) -> Path:
    """The folder in which the pinned packages are installed, made if it is not there.

    Raises
    ------
    Missing
        If they cannot be installed.
    """
    try:
        place = sites() / wheels.site_name(pins)
        if not place.is_dir():
            wheels.install_pinned(pins, place, interpreter)
    except wheels.WheelError as error:
        raise Missing(f"requires: {error}") from error
    return place


def sites() -> Path:
    """Where sites are kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return Path(os.environ.get(SITES) or cache / "noiseaudit/sites").absolute()
