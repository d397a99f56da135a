"""The project on small samples, run once for all tests that look at its outputs."""

import contextlib
import hashlib
import io
import os
import runpy
import shutil
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import pytest
from filelock import FileLock
from hypothesis import settings
from pathspec import GitIgnoreSpec

import verify_determinism

RUNS = verify_determinism.RUNS
"""Numbers of cores, hash seeds, locales and time zones that may not matter."""

# Examples are the same in every run, and a compiler's or a busy machine's pause is no failure.
settings.register_profile("noiseaudit", deadline=None, derandomize=True)
settings.load_profile("noiseaudit")

ROOT = Path(__file__).resolve().parent.parent
KERNELS = "src/noiseaudit/cks20/__pycache__"
"""Where Numba keeps what it compiled."""

TOOLS = Path(sys.executable).parent

SCRIPTS = sorted(path.relative_to(ROOT) for path in (ROOT / "scripts").rglob("*.py"))


LONGEST = ("test_kills", "test_kernels", "test_extending", "test_recovery", "test_pipeline")
"""Files that the other workers should not be left waiting for."""


def pytest_collection_modifyitems(items):
    """The longest files first, then the others as they come; what runs the pipeline is marked."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))
    for item in items:
        if {"finished", "sources"} & set(item.fixturenames):
            item.add_marker("pipeline")


def script_path(name: str) -> Path:
    """Where a script lies, from the project's folder: each study has a folder of its own."""
    (found,) = [path for path in SCRIPTS if path.stem == name]
    return found


def source_files() -> list[Path]:
    """The project's files, relative to its folder, without what .gitignore names: what is made."""
    ignored = GitIgnoreSpec.from_lines((ROOT / ".gitignore").read_text("utf-8").splitlines())
    found = []
    for folder, folders, names in os.walk(ROOT):
        place = Path(folder).relative_to(ROOT)
        folders[:] = [n for n in folders if n != ".git" and not ignored.match_file(f"{place / n}/")]
        found += [
            place / name
            for name in names
            if not ignored.match_file(place / name) and (ROOT / place / name).is_file()
        ]
    return found


UNSHARED = ["unshare", "-rmn", "true"]
ISOLATED = bool(shutil.which("unshare")) and not subprocess.call(
    UNSHARED, stderr=subprocess.DEVNULL
)

isolated = pytest.mark.skipif(
    not ISOLATED, reason="this machine lets nobody mount a file system of their own"
)


class Project:
    """A copy of the project's sources in a folder of its own, with its outputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The library that is installed is another: the original's.
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(TOOLS), os.environ["PATH"]]),
        }

    @classmethod
    def copy_of_sources(cls, folder: Path) -> "Project":
        for name in source_files():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
        # What set-up compiled is good for a copy of the same age.
        (folder / KERNELS).mkdir()
        for path in (ROOT / KERNELS).glob("kernels.*"):
            shutil.copy2(path, folder / KERNELS)
        return cls(folder)

    def run(self, *command: str, umask: int = -1, **more: str) -> CompletedProcess:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | more,
            umask=umask,
            capture_output=True,
            text=True,
            check=False,
        )

    def snakemake(self, *arguments: str, config: str = "config/quick.yaml", **more: str):
        # --configfile takes every word that follows it, so it comes last.
        files = config.split()
        return self.run("snakemake", "--cores", "2", *arguments, "--configfile", *files, **more)

    def process(self, name: str, *arguments: object, **more: str) -> CompletedProcess:
        """A script of the copy, by hand."""
        own = {"PYTHONPATH": str(self.folder / "src")}
        return self.run("python", str(script_path(name)), *map(str, arguments), **own | more)

    def script(self, name: str, *arguments: object) -> CompletedProcess:
        """The same script in this process and folder: what it imports is imported once for all tests."""
        command = [str(ROOT / script_path(name)), *map(str, arguments)]
        out, err, status = io.StringIO(), io.StringIO(), 0
        handler = signal.getsignal(signal.SIGTERM)
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(sys, "argv", command),
            mock.patch.dict(os.environ),
        ):
            try:
                runpy.run_path(command[0], run_name="__main__")
            except SystemExit as end:
                status = end.code
            except Exception:
                traceback.print_exc()
                status = 1
            finally:
                signal.signal(signal.SIGTERM, handler)
        return CompletedProcess(command, status, out.getvalue(), err.getvalue())

    def outputs(self) -> dict[str, str]:
        """Checksums of everything that the pipeline made."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in verify_determinism.outputs(self.folder)
        }

    def repeatable(self) -> dict[str, str]:
        """Digests of what does not come from the operating system's entropy."""
        return {
            name: digest
            for name, digest in verify_determinism.digests(self.folder).items()
            if not name.startswith(verify_determinism.UNSEEDED)
        }

    def remove_repeatable(self) -> None:
        """Leave of the outputs only draws of the wheels and measured times."""
        verify_determinism.remove_outputs(self.folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id) -> Project:
    """The project after `snakemake --configfile config/quick.yaml`, real wheels included.

    Made by the first worker that asks for it; the others wait.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    folder, outcome = shared / "project", shared / "project.outcome"
    with FileLock(folder.with_suffix(".lock")):
        if not outcome.exists():
            run = Project.copy_of_sources(folder).snakemake()
            outcome.write_text(run.stderr[-5000:] if run.returncode else "")
    assert outcome.read_text() == ""
    return Project(folder)


@pytest.fixture(scope="session")
def report(finished) -> Path:
    """The page of `make report`, made once."""
    page = finished.folder.with_name("report.html")
    with FileLock(page.with_suffix(".lock")):
        if not page.exists():
            run = finished.snakemake("--report", str(page))
            assert run.returncode == 0, run.stderr
    return page


def started(
    project: Project, *arguments: str, settings: dict[str, str] | None = None
) -> subprocess.Popen:
    """Snakemake in the background, with its jobs in a process group of their own."""
    return subprocess.Popen(
        ["snakemake", *arguments, "--quiet", "all", "--configfile", "config/quick.yaml"],
        cwd=project.folder,
        env=project.environment | (settings or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def untouched(finished: Project) -> FileLock:
    """Held by who copies the finished project, and by who changes something in it for a moment."""
    return FileLock(finished.folder.with_suffix(".lock"))


@pytest.fixture
def spare(finished, tmp_path) -> Project:
    """A copy of the finished project to break. Its files are links: replace them, never edit.

    Only what Snakemake and the jobs' logs write over in place is a copy.
    """
    folder = tmp_path / "spare"
    with untouched(finished):
        subprocess.run(["cp", "-al", finished.folder, folder], check=True)
        for written_over in (".snakemake", "logs"):
            shutil.rmtree(folder / written_over)
            shutil.copytree(finished.folder / written_over, folder / written_over)
    return Project(folder)


@pytest.fixture
def sources(tmp_path) -> Project:
    """The project's sources alone, as after a clone."""
    return Project.copy_of_sources(tmp_path / "clone")
