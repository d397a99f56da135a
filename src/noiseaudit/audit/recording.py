"""A subject's outputs in a sample file: drawn once, examined as often as one likes.

The file holds what an audit would have drawn, in the same calls and by the same seeds, and what was seen
of fresh noise while the subject was there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from noiseaudit import files, samplefiles
from noiseaudit.audit import examination, freshness
from noiseaudit.audit.cards import Setting
from noiseaudit.audit.freshness import Freshness
from noiseaudit.audit.outputs import Outputs, mark, mark_name
from noiseaudit.audit.subjects import Stream, Subject

SIDES = ("left", "right")

_FAILED, _LABELLED = "failed:", "output:"
"""Before the name of a mark."""


def record(
    path: Path,
    setting: Setting,
    subject: Subject,
    alpha: float,
    seed: int,
    progress: Callable[[int], object] = lambda made: None,
) -> None:
    """Draw all of a setting's draws into a sample file.

    Parameters
    ----------
    path : Path
        Parquet to write.
    setting, subject, alpha, seed
        As for `examination.examine`.

    Raises
    ------
    Unjudgeable, SubjectError
        If the subject does not answer; nothing is written.
    """
    started = time.monotonic()
    stream = iter(Stream(subject, examination.stream_seed(setting, seed), setting.draws))
    first = next(stream)
    others = examination.other_seeds(setting, seed)
    fresh = freshness.examine(subject, first[0], others, alpha * examination.PARTS["fresh"])
    batches = [_columns(first)]
    progress(len(first[0]))
    for sides in stream:
        batches.append(_columns(sides))
        progress(len(sides[0]))
    job = {
        "card": setting.card,
        "setting": setting.name,
        "draws": setting.draws,
        "digests": examination.digests(setting),
        "fresh": fresh and asdict(fresh),
        "seconds": round(time.monotonic() - started, 3),
        "versions": examination.versions(subject),
    }
    source = seed if subject.seedable else samplefiles.OPERATING_SYSTEM
    origin = samplefiles.provenance(job, source, packages=["numpy", "pyarrow"])
    samplefiles.write(path, _of_one_kind(batches), origin)


def record_failure(path: Path, setting: Setting, reason: str, seed: int) -> None:
    """Note in a sample file why nothing could be drawn for a setting."""
    job = {"card": setting.card, "setting": setting.name, "draws": 0, "reason": reason}
    origin = samplefiles.provenance(job, seed, packages=["numpy", "pyarrow"])
    samplefiles.write(path, [{"left_0": np.zeros(0), "right_0": np.zeros(0)}], origin)


def _columns(sides: tuple[Outputs, Outputs]) -> dict[str, np.ndarray]:
    columns = {}
    for side, outputs in zip(SIDES, sides, strict=True):
        table = outputs.values if outputs.width else outputs.values[:, None]
        for place in range(table.shape[1]):
            columns[f"{side}_{place}"] = np.ascontiguousarray(table[:, place])
        numbers, which, inverse = np.unique(outputs.marks, return_index=True, return_inverse=True)
        kinds = np.where(outputs.failed[which], _FAILED, _LABELLED)
        names = [k + mark_name(n) if n else "" for k, n in zip(kinds, numbers, strict=True)]
        columns[f"{side}_mark"] = np.array(names)[inverse]
    return columns


def _of_one_kind(batches: list[dict[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
    """Integers become doubles in a column of which a later batch has some."""
    kinds = {name: np.result_type(*(batch[name].dtype for batch in batches)) for name in batches[0]}
    for batch in batches:
        yield {name: values.astype(kinds[name], copy=False) for name, values in batch.items()}


class Recorded(Subject):
    """The outputs of a sample file that `record` wrote; none, and the ``reason``, of `record_failure`.

    Raises
    ------
    DamagedFile
        If it is none, or of another card, setting or seed.
    """

    repeatable = False

    def __init__(self, path: Path, setting: Setting, seed: int) -> None:
        job = samplefiles.read_seeded(path, seed)["job"]
        for key, expected in (("card", setting.card), ("setting", setting.name)):
            if job.get(key) != expected:
                raise files.DamagedFile(
                    f"{path}: {key} {job.get(key)!r} found, {expected!r} expected"
                )
        self.reason: str = job.get("reason", "")
        self.seconds: float = job.get("seconds", 0.0)
        self.versions: dict[str, str] = job.get("versions", {})
        self.digests: dict[str, str] = job.get("digests", {})
        self._fresh = job.get("fresh")
        self._batches = samplefiles.read_columns(path)
        self._unread: tuple[list[Outputs], list[Outputs]] = ([], [])
        self._asked = [0, 0]

    def fresh(self, *_: Any) -> Freshness | None:  # noqa: ANN401 - in the place of `freshness.examine`
        """What was seen of fresh noise when the outputs were drawn."""
        if self._fresh is None:
            return None
        seen = {name: tuple(v) if isinstance(v, list) else v for name, v in self._fresh.items()}
        return Freshness(**seen)

    def ask(self, side: int, count: int, seed: int, singly: bool = False) -> None:
        self._asked[side] = count

    def answer(self, side: int) -> Outputs:
        unread, count = self._unread[side], self._asked[side]
        while sum(map(len, unread)) < count and (batch := next(self._batches, None)) is not None:
            for kept, name in zip(self._unread, SIDES, strict=True):
                kept.append(_outputs(batch, name))
        joined = Outputs.joined(unread)
        unread[:] = [joined[count:]]
        return joined[:count]


def _outputs(batch: dict[str, np.ndarray], side: str) -> Outputs:
    width = sum(name.startswith(f"{side}_") for name in batch) - 1
    values = np.stack([batch[f"{side}_{place}"] for place in range(width)], axis=1)
    made = Outputs.of(values if width > 1 else values[:, 0])
    for place, text in enumerate(batch[f"{side}_mark"]):
        if text:
            made.marks[place] = mark(text[len(_FAILED) :], failure=text.startswith(_FAILED))
    return made
