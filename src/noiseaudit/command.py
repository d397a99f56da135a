"""The command ``noiseaudit``: audit noise, plan an audit, list the laws that are known by name.

What it needs is imported when it is needed, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noiseaudit import __version__
from noiseaudit import verdicts as words

if TYPE_CHECKING:
    from noiseaudit.audit.cards import Card, Setting
    from noiseaudit.audit.verdict import Verdict

FOUND, BAD_INPUT, UNJUDGED, INTERNAL = 1, 2, 3, 70
"""Exit status where something was found, the input is none, nothing can be said, this command fails."""


class BadInput(click.ClickException):
    """Ends the command with one line."""

    exit_code = BAD_INPUT

    def show(self, file: object = None) -> None:
        click.echo(f"noiseaudit: {' '.join(self.format_message().split())}", err=True)


class _Group(click.Group):
    """Ends with one line for whatever the user can do something about."""

    def main(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as click has it
        try:
            status = super().main(*arguments, **named | {"standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(BAD_INPUT)
        except click.UsageError as error:
            BadInput(error.format_message()).show()
            sys.exit(BAD_INPUT)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("noiseaudit: interrupted", err=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.exit(0)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            BadInput(f"an error of its own, worth a report ({told})").show()
            sys.exit(INTERNAL)
        sys.exit(status or 0)


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="noiseaudit")
def main() -> None:
    """Does noise do what it claims?"""


class _Value(click.ParamType):
    """A JSON value; True, False or None as Python writes them; or a word that is none of these."""

    name = "value"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as click has it
        if not isinstance(value, str):
            return value
        if value in _CONSTANTS:
            return _CONSTANTS[value]
        try:
            return json.loads(value)
        except ValueError:
            return value


_CONSTANTS = {"True": True, "False": False, "None": None}

_NOT_GIVEN = object()
"""None is a value that an input may have."""


class _Assignment(_Value):
    """NAME=VALUE."""

    name = "name=value"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:  # noqa: ANN401
        name, equals, text = value.partition("=")
        if not name or not equals:
            self.fail(f"{value!r} found, NAME=VALUE expected", param, ctx)
        return name, super().convert(text, param, ctx)


def _stacked(options: Iterable[Callable]) -> Callable:
    def decorate(command: Callable) -> Callable:
        for option in reversed(list(options)):
            command = option(command)
        return command

    return decorate


stated = _stacked(
    [
        click.argument("cards", nargs=-1, type=click.Path(path_type=Path), metavar="[CARD]..."),
        click.option(
            "--python", metavar="FILE:FUNCTION", help="Or module:function: draw(value, count)."
        ),
        click.option(
            "--command",
            metavar="WORDS",
            help="A program with {value} and {count}, one output a line.",
        ),
        click.option(
            "--samples",
            nargs=2,
            metavar="LEFT RIGHT",
            help="Two files of outputs (.parquet, .csv, .npy, text; - for standard input).",
        ),
        click.option(
            "--argument",
            multiple=True,
            type=_Assignment(),
            help="Handed to the function by name, or put for {name} in the command.",
        ),
        click.option("--interpreter", metavar="PYTHON", help="The Python that runs the function."),
        click.option(
            "--requires", metavar="FILE", help="Pinned and hashed packages that it needs."
        ),
        click.option(
            "--left",
            type=_Value(),
            default=_NOT_GIVEN,
            help="One input, in JSON or a word (default: 0).",
        ),
        click.option(
            "--right", type=_Value(), default=_NOT_GIVEN, help="Its neighbour (default: 1)."
        ),
        click.option("--epsilon", type=float, help="The claim: ε-DP, or (ε, δ)-DP with --delta."),
        click.option("--delta", type=float),
        click.option("--rho", type=float, help="The claim: ρ-zCDP."),
        click.option("--mu", type=float, help="The claim: μ-GDP."),
        click.option(
            "--law",
            metavar="NAME",
            help="What an output less its input follows (see: noiseaudit laws).",
        ),
        click.option("--scale", type=float, help="The law's scale."),
        click.option(
            "--parameter", multiple=True, type=_Assignment(), help="Another parameter of the law."
        ),
        click.option("--lattice", type=float, help="Outputs are multiples of it."),
        click.option("--name", help="Of the audit; by default the card's own."),
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            help="Outputs of each side, at most (default: 1000000).",
        ),
        click.option("--seconds", type=float, help="That drawing may take (default: 60)."),
        click.option(
            "--alpha",
            type=float,
            default=1e-6,
            show_default=True,
            help="Error of all audits together.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Of the generators that functions are handed.",
        ),
    ]
)
"""What says what is audited: cards, or a card's fields."""


