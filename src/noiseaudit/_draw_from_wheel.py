"""The process that draws from one OpenDP wheel: started by `noiseaudit.releases.draw`.

It imports nothing of noiseaudit, so that the wheel meets an interpreter like its users', but for
scikit-learn. Reads one JSON argument and fails with one line. Its ``task`` is ``version`` (writes the
version that answers), ``draw`` (writes little-endian 64-bit integers) or ``time`` (for each number of
draws on a line of standard input, writes the seconds that they took).
"""

from __future__ import annotations

import array
import json
import math
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType

THRESHOLD = 10**9
"""Of mechanisms that leave out small counts: beyond any noise."""


def main(task: str, site: str, release: str, **noise: float) -> None:
    dp = imported(site, release)
    if task == "version":
        sys.stdout.write(release)
    elif task == "draw":
        add_noise = mechanism(dp, noise["mechanism"], noise["scale"], noise["batch"])
        draw(add_noise, noise["draws"], noise["batch"], noise["centre"])
    elif task == "time":
        time_draws(mechanism(dp, "laplace", noise["scale"], noise["batch"]), noise["batch"])


def imported(site: str, release: str) -> ModuleType:
    """The wheel's prelude, if it is the one asked for."""
    sys.path.insert(0, site)
    sys.modules["sklearn"] = None  # the prelude does without, and imports four times as fast
    try:
        import opendp  # noqa: PLC0415 - which opendp this is depends on the line above
        import opendp.prelude as dp  # noqa: PLC0415
    except ImportError as error:
        sys.exit(f"cannot be imported from {site} ({error})")
    found, place = metadata.version("opendp"), Path(opendp.__file__).resolve()
    if found != release or not place.is_relative_to(Path(site).resolve()):
        sys.exit(f"version {found} answered from {place.parent}, {release} in {site} expected")
    return dp


def mechanism(dp: ModuleType, name: str, scale: float, batch: int) -> Callable[[list], list]:
    """A function from a list of equal values to what is released of each, by name."""
    dp.enable_features("contrib")
    return MECHANISMS[name](dp, scale, batch)


def on_integers(constructor: str, metric: str, unit: object) -> Callable:
    def made(dp: ModuleType, scale: float, _: int) -> Callable[[list], list]:
        make = getattr(dp.m, constructor)
        return make(dp.vector_domain(dp.atom_domain(T="i64")), getattr(dp, metric)(T=unit), scale)

    return made


def on_floats(constructor: str, metric: str, lattice: bool) -> Callable:
    """Noise on floats, on a lattice of integers or the default one; then outputs are rounded down."""

    def made(dp: ModuleType, scale: float, batch: int) -> Callable[[list], list]:
        options = {"size": batch} if lattice else {}  # without a size, coarse lattices are refused
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), **options)
        noise = getattr(dp.m, constructor)(
            domain, getattr(dp, metric)(T=float), scale, **({"k": 0} if lattice else {})
        )
        return lambda values: [math.floor(x) for x in noise([float(x) for x in values])]

    return made


def on_counts(constructor: str, metric: str) -> Callable:
    """Noise on counts of keys, all of them far beyond the threshold; the count is taken off again."""

    def made(dp: ModuleType, scale: float, _: int) -> Callable[[list], list]:
        counts = dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64"))
        distance = getattr(dp, metric)(dp.absolute_distance(T="i64"))
        noise = getattr(dp.m, constructor)(counts, distance, scale, THRESHOLD)
        return lambda values: [
            count - 2 * THRESHOLD
            for count in noise({key: 2 * THRESHOLD + x for key, x in enumerate(values)}).values()
        ]

    return made


def one_by_one(
    make: Callable[[ModuleType, float], Callable], value: object, output: Callable
) -> Callable:
    """A mechanism that releases one answer a call, to the same question."""

    def made(dp: ModuleType, scale: float, _: int) -> Callable[[list], list]:
        noise = make(dp, scale)
        return lambda values: [output(noise(value)) for _ in values]

    return made


def canonical(dp: ModuleType, scale: float) -> Callable:
    domain = dp.atom_domain(T=float, nan=False)
    distance = dp.absolute_distance(T=float)
    return dp.m.make_canonical_noise(domain, distance, d_in=1.0, d_out=(1 / scale, 1e-6))


def noisy_max(dp: ModuleType, scale: float) -> Callable:
    domain, distance = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return dp.m.make_noisy_max(domain, distance, dp.max_divergence(), scale)


MECHANISMS = {
    "laplace": on_integers("make_laplace", "l1_distance", "i64"),
    "geometric": on_integers("make_geometric", "l1_distance", "i64"),
    "gaussian": on_integers("make_gaussian", "l2_distance", float),
    "laplace_lattice": on_floats("make_laplace", "l1_distance", lattice=True),
    "gaussian_lattice": on_floats("make_gaussian", "l2_distance", lattice=True),
    "laplace_floats": on_floats("make_laplace", "l1_distance", lattice=False),
    "gaussian_floats": on_floats("make_gaussian", "l2_distance", lattice=False),
    "laplace_threshold": on_counts("make_laplace_threshold", "l01inf_distance"),
    "gaussian_threshold": on_counts("make_gaussian_threshold", "l02inf_distance"),
    "canonical": one_by_one(canonical, 0.0, math.floor),
    "randomized_response": one_by_one(
        lambda dp, _: dp.m.make_randomized_response_bool(0.75), True, int
    ),
    "noisy_max": one_by_one(noisy_max, [0, 0, 1], int),
}
"""By the names of `noiseaudit.cks20.reach`, which holds their laws."""

ONE_A_CALL = ("canonical", "randomized_response", "noisy_max")
"""Those that answer one question a call, which takes them ten times as long."""


def draw(add_noise: Callable, draws: int, batch: int, centre: int) -> None:
    for start in range(0, draws, batch):
        noise = array.array("q", add_noise([centre] * min(batch, draws - start)))
        if sys.byteorder == "big":
            noise.byteswap()
        sys.stdout.buffer.write(noise.tobytes())


def time_draws(add_noise: Callable, batch: int) -> None:
    for line in sys.stdin:
        draws = int(line)
        started = time.perf_counter()
        for start in range(0, draws, batch):
            add_noise([0] * min(batch, draws - start))
        print(time.perf_counter() - started, flush=True)


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
