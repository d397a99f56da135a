"""The noisy counts that DataSynthesizer fills its Bayesian network from."""

import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

OTHERS = [[0, 1], [1, 0], [1, 1], [1, 1]]


def counts(value: int, count: int) -> list[float]:
    """Of all rows in which both attributes are 0: `value` rows are, four others are not."""
    rows = pd.DataFrame([[0, 0]] * value + OTHERS, columns=["a", "b"])
    return [
        float(get_noisy_distribution_of_attributes(["a", "b"], rows, 1.0)["count"].iloc[0])
        for _ in range(count)
    ]