@main.command()
@stated
@click.option("--json", "as_json", is_flag=True, help="One object a card, on a line.")
@click.option(
    "--figure", type=click.Path(path_type=Path), help="A picture to write (.png, .svg, .pdf)."
)
@click.option("--html", type=click.Path(path_type=Path), help="An offline page to write.")
@click.option("--junit", type=click.Path(path_type=Path), help="A JUnit report to write.")
@click.option("--strict", is_flag=True, help="Exit 1 for unsafe noise too.")
def audit(
    as_json: bool,
    figure: Path | None,
    html: Path | None,
    junit: Path | None,
    strict: bool,
    alpha: float,
    seed: int,
    **fields: Any,  # noqa: ANN401 - a card's fields
) -> int:
    """Audit noise, by its cards or by a card's fields as options.

    Exit status: 0 nothing found, 1 a broken claim or a wrong law, 2 bad input, 3 it cannot be judged.
    """
    from noiseaudit.audit import report  # noqa: PLC0415 - see above

    _check_probability(alpha)
    for path, endings in ((figure, _PICTURES), (html, (".html",)), (junit, (".xml",))):
        _check_writable(path, endings)
    settings = _settings(fields)
    if figure and len(settings) > 1:
        raise BadInput(
            f"--figure: {len(settings)} audits found, one expected; --html takes them all"
        )
    verdicts = []
    for setting in settings:
        verdicts.append(_audited(setting, alpha / len(settings), seed))
        if not as_json:
            click.echo(report.text(verdicts[-1]))
    if as_json:
        for line in report.json_lines(verdicts):
            click.echo(line)
    _write(verdicts, figure, html, junit)
    return _status(verdicts, strict)


_PICTURES = (".png", ".svg", ".pdf")


def _status(verdicts: list[Verdict], strict: bool) -> int:
    found = {verdict.verdict for verdict in verdicts}
    if found & {words.VIOLATES, words.WRONG_LAW}:
        return FOUND
    if strict and any(verdict.unsafe for verdict in verdicts):
        return FOUND
    return UNJUDGED if words.UNJUDGED in found else 0


def _check_probability(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise BadInput(f"--alpha: {alpha} found, a probability between 0 and 1 expected")


def _check_writable(path: Path | None, endings: tuple[str, ...]) -> None:
    if path is None:
        return
    if path.suffix not in endings or "\0" in str(path):
        raise BadInput(f"{path}: a name that ends in {' or '.join(endings)} expected")
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise BadInput(f"{path}: {path.parent} is no folder to write to")


def _settings(fields: dict[str, Any]) -> list[Setting]:
    """All audits that are asked for, checked before the first draws."""
    from noiseaudit.audit import cards  # noqa: PLC0415

    limits = fields.pop("draws"), fields.pop("seconds")
    if limits[1] is not None and not 0 < limits[1] < float("inf"):
        raise BadInput(f"--seconds: {limits[1]} found, a number above 0 expected")
    try:
        return [setting for card in _cards(fields) for setting in card.settings(*limits)]
    except cards.CardError as error:
        raise BadInput(str(error)) from error


def _cards(fields: dict[str, Any]) -> list[Card]:
    from noiseaudit.audit import cards  # noqa: PLC0415

    paths = fields.pop("cards")
    name = fields.pop("name")
    content = _content(**fields)
    if not paths:
        if "draw" not in content:
            raise BadInput("nothing to audit: a card, or --python, --command or --samples expected")
        return [cards.of(content, Path.cwd(), name or _name_of(content["draw"]))]
    found = [cards.read(path) for path in paths]
    if name and len(found) > 1:
        raise BadInput(f"--name: {len(found)} cards found, one expected")
    stated = content | ({"name": name} if name else {})
    return [
        cards.of(cards.merged(card.content, stated), card.folder, card.name) if stated else card
        for card in found
    ]


def _name_of(draw: dict[str, Any]) -> str:
    if "python" in draw:
        return draw["python"].rpartition(":")[2].replace(".", "-")
    return Path(draw["command"][0]).stem if "command" in draw else "samples"


def _content(
    python: str | None,
    command: str | None,
    samples: tuple[str, str] | None,
    argument: tuple[tuple[str, Any], ...],
    interpreter: str | None,
    requires: str | None,
    left: object,
    right: object,
    law: str | None,
    scale: float | None,
    parameter: tuple[tuple[str, Any], ...],
    lattice: float | None,
    **claim: float | None,
) -> dict[str, Any]:
    """A card's fields from the options that were given."""
    draw: dict[str, Any] = {}
    if python:
        draw["python"] = python
    if command:
        try:
            draw["command"] = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"--command: {command!r} found, words expected ({error})") from error
    if samples:
        draw["samples"] = dict(zip(("left", "right"), samples, strict=True))
    if argument:
        draw["arguments"] = dict(argument)
    stated_law = {"name": law, "scale": scale, **dict(parameter), "lattice": lattice}
    content = {
        "draw": draw,
        "interpreter": interpreter,
        "requires": requires,
        "claim": {key: value for key, value in claim.items() if value is not None},
        "law": {key: value for key, value in stated_law.items() if value is not None},
    }
    if left is not _NOT_GIVEN or right is not _NOT_GIVEN:
        content["neighbours"] = {
            "left": 0 if left is _NOT_GIVEN else left,
            "right": 1 if right is _NOT_GIVEN else right,
        }
    return {key: value for key, value in content.items() if value not in (None, {})}


