"""What the text of synthpriv's `DPEcdf` promises, beside what was found."""

from __future__ import annotations

import pandas as pd

from noiseaudit import stats
from noiseaudit.dpecdf import audit
from noiseaudit.published.numbers import CONSISTENT, DIFFERS, stated


def compare_promises(rows: pd.DataFrame) -> list[dict[str, float | str]]:
    """The privacy loss that the text allows for each attack, beside what the attack found.

    Parameters
    ----------
    rows : DataFrame
        ``audit.tsv``; the genuine class's rows are taken.

    Returns
    -------
    list of dict
        Rows of `numbers.COLUMNS`, of what the text promises a loss for: that is ``published``, ``ours``
        the event's, ``expected`` its exact value.
    """
    promises = audit.genuine(rows)
    promises = promises[promises["promised"] == audit.A_LOSS]
    return [
        {
            "source": "dpecdf",
            "location": "class text",
            "quantity": f"privacy loss, {row.attack} ({row.neighbours})",
            **stated(
                f"{row.claimed_epsilon:g}",
                stats.Estimate(row.loss, row.loss_low, row.loss_high),
                CONSISTENT if audit.is_kept(row) else f"{DIFFERS}: {row.does}",
                row.exact_loss,
            ),
        }
        for row in promises.itertuples(index=False)
    ]
