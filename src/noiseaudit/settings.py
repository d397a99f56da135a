"""The pipeline's config: what it may hold, and one clear line where it holds anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from noiseaudit import schemas

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
    if (error := schemas.first_error(config, schema)) is not None:
        raise ConfigError(error)
    _check_releases(config["opendp"]["releases"], "opendp", pinned["opendp"])
    _check_releases(config["dpecdf"]["releases"], "dpecdf", pinned["synthpriv"])
    _check_contrast(config["opendp"])
    _check_scales(config["opendp"])
    _check_cascade(config["opendp"])
    _check_sources(config["opendp"]["traces"]["entropies"])


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
            for drawn in ("draws", "inverted") if part == "deep" else ("draws",):
                _check_scale(key, scale, f"opendp.{part}.{drawn}", study[part][drawn])
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
