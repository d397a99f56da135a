"""How every figure looks, and how it is saved: the same bytes on every run.

Colours are Okabe and Ito's, distinguishable with any colour vision; each meaning keeps its colour
throughout the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from noiseaudit import files

BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREEN = "#009E73"
GREY = "#767676"
PALE = "#DDDDDD"

FAULTY, FIXED, CLAIMED = VERMILION, BLUE, BLACK

DASHED = (0, (5, 2))
"""How a claimed bound, or a theoretical value, is drawn."""

FORMATS = ("png", "svg", "pdf")

_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "noiseaudit",
    "xtick.color": GREY,
    "xtick.labelcolor": BLACK,
    "xtick.labelsize": 8,
    "ytick.color": GREY,
    "ytick.labelcolor": BLACK,
    "ytick.labelsize": 8,
}

# No dates, no program versions: they would change the bytes and say nothing of the figure.
_METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@contextmanager
def applied() -> Iterator[None]:
    """The project's style, within a ``with`` block or a decorated function."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def save(figure: Figure, png: Path | str) -> None:
    """Write a figure as PNG, and as SVG and PDF beside it, each whole or not at all.

    Raises
    ------
    ValueError
        If the name does not end in ``.png``.
    """
    if Path(png).suffix != ".png":
        raise ValueError(f"figure: {png} found, a name that ends in .png expected")
    with applied():
        figure.draw_without_rendering()
        mpl.rcParams["figure.constrained_layout.use"] = False  # the figure is laid out once
        _settle(figure)
        for extension in FORMATS:
            with files.replacing(Path(png).with_suffix(f".{extension}")) as temporary:
                if extension == "png":
                    _save_png(figure, temporary)
                else:
                    figure.savefig(temporary, metadata=_METADATA[extension])


def _save_png(figure: Figure, png: Path) -> None:
    """In at most 256 colours: a third of the bytes, and no difference to the eye.

    A notebook with a dozen pictures would be too large otherwise for browsers to show in the report.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format="rgba")
    width, height = map(int, figure.get_size_inches() * mpl.rcParams["savefig.dpi"])
    picture = Image.frombytes("RGBA", (width, height), drawn.getbuffer()).convert("RGB")
    # By coverage, not by frequency: a rare colour, that of a few markers, must not fade.
    reduced = picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    # The most compression would take ten times as long, for 7 % of the bytes.
    reduced.save(png, compress_level=6)


_DIGITS = 6
"""Of a position in a figure, as a share of its size: far finer than a pixel."""


def _settle(figure: Figure) -> None:
    """Round where everything came to stand when the figure was laid out, and leave it there.

    The last bits of what the layout's solver returns depend on the order of its equations, which
    differs from process to process.
    """
    figure.set_layout_engine(None)
    parts = [figure]
    for part in parts:
        parts += part.subfigs
        if part is not figure:
            part.bbox_relative.set_points(part.bbox_relative.get_points().round(_DIGITS))
        for text in part.texts:
            text.set_position(np.round(text.get_position(), _DIGITS))
    for ax in figure.axes:
        ax.set_position(np.round(ax.get_position(original=True).bounds, _DIGITS))


def colour_of(variant: str) -> str:
    """One colour for all that is faulty, one for all that is not."""
    return FAULTY if variant == "faulty" else FIXED


def shade_sigmas(ax: Axes, bands: dict[int, float]) -> None:
    """Grey bands of ``±width`` standard deviations, the widest first, each labelled at a height."""
    for width, height in bands.items():
        ax.axhspan(-width, width, color=PALE, alpha=0.9 / width**0.6, linewidth=0)
        ax.annotate(
            f"±{width}σ",
            (1.005, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=7,
            color=GREY,
        )
    ax.axhline(0, color=GREY, linewidth=0.6)


def label_panels(axes: list[Axes]) -> None:
    """Letters a, b, c … outside the upper left corner of each panel."""
    for letter, ax in zip("abcdefghijklmnopqrstuvwxyz", axes, strict=False):
        ax.annotate(
            letter,
            (0, 1),
            xytext=(-26, 8),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=11,
            fontweight="bold",
        )
