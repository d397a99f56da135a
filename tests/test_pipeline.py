"""The DAG, by running it on small samples with the real wheels."""

import hashlib
import os
import re

import nbformat
import numpy as np
import pytest

from conftest import Project
from noiseaudit import tables

COLUMNS = {
    "opendp/releases": "release scale samples mean variance mean_z chi2 dof p chi2_pooled dof_pooled"
    " p_pooled claimed_epsilon realised_epsilon_exact realised_epsilon_low verdict",
    "opendp/layers": "variant entropy scale samples layer mean theory_mean mean_z mean_p chi2 dof p"
    " chi2_pooled dof_pooled p_pooled expected_mean_z expected_chi2 expected_chi2_sd"
    " published_mean_z published_chi2 verdict",
    "opendp/plrv": "source scale x count_x count_next loss loss_low loss_high exact_loss bound"
    " within_3sigma",
    "comparison": "source location quantity published ours ours_low ours_high expected expected_sd"
    " deviation_sigma verdict",
}


FIGURES = [
    "dptext/privacy_loss",
    "dptext/exact_agreement",
    "dptext/transforms",
    "opendp/artifacts",
    "opendp/diagnosis",
    "opendp/plrv",
]

TIMINGS = ("results/dptext/performance.tsv", "results/notebooks/dptext")
"""Outputs that hold measured times, and differ from run to run."""


@pytest.fixture(scope="module")
def releases(finished):
    return tables.read_table(finished.folder / "results/opendp/releases.tsv", text=["release"])


@pytest.fixture(scope="module")
def losses(finished):
    return tables.read_table(finished.folder / "results/opendp/plrv.tsv", text=["source"])


