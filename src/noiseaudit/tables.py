"""Tables of counts and results: TSV, written whole or not at all, and refused when damaged."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from noiseaudit import columns
from noiseaudit.files import REMEDY, DamagedFile, first_line, replacing


def write_table(path: Path | str, table: pd.DataFrame) -> None:
    """Write a TSV table; floats in the shortest form that reads back to the same bits."""
    with replacing(path) as temporary:
        table.to_csv(temporary, sep="\t", index=False, na_rep="nan", lineterminator="\n")


def header(path: Path | str) -> list[str]:
    """The columns of a TSV table.

    Raises
    ------
    DamagedFile
        If the file is missing, or no text.
    """
    try:
        with Path(path).open(encoding="utf-8") as lines:
            return lines.readline().rstrip("\n").split("\t")
    except FileNotFoundError as error:
        raise DamagedFile(f"{path}: no such file") from error
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path}: not a TSV table ({first_line(error)})") from error


def read_table(
    path: Path | str, text: Iterable[str] = (), numbers: Iterable[str] = ()
) -> pd.DataFrame:
    """Read a TSV table that has at least the columns it should have.

    Of a table under ``results/`` those are known (`columns`), and which hold text; others can be named.
    Those in ``text`` stay strings (``7/3`` is a scale, say).

    Raises
    ------
    DamagedFile
        If the file is missing, empty, cut short, or not a table with those columns.
    """
    path, text = Path(path), list(text)
    known = columns.of(path.parent.name, path.stem)
    try:
        table = _read_tsv(path, [*text, *columns.TEXT.intersection(known)])
    except FileNotFoundError as error:
        raise DamagedFile(f"{path}: no such file") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DamagedFile(f"{path}: not a TSV table ({first_line(error)})") from error
    with path.open("rb") as content:
        content.seek(-1, os.SEEK_END)
        whole = content.read() == b"\n"
    if not whole:
        raise DamagedFile(f"{path}: cut short (no end of line at its end); {REMEDY}")
    missing = [name for name in (*known, *text, *numbers) if name not in table.columns]
    if missing:
        raise DamagedFile(f"{path}: column {', '.join(dict.fromkeys(missing))} missing")
    return table


def _read_tsv(path: Path | str, text: list[str]) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row longer than the header
        return pd.read_csv(
            path,
            sep="\t",
            dtype=dict.fromkeys(text, str),
            keep_default_na=False,
            na_values=["nan", ""],
            index_col=False,
        )


def select(table: pd.DataFrame, **values: str | float) -> pd.DataFrame:
    """The rows of a table that hold these values in these columns.

    Raises
    ------
    ValueError
        If there are none.
    """
    for column, value in values.items():
        found = table[column].unique()
        table = table[table[column] == value]
        if table.empty:
            raise ValueError(f"{column}: {value} asked for, {', '.join(map(str, found))} found")
    return table
