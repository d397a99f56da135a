"""noiseaudit: three studies of differentially private noise, rerun, and an audit of any other."""

from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"


def __getattr__(name: str) -> ModuleType:
    """``noiseaudit.audit``, which can be called, without importing it where it is not used."""
    if name == "audit":
        return import_module("noiseaudit.audit")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