def outputs(project: Project) -> dict[str, str]:
    """Checksums of everything that the pipeline made."""
    files = [path for top in ("results", "figures") for path in (project.folder / top).rglob("*")]
    return {
        str(path.relative_to(project.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file() and path.name != "README.md"
    }


def planned(run) -> dict[str, int]:
    """The rules that a dry run would run, and how often."""
    assert run.returncode == 0, run.stderr
    stats = re.search(r"^job +count\n-[- ]+\n(.*?)^total ", run.stdout, re.M | re.S)
    if stats is None:
        assert "Nothing to be done" in run.stdout + run.stderr
        return {}
    counts = dict(line.split() for line in stats[1].splitlines())
    counts.pop("all", None)
    return {rule: int(count) for rule, count in counts.items()}


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_have_their_columns(finished, name):
    columns = tables.read_table(finished.folder / f"results/{name}.tsv").columns
    promised = COLUMNS[name].split(" ")
    assert list(columns[: len(promised)]) == promised


def test_releases_are_told_apart(releases):
    """A healthy one is flagged with a nominal 10⁻⁶; 0.14.1 escapes with less than 10⁻⁶."""
    verdicts = dict(zip(releases["release"], releases["verdict"], strict=True))
    assert verdicts == {
        "0.8.0": "no deviation found",
        "0.14.1": "violates epsilon",
        "0.14.2": "no deviation found",
        "0.16.0": "no deviation found",
    }
    faulty = releases[releases["release"] == "0.14.1"].iloc[0]
    assert abs(faulty["chi2"] - faulty["expected_chi2"]) < 6 * faulty["expected_chi2_sd"]
    assert np.all(np.abs(releases["mean_z"]) < 6)


def test_the_faulty_layer_is_named_and_a_stuck_source_too(finished):
    """At 100 000 draws; healthy traces are flagged with a nominal probability of 10⁻⁶ together."""
    text = ["variant", "entropy", "scale", "layer", "verdict"]
    rows = tables.read_table(finished.folder / "results/opendp/layers.tsv", text=text)
    earliest = rows[rows["verdict"] == "earliest faulty layer"]
    assert {(row.variant, row.entropy): row.layer for row in earliest.itertuples()} == {
        ("faulty", "pcg64"): "bernoulli_exp1",
        ("faulty", "stuck"): "uniform_bits",
        ("fixed", "stuck"): "uniform_bits",
        ("taylor", "stuck"): "uniform_bits",
    }


def test_certified_bounds_hold_for_every_output(losses):
    seen = losses[losses["exact_loss"].notna()]
    assert len(seen) == 4 * 2 * 122
    assert np.all(
        (seen["loss_low"] <= seen["exact_loss"]) & (seen["exact_loss"] <= seen["loss_high"])
    )


def test_every_figure_is_there_in_every_format(finished):
    for name in FIGURES:
        stem = finished.folder / f"figures/{name}"
        assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert stem.with_suffix(".svg").read_text().startswith("<?xml")
        assert stem.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "pictures", "conclusion"),
    [("opendp", 2, "OpenDP 0.14.1: violates epsilon"), ("dptext", 3, "reproduced")],
)
def test_the_executed_notebooks_are_complete(finished, name, pictures, conclusion):
    notebook = nbformat.read(finished.folder / f"results/notebooks/{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert conclusion in str(outputs[-3:])


def test_pages_ask_the_network_for_nothing(finished):
    for name in (
        "notebooks/opendp",
        "notebooks/dptext",
        "opendp/releases",
        "dptext/losses",
        "comparison",
    ):
        page = (finished.folder / f"results/{name}.html").read_text()
        assert "</html>" in page
        assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//[^"'\s>]+""", page)
        assert not re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", page)


def test_no_machine_path_in_the_outputs(finished):
    for path in (finished.folder / "results").rglob("*"):
        if path.suffix in {".tsv", ".html", ".ipynb"}:
            assert str(finished.folder) not in path.read_text(), path


def test_nothing_is_left_to_do(finished):
    assert planned(finished.snakemake("-n")) == {}


def test_no_temporary_files_are_left(finished):
    made = [name for name in outputs(finished) if "/." in name]
    assert made == []


def test_same_samples_same_bytes(finished, spare):
    """Everything but the draws, made again on one core under another hash seed and locale."""
    for name in outputs(spare):
        if not name.endswith(".parquet"):
            (spare.folder / name).unlink()
    run = spare.snakemake("--cores", "1", PYTHONHASHSEED="123", LC_ALL="C", TZ="Asia/Tokyo")
    assert run.returncode == 0, run.stderr[-3000:]
    assert "rule draw_release" not in run.stderr
    assert repeatable(spare) == repeatable(finished)


def repeatable(project):
    return {name: sum_ for name, sum_ in outputs(project).items() if not name.startswith(TIMINGS)}


FROM_RELEASES = {"compare_opendp", "render_releases"}
FROM_LOSSES = {"plot_privacy_loss", "plot_exact_agreement", "render_losses", "compare_dptext"}
FROM_LOSSES |= {"execute_dptext"}
JOINED = {"tabulate_comparison", "render_comparison", "render_notebook"}
OPENDP_PLOTS = {"plot_artifacts", "plot_plrv"}
AFTER_DRAWS = (
    {"tabulate_plrv", "tabulate_releases", "execute_opendp"} | FROM_RELEASES | OPENDP_PLOTS
)
DPTEXT_PLOTS = {"plot_privacy_loss", "plot_exact_agreement", "plot_transforms"}
REVIEWS = {"execute_opendp", "execute_dptext", "render_notebook"}


@pytest.mark.parametrize(
    ("edited", "rerun"),
    [
        (
            "src/noiseaudit/figures/style.py",
            OPENDP_PLOTS | {"plot_diagnosis"} | DPTEXT_PLOTS | REVIEWS,
        ),
        (
            "src/noiseaudit/figures/dptext.py",
            DPTEXT_PLOTS | {"execute_dptext", "render_notebook"},
        ),
        ("src/noiseaudit/cks20/diagnosis.py", AFTER_DRAWS | {"plot_diagnosis"} | JOINED),
        (
            "src/noiseaudit/cks20/layers.py",
            {"tabulate_layers", "compare_opendp", "execute_opendp", "plot_diagnosis"}
            | OPENDP_PLOTS
            | JOINED,
        ),
        (
            "scripts/draw_trace.py",
            {"draw_trace", "tabulate_layers", "plot_diagnosis", "compare_opendp", "execute_opendp"}
            | JOINED,
        ),
        (
            "src/noiseaudit/published.py",
            {
                "tabulate_losses",
                "compare_opendp",
                "execute_opendp",
                "tabulate_layers",
                "plot_diagnosis",
            }
            | FROM_LOSSES
            | JOINED,
        ),
        ("scripts/draw_release.py", {"draw_release"} | AFTER_DRAWS | JOINED),
        ("scripts/count_votes.py", {"count_votes", "tabulate_losses"} | FROM_LOSSES | JOINED),
        ("scripts/plot_plrv.py", {"plot_plrv", "execute_opendp", "render_notebook"}),
        ("scripts/render_table.py", {"render_releases", "render_losses", "render_comparison"}),
        ("notebooks/opendp.ipynb", {"execute_opendp", "render_notebook"}),
    ],
)
def test_an_edit_reruns_exactly_what_depends_on_it(finished, edited, rerun):
    path = finished.folder / edited
    before = path.read_bytes()
    try:
        path.write_bytes(before + b"\n")
        plan = planned(finished.snakemake("-n"))
    finally:
        path.write_bytes(before)
    assert set(plan) == rerun


def test_an_untouched_edit_reruns_nothing(finished):
    path = finished.folder / "src/noiseaudit/stats.py"
    os.utime(path)
    assert planned(finished.snakemake("-n")) == {}


def test_one_figure_is_redrawn_alone(finished):
    run = finished.snakemake("-n", "-f", "figures/opendp/artifacts.png")
    assert planned(run) == {"plot_artifacts": 1}


def test_a_truncated_sample_in_the_cache_stops_the_run(spare):
    name = "results/opendp/samples/opendp-0.14.1_scale-10_draws-200000.parquet"
    content = (spare.folder / name).read_bytes()
    (spare.folder / name).unlink()
    (spare.folder / name).write_bytes(content[:-3000])
    before = outputs(spare)
    run = spare.snakemake("results/opendp/plrv.tsv")
    assert run.returncode != 0
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("tabulate_plrv: ")]
    assert name in line
    assert "truncated" in line
    assert "Traceback" not in run.stderr
    before.pop("results/opendp/plrv.tsv")
    assert outputs(spare) == before


