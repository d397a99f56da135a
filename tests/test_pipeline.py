"""The DAG, by running it on small samples with the real wheels."""

import json
import os
import re

import nbformat
import numpy as np
import pytest

from conftest import untouched
from noiseaudit import columns, files, tables

DPTEXT_PLOTS = ("privacy_loss", "exact_agreement", "transforms")

CASCADE_PLOTS = ("uniform", "diagnosis", "hierarchy", "bernoulli_exp", "geometric")
CASCADE_PLOTS += ("taylor_bracket", "corrected_bernoulli", "corrected_fits")

OPENDP_PLOTS = ("artifacts", "scale_and_source", "bin_width", "performance", "plrv")
OPENDP_PLOTS += ("realised_epsilon", "releases")

DPECDF_PLOTS = ("fits", "utility", "audit")

AUDIT_PLOTS = {"plot_overview", "plot_audit_evidence", "plot_power", "plot_practice"}

FIGURES = ["comparison"]
FIGURES += [f"dptext/{name}" for name in DPTEXT_PLOTS]
FIGURES += [f"dpecdf/{name}" for name in DPECDF_PLOTS]
FIGURES += [f"opendp/{name}" for name in (*CASCADE_PLOTS, *OPENDP_PLOTS, "reach")]
FIGURES += [
    f"audits/{name}" for name in ("overview", "practice", "power", "numpy-laplace", "opendp-0.14.1")
]

SCREEN = 45
"""Lines of a cell, or of what it prints."""

NOTEBOOKS = ("opendp", "realised_privacy", "dptext", "dpecdf")


@pytest.fixture(scope="module")
def releases(finished):
    return tables.read_table(finished.folder / "results/opendp/releases.tsv", text=["release"])


@pytest.fixture(scope="module")
def losses(finished):
    return tables.read_table(finished.folder / "results/opendp/plrv.tsv", text=["source"])


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


@pytest.mark.parametrize("name", columns.tabulated())
def test_tables_have_their_columns(finished, name):
    name = f"{name}-150000" if name.endswith("deep_draws") else name
    found = tables.header(finished.folder / f"results/{name}.tsv")
    assert found == columns.of(*name.rpartition("/")[::2])


@pytest.mark.parametrize("name", columns.tabulated())
def test_a_missing_column_is_named_with_its_file(tmp_path, name):
    """Each column of each table, left out in turn."""
    path = tmp_path / f"{name}.tsv"
    path.parent.mkdir(exist_ok=True)
    named = columns.of(*name.rpartition("/")[::2])
    for gone in named:
        left = [column for column in named if column != gone]
        path.write_text("\t".join(left) + "\n", encoding="utf-8")
        with pytest.raises(files.DamagedFile, match=f"{path.name}: column {gone} missing"):
            tables.read_table(path)


def test_releases_are_told_apart(releases):
    """A healthy one is flagged with a nominal 10⁻⁶; 0.14.1 escapes with less than 10⁻⁶."""
    verdicts = {(row.release, row.scale): row.verdict for row in releases.itertuples()}
    assert verdicts == {
        ("0.8.0", 10): "nothing found",
        ("0.14.1", 10): "violates its claim",
        ("0.14.2", 10): "nothing found",
        ("0.16.0", 10): "nothing found",
        ("0.14.1", 15): "violates its claim",
        ("0.14.2", 15): "nothing found",
    }
    faulty = releases[releases["release"] == "0.14.1"].iloc[0]
    assert abs(faulty["chi2"] - faulty["expected_chi2"]) < 6 * faulty["expected_chi2_sd"]
    assert np.all(np.abs(releases["mean_z"]) < 6)


def test_audits_of_cards_reach_their_verdicts(finished):
    """20 000 draws a side; at scale 3 the law of 0.14.1 fails with p near 10⁻⁵⁰."""
    rows = tables.read_table(finished.folder / "results/audits/verdicts.tsv", text=["subject"])
    verdicts = {(row.card, row.subject): (row.verdict, row.by) for row in rows.itertuples()}
    assert verdicts["numpy-laplace", "numpy-laplace"] == ("violates its claim", "lowest bits")
    assert verdicts["opendp-0.14.1", "scale 3"][0] != "nothing found"
    assert set(rows["draws"]) == {20_000}
    assert (rows["certified"] <= rows["claimed"])[rows["card"] == "opendp-0.14.1"].any()
    for card in ("numpy-laplace", "opendp-0.14.1"):
        verdict = json.loads((finished.folder / f"results/audits/{card}.json").read_text())
        assert verdict["card"] == card
        assert verdict["seed"] == 20220522
        assert verdict["record"]["values"]["aims"][0]


