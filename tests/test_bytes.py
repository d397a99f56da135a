"""The same samples give the same bytes, and whatever needs no wheel runs without one."""

from noiseaudit import tables

VARYING = ("results/dptext/performance", "results/notebooks/dptext", "results/opendp/performance")
VARYING += ("results/opendp/growth", "results/opendp/comparison", "results/comparison")
VARYING += ("results/notebooks/opendp", "figures/opendp/performance")
VARYING += ("results/dpecdf/performance", "results/notebooks/dpecdf")
VARYING += ("results/dpecdf/audit", "figures/dpecdf/audit")
"""Outputs that hold measured times, or come from the operating system's entropy."""


def test_same_samples_same_bytes(finished, spare):
    """Everything but draws and measured times, made again on one core under another hash seed."""
    for name in spare.outputs():
        if not name.endswith((".parquet", "performance.tsv", "growth.tsv")):
            (spare.folder / name).unlink()
    run = spare.snakemake("--cores", "1", PYTHONHASHSEED="123", LC_ALL="C", TZ="Asia/Tokyo")
    assert run.returncode == 0, run.stderr[-3000:]
    assert "rule draw_release" not in run.stderr
    assert repeatable(spare) == repeatable(finished)
    one, other = (untimed(project) for project in (finished, spare))
    assert len(one) > 40
    assert one.equals(other)


def repeatable(project):
    return {name: sum_ for name, sum_ in project.outputs().items() if not name.startswith(VARYING)}


def untimed(project):
    """The comparison without its measured times."""
    rows = tables.read_table(project.folder / "results/comparison.tsv")
    return rows[~rows["quantity"].str.startswith(("microseconds", "time of"))].reset_index(
        drop=True
    )


def test_without_releases_nothing_needs_a_wheel(sources):
    (sources.folder / "config/none.yaml").write_text(
        "opendp: {releases: [], scales: [3], contrast: {scale: 3}, traces: {entropies: [pcg64],"
        " scales: [3], draws: 100_000}, deep: {draws: 100_000}, false_alarms: {traces: 10},"
        " exact: {largest_scale: 100, compositions: [1]}}\n"
        "dpecdf: {releases: [], repeats: 100, utility: {epsilons: [1], bins: [10], rows: [100],"
        " repetitions: 2}, false_alarms: {audits: 10, repeats: 100}}\n"
        "dptext: {mechanisms: [laplace], dimensions: [1, 2], repeats: 1000, repetitions: 2,"
        " panel_draws: 100, benchmark: {repeats: [1000, 2000]}}\n"
    )
    run = sources.snakemake(config="config/none.yaml")
    assert run.returncode == 0, run.stderr[-3000:]
    assert not list(sources.folder.glob("resources/opendp/*"))
    assert not list(sources.folder.glob("resources/synthpriv/*"))
    assert (sources.folder / "results/dptext/losses.tsv").is_file()
    assert (sources.folder / "results/comparison.tsv").is_file()
