"""What a figure shows of an audit: counts in few cells, that fit on a page whatever was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from noiseaudit.audit import views
from noiseaudit.audit.fit import Fitting
from noiseaudit.audit.search import Tally

MOST_CELLS = 320
"""Of a histogram."""


def gathered(tallies: Sequence[Tally], fitting: Fitting | None) -> dict[str, Any]:
    """Histograms of both sides, of the noise against its law, and of the lowest set bits."""
    values = [t for t in tallies if t.view.question == views.VALUES]
    bits = [t for t in tallies if _is_of_bits(t.view)]
    return {
        "outputs": _histogram(_telling(values)) if values else None,
        "law": _against_law(fitting) if fitting else None,
        "bits": _bits(bits[0]) if bits else None,
    }


def _is_of_bits(view: views.View) -> bool:
    return isinstance(getattr(view, "view", view), views.LowestBit)


def _telling(tallies: Sequence[Tally]) -> Tally:
    """The view to draw: of scalars the first, of vectors the one on which the sides differ most."""
    if not isinstance(tallies[0].view, views.Feature):
        return tallies[0]

    def distance(tally: Tally) -> float:
        counts = tally.counts / np.maximum(tally.counts.sum(axis=1, keepdims=True), 1)
        kept = [0, *np.linspace(1, counts.shape[1] - 1, 33).astype(int)]
        reached = np.cumsum(counts, axis=1)[:, kept]
        return float(np.abs(reached[0] - reached[1]).max())

    return max(tallies, key=distance)


def _histogram(tally: Tally) -> dict[str, Any]:
    view = tally.view
    inner = getattr(view, "view", view)
    counts = tally.counts
    about = view.about if isinstance(view, views.Feature) else "output"
    if isinstance(inner, views.Integers):
        return {"about": about, **_integers(inner, counts)}
    if isinstance(inner, views.Bins):
        return {"about": about, **_bins(inner, counts)}
    kept = np.argsort(-counts.sum(axis=0), kind="stable")[:40]
    kept = np.sort(kept[counts[:, kept].any(axis=0)])
    names = ["no value" if cell == 0 else inner.cell_name(int(cell)) for cell in kept]
    return {
        "about": about,
        "names": names,
        "left": counts[0, kept].tolist(),
        "right": counts[1, kept].tolist(),
    }


def _integers(view: views.Integers, counts: np.ndarray) -> dict[str, Any]:
    inner = counts[:, 2:-1]
    seen = np.flatnonzero(inner.any(axis=0))
    if seen.size == 0:
        return {"edges": [], "left": [], "right": []}
    low, high = int(seen[0]), int(seen[-1]) + 1
    # The far tails, of some millionths each, would leave the picture empty.
    reached = np.cumsum(inner.sum(axis=0)) / inner.sum()
    low, high = (
        max(low, int(np.searchsorted(reached, 1e-4))),
        min(high, int(np.searchsorted(reached, 1 - 1e-4)) + 1),
    )
    width = -(-(high - low) // MOST_CELLS)
    starts = np.arange(low, high, width)
    joined = [np.add.reduceat(side[low:high], starts - low) for side in inner]
    edges = np.append(starts, high) + view.low - 0.5
    return {"edges": edges.tolist(), "left": joined[0].tolist(), "right": joined[1].tolist()}


def _bins(view: views.Bins, counts: np.ndarray) -> dict[str, Any]:
    """Bins between edges, each with the edge at its upper end, joined to about equal shares."""
    inner = counts[:, 1:]
    between = inner[:, 0::2].copy()
    between[:, :-1] += inner[:, 1::2]
    step = max(1, 2 * view.edges.size // MOST_CELLS)
    chosen = np.arange(0, view.edges.size, step)
    starts = np.concatenate([chosen[:-1] + 1])
    joined = [np.add.reduceat(side, starts) for side in between[:, : chosen[-1] + 1]]
    return {
        "edges": view.edges[chosen].tolist(),
        "left": joined[0].tolist(),
        "right": joined[1].tolist(),
    }


def _against_law(fitting: Fitting) -> dict[str, Any]:
    cells, counts = fitting.cells, fitting.counts
    expected = cells.probabilities * counts.sum()
    enough = np.flatnonzero(expected[1:-1] >= 5) + 1
    if enough.size == 0:
        return {"x": [], "observed": [], "expected": []}
    low, high = int(enough[0]), int(enough[-1]) + 1
    width = -(-(high - low) // MOST_CELLS)
    starts = np.arange(low, high, width)
    middles = (
        cells.integers if cells.integers is not None else (cells.edges[:-1] + cells.edges[1:]) / 2
    )
    unit = fitting.law.lattice or 1.0
    return {
        "x": (middles[starts - 1] * unit).tolist(),
        "observed": np.add.reduceat(counts[:high], starts).tolist(),
        "expected": np.add.reduceat(expected[:high], starts).tolist(),
    }


def _bits(tally: Tally) -> dict[str, Any]:
    size = views.EXPONENTS.size
    by_exponent = tally.counts[:, 1:].reshape(2, -1, size).sum(axis=1)
    seen = np.flatnonzero(by_exponent.any(axis=0))
    return {
        "exponents": views.EXPONENTS[seen].tolist(),
        "left": by_exponent[0, seen].tolist(),
        "right": by_exponent[1, seen].tolist(),
    }
