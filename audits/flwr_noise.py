"""Gaussian noise that Flower adds to a model's update."""

import numpy as np
from flwr.supercore.differential_privacy import add_gaussian_noise_inplace


def noisy(value: float, count: int, dtype: str) -> np.ndarray:
    """Noise of deviation 1 on weights of a type."""
    weights = [np.full(count, value, dtype=dtype)]
    add_gaussian_noise_inplace(weights, 1.0)
    return weights[0]