def test_recorded_noise_gets_the_verdict_of_noise_that_is_drawn(finished):
    """The command, with the config's seed and limits, on a card whose generator is seeded."""
    recorded = json.loads((finished.folder / "results/audits/numpy-laplace.json").read_text())
    command = ["python", "-m", "noiseaudit.command", "audit", "audits/numpy-laplace.yaml", "--json"]
    run = finished.run(*command, "--seed", "20220522", "--draws", "20000", PYTHONPATH="src")
    drawn = json.loads(run.stdout)
    for verdict in (recorded, drawn):
        del verdict["seconds"]
    assert drawn == recorded


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
    assert len(seen) == (4 + 3) * 2 * 115 + 2 * 2 * 172
    assert np.all(
        (seen["loss_low"] <= seen["exact_loss"]) & (seen["exact_loss"] <= seen["loss_high"])
    )


def test_every_figure_is_there_in_every_format(finished):
    for name in FIGURES:
        png, svg, pdf = (finished.folder / f"figures/{name}.{end}" for end in ("png", "svg", "pdf"))
        assert png.read_bytes().startswith(b"\x89PNG")
        assert svg.read_text().startswith("<?xml")
        assert pdf.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "pictures", "conclusion"),
    [
        ("opendp", 14, "bernoulli_exp1 is the earliest faulty layer"),
        ("realised_privacy", 2, "certified from the draws of 0.14.1"),
        ("dptext", 3, "loss is infinite in every dimension"),
        ("dpecdf", 3, "reports the exact number of rows"),
    ],
)
def test_the_executed_notebooks_are_complete(finished, name, pictures, conclusion):
    notebook = nbformat.read(finished.folder / f"results/notebooks/{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert conclusion in str(outputs[-1])
    assert "stands" in str(outputs[-1])
    for cell in cells:
        assert len(cell.source.splitlines()) <= SCREEN
        for output in cell.outputs:
            text = output.get("text") or output["data"].get("text/plain", "")
            assert len(text.splitlines()) <= SCREEN, cell.source


def test_pages_ask_the_network_for_nothing(finished):
    for name in (
        *(f"notebooks/{notebook}" for notebook in NOTEBOOKS),
        "opendp/releases",
        "dptext/losses",
        "dpecdf/audit",
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
    hidden = [
        path for top in ("results", "figures") for path in (finished.folder / top).rglob(".*")
    ]
    assert [path.name for path in hidden] == []


def plots(*names: str) -> set[str]:
    return {f"plot_{name}" for name in names}


REVIEWS = {"execute_notebook", "render_notebook"}
JOINED = {"join_comparison", "render_comparison", "plot_comparison", "write_landing"}
CLAIMS = {"claims_dptext", "claims_opendp", "claims_dpecdf"}
CLAIMED = {"join_claims", "write_landing", *REVIEWS}
FROM_LOSSES = {"render_dptext_losses", "compare_dptext", "claims_dptext", *JOINED, *CLAIMED}
FROM_LOSSES |= plots("privacy_loss", "exact_agreement")
FROM_RELEASES = {"compare_opendp", "claims_opendp", "render_opendp_releases", *JOINED, *CLAIMED}
FROM_RELEASES |= plots("releases", "realised_epsilon")
FROM_SAMPLES = {"tabulate_plrv", "tabulate_releases", *FROM_RELEASES}
FROM_SAMPLES |= plots("artifacts", "scale_and_source", "bin_width", "plrv")
FROM_LAYERS = {"compare_opendp", "claims_opendp", "render_opendp_layers", *JOINED, *CLAIMED}
FROM_LAYERS |= plots(*CASCADE_PLOTS) - plots("taylor_bracket")
FROM_TRACES = {"tabulate_layers", *FROM_LAYERS, *FROM_SAMPLES}
FROM_TRACES -= plots("bin_width", "artifacts")
ALL_PLOTS = plots(
    *DPTEXT_PLOTS, *CASCADE_PLOTS, *OPENDP_PLOTS, *DPECDF_PLOTS, "comparison", "reach"
)


@pytest.mark.parametrize(
    ("edited", "rerun"),
    [
        (
            "src/noiseaudit/figures/style.py",
            ALL_PLOTS | AUDIT_PLOTS | REVIEWS | {"write_landing"},
        ),
        (
            "src/noiseaudit/figures/dptext.py",
            plots(*DPTEXT_PLOTS) | REVIEWS,
        ),
        (
            "src/noiseaudit/figures/cascade.py",
            plots(*CASCADE_PLOTS) | REVIEWS,
        ),
        ("src/noiseaudit/figures/opendp.py", plots(*OPENDP_PLOTS) | REVIEWS),
        (
            "src/noiseaudit/cks20/events.py",
            FROM_TRACES
            | FROM_SAMPLES
            | plots("performance")
            | {"tabulate_deep", "benchmark_samplers", "tabulate_reach", "plot_reach"}
            | {"render_opendp_reach"}
            | CLAIMS,
        ),
        (
            "src/noiseaudit/cks20/accounting.py",
            plots("realised_epsilon") | {"tabulate_composition", *REVIEWS},
        ),
        ("scripts/opendp/draw_traces.py", {"draw_traces"} | FROM_TRACES),
        (
            "src/noiseaudit/published/dptext.py",
            {"tabulate_losses"} | FROM_LOSSES,
        ),
        ("src/noiseaudit/published/opendp.py", {"tabulate_layers"} | FROM_LAYERS | CLAIMS),
        (
            "scripts/opendp/draw_release.py",
            set(),
        ),  # it stores what was drawn, and draws nothing itself
        (
            "src/noiseaudit/_draw_from_wheel.py",
            {"draw_release", "draw_centred", "draw_reach", "benchmark_samplers"}
            | {"tabulate_reach", "plot_reach", "render_opendp_reach"}
            | plots("performance")
            | FROM_SAMPLES,
        ),
        ("scripts/dptext/count_votes.py", {"count_votes", "tabulate_losses"} | FROM_LOSSES),
        ("scripts/opendp/plot_plrv.py", {"plot_plrv", *REVIEWS}),
        (
            "scripts/render_table.py",
            {"render_opendp_releases", "render_opendp_layers", "render_opendp_reach"}
            | {"render_dptext_losses", "render_comparison"}
            | {"render_dpecdf_audit", "render_audits_verdicts"},
        ),
        (
            "src/noiseaudit/dpecdf/audit.py",
            {"audit_ecdf", "tabulate_audit", "count_attack_alarms", "compare_dpecdf"}
            | {"render_dpecdf_audit"}
            | plots(*DPECDF_PLOTS)
            | JOINED
            | CLAIMED
            | CLAIMS,
        ),
        (
            "scripts/dpecdf/measure_utility.py",
            {"measure_utility", *REVIEWS} | plots("utility"),
        ),
        ("notebooks/opendp.ipynb", REVIEWS),
        ("src/noiseaudit/settings.py", set()),
        ("workflow/rules/wheels.smk", set()),
        ("workflow/templates/landing.rst.j2", {"write_landing"}),
    ],
)
def test_an_edit_reruns_exactly_what_depends_on_it(finished, edited, rerun):
    path = finished.folder / edited
    before = path.read_bytes()
    with untouched(finished):
        try:
            put(path, before + b"\n")
            plan = planned(finished.snakemake("-n"))
        finally:
            put(path, before)
    assert set(plan) == rerun


def put(path, content):
    """Replace a file: copies of the project that are linked to it keep the old one."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(content)
    fresh.replace(path)


def test_an_untouched_edit_reruns_nothing(finished):
    with untouched(finished):
        os.utime(finished.folder / "src/noiseaudit/stats.py")
        assert planned(finished.snakemake("-n")) == {}


def test_one_figure_is_redrawn_alone(finished):
    run = finished.snakemake("-n", "-f", "figures/opendp/artifacts.png")
    assert planned(run) == {"plot_artifacts": 1}


def test_the_report_shows_every_figure_and_table(report):
    report = report.read_text()
    pages = [
        f"{name}.html"
        for name in ("releases", "layers", "reach", "losses", "audit", "comparison", *NOTEBOOKS)
    ]
    for name in [*(f"{figure.split('/')[-1]}.png" for figure in FIGURES), *pages]:
        assert name in report
    assert "on the operating system's entropy" in report.replace("’", "'").replace("&#x27;", "'")


def test_the_gallery_holds_figures_of_the_pipeline(finished):
    pictures = list((finished.folder / "docs/gallery").glob("*.png"))
    assert pictures
    cards = {path.stem for path in (finished.folder / "audits").glob("*.yaml")}
    for picture in pictures:
        made = list((finished.folder / "figures").rglob(picture.name))
        assert made or picture.stem in cards  # on small samples few of them are audited


def test_every_column_of_every_table_is_documented(finished):
    text = (finished.folder / "docs/files.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([^`\s]+)`", text))
    for path in (finished.folder / "results").rglob("*.tsv"):
        for column in tables.read_table(path).columns:
            family = re.sub(r"^(n[01]{2}|(fit|quantile|noise|spike_excess)_)", "", column)
            assert column in described or f"…_{family}" in described or not family, (path, column)
