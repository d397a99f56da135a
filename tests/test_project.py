"""The project's own files agree with each other."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from snakemake import cli
from snakemake.scheduling import job_scheduler
from snakemake.settings.types import MaxJobsPerTimespan

from conftest import ROOT

LIBRARY = ROOT / "src/noiseaudit"


def direct_requirements():
    lines = (ROOT / "requirements.in").read_text().splitlines()
    return [name for line in lines if (name := line.split("#")[0].strip())]


def pins():
    """Versions in the lock file, for Python 3.11."""
    text = (ROOT / "requirements.txt").read_text()
    found = re.findall(r"^([a-z0-9-]+)==([^ ]+)(?: ; (.*))? \\$", text, re.M)
    return {
        name: version for name, version, marker in found if ">=" not in marker or "3.11" in marker
    }


def test_conda_users_get_the_pinned_versions():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    listed = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    versions = dict(entry.split("=") for entry in listed if "=" in entry)
    assert versions.pop("python") == "3.11"
    versions["matplotlib"] = versions.pop("matplotlib-base")
    (from_pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    versions |= dict(entry.split("==") for entry in from_pip if "==" in entry)
    assert versions == {name: pins()[name] for name in direct_requirements()}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_pin_has_hashes_and_no_index(name):
    text = (ROOT / name).read_text()
    blocks = re.findall(r"^[a-z0-9-]+==.*\n((?:    .*\n?)*)", text, re.M)
    assert len(blocks) > 10
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "index-url" not in text


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


FLOORS = [
    ["__version__", "columns", "verdicts"],
    ["entropy", "stats", "files", "schemas", "jobs", "_draw_from_wheel"],
    ["samplefiles", "tables", "wheels", "settings"],
    ["mechanisms", "releases", "cks20", "audit"],
    ["attack", "dpecdf"],
    ["privacy_loss"],
    ["published"],
    ["figures"],
    ["command"],
]


def floor_of(module: str) -> int:
    (floor,) = [place for place, rooms in enumerate(FLOORS) if module in rooms]
    return floor


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda path: path.stem)
def test_arrows_run_downwards(path):
    room = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "noiseaudit" and parts[1] != room:
            assert floor_of(parts[1]) < floor_of(room), f"{room} imports {parts[1]}"
        assert parts[0] not in {"snakemake", "papermill"}
        assert parts[0] != "matplotlib" or room == "figures"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout: an unpacked archive")
def test_no_outputs_are_committed():
    listed = subprocess.run(
        ["git", "ls-files", "results", "figures", "resources/opendp", "resources/synthpriv"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert listed.stdout.split() == ["figures/README.md", "results/README.md"]


def test_source_notebooks_hold_no_outputs():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        text = path.read_text()
        assert '"outputs": []' in text
        assert '"output_type"' not in text
        assert '"parameters"' in text


@pytest.fixture
def clone(sources):
    """The sources in a git repository of their own, with this environment."""
    environment = Path(sys.prefix)
    if environment != ROOT / ".venv":
        pytest.skip(
            "the hooks call tools from .venv, which `make` makes; this is another environment"
        )
    (sources.folder / ".venv").symlink_to(environment)
    for command in (["init", "-q"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=sources.folder, check=True)
    return sources


def test_hooks_pass_on_the_whole_tree_and_strip_a_notebook(clone, tmp_path):
    run = ["pre-commit", "run", "--all-files"]
    clean = clone.run(*run, PRE_COMMIT_HOME=str(tmp_path / "hooks"))
    assert clean.returncode == 0, clean.stdout
    assert clean.stdout.count("Passed") == 4
    path = clone.folder / "notebooks/opendp.ipynb"
    before = path.read_text(encoding="utf-8")
    printed = '"outputs": [{"name": "stdout", "output_type": "stream", "text": ["1"]}]'
    path.write_text(before.replace('"outputs": []', printed, 1), encoding="utf-8")
    stripped = clone.run(*run, PRE_COMMIT_HOME=str(tmp_path / "hooks"))
    assert stripped.returncode != 0
    assert path.read_text(encoding="utf-8") == before


def test_the_actions_run_what_the_makefile_has():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    for name in ("ci", "weekly"):
        workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
        steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
        assert any(steps)
        for command in filter(None, steps):
            program, target, *_ = command.split()
            assert (program == "make" and target in targets) or (ROOT / target).is_file(), command


def cells_of(notebook: Path) -> list[dict]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def test_the_gallery_holds_the_executed_notebooks():
    sources = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    executed = {path.name: path for path in (ROOT / "docs/notebooks").glob("*.ipynb")}
    assert set(executed) == sources
    for path in executed.values():
        cells = cells_of(path)
        asked = [
            cell["source"]
            for cell in cells
            if "injected-parameters" not in cell["metadata"].get("tags", [])
        ]
        assert asked == [cell["source"] for cell in cells_of(ROOT / "notebooks" / path.name)]
        assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code")
        assert "stands" in str(cells[-1]["outputs"])


def test_the_schedulers_limit_is_where_the_snakefile_takes_it_off():
    """By its attributes in this version of Snakemake, and its default; any other is left in force."""
    scheduler = inspect.getsource(job_scheduler.JobScheduler)
    assert "self.job_rate_limiter = (" in scheduler
    assert "if self.job_rate_limiter is None:" in scheduler
    default = cli.get_argument_parser().get_default("max_jobs_per_timespan")
    limiter = job_scheduler.JobRateLimiter(MaxJobsPerTimespan.parse_choice(default))
    assert (limiter.max_jobs, limiter.timespan) == (100, 1)
