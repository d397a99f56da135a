"""Scores by which classifiers tell the vectors of one side from those of the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.views import Bins, Score

_TRAINED = 20_000
"""Vectors of either side that a classifier learns from."""


def trained(left: Outputs, right: Outputs) -> list[Score]:
    """A linear and a tree-based score of scikit-learn, each as a view.

    On one thread, so that the scores do not depend on the machine's cores. Nothing where one side has
    no outputs.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - only for vectors
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    sides = [outputs.numbers[-_TRAINED:] for outputs in (left, right)]
    if not all(map(len, sides)):
        return []
    x = np.concatenate(sides).astype(float)
    y = np.repeat([0, 1], [len(side) for side in sides])
    models = {
        "linear score": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
        "score of trees": HistGradientBoostingClassifier(
            max_iter=20, max_leaf_nodes=8, early_stopping=False, random_state=0
        ),
    }
    found = []
    with threadpool_limits(1):
        for name, model in models.items():
            with suppress(ValueError):  # numbers too large for it: the other views remain
                score = _scoring(model.fit(x, y))
                found.append(Score(name, score, Bins.fitted(score(x))))
    return found


def _scoring(model: object) -> Callable[[np.ndarray], np.ndarray]:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    def score(vectors: np.ndarray) -> np.ndarray:
        with threadpool_limits(1):
            return model.decision_function(np.asarray(vectors, dtype=float))

    return score
