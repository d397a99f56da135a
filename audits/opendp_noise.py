"""OpenDP's own mechanisms, as they were released."""

import sys

sys.modules.setdefault("sklearn", None)  # OpenDP does without, and imports four times as fast

import opendp.prelude as dp  # noqa: E402

dp.enable_features("contrib")


def laplace(value: int, count: int, scale: float) -> list[int]:
    """Discrete Laplace noise on integers, a vector at a time: the noise of each is independent."""
    add_noise = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale
    )
    return add_noise([value] * count)
