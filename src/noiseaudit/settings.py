"""The pipeline's config: what it may hold, and one clear line where it holds anything else."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import jsonschema

SMALLEST_SCALE = Fraction(1, 2)
"""Of a sampler that is tested: below, nearly every output is 0."""


class ConfigError(ValueError):
    """A config that cannot be run; the message names the key, what was found and what was expected."""


def check(
    config: Mapping[str, Any], schema: Mapping[str, Any], pinned: Mapping[str, list[str]]
) -> None:
    """Raise the first error of a config.

    Parameters
    ----------
    config : mapping
        All keys, as Snakemake merges them from files and command line.
    schema : mapping
        A JSON schema in which every key has a ``description`` of what is expected.
    pinned : mapping
        The versions of each package (``opendp``, ``synthpriv``) that can be installed by their hashes.

    Raises
    ------
    ConfigError
        One line.
    """
    _check_schema(config, schema)
    _check_releases(config["opendp"]["releases"], "opendp", pinned["opendp"])
    _check_releases(config["dpecdf"]["releases"], "dpecdf", pinned["synthpriv"])
    _check_contrast(config["opendp"])
    _check_scales(config["opendp"])
    _check_cascade(config["opendp"])
    _check_sources(config["opendp"]["traces"]["entropies"])


def _is_finite_number(_: object, value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_integer(_: object, value: object) -> bool:
    return type(value) is int


def _check_schema(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    plain = jsonschema.Draft202012Validator
    checker = plain.TYPE_CHECKER.redefine_many(
        {"number": _is_finite_number, "integer": _is_integer}
    )
    validator = jsonschema.validators.extend(plain, type_checker=checker)(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(config))
    if error is None:
        return
    key = error.json_path.removeprefix("$").removeprefix(".") or "the file"
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(error.schema["properties"]), key=str)
        known = ", ".join(error.schema["properties"])
        raise ConfigError(f"{key}: unknown key {unknown[0]!r}, one of {known} expected")
    if error.validator == "required":
        missing = [name for name in error.schema["required"] if name not in error.instance]
        raise ConfigError(f"{key}: key {missing[0]!r} missing")
    hint = " (as a number: 1.0e-6, not 1e-6)" if _is_bare_exponent(error.instance) else ""
    expected = error.schema["description"]
    raise ConfigError(f"{key}: {_shown(error.instance)} found, {expected} expected{hint}")


_LONGEST = 80


def _shown(value: object) -> str:
    """A value on one line, however long it is."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_bare_exponent(value: object) -> bool:
    """Text that YAML would have taken for a number, had it a decimal point."""
    return isinstance(value, str) and re.fullmatch(r"[0-9]+[eE][-+]?[0-9]+", value) is not None


def _check_releases(releases: Iterable[str], study: str, pinned: list[str]) -> None:
    for place, release in enumerate(releases):
        if release not in pinned:
            raise ConfigError(
                f"{study}.releases[{place}]: {release!r} found, one of {', '.join(pinned)} expected "
                "(scripts/pin_release.py adds another that exists)"
            )


def _check_contrast(study: Mapping[str, Any]) -> None:
    releases, contrast = study["releases"], study["contrast"]
    for side in ("faulty", "fixed"):
        if releases and contrast[side] not in releases:
            raise ConfigError(
                f"opendp.contrast.{side}: {contrast[side]!r} found, one of opendp.releases "
                f"({', '.join(releases)}) expected"
            )
    if releases and contrast["faulty"] == contrast["fixed"]:
        raise ConfigError(
            f"opendp.contrast.fixed: {contrast['fixed']!r} found, another release than "
            "opendp.contrast.faulty expected"
        )
    for scales, why in (
        (study["scales"], ""),
        (study["traces"]["scales"], ": figures draw the cascade at it"),
    ):
        if contrast["scale"] not in scales:
            name = "opendp.scales" if scales is study["scales"] else "opendp.traces.scales"
            raise ConfigError(
                f"opendp.contrast.scale: {contrast['scale']} found, one of {name} "
                f"({', '.join(map(str, scales))}) expected{why}"
            )


def _check_scales(study: Mapping[str, Any]) -> None:
    scales, closeup = study["scales"], study["closeup"]
    for place, scale in enumerate(scales):
        _check_scale(f"opendp.scales[{place}]", Fraction(scale), "opendp.draws", study["draws"])
    if closeup["scale"] in scales:
        raise ConfigError(
            f"opendp.closeup.scale: {closeup['scale']} found, none of opendp.scales "
            f"({', '.join(map(str, scales))}) expected"
        )
    if closeup["scale"] > closeup["draws"] / 1000:
        raise ConfigError(
            f"opendp.closeup.scale: {closeup['scale']} found, at most opendp.closeup.draws / 1000 = "
            f"{closeup['draws'] // 1000} expected: beyond it no excess shows"
        )


def _check_scale(key: str, scale: Fraction, draws_key: str, draws: int) -> None:
    """The most likely output must be drawn a hundred times: `stats.POOLED_MINIMUM` and to spare."""
    if scale > Fraction(draws, 200):
        raise ConfigError(
            f"{key}: {_plain(scale)} found, at most {draws_key} / 200 = {draws // 200} expected: "
            "beyond it no single output is drawn often enough to be tested"
        )


def _plain(scale: Fraction) -> str:
    return str(scale) if scale.denominator < 1000 else str(float(scale))


def _check_cascade(study: Mapping[str, Any]) -> None:
    for part in ("traces", "deep"):
        scales = [Fraction(scale) for scale in study[part]["scales"]]
        for place, (written, scale) in enumerate(zip(study[part]["scales"], scales, strict=True)):
            key = f"opendp.{part}.scales[{place}]"
            if str(written) != str(scale):
                raise ConfigError(f"{key}: {written!r} found, lowest terms ({scale}) expected")
            if scales.index(scale) < place:
                raise ConfigError(f"{key}: {written!r} found, another scale than before expected")
            if scale < SMALLEST_SCALE:
                raise ConfigError(f"{key}: {written!r} found, {SMALLEST_SCALE} or more expected")
            draws = study[part]["draws"]
            _check_scale(key, scale, f"opendp.{part}.draws", draws)
            if part == "traces" and scale.numerator > draws // 100:
                raise ConfigError(
                    f"{key}: {written!r} found, a numerator of at most opendp.traces.draws / 100 = "
                    f"{draws // 100} expected: so many first proposals are tested each by itself"
                )


def _check_sources(entropies: list[str]) -> None:
    if entropies[0] == "stuck":
        raise ConfigError(
            "opendp.traces.entropies[0]: 'stuck' found, a source that is not broken on purpose "
            "expected: figures draw its traces"
        )
