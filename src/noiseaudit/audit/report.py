"""A verdict for people, for machines, and for those who were not there."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from noiseaudit import files
from noiseaudit.audit.cards import Setting
from noiseaudit.audit.planning import Plan
from noiseaudit.audit.verdict import Verdict, gravest, plain
from noiseaudit.verdicts import UNJUDGED, VIOLATES, WRONG_LAW


def text(verdict: Verdict) -> str:
    """The verdict and its evidence, in a few lines."""
    lines = [f"{verdict.name}: {verdict.headline}"]
    lines += [f"  {title:<11} {said}" for title, said in facts(verdict)]
    return "\n".join(lines)


def facts(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """What a person should know, a title and a sentence each."""
    parameter = next(iter(verdict.claim), "epsilon")
    if verdict.neighbours:
        yield (
            "inputs",
            f"{_input(verdict.neighbours['left'])} and {_input(verdict.neighbours['right'])}",
        )
    if verdict.claimed is not None and verdict.draws:
        yield (
            "certified",
            f"{parameter} at least {verdict.certified:.4g}, claimed {_claim(verdict)}",
        )
    elif verdict.claimed is None and verdict.draws:
        yield "certified", f"epsilon at least {verdict.epsilon_low:.4g}; none is claimed"
    if verdict.paid is not None:
        yield "on paper", f"the stated law pays {parameter} {verdict.paid:.4g}"
    if verdict.event:
        yield (
            "event",
            f"{verdict.event}: {verdict.p_left:.4g} on the left, {verdict.p_right:.4g} on the right",
        )
    if verdict.also:
        yield "also", ", ".join(verdict.also)
    if verdict.law:
        yield "law", _law(verdict.law)
    if verdict.failures:
        yield (
            "failures",
            ", ".join(
                f"{name} {left} on the left, {right} on the right, of {verdict.draws}"
                for name, (left, right) in verdict.failures.items()
            ),
        )
    if verdict.unsafe:
        yield "unsafe", f"noise repeats when {', '.join(verdict.unsafe)}"
    if verdict.detectable_at:
        yield "would find", _detectable(verdict)
    if verdict.draws:
        found = f"known after {verdict.found_after:,} draws; " if verdict.found_after else ""
        yield (
            "drawn",
            f"{verdict.draws:,} of each side in {verdict.seconds:.1f} s; {found}"
            f"alpha {verdict.alpha:.3g}, seed {verdict.seed}",
        )
    if verdict.cut_short:
        yield "cut short", verdict.cut_short


def _input(value: Any) -> str:  # noqa: ANN401 - any value
    text = repr(value)
    return text if len(text) <= _LONGEST_INPUT else f"{text[:_LONGEST_INPUT]}…"


_LONGEST_INPUT = 40


def _claim(verdict: Verdict) -> str:
    first, *rest = (f"{value:g}" for value in verdict.claim.values())
    return first + "".join(f" with delta {value}" for value in rest)


def _law(law: dict[str, Any]) -> str:
    if law["p"] is None:
        return f"{law['stated']}: too few draws to tell"
    period = f", folded by {law['period']}" if law["period"] else ""
    return f"{law['stated']}: p = {law['p']:.2g} by {law['test']}{period}"


def _detectable(verdict: Verdict) -> str:
    """The smallest losses that would have been found, by the probability of the event."""
    parts = []
    for name, epsilon in verdict.detectable_at.items():
        place = "this event" if name == "the event" else f"probability {name}"
        parts.append(f"{epsilon:.4g} at {place}" if epsilon else f"none at {place}")
    times = ""
    if verdict.detectable and verdict.claimed and "epsilon" in verdict.claim:
        times = f"; {verdict.detectable / verdict.claimed:.3g} times the claim"
    return f"a loss of {', '.join(parts)}{times}"


def json_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One object a card: that of its gravest setting, with all of them in ``settings``."""
    for _, group in groupby(verdicts, key=lambda verdict: verdict.card):
        own = list(group)
        content = gravest(own).as_dict()
        if len(own) > 1:
            content["settings"] = [verdict.as_dict() for verdict in own]
        yield json.dumps(content, allow_nan=False)


