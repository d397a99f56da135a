"""What the text of synthpriv's `DPEcdf` promises, beside what was found."""

from __future__ import annotations

from math import nan

import pandas as pd

from noiseaudit import stats
from noiseaudit.dpecdf import agreement, audit
from noiseaudit.published.numbers import DIFFERS, REPRODUCED, WITHIN_MODEL, stated


def compare_promises(rows: pd.DataFrame) -> list[dict[str, float | str]]:
    """The privacy loss that the text allows for each attack, beside what the attack found.

    Parameters
    ----------
    rows : DataFrame
        ``audit.tsv``; the genuine class's rows are taken.

    Returns
    -------
    list of dict
        Rows of `numbers.COLUMNS`. ``published`` is the loss that the text promises (NaN where it promises
        none), ``ours`` the event's, ``expected`` its exact value.
    """
    return [
        {
            "source": "dpecdf",
            "location": "class text",
            "quantity": f"privacy loss, {row.attack} ({row.neighbours})",
            **stated(
                row.claimed_epsilon if row.promised else nan,
                stats.Estimate(row.loss, row.loss_low, row.loss_high),
                WITHIN_MODEL if audit.is_kept(row) else f"{DIFFERS}: {row.does}",
                row.exact_loss,
            ),
        }
        for row in audit.genuine(rows).itertuples(index=False)
    ]


def compare_fits(rows: pd.DataFrame) -> dict[str, float | str]:
    """How many of the fits that both classes make are equal to the last bit."""
    fits = rows[rows["agreement"].isin([agreement.EQUAL, agreement.DIFFERENT])]
    share = float((fits["agreement"] == agreement.EQUAL).mean())
    return {
        "source": "dpecdf",
        "location": "class",
        "quantity": f"share of {len(fits)} random fits equal to the last bit",
        "published": 1.0,
        "ours": share,
        "ours_low": share,
        "ours_high": share,
        "expected": 1.0,
        "expected_sd": 0.0,
        "deviation_sigma": 0.0,
        "verdict": REPRODUCED if share == 1 else f"{DIFFERS}: ours is not the genuine one",
        "our_deviation_sigma": nan,
    }
