"""Sample files and tables, written whole or not at all, and refused when damaged.

Samples are Parquet (zstd, checksummed pages) with their provenance in the file's metadata; counts
and results are TSV.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from noiseaudit import __version__
from noiseaudit.files import replacing

PROVENANCE_KEY = b"noiseaudit"
DIGESTS_KEY = b"noiseaudit.sha256"


OPERATING_SYSTEM = "operating system"
"""Stands for the seed in the provenance of what was drawn from the operating system's entropy."""

_REMEDY = "if the pipeline made it, remove it: the next run makes it again"


class DamagedFile(ValueError):
    """A file that is not what its name says; the message names the file and what is wrong."""


def provenance(job: Mapping[str, Any], seed: int | str, packages: Iterable[str]) -> dict[str, Any]:
    """What a sample file says of itself.

    Parameters
    ----------
    job : mapping
        The configuration that made the sample; its ``draws`` is checked against the rows on reading.
    seed : int or str
        The master seed, or `OPERATING_SYSTEM`.
    packages : iterable of str
        Installed packages whose versions matter, besides Python's and noiseaudit's own.
    """
    return {
        "job": dict(job),
        "seed": seed,
        "versions": {
            "python": platform.python_version(),
            "noiseaudit": __version__,
            **{package: metadata.version(package) for package in packages},
        },
        "machine": f"{platform.system()} {platform.machine()}",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_samples(
    path: Path | str, batches: Iterable[Mapping[str, np.ndarray]], origin: Mapping[str, Any]
) -> None:
    """Write batches of columns, one row group each, with their provenance.

    Memory is bounded by a batch. The file's name is recorded too, so that a file that stands where
    another job's should is noticed; and so are the digests of each column and of the provenance, so
    that a changed bit is, wherever in the file it stands.

    Raises
    ------
    ValueError
        If there is no batch, or the rows are not as many as ``origin["job"]["draws"]``.
    """
    path = Path(path)
    record = json.dumps({**origin, "name": path.name}, sort_keys=True).encode()
    with replacing(path) as temporary:
        writer, rows, columns = None, 0, {}
        try:
            for batch in batches:
                table = pa.table(dict(batch)).replace_schema_metadata({PROVENANCE_KEY: record})
                if writer is None:
                    writer = pq.ParquetWriter(
                        temporary, table.schema, compression="zstd", write_page_checksum=True
                    )
                writer.write_table(table)
                rows += table.num_rows
                for name, values in batch.items():
                    columns.setdefault(name, hashlib.sha256()).update(values.tobytes())
        finally:
            if writer is not None:
                writer.add_key_value_metadata({DIGESTS_KEY: _digests(record, columns)})
                writer.close()
        if rows != origin["job"]["draws"]:
            raise ValueError(f"{path}: {rows} draws made, {origin['job']['draws']} expected")


def _digests(record: bytes, columns: Mapping[str, Any]) -> bytes:
    named = {name: digest.hexdigest() for name, digest in columns.items()}
    return json.dumps({"provenance": hashlib.sha256(record).hexdigest(), **named}).encode()


def read_provenance(path: Path | str) -> dict[str, Any]:
    """The provenance of a sample file.

    Raises
    ------
    DamagedFile
        If the file is missing, truncated, not Parquet, not a sample of this project, or another
        job's.
    """
    with _open_samples(path) as samples:
        return _checked_provenance(Path(path), samples)


def read_seeded(path: Path | str, seed: int) -> dict[str, Any]:
    """The provenance of samples that must come from a master seed, or from what takes none.

    Raises
    ------
    DamagedFile
        As `read_provenance`; also if they come from another seed.
    """
    origin = read_provenance(path)
    if origin["seed"] not in (seed, OPERATING_SYSTEM):
        raise DamagedFile(f"{path}: drawn with seed {origin['seed']}, {seed} expected; {_REMEDY}")
    return origin


def read_samples(path: Path | str, column: str) -> Iterator[np.ndarray]:
    """One column of a sample file, a row group at a time (see `read_columns`)."""
    return (batch[column] for batch in read_columns(path, [column]))


def read_columns(
    path: Path | str, columns: Iterable[str] | None = None
) -> Iterator[dict[str, np.ndarray]]:
    """Columns of a sample file (all by default), one row group at a time.

    Raises
    ------
    DamagedFile
        As `read_provenance`; also if a column is missing, a page fails its checksum or, after the
        last row group, a whole column its digest.
    """
    path = Path(path)
    with _open_samples(path) as samples:
        _checked_provenance(path, samples)
        names = samples.schema_arrow.names
        wanted = names if columns is None else list(columns)
        if missing := [name for name in wanted if name not in names]:
            raise DamagedFile(f"{path}: columns {', '.join(names)} found, {missing[0]} expected")
        digests = {name: hashlib.sha256() for name in wanted}
        for group in range(samples.num_row_groups):
            try:
                read = samples.read_row_group(group, columns=wanted)
                batch = {name: read.column(name).to_numpy() for name in wanted}
            except (pa.ArrowException, OSError, ValueError) as error:
                message = f"{path}: damaged ({_first_line(error)}); {_REMEDY}"
                raise DamagedFile(message) from error
            for name, values in batch.items():
                digests[name].update(values.tobytes())
            yield batch
        stored = _metadata(path, samples)[1]
        for name, digest in digests.items():
            if digest.hexdigest() != stored.get(name):
                raise DamagedFile(f"{path}: damaged (column {name} fails its digest); {_REMEDY}")


@contextmanager
def _open_samples(path: Path | str) -> Iterator[pq.ParquetFile]:
    try:
        samples = pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError as error:
        raise DamagedFile(f"{path}: no such file") from error
    except (pa.ArrowException, OSError, ValueError) as error:  # the last: names that are no text
        reason = _first_line(error)
        message = f"{path}: truncated, damaged or not Parquet ({reason}); {_REMEDY}"
        raise DamagedFile(message) from error
    with samples:
        yield samples


def _checked_provenance(path: Path, samples: pq.ParquetFile) -> dict[str, Any]:
    origin, _ = _metadata(path, samples)
    if origin["name"] != path.name:
        raise DamagedFile(f"{path}: holds {origin['name']}, another job's samples; {_REMEDY}")
    rows, draws = samples.metadata.num_rows, origin["job"]["draws"]
    if rows != draws:
        raise DamagedFile(f"{path}: {rows} rows found, {draws} expected; {_REMEDY}")
    return origin


def _metadata(path: Path, samples: pq.ParquetFile) -> tuple[dict[str, Any], dict[str, str]]:
    """The provenance and the digests that a sample file carries, the first checked by the second."""
    stored = samples.metadata.metadata or {}
    record = stored.get(PROVENANCE_KEY)
    if record is None:
        raise DamagedFile(f"{path}: no provenance found, a sample file of noiseaudit expected")
    try:
        digests = json.loads(stored.get(DIGESTS_KEY, b""))
        if digests["provenance"] == hashlib.sha256(record).hexdigest():
            return json.loads(record), digests
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedFile(f"{path}: damaged (the provenance fails its digest); {_REMEDY}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


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
        raise DamagedFile(f"{path}: not a TSV table ({_first_line(error)})") from error


def read_table(
    path: Path | str, text: Iterable[str] = (), numbers: Iterable[str] = ()
) -> pd.DataFrame:
    """Read a TSV table that has at least the columns named.

    Those in ``text`` stay strings (``0.10`` is a release, say).

    Raises
    ------
    DamagedFile
        If the file is missing, empty, cut short, or not a table with those columns.
    """
    text = list(text)
    try:
        table = _read_tsv(path, text)
    except FileNotFoundError as error:
        raise DamagedFile(f"{path}: no such file") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DamagedFile(f"{path}: not a TSV table ({_first_line(error)})") from error
    with Path(path).open("rb") as content:
        content.seek(-1, os.SEEK_END)
        whole = content.read() == b"\n"
    if not whole:
        raise DamagedFile(f"{path}: cut short (no end of line at its end); {_REMEDY}")
    missing = [name for name in [*text, *numbers] if name not in table.columns]
    if missing:
        raise DamagedFile(f"{path}: column {', '.join(missing)} missing")
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