def _audited(setting: Setting, alpha: float, seed: int) -> Verdict:
    from tqdm import tqdm  # noqa: PLC0415

    from noiseaudit.audit import examination, opening, processes  # noqa: PLC0415
    from noiseaudit.audit.laws import LawError  # noqa: PLC0415

    title = f"{setting.card} {setting.name}".strip()
    bar = tqdm(
        total=setting.draws, desc=title, unit="draw", unit_scale=True, disable=None, leave=False
    )
    try:
        with bar, opening.subject(setting, seed) as subject:
            return examination.examine(setting, subject, alpha, seed, bar.update)
    except (processes.SubjectError, LawError) as error:
        raise BadInput(f"{title}: {error}") from error
    except processes.Unjudgeable as error:  # it never started
        return examination.unjudged(setting, str(error), alpha, seed)


def _write(
    verdicts: list[Verdict], figure: Path | None, html: Path | None, junit: Path | None
) -> None:
    from noiseaudit import files  # noqa: PLC0415
    from noiseaudit.audit import report  # noqa: PLC0415

    try:
        if figure:
            with files.replacing(figure) as temporary:
                temporary.write_bytes(_picture(verdicts[0], figure.suffix[1:]))
        if html:
            report.write_page(verdicts, [_picture(verdict, "png") for verdict in verdicts], html)
        if junit:
            report.write_junit(verdicts, junit)
    except OSError as error:
        raise BadInput(str(error)) from error


def _picture(verdict: Verdict, kind: str) -> bytes:
    """The figure of one audit; nothing where nothing was drawn."""
    from noiseaudit.figures import audits, style  # noqa: PLC0415 - matplotlib takes its second

    drawn = BytesIO()
    if verdict.evidence:
        with style.applied():
            audits.evidence(verdict.as_dict()).savefig(drawn, format=kind)
    return drawn.getvalue()


@main.command()
@stated
@click.option(
    "--excess",
    "excesses",
    multiple=True,
    type=float,
    help="A true loss, in units of the claimed one (default: 1.01 to 4).",
)
@click.option("--json", "as_json", is_flag=True, help="One object a row, on a line.")
def plan(excesses: tuple[float, ...], as_json: bool, alpha: float, seed: int, **fields: Any) -> int:  # noqa: ANN401
    """How many draws would show an excess over the claim, and how long they take.

    The claim is a card's, or given by options; with a card or a function, its speed is measured.
    """
    from noiseaudit.audit import planning, report  # noqa: PLC0415
    from noiseaudit.audit.cards import CardError  # noqa: PLC0415

    _check_probability(alpha)
    for excess in excesses:
        if not 1 < excess < float("inf"):
            raise BadInput(f"--excess: {excess} found, a number above 1 expected")
    nothing_to_draw = not fields["cards"] and not any(
        fields[way] for way in ("python", "command", "samples")
    )
    if nothing_to_draw:
        fields["samples"] = ("left", "right")  # a claim alone: no speed is measured
        fields["name"] = fields["name"] or "claim"
    settings = _settings(fields)
    for setting in settings:
        speed = None if nothing_to_draw else _speed(setting, seed)
        try:
            rows = planning.rows(
                setting, alpha / len(settings), excesses or planning.EXCESSES, speed
            )
        except CardError as error:
            raise BadInput(str(error)) from error
        click.echo(report.rows_as_json(rows) if as_json else report.plan_text(setting, rows, speed))
    return 0


def _speed(setting: Setting, seed: int) -> float:
    from noiseaudit.audit import opening, planning, processes  # noqa: PLC0415

    try:
        with opening.subject(setting, seed) as subject:
            return planning.speed(subject, seed)
    except (processes.SubjectError, processes.Unjudgeable) as error:
        raise BadInput(f"{setting.card}: {error}") from error


@main.command()
def laws() -> None:
    """The laws that are known by name, and their parameters."""
    from noiseaudit.audit import laws as known  # noqa: PLC0415

    for name in known.NAMES:
        click.echo(known.signature(name))
    click.echo("any distribution of scipy.stats, by its name and parameters")


if __name__ == "__main__":
    main()
