"""Time the wheels, the compiled cascade, the reference and NumPy, interleaved on one thread.

Every round times each sampler once, in turn, so that what slows the machine for a while slows all of
them; means and standard errors are over the rounds. A wheel waits in a process of its own, which
times itself: neither start-up nor transfer counts. NumPy's difference of two geometrics is inexact,
and here for its speed only.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pandas as pd

from noiseaudit import entropy, jobs, releases, tables
from noiseaudit.cks20 import exact, inversion, kernels, noise, reference

CASCADE_DRAWS, REFERENCE_SHARE = 500_000, 50
"""Draws a round: enough for the fast, a fiftieth of a wheel's for the slow."""

NUMPY = "NumPy geometrics"

GROWTH_SHARES = (0.5, 5, 50, 500)
"""Of a wheel's draws a round: sizes at which the time a draw must stay the same."""

Timed = tuple[int, Callable[[], float]]
"""Draws a round, and what returns the seconds that they take."""


def clocked(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compiled(variant: str, scale: Fraction, draws: int, seed: int) -> Timed:
    source = entropy.byte_source("pcg64", seed, "benchmark", variant, str(scale))
    cascade = kernels.Cascade(variant, scale, source)
    cascade.draw(10)
    return draws, lambda: clocked(lambda: cascade.draw(draws))


def inverted(scale: Fraction, draws: int, seed: int) -> Timed:
    words = entropy.word_source("pcg64", seed, "benchmark", str(scale))
    sampler = inversion.Inversion(inversion.LAPLACE, scale, words)
    sampler.draw(10)
    return draws, lambda: clocked(lambda: sampler.draw(draws))


def plain(variant: str, scale: Fraction, draws: int, seed: int) -> Timed:
    source = entropy.byte_source("pcg64", seed, "benchmark", "reference", variant)
    sampler = reference.VARIANTS[variant](source)
    return draws, lambda: clocked(lambda: [sampler.discrete_laplace(scale) for _ in range(draws)])


def numpy_geometrics(scale: Fraction, draws: int, seed: int) -> Timed:
    generator, p = entropy.generator(seed, "benchmark"), -np.expm1(-1 / float(scale))
    return draws, lambda: clocked(
        lambda: generator.geometric(p, draws) - generator.geometric(p, draws)
    )


def interleaved(samplers: dict[str, Timed], rounds: int) -> dict[str, np.ndarray]:
    """Microseconds per draw of each sampler in each round."""
    times = {name: np.empty(rounds) for name in samplers}
    with jobs.progress(rounds, "benchmark", "round") as bar:
        for i in range(rounds):
            for name, (draws, seconds) in samplers.items():
                times[name][i] = 1e6 * seconds() / draws
            bar.update()
    return times


class Counting:
    """A source of bytes or of words that counts what is fetched from it."""

    def __init__(self, fetch: Callable[[int], np.ndarray]) -> None:
        self._fetch, self.fetched = fetch, 0

    def read(self, count: int) -> np.ndarray:
        self.fetched += count
        return self._fetch(count)


def bytes_per_draw(variant: str, scale: Fraction, draws: int, seed: int) -> float:
    """Bytes of entropy that the cascade uses, those fetched but left over not counted."""
    own_bytes = entropy.byte_source("pcg64", seed, "benchmark", "bytes", variant, str(scale))
    source = Counting(own_bytes.read)
    cascade = kernels.Cascade(variant, scale, source)
    cascade.draw(draws)
    return (source.fetched - cascade.unread) / draws


def bytes_inverted(scale: Fraction, draws: int, seed: int) -> float:
    """The same of inversion: more than a word where a negative zero is drawn again."""
    words = Counting(entropy.word_source("pcg64", seed, "benchmark", "words", str(scale)))
    inversion.Inversion(inversion.LAPLACE, scale, words.read).draw(draws)
    return 8 * words.fetched / draws


def entropy_bytes(scale: Fraction) -> float:
    """Shannon entropy of the discrete Laplace law in bytes: what no sampler can undercut."""
    return exact.DiscreteLaplace(scale).entropy / np.log(256)


@click.command(help=__doc__)
@click.option(
    "--release",
    "sites",
    multiple=True,
    type=(str, jobs.PATH),
    help="A version and where it stands; may be repeated. The first is what ratios refer to.",
)
@click.option("--scale", required=True, help="A rational.")
@click.option("--growth-scale", "scales", required=True, multiple=True, type=click.IntRange(min=1))
@click.option("--draws", required=True, type=click.IntRange(min=50), help="Of a wheel in a round.")
@click.option("--rounds", required=True, type=click.IntRange(min=2))
@click.option("--seed", required=True, type=int)
@click.option("--performance", required=True, type=jobs.PATH, help="TSV to write.")
@click.option("--growth", required=True, type=jobs.PATH, help="TSV to write.")
def benchmark_samplers(
    sites: tuple[tuple[str, Path], ...],
    scale: str,
    scales: tuple[int, ...],
    draws: int,
    rounds: int,
    seed: int,
    performance: Path,
    growth: Path,
) -> None:
    s = reference.rational(scale)
    variants = list(reference.VARIANTS)
    with ExitStack() as stack:
        samplers = {
            noise.source_name(release): wheel(stack, site, release, s, draws)
            for release, site in sites
        }
        for variant in variants:
            samplers[f"cascade {variant}"] = compiled(variant, s, CASCADE_DRAWS, seed)
        for variant in variants:
            samplers[f"reference {variant}"] = plain(variant, s, draws // REFERENCE_SHARE, seed)
        samplers[inversion.VARIANT] = inverted(s, CASCADE_DRAWS, seed)
        samplers[NUMPY] = numpy_geometrics(s, CASCADE_DRAWS, seed)
        times = interleaved(samplers, rounds)
    table = summarise(samplers, times).assign(scale=scale, rounds=rounds)
    for variant in variants:
        chosen = table["sampler"].isin([f"cascade {variant}", f"reference {variant}"])
        table.loc[chosen, "bytes_per_draw"] = bytes_per_draw(variant, s, CASCADE_DRAWS, seed)
    table.loc[table["sampler"] == inversion.VARIANT, "bytes_per_draw"] = bytes_inverted(
        s, CASCADE_DRAWS, seed
    )
    table["entropy_bytes"] = entropy_bytes(s)
    tables.write_table(performance, table)
    tables.write_table(growth, grown(sites, s, scales, draws, max(2, rounds // 2), seed))


def wheel(stack: ExitStack, site: Path, release: str, scale: Fraction, draws: int) -> Timed:
    stopwatch = stack.enter_context(releases.Stopwatch(site, release, float(scale)))
    stopwatch.seconds(100)
    return draws, lambda: stopwatch.seconds(draws)


def summarise(samplers: dict[str, Timed], times: dict[str, np.ndarray]) -> pd.DataFrame:
    first = next(iter(times.values()))
    return pd.DataFrame(
        {
            "sampler": name,
            "batch": samplers[name][0],
            "draws": samplers[name][0] * found.size,
            "microseconds_per_draw": found.mean(),
            "standard_error": found.std(ddof=1) / np.sqrt(found.size),
            "ratio_to_first": (found / first).mean(),
            "ratio_standard_error": (found / first).std(ddof=1) / np.sqrt(found.size),
        }
        for name, found in times.items()
    )


def grown(
    sites: tuple[tuple[str, Path], ...],
    scale: Fraction,
    scales: tuple[int, ...],
    draws: int,
    rounds: int,
    seed: int,
) -> pd.DataFrame:
    """Time a draw over scales (the last release and what is compiled) and over sizes (the cascade)."""
    rows = []
    with ExitStack() as stack:
        for s in map(Fraction, scales):
            samplers = {
                noise.source_name(release): wheel(stack, site, release, s, draws)
                for release, site in sites[-1:]
            }
            samplers["cascade fixed"] = compiled("fixed", s, CASCADE_DRAWS, seed)
            used = {"cascade fixed": bytes_per_draw("fixed", s, CASCADE_DRAWS, seed)}
            if s <= inversion.LARGEST_SCALE:
                samplers[inversion.VARIANT] = inverted(s, CASCADE_DRAWS, seed)
                used[inversion.VARIANT] = bytes_inverted(s, CASCADE_DRAWS, seed)
            samplers[NUMPY] = numpy_geometrics(s, CASCADE_DRAWS, seed)
            timed = _growth_rows(samplers, rounds, {"over": "scale", "scale": str(s)})
            read = timed["sampler"].map(used)
            rows.append(timed.assign(bytes_per_draw=read, entropy_bytes=entropy_bytes(s)))
    for share in GROWTH_SHARES:
        samplers = {"cascade fixed": compiled("fixed", scale, round(share * draws), seed)}
        rows.append(_growth_rows(samplers, rounds, {"over": "draws", "scale": str(scale)}))
    return pd.concat(rows)


def _growth_rows(samplers: dict[str, Timed], rounds: int, extra: dict) -> pd.DataFrame:
    table = summarise(samplers, interleaved(samplers, rounds))
    return table.drop(columns=["ratio_to_first", "ratio_standard_error"]).assign(**extra)


if __name__ == "__main__":
    jobs.run(benchmark_samplers)
