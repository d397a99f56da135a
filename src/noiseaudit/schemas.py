"""What is wrong with a config or a card by its JSON schema, in one clear line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import jsonschema


def first_error(content: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """The gravest error, naming the key, what was found and what was expected; None if there is none.

    Parameters
    ----------
    content : mapping
    schema : mapping
        A JSON schema in which every key has a ``description`` of what is expected.
    """
    plain = jsonschema.Draft202012Validator
    checker = plain.TYPE_CHECKER.redefine_many(
        {"number": _is_finite_number, "integer": _is_integer}
    )
    validator = jsonschema.validators.extend(plain, type_checker=checker)(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if error is None:
        return None
    key = error.json_path.removeprefix("$").removeprefix(".") or "the file"
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(error.schema["properties"]), key=str)
        known = ", ".join(error.schema["properties"])
        return f"{key}: unknown key {unknown[0]!r}, one of {known} expected"
    if error.validator == "required":
        missing = [name for name in error.schema["required"] if name not in error.instance]
        return f"{key}: key {missing[0]!r} missing"
    hint = " (as a number: 1.0e-6, not 1e-6)" if _is_bare_exponent(error.instance) else ""
    expected = error.schema["description"]
    return f"{key}: {_shown(error.instance)} found, {expected} expected{hint}"


def _is_finite_number(_: object, value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_integer(_: object, value: object) -> bool:
    return type(value) is int


_LONGEST = 80


def _shown(value: object) -> str:
    """A value on one line, however long it is."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_bare_exponent(value: object) -> bool:
    """Text that YAML would have taken for a number, had it a decimal point."""
    return isinstance(value, str) and re.fullmatch(r"[0-9]+[eE][-+]?[0-9]+", value) is not None
