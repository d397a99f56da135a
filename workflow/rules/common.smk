# What every study shares: a validated config, and the code that a script depends on.

import ast
import json
import os
import re
import sys
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import yaml
from packaging.version import Version

ROOT = Path(workflow.basedir)

# A job's `python` is the interpreter that runs Snakemake, whether its environment was activated or
# not, and imports the library that lies beside the Snakefile, whatever else is installed. Nothing is
# read from, or written to, the user's home; who has no name, as in a container, is known by number.
os.environ |= {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", os.defpath)]),
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONNOUSERSITE": "1",
    "MPLCONFIGDIR": str(ROOT / ".cache/matplotlib"),
    "NOISEAUDIT_SITES": str(ROOT / "resources"),
}
os.environ.pop("MPLBACKEND", None)
os.environ.setdefault("USERNAME", str(os.getuid()))
sys.path.insert(0, str(ROOT / "src"))

from noiseaudit import settings
from noiseaudit.cks20.reference import VARIANTS


def pinned(package):
    """The versions of a package whose hashes are known."""
    pins = (ROOT / "workflow/envs").glob(f"{package}-*.txt")
    return sorted((path.stem.removeprefix(f"{package}-") for path in pins), key=Version)


def stop(message):
    """End with one line for the user, without Snakemake's own about the rule or the file."""
    print(message, file=sys.stderr)
    sys.exit(1)


if set("{}") & set(str(ROOT)):
    stop(
        f"{ROOT}: a path with braces found, which Snakemake takes for wildcards, one without expected"
    )

if not Path.cwd().samefile(ROOT):
    stop(f"working folder: {Path.cwd()} found, {ROOT} expected: the pipeline runs in its own")

try:
    settings.check(
        config,
        yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8")),
        {package: pinned(package) for package in ("opendp", "synthpriv")},
    )
except settings.ConfigError as error:
    stop(f"config: {error}")

for folder in ("results", "figures"):
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        stop(f"{folder}: a read-only folder found, one to write to expected")


def modules(entry):
    """The noiseaudit modules that a script or notebook imports, directly or not.

    With the script itself they are inputs of the rule that runs it, so that an edit reruns what
    depends on it and nothing else.
    """
    found, pending = set(), [entry]
    while pending:
        new = imported_modules(pending.pop()) - found
        found |= new
        pending += new
    return sorted(found)


@cache
def imported_modules(path):
    """Files of the noiseaudit modules that one file imports, with the packages that hold them."""
    names = set()
    for node in ast.walk(ast.parse(python_source(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    files = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == "noiseaudit":
            packages = {Path("src", *parts[: i + 1], "__init__.py") for i in range(len(parts))}
            files |= packages | {Path("src", *parts).with_suffix(".py")}
    return {str(file) for file in files if (ROOT / file).is_file()}


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


def reached_mechanisms(release):
    """The mechanisms that are drawn from in a release: the Gaussian in all, the others in three."""
    asked = config["opendp"]["reach"]["mechanisms"]
    return asked if release in timed_releases() else [name for name in asked if name == "gaussian"]


def card_of(path):
    """A card as it stands, unchecked: the job that draws from it checks it."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        content.get("settings"), content["draw"].get("python")
        return content
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        stop(f"{path.relative_to(ROOT)}: no card found, one in YAML with `draw` expected")


def release_of(card):
    """The site of the release that a card's noise is drawn from, where the studies pin it."""
    pins = (ROOT / "audits" / card.get("requires", "")).resolve()
    known = pins.parent == ROOT / "workflow/envs"
    return f"resources/{pins.stem.replace('-', '/', 1)}" if known else None


def required(card):
    """What lies there before a card is drawn from: a release's site, or pins to install by."""
    if "requires" not in card:
        return []
    return [release_of(card) or os.path.normpath(f"audits/{card['requires']}")]


def own_files(card):
    """The files of a card's functions, its settings' own among them, where they lie beside the card."""
    draws = [each.get("draw", {}) for each in (card, *(card.get("settings") or []))]
    named = {draw["python"].partition(":")[0] for draw in draws if "python" in draw}
    return sorted(f"audits/{name}" for name in named if name.endswith(".py"))


FORMATS = ("png", "svg", "pdf")

# The report sorts its categories by name.
CATEGORIES = {
    "comparison": "1. Published against ours",
    "dptext": "2. DPText",
    "opendp": "3. OpenDP",
    "dpecdf": "4. DPEcdf",
    "audits": "5. Audits of any noise",
    "notebooks": "6. Notebooks",
}


def drawing(place, label, caption=None):
    """The files of a figure: a PNG that goes into the report with its caption, and vector formats."""
    study, name = Path(place).parts[0], Path(place).name
    return {
        "png": report(
            f"figures/{place}.png",
            caption=f"../report/{caption or name}.rst",
            category=CATEGORIES[study],
            labels={"figure": label},
        ),
        "svg": f"figures/{place}.svg",
        "pdf": f"figures/{place}.pdf",
    }


def figure(label, options="", **inputs):
    """A figure: its name in the report, and what its script is told and reads, by the names of its options."""
    return {"label": label, "options": options, "inputs": inputs}


def page(label, title, columns="", caption=None):
    """A table that the report shows inline: its name there, its title, and which columns, all by default."""
    return {"label": label, "title": title, "columns": columns.split(), "caption": caption}


def options(wildcards, input):
    """Options that hand a rule's named inputs to its script: --trace a.parquet, and each of several."""
    return " ".join(
        f"--{name.replace('_', '-')} {path}"
        for name, paths in input.items()
        if name not in ("script", "modules")
        for path in ([paths] if isinstance(paths, str) else paths)
    )
