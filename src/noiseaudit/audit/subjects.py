"""What draws the noise under audit: a Python function, a program, or files of outputs.

Whatever runs, runs in processes of its own, under a limit of time and of output, and is killed with all
that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noiseaudit.audit import _subject
from noiseaudit.audit.outputs import Outputs, mark
from noiseaudit.audit.processes import (
    Missing,
    OutOfTime,
    SubjectError,
    Unjudgeable,
    one_line,
    spawn,
)
from noiseaudit.audit.samples import coordinate, parsed, read

FIRST_CALL = 1024
"""Outputs that a subject is asked for at first; each call asks for four times as many."""

LARGEST_ANSWER = 1 << 28
"""Bytes of one answer of a subject."""


class CallFailed(Unjudgeable):
    """A call for several outputs raised an exception."""


class Clock:
    """The time that a subject may still take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - time.monotonic()


class Subject(ABC):
    """Noise under audit; a context manager that ends whatever it started."""

    seedable = False
    """Whether a seed decides its outputs."""
    repeatable = True
    """Whether it can be asked again, beside what the audit draws."""
    ordered = True
    """Whether its outputs come in the order in which they were drawn."""
    said = ""
    """The words of an exception that it raised."""
    largest_call = 1 << 16
    """Outputs that it is asked for at most."""

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        """Ask for outputs of a neighbour (0: left), each by a call of its own if so wanted."""

    @abstractmethod
    def answer(self, side: int) -> Outputs:
        """The outputs asked for; fewer only where there are no more.

        Raises
        ------
        CallFailed
            If a call for several raised.
        """

    def close(self) -> None:  # noqa: B027 - files have nothing to end
        """End what was started."""

    def twins(self, condition: str, count: int, seed: int) -> list[Outputs] | None:
        """Two or more runs that should differ, under a condition; None where it does not apply.

        Parameters
        ----------
        condition : {"copied", "forked", "seeded"}
        """
        return None

    def other_process(self, count: int, seed: int) -> Outputs | None:
        """Outputs of the left neighbour from a second process; None where there is no such thing."""
        return None


class PythonFunction(Subject):
    """``module:function``, drawn from in one process for each neighbour.

    Parameters
    ----------
    place : str
        ``file.py:function`` or ``module:function``.
    folder : Path
        Where the file lies, and modules are looked for first.
    values : pair of JSON values
        Handed to the function.
    clock : Clock
    arguments : mapping
        Handed to the function by name.
    interpreter : path
        The Python that runs it.
    sites : sequence of Path
        Folders of installed packages that come before its own.
    """

    def __init__(
        self,
        place: str,
        folder: Path,
        values: tuple[Any, Any],
        clock: Clock,
        arguments: Mapping[str, Any] | None = None,
        interpreter: str | Path = sys.executable,
        sites: Sequence[Path] = (),
    ) -> None:
        self._values = values
        self._start = lambda: _Process(place, folder, clock, arguments or {}, interpreter, sites)
        self._sides: list[_Process] = []
        try:
            for _ in values:
                self._sides.append(self._start())
            for process in self._sides:
                process.start()
        except BaseException:
            self.close()
            raise
        self.seedable = self._sides[0].seedable
        self.python = self._sides[0].python

    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        order = {"value": self._values[side], "count": count, "seed": seed, "singly": singly}
        self._sides[side].order("answer", **order)

    def answer(self, side: int) -> Outputs:
        made = self._sides[side].frame()
        self.said = self.said or self._sides[side].said
        return made

    def twins(self, condition: str, count: int, seed: int) -> list[Outputs] | None:
        process = self._sides[0]
        process.order(condition, value=self._values[0], count=count, seed=seed)
        return process.frames()

    def other_process(self, count: int, seed: int) -> Outputs | None:
        with contextlib.closing(self._start()) as process:
            process.start()
            process.order("answer", value=self._values[0], count=count, seed=seed)
            return process.frame()

    def close(self) -> None:
        for process in self._sides:
            process.close()


