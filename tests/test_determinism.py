"""Same config, same bytes; and whatever needs no wheel runs without one.

The whole of the small samples is made again, under other numbers of cores, hash seeds, locales and
time zones, by `test_kills`.
"""

import shutil

import pytest

import verify_determinism
from noiseaudit import tables

TINY = """
dptext: {mechanisms: [laplace], dimensions: [1, 2], repeats: 1000, repetitions: 2,
  panel_draws: 100, benchmark: {repeats: [1000, 2000]}}
"""

TARGETS = ["results/dptext/losses.html", "figures/dptext/transforms.png"]


def test_the_script_runs_twice_and_finds_the_same_bytes(sources, tmp_path):
    (sources.folder / "config/tiny.yaml").write_text(TINY, encoding="utf-8")
    run = sources.process(
        "verify_determinism", "--configfile", "config/tiny.yaml", "--runs", 1,
        "--folder", tmp_path / "runs", *TARGETS,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert "outputs equal in 2 runs; " in run.stdout
    assert (tmp_path / "runs/first/results/dptext/losses.tsv").is_file()


WITHOUT_WHEELS = "opendp: {releases: []}\ndpecdf: {releases: []}\n"


def test_what_needs_no_wheel_runs_without_one(spare):
    """Of the finished project only what differs is made: all other jobs are the same ones."""
    (spare.folder / "config/none.yaml").write_text(WITHOUT_WHEELS, encoding="utf-8")
    for package in ("opendp", "synthpriv"):
        shutil.rmtree(spare.folder / f"resources/{package}")
    shutil.rmtree(spare.folder / "results/opendp/samples")
    joined = ("comparison", "claims", "dpecdf/audit")
    for name in joined:
        (spare.folder / f"results/{name}.tsv").unlink()
    run = spare.snakemake(config="config/quick.yaml config/none.yaml")
    assert run.returncode == 0, run.stderr[-3000:]
    assert not list((spare.folder / "resources").glob("*/*.*.*"))
    rows = {name: tables.read_table(spare.folder / f"results/{name}.tsv") for name in joined}
    assert set(rows["comparison"]["source"]) == set(rows["claims"]["source"]) == {"dptext"}
    assert set(rows["dpecdf/audit"]["subject"]) == {"hardened"}
    again = spare.snakemake("-n", config="config/quick.yaml config/none.yaml")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize(
    ("found", "named"),
    [
        ({"results/a.tsv": "1", "figures/b.png": "9"}, "other bytes in figures/b.png"),
        ({"results/a.tsv": "1"}, "other bytes in figures/b.png"),
        (
            {"results/a.tsv": "1", "figures/b.png": "2", "results/c.tsv": "3"},
            "other bytes in results/c.tsv",
        ),
    ],
)
def test_other_bytes_are_named(found, named):
    expected = {"results/a.tsv": "1", "figures/b.png": "2", "results/dpecdf/audit.tsv": "3"}
    with pytest.raises(ValueError, match=f"^with cores 1 {named}$"):
        verify_determinism.compare(expected, found, {"cores": "1"})
    found = expected | {"results/dpecdf/audit.tsv": "4"}
    verify_determinism.compare(expected, found, {"cores": "1"})
