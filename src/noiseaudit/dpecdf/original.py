"""The genuine `DPEcdf`, loaded from the released synthpriv wheel.

The wheel's package pulls in a deep-learning stack that its ECDF does not need; so empty parents stand
in for the packages above the module, and nothing else of it is imported.
"""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

MODULE = "synthpriv.privacy.dpecdf"


class OriginalError(ValueError):
    """The genuine module cannot be had."""


def load(site: Path, release: str) -> type:
    """The class ``DPEcdf`` of the wheel that was installed into ``site``.

    Parameters
    ----------
    site : Path
        Folder of the installed wheel.
    release : str
        The version that must be there.

    Raises
    ------
    OriginalError
        If there is no such wheel, another version, or the module fails to import.
    """
    found = [each.version for each in metadata.distributions(name="synthpriv", path=[str(site)])]
    if found != [release]:
        there = ", ".join(found) or "none"
        raise OriginalError(f"{site}: synthpriv {there} found, {release} expected")
    for name in ("synthpriv", "synthpriv.privacy"):
        parent = ModuleType(name)
        parent.__path__ = [str(Path(site).joinpath(*name.split(".")))]
        sys.modules[name] = parent
    try:
        return importlib.import_module(MODULE).DPEcdf
    except Exception as error:
        raise OriginalError(f"{site}: {MODULE} cannot be imported ({error})") from error
