"""What people's own machines and settings bring along, from public reports of such pipelines."""

import os
import re
import stat
import subprocess
import sys
import sysconfig
from importlib import util

import nbformat
import pytest

from conftest import ISOLATED, ROOT, Project, isolated
from noiseaudit import __version__, files, wheels

HERE = Project(ROOT)

LIBRARY = ("src/noiseaudit/__init__.py", "src/noiseaudit/wheels.py")
"""What of it the set-up needs."""

NO_MAKE = {"MAKEFLAGS": "", "MAKELEVEL": "0"}
"""Of the `make` that runs the tests a `make` that is tested knows nothing."""


def one_line(run, name):
    """The line that a job or the set-up ends with."""
    assert run.returncode != 0
    assert "Traceback" not in run.stderr
    (line,) = [line for line in run.stderr.splitlines() if line.startswith(f"{name}: ")]
    return line


# A checkout that was copied or moved


def test_a_copy_runs_its_own_library(spare):
    """The environment's noiseaudit is another checkout's; an edit here must show here."""
    style = spare.folder / "src/noiseaudit/figures/style.py"
    text = style.read_text(encoding="utf-8")
    style.unlink()
    style.write_text(text.replace('BLUE = "#0072B2"', 'BLUE = "#123456"'), encoding="utf-8")
    svg = spare.folder / "figures/opendp/taylor_bracket.svg"
    assert "#0072b2" in svg.read_text()
    run = spare.snakemake("-f", "figures/opendp/taylor_bracket.png")
    assert run.returncode == 0, run.stderr
    assert "#123456" in svg.read_text()
    assert "#0072b2" not in svg.read_text()


def test_a_script_by_hand_refuses_another_checkouts_library(sources):
    script = sources.folder / "scripts/opendp/plot_taylor_bracket.py"
    run = sources.run("python", str(script), "--figure", "bracket.png", PYTHONPATH="")
    assert one_line(run, "plot_taylor_bracket") == (
        f"plot_taylor_bracket: library: {ROOT}/src/noiseaudit found, {sources.folder}/src/noiseaudit "
        f"expected (`make` here, or set PYTHONPATH to {sources.folder}/src)"
    )
    assert not (sources.folder / "bracket.png").exists()


def test_an_edited_rule_takes_effect(sources):
    """At once: no copy of the rules outlives a run."""
    assert sources.snakemake("-n", "wheels").returncode == 0
    rules = sources.folder / "workflow/rules/wheels.smk"
    rules.write_text(rules.read_text().replace("rule install_release:", "rule fetch_release:"))
    run = sources.snakemake("-n", "wheels")
    assert "fetch_release" in run.stdout
    assert "install_release:" not in run.stdout


# The set-up