def write_junit(verdicts: Sequence[Verdict], path: Path) -> None:
    """A JUnit report: a case a verdict, failed where something was found."""
    found = [verdict.verdict in (VIOLATES, WRONG_LAW) for verdict in verdicts]
    suite = ElementTree.Element(
        "testsuite",
        name="noiseaudit",
        tests=str(len(verdicts)),
        failures=str(sum(found)),
        skipped=str(sum(verdict.verdict == UNJUDGED for verdict in verdicts)),
        time=f"{sum(verdict.seconds for verdict in verdicts):.3f}",
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname="noiseaudit",
            name=verdict.name,
            time=f"{verdict.seconds:.3f}",
        )
        if verdict.verdict in (VIOLATES, WRONG_LAW):
            failure = ElementTree.SubElement(case, "failure", message=verdict.sentence)
            failure.text = text(verdict)
        elif verdict.verdict == UNJUDGED:
            ElementTree.SubElement(case, "skipped", message=verdict.sentence)
        ElementTree.SubElement(case, "system-out").text = text(verdict)
    with files.replacing(path) as temporary:
        ElementTree.ElementTree(suite).write(temporary, encoding="utf-8", xml_declaration=True)


def write_page(verdicts: Sequence[Verdict], pictures: Sequence[bytes], path: Path) -> None:
    """One page that needs no network: claims, verdicts, pictures (PNG, or none) and every number."""
    import jinja2  # noqa: PLC0415

    template = resources.files("noiseaudit.audit").joinpath("page.html.j2").read_text("utf-8")
    page = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        template
    )
    shown = [
        {
            "name": verdict.name,
            "sentence": verdict.sentence,
            "kind": verdict.verdict.replace(" ", "-"),
            "facts": list(facts(verdict)),
            "picture": base64.b64encode(picture).decode(),
            "numbers": _numbers(verdict),
        }
        for verdict, picture in zip(verdicts, pictures, strict=True)
    ]
    with files.replacing(path) as temporary:
        temporary.write_text(page.render(verdicts=shown), encoding="utf-8")


def _numbers(verdict: Verdict) -> list[tuple[str, str]]:
    content = verdict.as_dict()
    del content["evidence"]
    record = content.pop("record")
    rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in content.items()]
    for question, kept in record.items():
        blocks = kept["aims"][0]
        rows.append((f"blocks bet on {question}", str(len(blocks))))
    return rows


def plan_text(setting: Setting, rows: Sequence[Plan], speed: float | None) -> str:
    """A plan as a table for people: an excess a row, a probability a column."""
    probabilities = list(dict.fromkeys(row.probability for row in rows))
    heading = [f"{'true epsilon':>14}", *(f"{f'event of {p:g}':>26}" for p in probabilities)]
    lines = [
        f"{setting.card}: draws of each side that would show it, where {setting.claim} is claimed"
    ]
    if speed:
        lines.append(
            f"measured: {speed:,.0f} pairs a second are drawn; judging a million takes 2 s more"
        )
    lines.append("".join(heading))
    for epsilon, group in groupby(rows, key=lambda row: row.epsilon):
        cells = [f"{_draws(row.draws)}{_time(row.seconds)}" for row in group]
        lines.append(f"{epsilon:>14.4g}" + "".join(f"{cell:>26}" for cell in cells))
    return "\n".join(lines)


def _draws(draws: float) -> str:
    return f"{math.ceil(draws):,}" if math.isfinite(draws) else "none would"


def _time(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return ""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f" ({seconds / size:.1f} {unit})"
    return f" ({seconds:.1f} s)"


def rows_as_json(rows: Sequence[Plan]) -> str:
    """A line each."""
    return "\n".join(json.dumps(plain(asdict(row))) for row in rows)
