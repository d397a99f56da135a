"""Released wheels, installed by their hashes, each alone in a folder of its own (a *site*)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class WheelError(ValueError):
    """A wheel cannot be installed."""


def install(package: str, release: str, pins: Path, site: Path) -> None:
    """Install one released wheel into the folder ``site``, without what it depends on.

    Parameters
    ----------
    package, release : str
        Its name and version.
    pins : Path
        A requirements file that pins it with its hashes.
    site : Path
        The folder to make; what stood there is replaced, only once the wheel is complete.

    Raises
    ------
    WheelError
        If the pins are missing or for another version, or the wheel cannot be had.
    """
    if not pins.is_file():
        raise WheelError(
            f"{package} {release}: no pins at {pins}; make them with scripts/pin_release.py"
        )
    if f"{package}=={release} " not in pins.read_text():
        raise WheelError(f"{pins}: pins for {package} {release} expected, found none")
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=site.parent) as folder:
        fresh = Path(folder) / "site"
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
        command += ["--require-hashes", "--python", sys.executable]
        command += ["--target", str(fresh), "--requirement", str(pins)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode != 0:
            reason = gist(finished.stderr)
            raise WheelError(f"{package} {release} cannot be installed: {reason}")
        shutil.rmtree(site, ignore_errors=True)
        fresh.rename(site)


def gist(output: str) -> str:
    """A failed command's own words on one line, without decoration."""
    lines = [line.strip(" ×╰─▶│├") for line in output.strip().splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Traceback", "File "))]
    return "; ".join(lines[-3:]) or "it ended without a word"
