"""Compile the cascade's kernels once, so that no job has to: Numba keeps them beside their source."""

from fractions import Fraction

import click

from noiseaudit import entropy, jobs
from noiseaudit.cks20 import kernels, reference


@click.command(help=__doc__)
def compile_kernels() -> None:
    for variant in reference.VARIANTS:
        cascade = kernels.Cascade(variant, Fraction(1), entropy.byte_source("pcg64"))
        cascade.draw(1)
        cascade.trace(1)
    for variant in ("faulty", "fixed"):
        kernels.GaussianCascade(variant, Fraction(1), entropy.byte_source("pcg64")).draw(1)


if __name__ == "__main__":
    jobs.run(compile_kernels)
