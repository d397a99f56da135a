"""Files written whole or not at all, and what a damaged one is called."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG}
"""What a full disk and a read-only folder answer: words that don't name the file."""

REMEDY = "if the pipeline made it, remove it: the next run makes it again"


class DamagedFile(ValueError):
    """A file that is not what its name says; the message names the file and what is wrong."""


def first_line(error: Exception) -> str:
    """What an error says, as far as a message of one line has room for it."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A temporary file in ``path``'s folder that becomes ``path`` when the block ends well.

    Who may read it is for the user's umask to say, as of any file. When the block doesn't end well, the
    temporary file is removed and whatever stood at ``path`` stays.

    Raises
    ------
    OSError
        If the file cannot be written, for want of space, say; it names ``path``.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        place = _unwritable_place(error, path) if error.errno in _UNWRITABLE else None
        if place is None:
            raise
        raise OSError(f"{place} cannot be written: {os.strerror(error.errno)}") from error
    finally:
        with suppress(OSError):  # it is gone, or never was
            temporary.unlink()


def _unwritable_place(error: OSError, path: Path) -> Path | str | None:
    """What an error in writing ``path`` is about, if it is: that, or the folder of temporary files."""
    if error.filename:
        named = Path(error.filename)
        close = named.is_relative_to(path.parent) or path.parent.is_relative_to(named)
        return path if close else None
    if error.errno != errno.ENOSPC or _is_full(path.parent):
        return path
    temporary = Path(tempfile.gettempdir())
    return f"TMPDIR ({temporary})" if _is_full(temporary) else path


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < _FULL


_FULL = 2**20
"""Bytes left on a disk that is full."""
