"""What practice looks like: every audited noise against every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from noiseaudit.figures import style
from noiseaudit.figures.audits import COLOURS
from noiseaudit.verdicts import IF_INDEPENDENT, NOTHING, UNJUDGED, VIOLATES, WRONG_LAW

PAPER, VALUES, BITS, LAW, FRESH, DEPENDENCE = (
    "on paper", "values", "lowest bits", "stated law", "fresh noise", "dependence",
)  # fmt: skip

QUESTIONS = (PAPER, VALUES, BITS, LAW, FRESH, DEPENDENCE)

_BY = {"paper": PAPER, "values": VALUES, "failures": VALUES, "lowest bits": BITS, "repeats": FRESH,
       "dependent draws": DEPENDENCE}  # fmt: skip
"""The question that each reason of a verdict answers; any other is about the law."""

_UNSAFE = "repeats if"
_FILL = {VIOLATES: COLOURS[VIOLATES], WRONG_LAW: COLOURS[WRONG_LAW], _UNSAFE: "#F5D99A",
         NOTHING: "#DCE9F2", UNJUDGED: style.PALE}  # fmt: skip


@style.applied()
def practice(verdicts: Sequence[Mapping[str, Any]]) -> Figure:
    """A row for each setting of each card, a column for each question, a cell for each answer.

    Parameters
    ----------
    verdicts : sequence of mapping
        As `Verdict.as_dict` gives them.
    """
    figure = Figure(figsize=(12.5, 1.1 + 0.27 * len(verdicts)))
    ax = figure.subplots()
    for y, verdict in enumerate(verdicts):
        for x, question in enumerate(QUESTIONS):
            kind, text = answer(verdict, question)
            if kind is None:
                continue
            ax.add_patch(Rectangle((x, y), 0.97, 0.92, facecolor=_FILL[kind], linewidth=0))
            ink = "white" if kind == VIOLATES else style.BLACK
            ax.text(x + 0.485, y + 0.47, text, ha="center", va="center", fontsize=7, color=ink)
    ax.set_xlim(0, len(QUESTIONS))
    ax.set_ylim(len(verdicts), 0)
    ax.set_xticks([x + 0.485 for x in range(len(QUESTIONS))], QUESTIONS)
    ax.set_yticks([y + 0.46 for y in range(len(verdicts))], [_name(one) for one in verdicts])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles = [Rectangle((0, 0), 1, 1, facecolor=fill) for fill in _FILL.values()]
    labels = [VIOLATES, WRONG_LAW, "noise repeats under a condition", NOTHING, UNJUDGED]
    handles.append(Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=style.PALE))
    figure.legend(
        handles, [*labels, "not asked"], loc="outside lower center", ncols=6, fontsize=7.5
    )
    return figure


def _name(verdict: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (verdict["card"], verdict["subject"])))


def answer(verdict: Mapping[str, Any], question: str) -> tuple[str | None, str]:
    """What an audit says to one question: a verdict, and the number or words that go with it.

    Returns
    -------
    (str or None, str)
        None where the question was not asked: no law is stated, or outputs have no lowest bits.
    """
    if verdict["verdict"] == UNJUDGED:
        return UNJUDGED, ""
    reasons = [reason for reason in (*verdict["also"], verdict["by"]) if reason]
    doubtful = [reason for reason in reasons if reason.endswith(IF_INDEPENDENT)]
    if question in map(_question_of, doubtful):
        return UNJUDGED, IF_INDEPENDENT
    if question in map(_question_of, set(reasons) - set(doubtful)):
        return _finding(verdict, question)
    would = _would_show(verdict)
    asked: dict[str, str | None] = {
        PAPER: None if verdict["paid"] is None else f"pays {verdict['paid']:.3g}",
        VALUES: would,
        BITS: would if "lowest bits" in verdict["record"] else None,
        LAW: _law(verdict),
        FRESH: "fresh" if verdict["fresh"] else None,
        DEPENDENCE: f"p = {verdict['dependence']['pvalue']:.2g}" if verdict["dependence"] else None,
    }
    if question == FRESH and verdict["unsafe"]:
        return _UNSAFE, ", ".join(verdict["unsafe"])
    return (None, "") if asked[question] is None else (NOTHING, asked[question])


def _finding(verdict: Mapping[str, Any], question: str) -> tuple[str, str]:
    if question == LAW:
        return WRONG_LAW, _law(verdict) or ""
    if question == DEPENDENCE:
        return WRONG_LAW, f"p = {verdict['dependence']['pvalue']:.2g}"
    if question == FRESH:
        return VIOLATES if verdict["claim"] else WRONG_LAW, "repeats"
    if question == PAPER:
        return VIOLATES, f"pays {verdict['paid']:.3g} for {verdict['claimed']:.3g}"
    # The certified number is the verdict's; what else was found is named without.
    first = _question_of(verdict["by"]) == question
    return (
        VIOLATES,
        f"{verdict['certified']:.3g} for {verdict['claimed']:.3g}" if first else "broken",
    )


def _would_show(verdict: Mapping[str, Any]) -> str | None:
    """The smallest loss that would have been found: an epsilon, whatever is claimed."""
    if not verdict["detectable"]:
        return None
    if "epsilon" in verdict["claim"]:
        return f"{verdict['detectable']:.3g} for {verdict['claimed']:.3g} would show"
    return f"ε = {verdict['detectable']:.3g} would show"


def _law(verdict: Mapping[str, Any]) -> str | None:
    law = verdict["law"]
    if not law or law["p"] is None:
        return None
    period = f", period {law['period']}" if law.get("period") and law["p"] < 1e-6 else ""
    return (f"p = {law['p']:.2g}" if law["p"] else "p < 1e-300") + period


def _question_of(reason: str) -> str:
    for words, question in _BY.items():
        if reason.removeprefix(f"{WRONG_LAW}: ").startswith(words):
            return question
    return LAW