def test_the_report_shows_every_figure_and_table(finished, tmp_path):
    run = finished.snakemake("--report", str(tmp_path / "report.html"))
    assert run.returncode == 0, run.stderr
    report = (tmp_path / "report.html").read_text()
    pages = ["releases.html", "losses.html", "comparison.html", "dptext.html", "opendp.html"]
    for name in [*(f"{figure.split('/')[1]}.png" for figure in FIGURES), *pages]:
        assert name in report
    assert "on the operating system's entropy" in report.replace("’", "'").replace("&#x27;", "'")


def test_without_releases_nothing_needs_a_wheel(sources):
    (sources.folder / "config/none.yaml").write_text(
        "opendp: {releases: [], traces: {variants: [fixed], entropies: [pcg64], scales: [3],"
        " draws: 100_000}}\n"
        "dptext: {mechanisms: [laplace], dimensions: [1, 2], repeats: 1000, repetitions: 2,"
        " panel_draws: 100, benchmark: {repeats: [1000, 2000]}}\n"
    )
    run = sources.snakemake(config="config/none.yaml")
    assert run.returncode == 0, run.stderr[-3000:]
    assert not list(sources.folder.glob("resources/opendp/*"))
    assert (sources.folder / "results/dptext/losses.tsv").is_file()
    assert (sources.folder / "results/comparison.tsv").is_file()


def test_the_gallery_holds_figures_of_the_pipeline(finished):
    pictures = list((finished.folder / "docs/gallery").glob("*.png"))
    assert pictures
    for picture in pictures:
        assert list((finished.folder / "figures").glob(f"*/{picture.name}"))
