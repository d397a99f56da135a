"""Sums and geometric noise of dwork."""

import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Integer
from dwork.mechanisms import geometric_noise


class People(DataSchema):
    W = Integer(min=0, max=200)


def released_sum(value: int, count: int) -> list[float]:
    """The sum of a column of three rows, of which the last holds the value."""
    people = PandasDataset(People, pd.DataFrame({"W": [1, 1, value]}))
    return [people["W"].sum().dp(1.0) for _ in range(count)]


def geometric(value: int, count: int) -> list[int]:
    return [value + geometric_noise(1.0) for _ in range(count)]
