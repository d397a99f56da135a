"""The strategy `differential_privacy` of cloakdb, with its defaults."""

from cloakdb.core.context import TransformationContext
from cloakdb.strategies.differential_privacy import DifferentialPrivacyStrategy


def masked(value: float, count: int) -> list[float]:
    """The same row of a table, masked again and again."""
    strategy = DifferentialPrivacyStrategy()
    return [
        strategy.transform(value, TransformationContext("people", "age", 0, "a salt"))
        for _ in range(count)
    ]