def set_up_of(folder):
    spec = util.spec_from_file_location("set_up", folder / "workflow/set_up.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def small(tmp_path) -> Project:
    """The project's set-up with the smallest lock that it can have, in a path with a space."""
    project = Project(tmp_path / "a place" / "noiseaudit")
    for folder in ("workflow", "scripts", "src/noiseaudit"):
        (project.folder / folder).mkdir(parents=True)
    for name in ("Makefile", "workflow/set_up.py", *LIBRARY):
        (project.folder / name).write_bytes((ROOT / name).read_bytes())
    (project.folder / "scripts/compile_kernels.py").write_text("import noiseaudit\n")
    (project.folder / "pyproject.toml").write_text(
        '[project]\nname = "noiseaudit"\nversion = "0"\n'
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    )
    set_up = set_up_of(ROOT)
    lock = set_up.locked("uv") + set_up.locked("setuptools")
    (project.folder / "requirements.txt").write_text(lock)
    return project


@pytest.mark.slow
def test_the_set_up_takes_no_orders_but_where_packages_are(small, tmp_path):
    """Of the user's settings for pip, uv and Python; and it is made again where it was moved."""
    theirs = {
        "PIP_TARGET": str(tmp_path / "elsewhere"), "PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "0",
        "UV_PYTHON": "2.7", "UV_SYSTEM_PYTHON": "1", "UV_NO_BINARY": "1", "PYTHONSAFEPATH": "1",
        "PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "error", "VIRTUAL_ENV": "/nowhere",
    }  # fmt: skip
    run = small.run("make", "environment", **NO_MAKE, **theirs)
    assert run.returncode == 0, run.stderr
    assert not (tmp_path / "elsewhere").exists()
    python = ".venv/bin/python"
    imported = small.run(python, "-c", "import noiseaudit, setuptools; print(noiseaudit.__file__)")
    assert imported.stdout.strip() == str(small.folder / "src/noiseaudit/__init__.py")
    assert small.run("make", "environment", **NO_MAKE).stdout == ""
    moved = Project(tmp_path / "moved")
    small.folder.rename(moved.folder)
    theirs = tmp_path / "theirs"
    (moved.folder / ".venv").rename(theirs)
    (moved.folder / ".venv").symlink_to(theirs)  # a link is replaced, and not what it leads to
    run = moved.run("make", "environment", **NO_MAKE)
    assert (theirs / "made.json").is_file()
    assert not (moved.folder / ".venv").is_symlink()
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == (
        f"make: .venv was made in {small.folder}: making it again"
    )
    imported = moved.run(python, "-c", "import noiseaudit; print(noiseaudit.__file__)")
    assert imported.stdout.strip() == str(moved.folder / "src/noiseaudit/__init__.py")


def test_what_makes_an_environment_unfit(small):
    set_up = set_up_of(small.folder)
    assert set_up.unfit(this_python=False) == "is not complete"
    (small.folder / ".venv/bin").mkdir(parents=True)
    (small.folder / ".venv/bin/uv").touch()  # what a killed set-up leaves
    assert set_up.unfit(this_python=False) == "is not complete"
    set_up.record(place=str(small.folder), python=set_up.this(), pins=set_up.digest(set_up.LOCK))
    assert set_up.unfit(this_python=False) == "has lost its Python"
    set_up.PYTHON.symlink_to(sys.executable)
    assert set_up.unfit(this_python=True) == ""
    set_up.record(python="3.9.1 in /usr")
    assert set_up.unfit(this_python=False) == ""
    assert set_up.unfit(this_python=True) == (
        f"is of Python 3.9.1 in /usr, {set_up.this()} is asked for"
    )
    set_up.LOCK.write_text("six==1.17.0\n")
    assert set_up.unfit(this_python=False) == "was made from other pins"
    set_up.RECORD.write_text("{")
    assert set_up.unfit(this_python=False) == "is not complete"


def test_a_python_that_is_asked_for_is_taken(small):
    assert (
        "--this-python"
        in small.run("make", "-n", "environment", "PYTHON=python3.13", **NO_MAKE).stdout
    )
    assert (
        "--this-python"
        in small.run("make", "-n", "environment", PYTHON="python3.13", **NO_MAKE).stdout
    )
    assert "--this-python" not in small.run("make", "-n", "environment", **NO_MAKE).stdout


def test_where_packages_come_from_is_the_users_business(monkeypatch):
    for name in (
        "PIP_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "PIP_CERT",
        "UV_CACHE_DIR",
        "SSL_CERT_FILE",
        "UV_INDEX_OWN_PASSWORD",
    ):
        monkeypatch.setenv(name, "theirs")
    for name in ("PIP_PREFIX", "PIP_NO_DEPS", "UV_CONSTRAINT", "PYTHONHOME"):
        monkeypatch.setenv(name, "theirs")
    reached = {name for name, value in wheels.installing_environment().items() if value == "theirs"}
    assert reached == {
        "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_CERT", "UV_CACHE_DIR", "SSL_CERT_FILE",
        "UV_INDEX_OWN_PASSWORD",
    }  # fmt: skip


# Settings and kernels of the user's


@pytest.fixture
def notebook(tmp_path):
    """What writes a notebook of one parameter and one cell, and gives its path."""

    def write(source):
        path = tmp_path / "own.ipynb"
        parameters = nbformat.v4.new_code_cell("repeats = 1", metadata={"tags": ["parameters"]})
        cells = [parameters, *map(nbformat.v4.new_code_cell, [source, "'the end'"])]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
        return path

    return write


def executed(notebook, *arguments, **environment):
    copy = notebook.with_name("executed.ipynb")
    run = HERE.process(
        "execute_notebook", "--notebook", notebook, "--executed", copy, *arguments, **environment
    )
    return run, copy


ASKS = """import sys, pandas
print(repeats + 1, pandas.get_option("display.precision"), sys.executable)"""


def test_a_notebook_knows_none_of_the_users_settings_and_kernels(notebook, tmp_path):
    startup = tmp_path / "home/.ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("import pandas\npandas.set_option('display.precision', 2)\n")
    (tmp_path / "start.py").write_text("import pandas\npandas.set_option('display.precision', 3)\n")
    kernel = tmp_path / "theirs/kernels/python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        '{"argv": ["/nowhere/python"], "display_name": "theirs", "language": "python"}'
    )
    run, copy = executed(
        notebook(ASKS), "-p", "repeats", 20000,
        HOME=str(tmp_path / "home"), JUPYTER_PATH=str(tmp_path / "theirs"),
        PYTHONSTARTUP=str(tmp_path / "start.py"),
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    (printed,) = nbformat.read(copy, as_version=4).cells[-2].outputs
    assert printed.text == f"20001 6 {sys.executable}\n"


def test_a_kernel_that_dies_is_named_with_its_last_words(notebook):
    dying = "import os, sys\nprint('ValueError: no more', file=sys.__stderr__)\nos._exit(3)"
    crashing = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    for cell, words in (
        (dying, "ValueError: no more"),
        (crashing, "Fatal Python error: Segmentation"),
    ):
        path = notebook(cell)
        run, copy = executed(path)
        assert one_line(run, "execute_notebook").startswith(
            f"execute_notebook: {path}, cell 2: its kernel died; its last words: {words}"
        )
        assert not copy.exists()


def test_a_kernel_that_cannot_begin_is_named_with_its_last_words(notebook, tmp_path):
    path = notebook("1")
    broken = tmp_path / "ipykernel_launcher.py"
    broken.write_text("raise RuntimeError('too old a machine')\n")
    run, copy = executed(path, PYTHONPATH=f"{ROOT}/src:{tmp_path}")
    line = one_line(run, "execute_notebook")
    assert line.startswith(f"execute_notebook: {path}, before its first cell: Kernel died before ")
    assert line.endswith("its last words: RuntimeError: too old a machine")
    assert not copy.exists()


def test_too_few_open_files_are_named(notebook):
    limited = f'ulimit -n 64; exec "{sys.executable}" scripts/execute_notebook.py "$@"'
    arguments = ["--notebook", str(notebook("1")), "--executed", "/nowhere/x.ipynb"]
    run = HERE.run("sh", "-c", limited, "sh", *arguments)
    assert one_line(run, "execute_notebook") == (
        "execute_notebook: ulimit -n: 64 open files found, 256 or more expected"
    )


def test_an_unknown_parameter_is_named(notebook):
    run, _ = executed(notebook("1"), "-p", "repeat", 3)
    assert one_line(run, "execute_notebook") == (
        "execute_notebook: parameter: 'repeat' found, one of repeats expected"
    )


@pytest.mark.parametrize("name", ["dptext", "opendp", "realised_privacy", "dpecdf"])
def test_notebooks_run_by_themselves_with_their_defaults(finished, tmp_path, name):
    run = Project(finished.folder / "notebooks").run(
        "jupyter", "nbconvert", "--to", "notebook", "--execute", f"{name}.ipynb",
        "--output-dir", str(tmp_path),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    cells = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4).cells
    assert "stands" in str(cells[-1].outputs)


# Where it runs, and what it may write


def test_links_in_place_of_results_are_cleaned_too(sources, tmp_path):
    for name in ("results", "figures"):
        (tmp_path / f"big/{name}/opendp/samples").mkdir(parents=True)
        for made in ("opendp/made.tsv", "opendp/.left.tsv", "README.md", "opendp/samples/kept"):
            (tmp_path / f"big/{name}/{made}").touch()
        for path in (sources.folder / name).iterdir():
            path.unlink()
        (sources.folder / name).rmdir()
        (sources.folder / name).symlink_to(tmp_path / f"big/{name}")
    run = sources.run("make", "clean", **NO_MAKE)
    assert run.returncode == 0, run.stderr
    left = {
        name: sorted(str(path.relative_to(tmp_path / f"big/{name}")) for path in found)
        for name in ("results", "figures")
        if (found := [p for p in (tmp_path / f"big/{name}").rglob("*") if p.is_file()])
    }
    assert left == {"results": ["README.md", "opendp/samples/kept"], "figures": ["README.md"]}


@pytest.mark.parametrize("config", [[], ["--configfile", "config/quick.yaml"]])
def test_another_folder_is_named(sources, tmp_path, config):
    run = sources.run("snakemake", "-n", "--directory", str(tmp_path), *config)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"working folder: {tmp_path} found, {sources.folder} expected: the pipeline runs in its own"
    )
    assert "Traceback" not in run.stderr


