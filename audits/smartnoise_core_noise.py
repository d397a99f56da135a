"""Noisy sums of SmartNoise-Core, an analysis a draw."""

import tempfile
from pathlib import Path

from opendp.smartnoise import core as sn

ROWS = 10
LARGEST = 10.0


def dp_sum(value: float, count: int, mechanism: str, usage: dict[str, float]) -> list[float]:
    """Of ten rows in 0 to 10, one of which is `value` and the others 5."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rows.csv")
        table.write_text("\n".join(["x", str(value), *["5.0"] * (ROWS - 1)]) + "\n")
        return [_released(table, mechanism, usage) for _ in range(count)]


def _released(table: Path, mechanism: str, usage: dict[str, float]) -> float:
    # Without this, 0.1.2 has no mechanism in doubles but snapping.
    with sn.Analysis(protect_floating_point=False) as analysis:
        rows = sn.to_float(sn.Dataset(path=str(table), column_names=["x"])["x"])
        rows = sn.impute(sn.clamp(rows, lower=0.0, upper=LARGEST))
        rows = sn.resize(rows, number_rows=ROWS)
        total = sn.dp_sum(
            rows, lower=0.0, upper=LARGEST * ROWS, mechanism=mechanism, privacy_usage=usage
        )
    analysis.release()
    return float(total.value)
