"""What one weight of a model is released as by the sparse vector technique of NVIDIA FLARE."""

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.filters.svt_privacy import SVTPrivacy

WEIGHTS = 10


def first_weight(value: float, count: int) -> list[float]:
    """The first of ten weights that moved by the same share of the bound `gamma`, at defaults."""
    svt = SVTPrivacy()
    return [_released(svt, value * svt.gamma) for _ in range(count)]


def _released(svt: SVTPrivacy, weight: float) -> float:
    update = DXO(DataKind.WEIGHT_DIFF, data={"w": np.full(WEIGHTS, weight)})
    released = from_shareable(svt.process(update.to_shareable(), FLContext()))
    return float(released.data["w"][0])