class Callback(Subject):
    """A function of this process: under no limit, and as safe as the code around it.

    Parameters
    ----------
    draw : callable
        ``draw(value)``, ``draw(value, count)`` or ``draw(value, count, rng)``.
    values : pair
    arguments : mapping
        Handed to the function by name.
    """

    def __init__(
        self,
        draw: Callable,
        values: tuple[Any, Any],
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            self._subject = _subject.Subject(draw, arguments or {})
        except _subject.Unfit as error:
            raise SubjectError(f"draw: {error}") from error
        self._values, self._asked = values, [(0, 0, False)] * 2
        self.seedable = self._subject.seedable

    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        self._asked[side] = count, seed, singly

    def answer(self, side: int) -> Outputs:
        try:
            header, payload = self._subject.answer(self._values[side], *self._asked[side])
            self.said = self.said or one_line(header["said"])
            return decoded(header, payload)
        except _subject.Unfit as error:
            raise SubjectError(f"draw: {error}") from error
        except _subject.CallFailed as error:
            raise CallFailed(str(error)) from error

    def twins(self, condition: str, count: int, seed: int) -> list[Outputs] | None:
        try:
            frames = getattr(self._subject, condition)(self._values[0], count, seed)
        except (_subject.Unfit, _subject.CallFailed):
            return None
        if frames is None or None in frames:
            return None
        return [decoded(*frame) for frame in frames]


class _Process:
    """One process of `_subject`, its pipes, and its end."""

    def __init__(
        self,
        place: str,
        folder: Path,
        clock: Clock,
        arguments: Mapping[str, Any],
        interpreter: str | Path,
        sites: Sequence[Path],
    ) -> None:
        self._clock, self._place = clock, place
        orders, own_orders = os.pipe()
        own_answers, answers = os.pipe()
        command = [str(interpreter), "-s", _subject.__file__, str(orders), str(answers)]
        command += [place, str(folder), json.dumps(arguments)]
        try:
            self._process = spawn(command, folder, sites, pass_fds=(orders, answers))
        except SubjectError:
            os.close(own_orders)
            os.close(own_answers)
            raise
        finally:
            os.close(orders)
            os.close(answers)
        self._orders, self._answers = own_orders, own_answers
        self._unread = bytearray()
        self.said = ""

    def start(self) -> None:
        header = self._header()
        self.seedable, self.python = header["ready"], header["python"]

    def order(self, task: str, **arguments: object) -> None:
        line = json.dumps({"task": task, **arguments}).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # that it ended is told when its answer is read
            os.write(self._orders, line)

    def frame(self) -> Outputs:
        return self._outputs(self._header())

    def frames(self) -> list[Outputs] | None:
        header = self._header()
        if "none" in header:
            return None
        return [self._outputs(self._header()) for _ in range(header["frames"])]

    def close(self) -> None:
        self._process.end()
        for pipe in (self._orders, self._answers):
            with contextlib.suppress(OSError):
                os.close(pipe)

    def _header(self) -> dict[str, Any]:
        while (end := self._unread.find(b"\n")) < 0:
            self._fetch(1 << 16)
        header = json.loads(self._unread[:end])
        del self._unread[: end + 1]
        if "missing" in header:
            raise Missing(f"{self._place}: {one_line(header['missing'])}")
        if "unfit" in header:
            raise SubjectError(f"{self._place}: {one_line(header['unfit'])}")
        if "failed" in header:
            raise CallFailed(header["failed"])
        if header["bytes"] > LARGEST_ANSWER:
            raise Unjudgeable(
                f"{self._place}: {header['bytes']} bytes returned at once, a list of outputs expected"
            )
        return header

    def _outputs(self, header: dict[str, Any]) -> Outputs:
        self.said = self.said or one_line(header["said"])
        while len(self._unread) < header["bytes"]:
            self._fetch(1 << 20)
        payload = bytes(self._unread[: header["bytes"]])
        del self._unread[: header["bytes"]]
        return decoded(header, payload)

    def _fetch(self, size: int) -> None:
        ready, _, _ = select.select([self._answers], [], [], max(self._clock.left, 0))
        if not ready:
            raise OutOfTime(f"{self._place}: no answer within {self._clock.seconds:g} s")
        content = os.read(self._answers, size)
        if not content:
            raise Unjudgeable(f"{self._place}: {self._process.last_words()}")
        self._unread += content


def decoded(header: dict[str, Any], payload: bytes) -> Outputs:
    """The outputs of one frame of `_subject`."""
    if header["dtype"] == "json":
        flat = json.loads(payload)
        if len(header["shape"]) == 1:
            return _with_exceptions(Outputs.of_scalars(flat), header["raised"])
        return Outputs.of(np.array([coordinate(one) for one in flat]).reshape(header["shape"]))
    values = np.frombuffer(payload, dtype=header["dtype"]).reshape(header["shape"])
    if header["boolean"]:
        return _with_exceptions(Outputs.of_booleans(values), header["raised"])
    return Outputs.of(values, header["raised"])


def _with_exceptions(outputs: Outputs, raised: Sequence[tuple[int, str]]) -> Outputs:
    for place, name in raised:
        outputs.marks[place] = mark(name, failure=True)
    return outputs


class Program(Subject):
    """A command line that prints one output a line.

    Parameters
    ----------
    command : sequence of str
        ``{value}`` and ``{count}`` stand for the neighbour's value and the number of outputs.
    folder : Path
        Where it runs.
    values : pair of JSON values
    clock : Clock
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        values: tuple[Any, Any],
        clock: Clock,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        for name, argument in (arguments or {}).items():
            command = [word.replace(f"{{{name}}}", _word(argument)) for word in command]
        self.largest_call = 1 << 20  # each starts a program
        self._command, self._folder, self._values, self._clock = command, folder, values, clock
        self._running: list[_Printing | None] = [None, None]
        if not any("{count}" in word for word in command):
            raise SubjectError(f"command: {' '.join(command)!r} found, one with {{count}} expected")

    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        self._running[side] = self._printing(side, count)

    def answer(self, side: int) -> Outputs:
        with contextlib.closing(self._running[side]) as printing:
            self._running[side] = None
            return printing.outputs()

    def other_process(self, count: int, seed: int) -> Outputs | None:
        with contextlib.closing(self._printing(0, count)) as printing:
            return printing.outputs()

    def close(self) -> None:
        for printing in self._running:
            if printing is not None:
                printing.close()

    def _printing(self, side: int, count: int) -> _Printing:
        value = _word(self._values[side])
        words = [
            word.replace("{value}", value).replace("{count}", str(count)) for word in self._command
        ]
        return _Printing(words, self._folder, count, self._clock)


def _word(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, str) else json.dumps(value)


class _Printing:
    """One run of a program."""

    def __init__(self, command: Sequence[str], folder: Path, count: int, clock: Clock) -> None:
        self._command, self._count, self._clock = command, count, clock
        self._process = spawn(command, folder, (), stdout=subprocess.PIPE)

    def outputs(self) -> Outputs:
        content, pipe = bytearray(), self._process.stdout
        while True:
            ready, _, _ = select.select([pipe], [], [], max(self._clock.left, 0))
            if not ready:
                raise OutOfTime(f"command: no answer within {self._clock.seconds:g} s")
            part = os.read(pipe.fileno(), 1 << 20)
            if not part:
                break
            content += part
            if len(content) > LARGEST_ANSWER or len(content) > self._count * _LONGEST_LINE + 4096:
                raise SubjectError(f"command: more than {self._count} outputs printed")
        words = self._process.last_words()
        if self._process.status:
            raise Unjudgeable(f"command: {words}")
        return parsed(bytes(content), self._count, "command")

    def close(self) -> None:
        self._process.end()
        self._process.stdout.close()


_LONGEST_LINE = 4096


class Samples(Subject):
    """Two files of outputs, drawn by whoever wrote them: Parquet, CSV, ``.npy`` or text.

    Each is put into an order of its own by a seed: files may be sorted, and bets take every pair for a
    fresh one. So nothing is said of one draw and the next.
    """

    repeatable = False
    ordered = False

    def __init__(self, files: tuple[str, str], folder: Path, seed: int) -> None:
        if files[0] == files[1]:
            raise SubjectError(f"samples: {files[0]} found for both sides, two files expected")
        self._left = []
        for side, name in enumerate(files):
            found = read(name, folder)
            self._left.append(found[np.random.default_rng([seed, side]).permutation(len(found))])
        self._asked = [0, 0]

    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        self._asked[side] = count

    def answer(self, side: int) -> Outputs:
        given, rest = self._left[side][: self._asked[side]], self._left[side][self._asked[side] :]
        self._left[side] = rest
        return given


class Stream:
    """Outputs of one side after another, asked for in calls that grow; both sides at once.

    Parameters
    ----------
    subject : Subject
    seed : callable
        ``seed(side, call)``: what the generator of a call is seeded with.
    """

    def __init__(self, subject: Subject, seed: Callable[[int, int], int], draws: int) -> None:
        self._subject, self._seed, self._draws = subject, seed, draws

    def __iter__(self) -> Iterator[tuple[Outputs, Outputs]]:
        """Pairs of as many outputs of either side, until the draws, the files or the time are used up.

        Where a call raises, it is made again output by output, on both sides, and so are all later ones:
        on one side only, the failures that are counted would not be those that came.
        """
        made, size, call, singly, width = 0, FIRST_CALL, 0, False, None
        while made < self._draws:
            count = min(size, self._draws - made)
            try:
                left, right = self._both(count, call, singly)
            except CallFailed:
                if singly:
                    raise
                singly, call = True, call + 1
                continue
            count, asked = min(len(left), len(right)), count
            for outputs in (left, right):
                if not outputs.marked.all():
                    width = outputs.width if width is None else width
                    _require_width(outputs.width, width)
            if count:
                yield left[:count], right[:count]
            if count < asked:
                return
            largest = min(self._subject.largest_call, LARGEST_ANSWER // (64 * max(width or 1, 1)))
            made, size, call = made + count, min(4 * size, max(largest, 1)), call + 1

    def _both(self, count: int, call: int, singly: bool) -> list[Outputs]:
        """Both sides are asked before either answers, and both answer whatever the other does."""
        for side in (0, 1):
            self._subject.ask(side, count, self._seed(side, call), singly)
        answers, failure = [], None
        for side in (0, 1):
            try:
                answers.append(self._subject.answer(side))
            except CallFailed as error:
                failure = error
        if failure is not None:
            raise failure
        return answers


def _require_width(found: int, expected: int) -> None:
    if found != expected:
        told = [f"vectors of {width}" if width else "single numbers" for width in (found, expected)]
        raise SubjectError(
            f"outputs: {told[0]} found after {told[1]}, outputs of one kind expected"
        )
