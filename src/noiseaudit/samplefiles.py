"""Sample files, written whole or not at all, and refused when damaged.

They are Parquet (zstd, checksummed pages) with their provenance in the file's metadata. What draws
imports this and no pandas, whose start takes as long as some draws.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from noiseaudit import __version__
from noiseaudit.files import REMEDY, DamagedFile, first_line, replacing

PROVENANCE_KEY = b"noiseaudit"
DIGESTS_KEY = b"noiseaudit.sha256"

OPERATING_SYSTEM = "operating system"
"""Stands for the seed in the provenance of what was drawn from the operating system's entropy."""


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


def write(
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
        raise DamagedFile(f"{path}: drawn with seed {origin['seed']}, {seed} expected; {REMEDY}")
    return origin


def read_column(path: Path | str, column: str) -> Iterator[np.ndarray]:
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
                message = f"{path}: damaged ({first_line(error)}); {REMEDY}"
                raise DamagedFile(message) from error
            for name, values in batch.items():
                digests[name].update(values.tobytes())
            yield batch
        stored = _metadata(path, samples)[1]
        for name, digest in digests.items():
            if digest.hexdigest() != stored.get(name):
                raise DamagedFile(f"{path}: damaged (column {name} fails its digest); {REMEDY}")


@contextmanager
def _open_samples(path: Path | str) -> Iterator[pq.ParquetFile]:
    try:
        samples = pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError as error:
        raise DamagedFile(f"{path}: no such file") from error
    except (pa.ArrowException, OSError, ValueError) as error:  # the last: names that are no text
        reason = first_line(error)
        message = f"{path}: truncated, damaged or not Parquet ({reason}); {REMEDY}"
        raise DamagedFile(message) from error
    with samples:
        yield samples


def _checked_provenance(path: Path, samples: pq.ParquetFile) -> dict[str, Any]:
    origin, _ = _metadata(path, samples)
    if origin["name"] != path.name:
        raise DamagedFile(f"{path}: holds {origin['name']}, another job's samples; {REMEDY}")
    rows, draws = samples.metadata.num_rows, origin["job"]["draws"]
    if rows != draws:
        raise DamagedFile(f"{path}: {rows} rows found, {draws} expected; {REMEDY}")
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
    raise DamagedFile(f"{path}: damaged (the provenance fails its digest); {REMEDY}")
