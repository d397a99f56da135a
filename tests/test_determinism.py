"""Same config, same bytes; and whatever needs no wheel runs without one.

The whole of the small samples is made again, under other numbers of cores, hash seeds, locales and
time zones, by `test_recovery`.
"""

import pytest

import verify_determinism

WITHOUT_WHEELS = """
opendp: {releases: [], scales: [3], contrast: {scale: 3}, deep: {draws: 100_000},
  traces: {entropies: [pcg64], scales: [3], draws: 100_000}, false_alarms: {traces: 10},
  exact: {largest_scale: 100, compositions: [1]}}
dpecdf: {releases: [], repeats: 100, false_alarms: {audits: 10, repeats: 100},
  utility: {epsilons: [1], bins: [10], rows: [100], repetitions: 2}}
dptext: {mechanisms: [laplace], dimensions: [1, 2], repeats: 1000, repetitions: 2,
  panel_draws: 100, benchmark: {repeats: [1000, 2000]}}
"""


def test_the_script_runs_twice_and_finds_the_same_bytes_without_wheels(sources, tmp_path):
    (sources.folder / "config/none.yaml").write_text(WITHOUT_WHEELS, encoding="utf-8")
    run = sources.script(
        "verify_determinism", "--configfile", "config/none.yaml", "--runs", 1,
        "--folder", tmp_path / "runs",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert "outputs equal in 2 runs; " in run.stdout
    first = tmp_path / "runs/first"
    assert not list(first.glob("resources/opendp/*"))
    assert not list(first.glob("resources/synthpriv/*"))
    for name in ("dptext/losses", "comparison", "claims"):
        assert (first / f"results/{name}.tsv").is_file()


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
