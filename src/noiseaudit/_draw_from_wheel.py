"""The process that draws from one OpenDP wheel: started by `noiseaudit.releases.draw`.

It imports nothing of noiseaudit, so that the wheel meets an interpreter like its users'. Reads one
JSON argument, writes little-endian 64-bit integers to standard output (for no draws, the version
that answers) and fails with one line.
"""

from __future__ import annotations

import array
import json
import sys
from importlib import metadata
from pathlib import Path


def main(site: str, release: str, scale: float, draws: int, batch: int) -> None:
    sys.path.insert(0, site)
    try:
        import opendp  # noqa: PLC0415 - which opendp this is depends on the line above
        import opendp.prelude as dp  # noqa: PLC0415
    except ImportError as error:
        sys.exit(f"cannot be imported from {site} ({error})")
    found, place = metadata.version("opendp"), Path(opendp.__file__).resolve()
    if found != release or not place.is_relative_to(Path(site).resolve()):
        sys.exit(f"version {found} answered from {place.parent}, {release} in {site} expected")

    if draws == 0:
        sys.stdout.write(found)
        return
    dp.enable_features("contrib")
    add_noise = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale
    )
    for start in range(0, draws, batch):
        noise = array.array("q", add_noise([0] * min(batch, draws - start)))
        if sys.byteorder == "big":
            noise.byteswap()
        sys.stdout.buffer.write(noise.tobytes())


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
