"""Outputs in files and in what programs print: Parquet, ``.npy``, CSV and text."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import sys
import warnings
from pathlib import Path

import numpy as np

from noiseaudit.audit.outputs import Outputs
from noiseaudit.audit.processes import SubjectError, one_line


def coordinate(one: float | str | bool | None) -> float:
    """A coordinate of a vector as a number: the same for the same text, far from most numbers."""
    if isinstance(one, int | float):
        return float(one)
    return float(int.from_bytes(hashlib.blake2b(str(one).encode(), digest_size=6).digest(), "big"))


def parsed(content: bytes, count: int | None, source: str) -> Outputs:
    """Outputs from text, one a line: integers, doubles, words or, apart by commas, vectors.

    Raises
    ------
    SubjectError
        If there are not ``count`` lines, or some hold more numbers than others.
    """
    lines = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
    if count is not None and lines != count:
        raise SubjectError(f"{source}: {lines} lines found, {count} expected")
    width = content[: content.find(b"\n")].count(b",") + 1 if lines else 1
    for dtype in (np.int64, np.float64):
        with contextlib.suppress(ValueError):
            flat = _numbers(content, dtype, width)
            if flat.size == lines * width:
                return Outputs.of(flat.reshape(lines, width) if width > 1 else flat)
    try:
        text = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise SubjectError(f"{source}: text in UTF-8 expected ({error})") from error
    rows = list(csv.reader(text)) if width > 1 else [[line] for line in text]
    if len({len(row) for row in rows}) > 1 or len(rows) != lines:
        raise SubjectError(
            f"{source}: lines of different length found, vectors of one length expected"
        )
    if width == 1:
        return Outputs.of_scalars([_scalar(row[0]) for row in rows])
    numbers = [coordinate(_scalar(word)) for row in rows for word in row]
    return Outputs.of(np.array(numbers).reshape(lines, width))


def _scalar(word: str) -> float | str | bool | None:
    """What a word in a file means: a number, True, False, None, or itself."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    try:
        return float(word)
    except ValueError:
        return word


_CONSTANTS = {"True": True, "False": False, "None": None}


def _numbers(content: bytes, dtype: type, width: int) -> np.ndarray:
    """Raises ValueError where the content is not of that type throughout."""
    if width > 1:
        content = content.replace(b",", b"\n")
    if dtype is np.int64 and content.translate(None, b"0123456789-+\n\r "):
        raise ValueError("no integers")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what is left unread is no number
        try:
            numbers = np.fromstring(content, dtype=dtype, sep="\n")
        except DeprecationWarning as error:
            raise ValueError("no numbers") from error
    if dtype is np.int64 and (np.abs(numbers) > _LARGEST_INTEGER).any():
        raise ValueError("an integer that may have been cut to 64 bits")
    return numbers


_LARGEST_INTEGER = 2**62


def read(name: str, folder: Path) -> Outputs:
    """The outputs of a sample file; ``-`` is standard input, as text.

    Raises
    ------
    SubjectError
        If the file cannot be read, or holds no outputs.
    """
    path = folder / name
    try:
        if name == "-":
            found = parsed(sys.stdin.buffer.read(), None, "standard input")
        elif path.suffix == ".npy":
            found = _of_array(np.load(path, allow_pickle=False), path)
        elif path.suffix in (".parquet", ".pq"):
            found = _from_parquet(path)
        else:
            content = path.read_bytes()
            found = parsed(
                _without_header(content) if path.suffix == ".csv" else content, None, str(path)
            )
    except FileNotFoundError as error:
        raise SubjectError(f"{path}: no such file") from error
    except (OSError, ValueError, EOFError, AttributeError) as error:
        if isinstance(error, SubjectError):
            raise
        raise SubjectError(f"{path}: cannot be read ({one_line(str(error))})") from error
    if not len(found):
        raise SubjectError(f"{path}: nothing found, outputs expected")
    return found


def _without_header(content: bytes) -> bytes:
    """A CSV file's first line is a header where it holds no number and the second does."""
    first, _, rest = content.partition(b"\n")
    second = rest.partition(b"\n")[0]

    def numeric(line: bytes) -> bool:
        with contextlib.suppress(ValueError):
            float(line.split(b",")[0])
            return True
        return False

    return rest if rest and numeric(second) and not numeric(first) else content


def _of_array(array: np.ndarray, path: Path) -> Outputs:
    if array.ndim not in (1, 2) or array.dtype.kind not in "iufbU":
        raise SubjectError(
            f"{path}: an array of {array.dtype} with {array.ndim} axes found, "
            "numbers with one or two expected"
        )
    if array.ndim == 1 and array.dtype.kind == "b":
        return Outputs.of_booleans(array)
    if array.dtype.kind == "U":
        flat = [_scalar(word) for word in array.reshape(-1).tolist()]
        if array.ndim == 1:
            return Outputs.of_scalars(flat)
        return Outputs.of(np.array([coordinate(one) for one in flat]).reshape(array.shape))
    return Outputs.of(array.astype(np.float64 if array.dtype.kind == "f" else np.int64))


def _from_parquet(path: Path) -> Outputs:
    import pyarrow as pa  # noqa: PLC0415 - few audits read Parquet
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        raise SubjectError(f"{path}: cannot be read ({one_line(str(error))})") from error
    columns = [column.to_numpy() for column in table.columns]
    if len(columns) == 1 and columns[0].dtype.kind == "O":
        return Outputs.of_scalars(columns[0].tolist())
    return _of_array(columns[0] if len(columns) == 1 else np.stack(columns, axis=1), path)
