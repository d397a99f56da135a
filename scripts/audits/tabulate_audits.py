"""Put the verdicts of all audits into one table (results/audits/verdicts.tsv)."""

import json
import math
from pathlib import Path

import click
import pandas as pd

from noiseaudit import jobs, tables


@click.command(help=__doc__)
@click.option("--table", required=True, type=jobs.PATH, help="TSV to write.")
@click.argument("verdicts", nargs=-1, required=True, type=jobs.PATH)
def tabulate_audits(verdicts: tuple[Path, ...], table: Path) -> None:
    """VERDICTS are JSON files, one a card."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in verdicts]
    rows = [row(one) for card in found for one in card.get("settings", [card])]
    tables.write_table(table, pd.DataFrame(rows))


def row(verdict: dict) -> dict[str, object]:
    law = verdict["law"] or {}
    claim = ", ".join(f"{name} {value:g}" for name, value in verdict["claim"].items())
    return {
        "card": verdict["card"],
        "subject": verdict["subject"] or verdict["card"],
        "claim": claim or "none",
        "verdict": verdict["verdict"],
        "by": verdict["by"] or "none",
        "unsafe": ", ".join(verdict["unsafe"]) or "none",
        "epsilon_low": number(verdict["epsilon_low"]),
        "claimed": number(verdict["claimed"]),
        "event": verdict["event"] or "none",
        "p_left": number(verdict["p_left"]),
        "p_right": number(verdict["p_right"]),
        "draws": verdict["draws"],
        "seconds": verdict["seconds"],
        "detectable": number(verdict["detectable"]),
        "law_p": number(law.get("p")),
        "law_period": number(law.get("period")),
        "law": law.get("stated", "none"),
        "certified": number(verdict["certified"]),
        "paid": number(verdict["paid"]),
        "found_after": number(verdict["found_after"]),
        "also": ", ".join(verdict["also"]) or "none",
    }


def number(value: float | None) -> float:
    return math.nan if value is None else value


if __name__ == "__main__":
    jobs.run(tabulate_audits)
