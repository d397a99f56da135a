"""Processes of other people's making: started, listened to, and ended with all that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

_WORDS = 2000
"""Bytes of a process's last words that are kept."""


class SubjectError(ValueError):
    """The subject is not what the card says it is: bad input."""


class Missing(SubjectError):
    """What the subject needs is not there: it cannot be installed, or it does not import."""


class Unjudgeable(ValueError):
    """The subject gives no outputs that could be judged: it hangs, dies, or only fails."""


class OutOfTime(Unjudgeable):
    """The time limit has passed."""


class Spawned(subprocess.Popen):
    """A process in a session of its own, whose last words are kept and whose children die with it."""

    def listen(self) -> None:
        self._words = bytearray()
        self._listener = threading.Thread(target=self._keep, daemon=True)
        self._listener.start()

    def _keep(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self.stderr.fileno(), 1 << 16):
                self._words = (self._words + part)[-_WORDS:]

    @property
    def status(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(5)
        return self.returncode

    def last_words(self) -> str:
        """How it ended, on one line."""
        status = self.status
        self._listener.join(1)
        lines = bytes(self._words).decode(errors="replace").strip().splitlines()
        ended = f"signal {-status}" if status and status < 0 else f"status {status}"
        return f"its process ended with {ended}" + (f" ({one_line(lines[-1])})" if lines else "")

    def end(self) -> None:
        if self.stderr.closed:
            return
        for kill in (
            lambda: os.killpg(self.pid, signal.SIGKILL),
            self.kill,
            self._kill_the_escaped,
        ):
            with contextlib.suppress(OSError):
                kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(5)
        self._listener.join(1)
        self.stderr.close()

    def _kill_the_escaped(self) -> None:
        """Children that left the session still carry its mark in their environment.

        One that is just being started has none for a moment, so it is looked for twice.
        """
        mark = f"{_MARK}={self.mark}".encode()
        for pause in (_STARTING, 0):
            for environment in Path("/proc").glob("[0-9]*/environ"):
                with contextlib.suppress(OSError):
                    if mark in environment.read_bytes().split(b"\0"):
                        os.kill(int(environment.parent.name), signal.SIGKILL)
            time.sleep(pause)


_STARTING = 0.02
"""Seconds in which a process that was forked has an environment of its own."""

_MARK = "NOISEAUDIT_SUBJECT"


def spawn(
    command: Sequence[str], folder: Path, sites: Sequence[Path], **streams: object
) -> Spawned:
    """Start a program that gets nothing and whose output goes nowhere, but for ``streams``.

    Parameters
    ----------
    command : sequence of str
    folder : Path
        Where it runs.
    sites : sequence of Path
        Folders that a Python looks for modules in first.
    **streams
        For `subprocess.Popen`, in place of these.

    Raises
    ------
    SubjectError
        If it cannot be started.
    """
    mark = os.urandom(8).hex()
    paths = [str(site) for site in sites] + list(filter(None, [os.environ.get("PYTHONPATH")]))
    environment = os.environ | {_MARK: mark}
    if sites:
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    settings = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
    }
    try:
        process = Spawned(
            command, cwd=folder, env=environment, start_new_session=True, **settings | streams
        )
    except (OSError, ValueError) as error:
        raise SubjectError(f"{command[0]}: cannot be started ({one_line(str(error))})") from error
    process.mark = mark
    process.listen()
    return process


def one_line(text: str) -> str:
    """Words as a message can hold them: one line, not too long, and nothing that steers a terminal."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST_WORDS else f"{line[:_LONGEST_WORDS]}…"


_LONGEST_WORDS = 300
