"""The process that draws from one OpenDP wheel: started by `noiseaudit.releases.draw`.

It imports nothing of noiseaudit, so that the wheel meets an interpreter like its users'. Reads one
JSON argument and fails with one line. Its ``task`` is ``version`` (writes the version that answers),
``draw`` (writes little-endian 64-bit integers) or ``time`` (for each number of draws on a line of
standard input, writes the seconds that they took).
"""

from __future__ import annotations

import array
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType


def main(task: str, site: str, release: str, **noise: float) -> None:
    dp = imported(site, release)
    if task == "version":
        sys.stdout.write(release)
    elif task == "draw":
        draw(mechanism(dp, noise["scale"]), noise["draws"], noise["batch"], noise["centre"])
    elif task == "time":
        time_draws(mechanism(dp, noise["scale"]), noise["batch"])


def imported(site: str, release: str) -> ModuleType:
    """The wheel's prelude, if it is the one asked for."""
    sys.path.insert(0, site)
    try:
        import opendp  # noqa: PLC0415 - which opendp this is depends on the line above
        import opendp.prelude as dp  # noqa: PLC0415
    except ImportError as error:
        sys.exit(f"cannot be imported from {site} ({error})")
    found, place = metadata.version("opendp"), Path(opendp.__file__).resolve()
    if found != release or not place.is_relative_to(Path(site).resolve()):
        sys.exit(f"version {found} answered from {place.parent}, {release} in {site} expected")
    return dp


def mechanism(dp: ModuleType, scale: float) -> Callable[[list[int]], list[int]]:
    dp.enable_features("contrib")
    return dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale
    )


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
