# What every study shares: a validated config, and the code that a script depends on.

import ast
import json
import math
import os.path
import re
import sys
from fractions import Fraction
from pathlib import Path

import jsonschema
import yaml
from packaging.version import Version

# `python` in a shell command is the interpreter that runs Snakemake, whether its environment was
# activated or not.
shell.prefix(f'export PATH="{Path(sys.executable).parent}:$PATH"; ')

ROOT = Path(workflow.basedir)


def stop(message):
    """End with one line for the user, without Snakemake's own about the rule or the file."""
    print(f"config: {message}", file=sys.stderr)
    sys.exit(1)


def is_finite_number(_, value):
    return type(value) in (int, float) and math.isfinite(value)


def is_integer(_, value):
    return type(value) is int


def validate_config():
    """Check the config against its schema; its first error names the key, the value and the need."""
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    plain = jsonschema.Draft202012Validator
    checker = plain.TYPE_CHECKER.redefine_many({"number": is_finite_number, "integer": is_integer})
    validator = jsonschema.validators.extend(plain, type_checker=checker)(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(config))
    if error is None:
        return
    key = error.json_path.removeprefix("$").removeprefix(".") or "the file"
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(error.schema["properties"]), key=str)
        stop(
            f"{key}: unknown key {unknown[0]!r}, one of {', '.join(error.schema['properties'])} expected"
        )
    if error.validator == "required":
        missing = [name for name in error.schema["required"] if name not in error.instance]
        stop(f"{key}: key {missing[0]!r} missing")
    hint = " (as a number: 1.0e-6, not 1e-6)" if is_bare_exponent(error.instance) else ""
    stop(f"{key}: {error.instance!r} found, {error.schema['description']} expected{hint}")


def is_bare_exponent(value):
    """Text that YAML would have taken for a number, had it a decimal point."""
    return isinstance(value, str) and re.fullmatch(r"[0-9]+[eE][-+]?[0-9]+", value) is not None


def check_releases():
    """Releases must be pinned by their hashes."""
    for study, package in (("opendp", "opendp"), ("dpecdf", "synthpriv")):
        pins = (ROOT / "workflow/envs").glob(f"{package}-*.txt")
        pinned = sorted((path.stem.removeprefix(f"{package}-") for path in pins), key=Version)
        for place, release in enumerate(config[study]["releases"]):
            if release not in pinned:
                stop(
                    f"{study}.releases[{place}]: {release!r} found, one of {', '.join(pinned)} "
                    "expected (scripts/pin_release.py adds another that exists)"
                )


def check_opendp_config():
    """What the schema cannot say: keys that must agree with each other."""
    study = config["opendp"]
    releases, scales, contrast = study["releases"], study["scales"], study["contrast"]
    for place, scale in enumerate(scales):
        if scale > study["draws"] / 100:
            stop(
                f"opendp.scales[{place}]: {scale} found, at most opendp.draws / 100 = {study['draws'] // 100} "
                "expected: beyond it no single output is drawn often enough to be tested"
            )
    for side in ("faulty", "fixed"):
        if releases and contrast[side] not in releases:
            stop(
                f"opendp.contrast.{side}: {contrast[side]!r} found, one of opendp.releases "
                f"({', '.join(releases)}) expected"
            )
    if contrast["scale"] not in scales:
        stop(
            f"opendp.contrast.scale: {contrast['scale']} found, one of opendp.scales "
            f"({', '.join(map(str, scales))}) expected"
        )

    closeup = study["closeup"]
    if closeup["scale"] in scales:
        stop(
            f"opendp.closeup.scale: {closeup['scale']} found, none of opendp.scales "
            f"({', '.join(map(str, scales))}) expected"
        )
    if closeup["scale"] > closeup["draws"] / 1000:
        stop(
            f"opendp.closeup.scale: {closeup['scale']} found, at most opendp.closeup.draws / 1000 = "
            f"{closeup['draws'] // 1000} expected: beyond it no excess shows"
        )
    if contrast["scale"] not in study["traces"]["scales"]:
        stop(
            f"opendp.contrast.scale: {contrast['scale']} found, one of opendp.traces.scales "
            f"({', '.join(map(str, study['traces']['scales']))}) expected: figures draw the cascade at it"
        )


validate_config()
check_releases()
check_opendp_config()


def modules(entry):
    """The noiseaudit modules that a script or notebook imports, directly or not.

    With the script itself they are inputs of the rule that runs it, so that an edit reruns what
    depends on it and nothing else.
    """
    found, pending = set(), [entry]
    while pending:
        new = set(imported_modules(pending.pop())) - found
        found |= new
        pending += new
    return sorted(found)


def imported_modules(path):
    """Files of the noiseaudit modules that one file imports, with the packages that hold them."""
    names = set()
    for node in ast.walk(ast.parse(python_source(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    files = []
    for name in names:
        parts = name.split(".")
        if parts[0] == "noiseaudit":
            packages = [Path("src", *parts[: i + 1], "__init__.py") for i in range(len(parts))]
            files += [*packages, Path("src", *parts).with_suffix(".py")]
    return [str(file) for file in files if (ROOT / file).is_file()]


def python_source(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if not path.endswith(".ipynb"):
        return text
    cells = json.loads(text)["cells"]
    lines = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))  # magics


def plain(number):
    """A number as a file name writes it: 10 for 10.0, and every digit of 2.25."""
    return str(int(number)) if number == int(number) else repr(number)


def rational_name(number):
    """A rational as a file name writes it: 10, or 7_3 for seven thirds."""
    numerator, denominator = Fraction(number).as_integer_ratio()
    return str(numerator) if denominator == 1 else f"{numerator}_{denominator}"


def timed_releases():
    """The releases that are timed: the contrasted ones, which ratios refer to, and the newest."""
    contrast = config["opendp"]["contrast"]
    newest = sorted(config["opendp"]["releases"], key=Version)[-1:]
    return list(dict.fromkeys([contrast["faulty"], contrast["fixed"], *newest]))


FORMATS = ("png", "svg", "pdf")

# The report sorts its categories by name.
CATEGORIES = {
    "comparison": "1. Published against ours",
    "dptext": "2. DPText",
    "opendp": "3. OpenDP",
    "dpecdf": "4. DPEcdf",
    "notebooks": "5. Notebooks",
}


def drawing(study, name, label):
    """The files of a figure: a PNG that goes into the report with its caption, and vector formats."""
    return {
        "png": report(
            f"figures/{study}/{name}.png",
            caption=f"../report/{name}.rst",
            category=CATEGORIES[study],
            labels={"figure": label},
        ),
        "svg": f"figures/{study}/{name}.svg",
        "pdf": f"figures/{study}/{name}.pdf",
    }
