"""Generalised randomised response of multi-freq-ldpy, over four values."""

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client


def randomised_response(value: int, count: int) -> list[int]:
    return [int(GRR_Client(value, 4, 1.0)) for _ in range(count)]