def test_a_run_needs_no_home_no_installed_library_and_opens_no_file_to_others(sources, tmp_path):
    """As a service runs it, or Snakemake by itself with what environment.yml names, which is all but
    noiseaudit: for nobody known, in an empty environment, with a home that is none, under the umask 077.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (site,) = tmp_path.glob("env/lib/python*/site-packages")
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")  # but not its .pth
    python = str(tmp_path / "env/bin/python")
    assert sources.run(python, "-c", "import noiseaudit").returncode != 0
    nameless = ["unshare", "--map-user=12345", "--map-group=12345"] if ISOLATED else []
    bare = [*nameless, "env", "-i", f"PATH={os.environ['PATH']}", "HOME=/proc/nowhere"]
    bare += ["PYTHONSAFEPATH=1", "MPLBACKEND=theirs"]
    figure = "figures/opendp/taylor_bracket"
    run = sources.run(
        *bare, python, "-m", "snakemake", "--cores", "1", f"{figure}.png", umask=0o077
    )
    assert run.returncode == 0, run.stderr
    assert "Matplotlib" not in run.stderr
    assert (sources.folder / ".cache/matplotlib").is_dir()
    written = [f"{figure}.{form}" for form in ("png", "svg", "pdf")]
    written += ["logs/opendp/plot_taylor_bracket.log"]
    for name in written:
        assert stat.S_IMODE((sources.folder / name).stat().st_mode) == 0o600, name


def test_a_path_with_braces_is_named(sources):
    braced = Project(sources.folder.with_name("a {draft}"))
    sources.folder.rename(braced.folder)
    run = braced.snakemake("-n")
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"{braced.folder}: a path with braces found, which Snakemake takes for wildcards, one without "
        "expected"
    )
    assert "Traceback" not in run.stderr


@isolated
def test_a_full_folder_for_temporary_files_is_named_or_not_needed(sources, tmp_path, notebook):
    """Snakemake and a figure need none; a kernel's sockets do."""
    (tmp_path / "full").mkdir()
    path = notebook("1")
    full = """mount -t tmpfs -o size=64k none "$TMPDIR"
        cat /dev/zero 2>/dev/null >"$TMPDIR/zeros"
        snakemake --cores 1 figures/opendp/taylor_bracket.png >&2 || exit 3
        truncate -s 61440 "$TMPDIR/zeros"
        python scripts/execute_notebook.py --notebook "$0" --executed "$0.executed.ipynb" """
    place = {"TMPDIR": str(tmp_path / "full"), "PYTHONPATH": str(sources.folder / "src")}
    run = sources.run("unshare", "-rmn", "sh", "-c", full, str(path), **place)
    assert (sources.folder / "figures/opendp/taylor_bracket.png").is_file(), run.stderr
    assert one_line(run, "execute_notebook") == (
        f"execute_notebook: TMPDIR ({tmp_path}/full) cannot be written: No space left on device"
    )


