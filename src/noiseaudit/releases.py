"""Released OpenDP wheels, installed side by side and drawn from in a process of their own.

The wheels are exercised as they were published: nothing of them is vendored or patched. A wheel is
installed alone into a folder (a *site*); `draw` starts an interpreter that imports it from there
and refuses to answer for another version.
"""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from noiseaudit import _draw_from_wheel
from noiseaudit.wheels import gist

LARGEST_SCALE = 1e15
"""Beyond it, draws would come near the ends of 64 bits, where the wheels saturate."""


ONE_A_CALL = _draw_from_wheel.ONE_A_CALL
"""Mechanisms that answer one question a call, and take ten times as long."""


class ReleaseError(ValueError):
    """A wheel is not the one asked for, or failed while drawing."""


def draw(
    site: Path,
    release: str,
    scale: float,
    draws: int,
    batch: int = 10_000,
    centre: int = 0,
    mechanism: str = "laplace",
) -> Iterator[np.ndarray]:
    """Draw integers from a release's mechanism, on the operating system's entropy.

    Adds noise to a vector of equal values, by default through ``make_laplace`` over 64-bit integers, in
    a process of its own.

    Parameters
    ----------
    site : Path
        Where the wheel was installed.
    release : str
        The version that must answer.
    scale : float
        Scale of the noise, above 0 and at most `LARGEST_SCALE`.
    draws, batch : int
        How many in all (at least 1), and how many a batch.
    centre : int
        The value, of at most `LARGEST_SCALE` in size.
    mechanism : str
        One of `_draw_from_wheel.MECHANISMS`.

    Yields
    ------
    int64 array of ``batch`` draws (fewer in the last)

    Raises
    ------
    ReleaseError
        If another version answers, or the process fails.
    ValueError
        If an argument is out of range.
    """
    _require_scale(scale)
    if abs(centre) > LARGEST_SCALE:
        raise ValueError(f"centre: {centre} found, at most {LARGEST_SCALE:g} in size expected")
    if not all(isinstance(size, int) and size >= 1 for size in (draws, batch)):
        raise ValueError(f"draws, batch: {draws}, {batch} found, integers of at least 1 expected")
    if mechanism not in _draw_from_wheel.MECHANISMS:
        known = ", ".join(_draw_from_wheel.MECHANISMS)
        raise ValueError(f"mechanism: {mechanism!r} found, one of {known} expected")
    noise = {"scale": scale, "draws": draws, "batch": batch, "centre": centre}
    noise["mechanism"] = mechanism
    command = _command("draw", site, release, **noise)
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            for start in range(0, draws, batch):
                size = min(batch, draws - start) * 8
                content = process.stdout.read(size)
                if len(content) < size:
                    process.wait()
                    errors.seek(0)
                    raise ReleaseError(f"opendp {release}: {gist(errors.read().decode())}")
                yield np.frombuffer(content, dtype="<i8")
        finally:
            process.kill()


def answering_version(site: Path, release: str) -> str:
    """The version that answers from a site, in the wheel's own words.

    Raises
    ------
    ReleaseError
        If it is not the one asked for, or none answers.
    """
    command = _command("version", site, release)
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise ReleaseError(f"opendp {release}: {gist(finished.stderr)}")
    return finished.stdout.strip()


class Stopwatch:
    """A release, waiting in a process of its own to be timed; a context manager.

    Parameters
    ----------
    site, release, scale
        As for `draw`.
    batch : int
        Draws a call of the mechanism.
    """

    def __init__(self, site: Path, release: str, scale: float, batch: int = 10_000) -> None:
        _require_scale(scale)
        self._release = release
        self._command = _command("time", site, release, scale=scale, batch=batch)

    def __enter__(self) -> Stopwatch:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def seconds(self, draws: int) -> float:
        """How long the release takes for so many draws, start-up and transfer left out.

        Raises
        ------
        ReleaseError
            If another version answers, or the process fails.
        """
        with contextlib.suppress(BrokenPipeError):
            print(draws, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            self._errors.seek(0)
            raise ReleaseError(f"opendp {self._release}: {gist(self._errors.read().decode())}")
        return float(answer)


def _require_scale(scale: float) -> None:
    if not (math.isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise ValueError(
            f"scale: {scale} found, a number above 0, at most {LARGEST_SCALE:g} expected"
        )


def _command(task: str, site: Path, release: str, **noise: float) -> list[str]:
    order = {"task": task, "site": str(site), "release": release, **noise}
    return [sys.executable, "-s", "-P", _draw_from_wheel.__file__, json.dumps(order)]
