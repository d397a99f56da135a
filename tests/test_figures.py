"""What every figure has in common: its bytes, its colours."""

import hashlib
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from noiseaudit import stats
from noiseaudit.cks20 import exact, noise
from noiseaudit.figures import opendp, style


@style.applied()
def crowded():
    """Many shades, and a few markers of a colour that must not fade among them."""
    figure = Figure(figsize=(6, 4))
    left, right = figure.subplots(1, 2)
    blue, green = np.mgrid[0.5:1:120j, 0.6:1:160j]
    left.imshow(np.stack([np.full_like(blue, 0.8), green, blue], axis=2))
    left.set_title("shades")
    right.plot([1, 2], [1, 2], "s", color=style.VERMILION, markersize=3)
    right.set_xlabel("x")
    return figure


def test_a_rare_colour_does_not_fade(tmp_path):
    style.save(crowded(), tmp_path / "figure.png")
    picture = Image.open(tmp_path / "figure.png")
    assert len(picture.getcolors()) <= 256
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    vermilion = [int(style.VERMILION[i : i + 2], 16) for i in (1, 3, 5)]
    assert (np.abs(pixels - vermilion).sum(axis=2) <= 12).sum() > 20


def original(ax):
    return ax.get_position(original=True).bounds


@pytest.mark.parametrize(("width", "least", "most"), [(1, 1500, 2500), (10, 0, 1)])
def test_bins_as_wide_as_the_scale_hide_what_repeats_with_it(width, least, most):
    """Chi-square of the faulty law itself, in place of a million draws of it."""
    x = np.arange(-138, 139)
    law = exact.discrete_laplace(Fraction(10), "faulty").pmf(x)
    histogram = stats.Histogram.counted(x, (1e6 * law).round().astype(np.int64), 138)
    sample = noise.Sample("our cascade", "faulty", Fraction(10), histogram)
    edges, counts, expected = opendp.binned(sample, width)
    assert -0.5 in edges
    assert set(np.diff(edges)) == {width}
    assert len(counts) == len(expected) == len(edges) - 1
    inside = (x > edges[0]) & (x < edges[-1])
    assert counts.sum() == histogram.window[inside].sum()
    well = expected > 20
    assert least <= np.sum((counts - expected)[well] ** 2 / expected[well]) <= most


class Restless(ConstrainedLayoutEngine):
    """Its last bits differ, as those of the solver do from process to process."""

    def execute(self, fig):
        super().execute(fig)
        for ax in fig.axes:
            ax.set_position(np.array(original(ax)) * (1 + 1e-13))


def test_last_bits_of_the_layout_do_not_show(tmp_path):
    calm, restless = crowded(), crowded()
    restless.set_layout_engine(Restless())
    for figure in (calm, restless):
        style.save(figure, tmp_path / "figure.png")
    places = [[original(ax) for ax in figure.axes] for figure in (calm, restless)]
    assert places[0] == places[1]


PROGRAM = """
import sys
sys.path.insert(0, "tests")
from test_figures import crowded
from noiseaudit.figures import style
style.save(crowded(), sys.argv[1])
"""


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path):
    digests = set()
    for seed in "135":
        png = tmp_path / f"{seed}.png"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, png],
            env={"PYTHONHASHSEED": seed},
            cwd=style.__file__.split("/src/")[0],
            check=True,
        )
        files = [png.with_suffix(f".{extension}").read_bytes() for extension in style.FORMATS]
        digests.add(hashlib.sha256(b"".join(files)).hexdigest())
    assert len(digests) == 1


@pytest.mark.parametrize("scales", [[10], [3, 10], [3, 10, 100, 1000]])
def test_compositions_of_any_number_of_scales_are_drawn(scales):
    columns = ("claimed_epsilon", "faulty_epsilon_high", "fixed_epsilon_high", "delta")
    rows = pd.DataFrame([(s, n) for s in scales for n in (1, 10)], columns=["scale", "draws"])
    ax = Figure().subplots()
    opendp._draw_composition(ax, rows.assign(**dict.fromkeys(columns, 0.1)))
    drawn = {text.get_text() for text in ax.texts}
    assert drawn == {f"scale {s}" for s in (scales[-3::2] if len(scales) > 2 else scales[-1:])}
