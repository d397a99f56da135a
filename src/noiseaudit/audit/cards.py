"""Cards: what is audited, by which claim and law, and at which neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from noiseaudit import schemas
from noiseaudit.audit import claims, laws
from noiseaudit.audit.claims import Claim
from noiseaudit.audit.laws import Law

DRAWS, SECONDS = 1_000_000, 60.0
"""Outputs of each side at most, and seconds that drawing may take, where a card says nothing."""

MOST_SETTINGS = 100


class CardError(ValueError):
    """A card that cannot be audited; the message names the file, the key, what was found and expected."""


@dataclass(frozen=True)
class Setting:
    """One audit of a card: all that it states, with a setting's own values in place.

    Attributes
    ----------
    card, name : str
        The card's name, and the setting's (empty where the card has one only).
    draw : mapping
        ``python``, ``command`` or ``samples``, and ``arguments``.
    left, right : JSON values
        The neighbours.
    claim : Claim or None
    law : Law or None
    draws : int
    seconds : float
    folder : Path
        What files and programs are relative to.
    interpreter, requires : str or None
    """

    card: str
    name: str
    draw: Mapping[str, Any]
    left: Any
    right: Any
    claim: Claim | None
    law: Law | None
    draws: int
    seconds: float
    folder: Path
    interpreter: str | None
    requires: str | None


@dataclass(frozen=True)
class Card:
    """A card as it was read."""

    name: str
    content: Mapping[str, Any]
    folder: Path

    def settings(self, draws: int | None = None, seconds: float | None = None) -> list[Setting]:
        """The audits of the card, with other limits if they are given.

        Raises
        ------
        CardError
            If a setting makes no sense.
        """
        overrides = self.content.get("settings", [{}])
        if len(overrides) > MOST_SETTINGS:
            raise CardError(
                f"{self.name}: {len(overrides)} settings found, {MOST_SETTINGS} at most expected"
            )
        found = [self._setting(override, draws, seconds) for override in overrides]
        names = [setting.name for setting in found]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise CardError(f"{self.name}: settings: {twice!r} found twice, another name expected")
        return found

    def share(self, alpha: float) -> float:
        """The error of one setting's audit, of what all of the card's have together."""
        return alpha / len(self.settings())

    def _setting(
        self, override: Mapping[str, Any], draws: int | None, seconds: float | None
    ) -> Setting:
        stated = {key: value for key, value in override.items() if key != "name"}
        content = merged(self.content, stated)
        content.pop("settings", None)
        name = override.get("name", _described(stated))
        where = f"{self.name}: " + (f"settings ({name}): " if name else "")
        try:
            return self._checked(content, name, draws, seconds)
        except (claims.ClaimError, laws.LawError, CardError) as error:
            raise CardError(f"{where}{error}") from error

    def _checked(
        self, content: Mapping[str, Any], name: str, draws: int | None, seconds: float | None
    ) -> Setting:
        if (error := schemas.first_error(content, _schema())) is not None:
            raise CardError(error)
        ways = [way for way in ("python", "command", "samples") if way in content["draw"]]
        if len(ways) != 1:
            raise CardError(
                f"draw: {' and '.join(ways) or 'none of them'} found, "
                "one of python, command, samples expected"
            )
        if content.get("claim") is None and content.get("law") is None:
            raise CardError("claim: nothing found, a claim or a law expected")
        left, right = _neighbours(content)
        stated = content.get("claim")
        claim = stated and claims.of(
            *(stated.get(key) for key in ("epsilon", "delta", "rho", "mu"))
        )
        law = content.get("law")
        if law is not None:
            parameters = {
                key: value for key, value in law.items() if key not in ("name", "lattice")
            }
            law = laws.named(law["name"], parameters, law.get("lattice"))
        return Setting(
            self.name,
            name,
            content["draw"],
            left,
            right,
            claim,
            law,
            draws or content.get("draws", DRAWS),
            seconds or content.get("seconds", SECONDS),
            self.folder,
            content.get("interpreter"),
            content.get("requires"),
        )


def _neighbours(content: Mapping[str, Any]) -> tuple[Any, Any]:
    stated = content.get("neighbours", {"left": 0, "right": 1})
    left, right = stated["left"], stated["right"]
    if not all(laws.is_numeric(x) or not _is_huge(x) for x in (left, right)):
        raise CardError(
            "neighbours: an integer of hundreds of digits found, a smaller one expected"
        )
    same = left == right if laws.is_numeric(left) else json.dumps(left) == json.dumps(right)
    if "samples" not in content["draw"] and same and json.dumps(left) != "NaN":
        raise CardError(f"neighbours: {left!r} found twice, two different inputs expected")
    return left, right


def at(card: Card, place: int, draws: int, seconds: float | None = None) -> Setting:
    """One setting of a card by its place, with no more draws than these.

    Raises
    ------
    CardError
        If there is none.
    """
    settings = card.settings(seconds=seconds)
    if not 0 <= place < len(settings):
        raise CardError(f"{card.name}: setting {place} asked for, {len(settings)} found")
    setting = settings[place]
    return replace(setting, draws=min(setting.draws, draws))


def _is_huge(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(value, int) and abs(value) >= _HUGE


_HUGE = 10**300


def read(path: Path) -> Card:
    """A card from a YAML or JSON file.

    Raises
    ------
    CardError
        If it cannot be read, or is no card.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = " (--python names a function)" if ":" in path.name else ""
        raise CardError(f"{path}: no such file{hint}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        hint = "; --python names a function" if path.suffix == ".py" else ""
        raise CardError(f"{path}: not a card in YAML ({reason}){hint}") from error
    try:
        return of(content, path.resolve().parent, path.name.removesuffix(path.suffix))
    except CardError as error:
        raise CardError(f"{path}: {error}") from error


def of(content: Any, folder: Path, name: str) -> Card:  # noqa: ANN401 - whatever the file holds
    """A card from its fields; ``name`` is its name if it states none.

    Raises
    ------
    CardError
        If they are none of a card.
    """
    if not isinstance(content, dict):
        raise CardError(
            f"the file: {type(content).__name__} found, keys such as draw and claim expected"
        )
    if (error := schemas.first_error(content, _schema())) is not None:
        raise CardError(error)
    return Card(content.get("name", name), content, folder)


@cache
def _schema() -> dict[str, Any]:
    text = resources.files("noiseaudit.audit").joinpath("card.schema.yaml").read_text("utf-8")
    return yaml.safe_load(text)


def merged(content: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """The card with a setting's values; a claim is replaced, other mappings are merged."""
    joint = dict(content)
    for key, value in override.items():
        old = joint.get(key)
        both = isinstance(value, dict) and isinstance(old, dict) and key != "claim"
        joint[key] = merged(old, value) if both else value
    return joint


def _described(override: Mapping[str, Any]) -> str:
    """A setting's name from what it changes, such as ``scale 10, epsilon 0.1``."""
    return ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in _leaves(override)
    )


def _leaves(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield key, value