@pytest.mark.parametrize(("umask", "mode"), [(0o002, 0o664), (0o022, 0o644), (0o077, 0o600)])
def test_tables_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with files.replacing(tmp_path / "x.tsv") as temporary:
            temporary.write_text("x\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.tsv").stat().st_mode) == mode


def test_numba_without_its_compiler_is_named(tmp_path):
    run = HERE.process(
        "draw_traces", "--variant", "fixed", "--entropy", "pcg64", "--scale", 10, "--draws", 10,
        "--seed", 1, "--samples", tmp_path / "x.parquet", NUMBA_DISABLE_JIT="1",
    )  # fmt: skip
    assert one_line(run, "draw_traces") == (
        "draw_traces: NUMBA_DISABLE_JIT: set, but the kernels are made by the compiler; unset it"
    )


def test_the_tests_need_no_git(sources):
    """In an unpacked archive, whose folder no git knows."""
    assert not (sources.folder / ".git").exists()
    tests = [f"tests/test_{name}.py" for name in ("scripts", "project", "machines")]
    tests += ["-k", "explains or outputs_are_committed or another_folder"]
    run = sources.run("python", "-m", "pytest", "-q", "-n", "0", *tests, GIT_DIR="/nowhere")
    assert run.returncode == 0, run.stdout[-3000:]
    assert re.search(r"\d\d passed, 1 skipped", run.stdout)


def test_a_version_is_stated():
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
