"""Randomised response of insurance-fairness-ldp, over four values."""

from insurance_fairness_ldp.mechanisms import KaryRandomisedResponse


def randomised_response(value: int, count: int) -> list[int]:
    mechanism = KaryRandomisedResponse(epsilon=1.0, categories=[0, 1, 2, 3])
    return [int(one) for one in mechanism.privatise([value] * count)]
