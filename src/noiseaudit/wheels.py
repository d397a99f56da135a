"""Released wheels, installed by their hashes, each alone in a folder of its own (a *site*)."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = (
    "DEFAULT_INDEX", "INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "OFFLINE",
    "CERT", "CLIENT_CERT", "PROXY", "TRUSTED_HOST", "INSECURE_HOST", "NATIVE_TLS", "SYSTEM_CERTS",
    "TIMEOUT", "DEFAULT_TIMEOUT", "HTTP_TIMEOUT", "RETRIES", "HTTP_RETRIES", "KEYRING_PROVIDER",
    "CACHE_DIR", "NO_CACHE", "NO_CACHE_DIR", "CONFIG_FILE", "NO_CONFIG",
)  # fmt: skip
"""Settings of pip and uv that say where packages come from: the user's business, as where they go and
which they are is not."""


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
    install_pinned(pins, site)


def install_pinned(pins: Path, site: Path, interpreter: str = sys.executable) -> None:
    """Install all that a hashed requirements file pins, and nothing else, into the folder ``site``.

    Parameters
    ----------
    pins, site : Path
        As for `install`.
    interpreter : str
        The Python that it is for.

    Raises
    ------
    WheelError
        If the pins are missing, or what they name cannot be had.
    """
    if not pins.is_file():
        raise WheelError(f"{pins}: no such file")
    site.parent.mkdir(parents=True, exist_ok=True)
    stood = site.is_dir()
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=site.parent) as folder:
        fresh = Path(folder) / "site"
        command = [*_installer(interpreter), "--quiet", "--no-deps", "--require-hashes"]
        command += ["--target", str(fresh), "--requirement", str(pins)]
        finished = subprocess.run(
            command, env=installing_environment(), capture_output=True, text=True, check=False
        )
        if finished.returncode != 0:
            reason = gist(finished.stderr)
            named = ", ".join(_pinned(pins)).replace("==", " ")
            raise WheelError(f"{named} cannot be installed: {reason}")
        if stood:
            shutil.rmtree(site, ignore_errors=True)
        try:
            fresh.rename(site)
        except OSError:
            if stood or not site.is_dir():
                raise  # else another job made it meanwhile, and may be using it


def _installer(interpreter: str) -> list[str]:
    """uv where it is there, else pip of the Python that it is for."""
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv", "pip", "install", "--python", interpreter]
    return [interpreter, "-m", "pip", "install"]


def site_name(pins: Path) -> str:
    """The folder of a site among others: ``package/release``, or one for all that is pinned together.

    Raises
    ------
    WheelError
        If nothing is pinned.
    """
    pinned = _pinned(pins)
    if len(pinned) == 1:
        return pinned[0].replace("==", "/")
    return f"{pins.stem}-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}"


def _pinned(pins: Path) -> list[str]:
    if not pins.is_file():
        raise WheelError(f"{pins}: no such file")
    found = re.findall(
        r"^([A-Za-z0-9][A-Za-z0-9._-]*==[^ ;\\]+)", pins.read_text("utf-8"), re.MULTILINE
    )
    if not found:
        raise WheelError(f"{pins}: nothing pinned found, package==release with hashes expected")
    return found


def installing_environment() -> dict[str, str]:
    """The user's environment for pip and uv, without what sends packages elsewhere or brings others in.

    Where the home cannot be written to, uv keeps no cache.
    """
    kept = tuple(f"{tool}_{name}" for tool in ("PIP", "UV") for name in SOURCES)
    theirs = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")
    ours = {
        name: value
        for name, value in os.environ.items()
        if name in kept or name.startswith("UV_INDEX") or not name.startswith(theirs)
    }
    if "UV_CACHE_DIR" not in ours and not os.access(Path("~").expanduser(), os.W_OK):
        ours["UV_NO_CACHE"] = "1"
    return {**ours, "UV_NO_PROGRESS": "1", "UV_LINK_MODE": "copy"}


def gist(output: str) -> str:
    """A failed command's own words on one line, without decoration."""
    lines = [line.strip(" ×╰─▶│├") for line in output.strip().splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Traceback", "File "))]
    return "; ".join(lines[-3:]) or "it ended without a word"
