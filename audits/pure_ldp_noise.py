"""Unary encoding of pure-ldp: a bit for each of four items."""

from pure_ldp.frequency_oracles.unary_encoding import UEClient


def unary_encoding(item: int, count: int) -> list[list[int]]:
    client = UEClient(1.0, 4)
    return [client.privatise(item) for _ in range(count)]
