"""The words for what was found of noise: the same for a study, a release and an audit."""

VIOLATES = "violates its claim"
"""The certified lower bound of what is paid exceeds what is claimed, or the stated law does on paper."""

WRONG_LAW = "wrong law"
"""Outputs do not follow the stated law; no violation of the claim is certified."""

NOTHING = "nothing found"
"""Neither, as far as so many draws could show: the smallest loss that they could stands beside it."""

UNJUDGED = "cannot be judged"
"""Too few outputs, or none."""

SEVERITY = (VIOLATES, WRONG_LAW, UNJUDGED, NOTHING)
"""From the gravest on."""


def headline(verdict: str, by: str) -> str:
    """A verdict and what shows it, in one phrase."""
    if not by:
        return verdict
    if verdict == VIOLATES:
        return f"{verdict}, on paper" if by == "paper" else f"{verdict}, by {by}"
    return f"{verdict}: {by}"


IF_INDEPENDENT = "if draws were independent"
"""What ends a reason that bets give where draws depend on one another: bets take them for fresh ones."""
