"""What happens on real machines: damaged caches, full disks, two runs at once, no network."""

import signal
import sys
import time

import pytest

from conftest import KERNELS, isolated, started
from noiseaudit import samplefiles

SAMPLE = "results/opendp/samples/opendp-0.14.1_scale-10_draws-100000.parquet"
TRACE = "results/opendp/traces/faulty_pcg64_scale-10_draws-100000.parquet"


def test_of_two_runs_in_one_folder_the_second_is_refused(finished, spare):
    remade = ["results/opendp/composition.tsv", "figures/opendp/realised_epsilon.png"]
    for name in remade:
        (spare.folder / name).unlink()
    first = started(spare, *remade, "--cores", "1")
    try:
        locks = spare.folder / ".snakemake/locks"
        while first.poll() is None and not any(locks.glob("*")):
            time.sleep(0.05)
        first.send_signal(signal.SIGSTOP)  # until the second has come to its end
        second = spare.snakemake(*remade)
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGCONT)
        first.wait()
    assert second.returncode == 1
    # By the lock, or even before, where a file that it plans with goes away.
    assert "cannot be locked" in second.stderr or "a concurrent process" in second.stderr
    assert "Traceback" not in second.stderr
    assert first.returncode == 0
    assert spare.repeatable() == finished.repeatable()


def truncated(content):
    return content[:-3000]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


@pytest.mark.parametrize(
    ("damage", "words"),
    [(truncated, "truncated"), (flipped, "damaged"), (None, "another job's samples")],
)
@pytest.mark.parametrize(
    ("cache", "reader", "table"),
    [
        (SAMPLE, "tabulate_plrv", "results/opendp/plrv.tsv"),
        (TRACE, "tabulate_layers", "results/opendp/layers.tsv"),
    ],
)
def test_a_damaged_cache_is_noticed_and_named(spare, cache, reader, table, damage, words):
    path = spare.folder / cache
    others = [other for other in path.parent.glob("*.parquet") if other.name != path.name]
    content = damage(path.read_bytes()) if damage else others[0].read_bytes()
    path.unlink()
    path.write_bytes(content)
    before = spare.outputs()
    run = spare.snakemake("--quiet", "all", "--until", reader)
    assert not [*(spare.folder / "results").rglob(".*")]
    assert run.returncode != 0
    (line,) = [line for line in run.stderr.splitlines() if line.startswith(f"{reader}: ")]
    assert cache in line
    assert words in line
    assert "Traceback" not in run.stderr
    before.pop(table)
    before.pop("results/opendp/plrv.tsv", None)  # a trace is among its inputs too
    after = spare.outputs()
    after.pop("results/opendp/plrv.tsv", None)
    assert after == before


def test_damaged_counts_are_noticed_and_named(spare):
    """Votes that do not add up to the repeats: the cell is named, which parts may share."""
    (path,) = (spare.folder / "results/dptext/counts").glob("laplace_repeats-100000_*")
    lines = path.read_text().splitlines()
    cell = lines[1].split("\t")
    cell[3] = str(int(cell[3]) + 1)
    path.unlink()
    path.write_text("\n".join([lines[0], "\t".join(cell), *lines[2:]]) + "\n")
    run = spare.snakemake("results/dptext/losses.tsv")
    assert run.returncode != 0
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("tabulate_losses: ")]
    assert f"laplace, epsilon {float(cell[1]):g}, n = {cell[2]}: [100001, 100000] repeats" in line
    assert not (spare.folder / "results/dptext/losses.tsv").exists()


@pytest.mark.parametrize(("damage", "suffix"), [(truncated, "nbi"), (flipped, "nbc")])
def test_damaged_compiled_kernels_are_compiled_anew(spare, tmp_path, damage, suffix):
    """An index cut short, as after a power failure; a bit of the code, which Numba would run."""
    counts = [
        "count_draws", "--variant", "fixed", "--entropy", "pcg64", "--scale", 10, "--draws", 1000,
        "--part", 1, "--parts", 1, "--seed", 1, "--counts",
    ]  # fmt: skip
    assert spare.process(*counts, tmp_path / "before.tsv").returncode == 0
    damaged = {
        path: damage(path.read_bytes()) for path in (spare.folder / KERNELS).glob(f"*.{suffix}")
    }
    assert damaged
    for path, content in damaged.items():
        path.unlink()
        path.write_bytes(content)
    run = spare.process(*counts, tmp_path / "after.tsv")
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "after.tsv").read_bytes() == (tmp_path / "before.tsv").read_bytes()
    assert not [
        path for path, content in damaged.items() if path.exists() and path.read_bytes() == content
    ]


def alone(project, setup, *arguments, config="config/quick.yaml"):
    """Snakemake where ``setup``, a shell command, holds for it and for nothing else.

    What it leaves under a temporary name is on stdout.
    """
    run = f"""{setup} && snakemake --cores 2 "$@" --configfile {config} >/dev/null
        status=$?; find results -name '.?*'; exit $status"""
    return project.run("unshare", "-rmn", "sh", "-c", run, "sh", *arguments)


@isolated
@pytest.mark.parametrize("temporary", ["", "export TMPDIR=$PWD/results && "])
def test_a_full_disk_is_one_line_and_leaves_nothing(spare, temporary):
    """That holds the results, and the temporary files too."""
    run = alone(spare, f"{temporary}mount -t tmpfs -o size=300k none results", TRACE)
    assert run.returncode != 0
    assert run.stdout == ""
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("draw_traces: ")]
    assert line == f"draw_traces: {TRACE} cannot be written: No space left on device"
    assert "Traceback" not in run.stderr


@isolated
@pytest.mark.parametrize("folder", ["results", "figures"])
def test_a_read_only_folder_is_one_line(spare, folder):
    setup = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"
    run = alone(spare, setup)
    assert run.returncode == 1
    (line,) = [line for line in run.stderr.splitlines() if folder in line]
    assert line == f"{folder}: a read-only folder found, one to write to expected"
    assert "Traceback" not in run.stderr


UNREACHABLE = (
    "import errno, socket; assert socket.socket().connect_ex(('127.0.0.1', 9)) == errno.ENETUNREACH"
)


@isolated
def test_once_the_wheels_are_there_no_network_is_needed(spare):
    """Draws, traces, tables, figures, notebooks and the report, with no network, not even a loopback."""
    removed = [SAMPLE, TRACE, "results/opendp/realised_privacy.tsv", "results/dpecdf/agreement.tsv"]
    removed += [f"results/notebooks/dptext.{form}" for form in ("ipynb", "html")]
    removed += [f"figures/dptext/transforms.{form}" for form in ("png", "svg", "pdf")]
    for name in removed:
        (spare.folder / name).unlink()
    setup = f'"{sys.executable}" -c "{UNREACHABLE}"'
    run = alone(spare, setup, *removed)
    assert run.returncode == 0, run.stderr[-3000:]
    assert all((spare.folder / name).is_file() for name in removed)
    samplefiles.read_provenance(spare.folder / SAMPLE)
    report = alone(spare, setup, "--report", "report.html")
    assert report.returncode == 0, report.stderr[-3000:]
