"""Make .venv, this checkout's pinned environment; `make` runs it, and it needs nothing but Python.

What is there and fits is kept, so a second run takes no time. An environment made elsewhere (the
checkout was moved or copied since), by another Python than the one asked for, from other pins or
not to its end is made anew. Of the user's PIP_*, UV_* and PYTHON* only where packages come from
reaches it.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from noiseaudit.wheels import installing_environment  # noqa: E402 - it needs nothing but Python either

PLACE = ROOT / ".venv"
PYTHON = PLACE / "bin/python"
RECORD = PLACE / "made.json"

LOCK, TOOLS = ROOT / "requirements.txt", ROOT / "requirements-dev.txt"

OLDEST = (3, 11)


class SetUpError(Exception):
    """What stands in the way, in one line."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tools", action="store_true", help="install the tests' tools too")
    options.add_argument(
        "--this-python", action="store_true", help="make .venv anew if it is of another Python"
    )
    asked = options.parse_args()
    reason = unfit(asked.this_python)
    if reason:
        if PLACE.is_dir():
            say(f".venv {reason}: making it again")
        create()
    if asked.tools and made().get("tools") != digest(TOOLS):
        say("installing the development tools")
        install(TOOLS)
        record(tools=digest(TOOLS))


def unfit(this_python: bool) -> str:
    """Why the environment that is there will not do, if it won't."""
    found = made()
    if not found:
        return "is not complete"
    if found["place"] != str(ROOT):
        return f"was made in {found['place']}"
    if not runs():
        return "has lost its Python"
    if this_python and found["python"] != this():
        return f"is of Python {found['python']}, {this()} is asked for"
    if found["pins"] != digest(LOCK):
        return "was made from other pins"
    return ""


def create() -> None:
    if sys.version_info < OLDEST:
        raise SetUpError(
            f"Python {platform.python_version()} found as {sys.executable}, "
            f"{'.'.join(map(str, OLDEST))} or newer expected (make PYTHON=...)"
        )
    say("creating .venv")
    if PLACE.is_symlink():
        PLACE.unlink()  # what it leads to is another's
    if RECORD.exists():
        RECORD.unlink()  # first: what is killed while it empties the folder has lost its record
    run(sys.executable, "-m", "venv", "--clear", PLACE)
    # uv installs the locked set in seconds. It is itself taken from the lock, by its hashes.
    (PLACE / "uv.txt").write_text(locked("uv"), encoding="utf-8")
    pip = ("-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check")
    run(PYTHON, *pip, "install", "--no-user", "--require-hashes", "--requirement", PLACE / "uv.txt")
    say("installing the pinned requirements")
    install(LOCK)
    # For scripts run by hand and for notebooks; the pipeline's jobs import what lies beside it.
    uv("--no-deps", "--no-build-isolation", "--editable", ROOT)
    run(PYTHON, ROOT / "scripts/compile_kernels.py")
    record(place=str(ROOT), python=this(), pins=digest(LOCK))


def install(pins: Path) -> None:
    # The lock is complete, and leaves out what its packages would bring in (requirements-left-out.in).
    uv("--no-deps", "--require-hashes", "--compile-bytecode", "--requirement", pins)


def uv(*arguments: "str | Path") -> None:
    run(PYTHON, "-m", "uv", "pip", "install", "--quiet", "--python", PYTHON, *arguments)


def run(*command: "str | Path") -> None:
    found = subprocess.run(
        list(map(str, command)), cwd=ROOT, env=installing_environment(), check=False
    )
    if found.returncode != 0:
        words = " ".join(Path(word).name if os.sep in str(word) else str(word) for word in command)
        raise SetUpError(f"`{words}` failed (its words stand above)")


def locked(package: str) -> str:
    """One package's lines of the lock: its version and all its hashes."""
    lines = iter(LOCK.read_text(encoding="utf-8").splitlines(keepends=True))
    block = [next(line for line in lines if line.startswith(f"{package}=="))]
    for line in lines:
        if not block[-1].rstrip().endswith("\\"):
            return "".join(block)
        block.append(line)
    return "".join(block)


def this() -> str:
    return f"{platform.python_version()} in {sys.base_prefix}"


def runs() -> bool:
    try:
        return subprocess.run([str(PYTHON), "-I", "-c", ""], check=False).returncode == 0
    except OSError:
        return False


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made() -> "dict[str, str]":
    try:
        return json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def record(**news: str) -> None:
    """Note what is complete; whole or not at all, so that half of it is never taken for it."""
    fresh = RECORD.with_suffix(".new")
    fresh.write_text(json.dumps({**made(), **news}, indent=1) + "\n", encoding="utf-8")
    fresh.replace(RECORD)


def say(message: str) -> None:
    print(f"make: {message}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except SetUpError as error:
        sys.exit(f"make: {error}")
    except OSError as error:
        sys.exit(f"make: {error.filename or PLACE}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
