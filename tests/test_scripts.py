"""Scripts by their command line."""

import nbformat
import pandas as pd
import pytest

from conftest import ROOT, SCRIPTS, Project
from noiseaudit import samplefiles, tables


@pytest.fixture(scope="module")
def here() -> Project:
    """The project where it stands, for scripts that write elsewhere."""
    return Project(ROOT)


@pytest.mark.parametrize("name", [path.stem for path in SCRIPTS])
def test_each_script_explains_itself(here, name):
    run = here.script(name, "--help")
    assert run.returncode == 0
    assert run.stdout.startswith("Usage: ")
    assert "--log" in run.stdout


def test_a_script_by_hand(here, tmp_path):
    """In a process of its own, as a user starts it: with a result, and with one line."""
    run = here.process("plot_taylor_bracket", "--figure", tmp_path / "bracket.png")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (tmp_path / "bracket.png").is_file()
    run = here.process("plot_taylor_bracket", "--figure", tmp_path / "bracket.jpg")
    assert fails(run, "plot_taylor_bracket: figure: ", "a name that ends in .png expected")


def sample(finished, release="0.14.1"):
    return (
        finished.folder / f"results/opendp/samples/opendp-{release}_scale-10_draws-100000.parquet"
    )


def fails(run, *words):
    """One line on the terminal, a non-zero exit, no traceback."""
    assert run.returncode != 0
    (line,) = run.stderr.strip().splitlines()
    for word in words:
        assert word in line
    return True


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--scale", "0", ["scale: 0.0 found", "above 0"]),
        ("--scale", "-3", ["scale: -3.0 found"]),
        ("--scale", "nan", ["scale: nan found"]),
        ("--scale", "inf", ["scale: inf found"]),
        ("--scale", "ten", ["'--scale'", "'ten' is not a valid float"]),
        ("--draws", "0", ["draws", "0, 10000 found"]),
        ("--draws", "1.5", ["'--draws'", "'1.5' is not a valid integer"]),
        ("--release", "0.14.2", ["version 0.14.1 answered"]),
        ("--sight", "x", ["--sight"]),
    ],
)
def test_drawing_with_a_bad_argument(finished, tmp_path, option, value, words):
    arguments = {
        "--release": "0.14.1",
        "--site": finished.folder / "resources/opendp/0.14.1",
        "--scale": "10",
        "--draws": "100",
        "--samples": tmp_path / "out/sample.parquet",
        option: value,
    }
    flat = [part for pair in arguments.items() for part in pair]
    assert fails(finished.script("draw_release", *flat), "draw_release: ", *words)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_traceback_goes_to_the_log(finished, tmp_path):
    run = finished.script(
        "plot_plrv", "--plrv", tmp_path / "none.tsv", "--scale", 1,
        "--figure", tmp_path / "x.png", "--log", tmp_path / "logs/job.log",
    )  # fmt: skip
    assert fails(run, "plot_plrv: ", "none.tsv: no such file")
    log = (tmp_path / "logs/job.log").read_text()
    assert "Traceback" in log
    assert log.rstrip().endswith(run.stderr.strip())


def test_a_damaged_sample_is_named_and_leaves_nothing(finished, tmp_path):
    damaged = tmp_path / sample(finished).name
    damaged.write_bytes(sample(finished).read_bytes()[:5000])
    run = finished.script(
        "tabulate_plrv", damaged, "--alpha", "1e-6", "--table", tmp_path / "plrv.tsv"
    )
    assert fails(run, str(damaged), "truncated, damaged or not Parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == [damaged.name]


def test_a_sample_under_another_name_is_named(finished, tmp_path):
    swapped = tmp_path / sample(finished, "0.14.2").name
    swapped.write_bytes(sample(finished, "0.14.1").read_bytes())
    run = finished.script(
        "tabulate_plrv", swapped, "--alpha", "1e-6", "--table", tmp_path / "plrv.tsv"
    )
    assert fails(run, "holds opendp-0.14.1", "another job's samples")


def test_asking_a_table_for_what_it_lacks(finished, tmp_path):
    plrv = finished.folder / "results/opendp/plrv.tsv"
    arguments = ["--plrv", plrv, "--figure", tmp_path / "x.png"]
    run = finished.script("plot_plrv", *arguments, "--release", "0.9.2", "--scale", 10)
    assert fails(run, "source: OpenDP 0.9.2 asked for, OpenDP 0.8.0, OpenDP 0.14.1")
    run = finished.script("plot_plrv", *arguments, "--release", "0.14.1", "--scale", 7)
    assert fails(run, "scale: 7.0 asked for, 10.0, 15.0 found")
    run = finished.script("plot_plrv", *arguments[:2], "--figure", "x.jpg", "--scale", 10)
    assert fails(run, "figure: x.jpg found, a name that ends in .png expected")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("alpha", ["0", "-1", "1", "3", "nan"])
def test_a_bad_alpha(finished, tmp_path, alpha):
    run = finished.script(
        "tabulate_plrv", sample(finished), "--alpha", alpha, "--table", tmp_path / "x"
    )
    assert fails(run, "alpha", "is not in the range 0<x<1")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--dimension", "0", ["dimension: 0 found, an integer from 1"]),
        ("--dimension", "10000000000000", ["dimension: 10000000000000 found"]),
        ("--dimension", "-3", ["dimension: -3 found"]),
        ("--epsilon", "0", ["epsilon: 0.0 found, a finite number above 0"]),
        ("--epsilon", "inf", ["epsilon: inf found"]),
        ("--epsilon", "nan", ["epsilon: nan found"]),
        ("--repeats", "0", ["repeats: 0 found, an integer from 1"]),
        ("--repeats", str(2**63), [f"repeats: {2**63} found"]),
        ("--mechanism", "gauss", ["mechanism: 'gauss' found, one of copy, random"]),
        ("--part", "3", ["part: 3 of 1 found"]),
        ("--seed", "-1", ["seed: -1 found"]),
    ],
)
def test_attacking_with_a_bad_argument(here, tmp_path, option, value, words):
    arguments = {
        "--mechanism": "laplace",
        "--dimension": "2",
        "--epsilon": "1",
        "--repeats": "100",
        "--seed": "1",
        "--table": tmp_path / "counts.tsv",
        option: value,
    }
    run = here.script("count_votes", *[part for pair in arguments.items() for part in pair])
    assert fails(run, "count_votes: ", *words)
    assert list(tmp_path.iterdir()) == []


def test_pinning_a_release_that_does_not_exist(finished, tmp_path):
    run = finished.script("pin_release", "0.99.0", "--folder", tmp_path)
    assert fails(run, "opendp 0.99.0 cannot be pinned", "no version of opendp==0.99.0")
    assert list(tmp_path.iterdir()) == []


def test_pinning_a_release_gives_the_committed_pins(finished, tmp_path):
    assert finished.script("pin_release", "0.14.1", "--folder", tmp_path).returncode == 0
    pins = (tmp_path / "opendp-0.14.1.txt").read_text()
    assert pins == (finished.folder / "workflow/envs/opendp-0.14.1.txt").read_text()


def test_a_sample_says_where_it_came_from(finished):
    origin = samplefiles.read_provenance(sample(finished))
    assert origin["job"] == {
        "release": "0.14.1",
        "scale": 10,
        "draws": 100000,
        "batch": 10000,
        "centre": 0,
    }
    assert origin["seed"] == "operating system"
    assert origin["versions"]["opendp"] == "0.14.1"


def test_a_failing_notebook_leaves_nothing_but_its_log(finished, tmp_path):
    run = finished.process(
        "execute_notebook", "--notebook", "notebooks/opendp.ipynb", "--executed",
        tmp_path / "out.ipynb", "-p", "tables", "/nowhere", "--log", tmp_path / "job.log",
    )  # fmt: skip
    assert fails(run, "notebooks/opendp.ipynb, cell ", "no such file")
    assert [path.name for path in tmp_path.iterdir()] == ["job.log"]


def test_a_pause_between_prints_makes_no_second_output(here, tmp_path):
    """The kernel sends what was printed every fifth of a second; the executed copy is one text."""
    notebook = nbformat.v4.new_notebook()
    source = "import time\nfor line in 'abc':\n    print(line)\n    time.sleep(0.3)"
    notebook.cells = [nbformat.v4.new_code_cell(source)]
    nbformat.write(notebook, tmp_path / "slow.ipynb")
    run = here.process(
        "execute_notebook", "--notebook", tmp_path / "slow.ipynb", "--executed",
        tmp_path / "out.ipynb",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (cell,) = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    assert cell.outputs == [{"output_type": "stream", "name": "stdout", "text": "a\nb\nc\n"}]


def test_a_place_too_deep_for_sockets_is_named(here, tmp_path):
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    run = here.process(
        "execute_notebook", "--notebook", tmp_path / "one.ipynb",
        "--executed", tmp_path / "out.ipynb", TMPDIR=str(deep),
    )  # fmt: skip
    assert fails(run, f"TMPDIR: {deep} found, a shorter path expected")
    assert not (tmp_path / "out.ipynb").exists()


def test_joining_tables(finished, tmp_path):
    for name, value, printed in (("a", 1.5, "11.30"), ("b", float("nan"), "2.1e3")):
        rows = pd.DataFrame({"x": [value], "printed": [printed]})
        tables.write_table(tmp_path / f"{name}.tsv", rows)
    run = finished.script(
        "join_tables", tmp_path / "a.tsv", tmp_path / "b.tsv", "--table", tmp_path / "c.tsv"
    )
    assert run.returncode == 0
    assert (tmp_path / "c.tsv").read_text() == "x\tprinted\n1.5\t11.30\nnan\t2.1e3\n"


def counts(project, tmp_path, **changed):
    """The command line that counts 1000 draws, with some of its options changed."""
    options = {
        "variant": "fixed", "entropy": "pcg64", "scale": "10", "draws": 1000, "part": 1,
        "parts": 2, "seed": 1, "counts": tmp_path / "part.tsv",
    } | changed  # fmt: skip
    flat = [part for name, value in options.items() for part in (f"--{name}", value)]
    return project.script("count_draws", *flat)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("scale", "0", ["scale: 0 found, a rational above 0"]),
        ("scale", "-10", ["scale: -10 found"]),
        ("scale", "nan", ["scale: 'nan' found, a rational"]),
        ("scale", "inf", ["scale: 'inf' found, a rational"]),
        ("scale", "1e30", ["scale: 1000000000000000000000000000000 found"]),
        ("variant", "broken", ["variant: 'broken' found, one of faulty, fixed, taylor"]),
        ("entropy", "dice", ["entropy source: 'dice' found"]),
        ("part", 0, ["part: 0 of 2 found, one of 1 to 2 expected"]),
        ("part", 3, ["part: 3 of 2 found, one of 1 to 2 expected"]),
        ("seed", -1, ["seed: -1 found"]),
    ],
)
def test_counting_with_a_bad_argument(here, tmp_path, option, value, words):
    assert fails(counts(here, tmp_path / "out", **{option: value}), "count_draws: ", *words)
    assert not (tmp_path / "out").exists()


def test_parts_add_up_and_a_missing_one_is_noticed(here, tmp_path):
    parts = [tmp_path / f"{part}.tsv" for part in (1, 2)]
    for part, path in enumerate(parts, start=1):
        assert counts(here, tmp_path, part=part, counts=path, draws=100_001).returncode == 0
    table = tmp_path / "deep.tsv"
    arguments = ["--alpha", "1e-6", "--table", table]
    assert here.script("tabulate_deep", *arguments, *parts).returncode == 0
    (row,) = tables.read_table(table, text=["variant", "scale"]).itertuples()
    assert (row.variant, row.scale, row.samples) == ("fixed", "10", 100_001)
    assert row.verdict == "nothing found"
    table.unlink()
    run = here.script("tabulate_deep", *arguments, parts[0])
    assert fails(run, "counts of fixed, scale 10: 50000 draws found, 100001 expected")
    assert not table.exists()


def test_draws_by_inversion_are_tested_against_the_healthy_law(here, tmp_path):
    path, table = tmp_path / "one.tsv", tmp_path / "deep.tsv"
    counted = counts(here, path, variant="inversion", parts=1, counts=path, draws=300_000)
    assert counted.returncode == 0, counted.stderr
    run = here.script("tabulate_deep", "--alpha", "1e-6", "--table", table, path)
    assert run.returncode == 0, run.stderr
    (row,) = tables.read_table(table, text=["variant", "scale"]).itertuples()
    assert (row.variant, row.samples, row.verdict) == ("inversion", 300_000, "nothing found")
    assert row.realised_epsilon_exact == pytest.approx(0.1)


def test_a_trace_from_another_seed_is_named(finished, tmp_path):
    trace = finished.folder / "results/opendp/traces/fixed_pcg64_scale-10_draws-100000.parquet"
    run = finished.script(
        "tabulate_layers", trace, "--published", "resources/published/opendp.tsv", "--seed", 5,
        "--alpha", "1e-6", "--table", tmp_path / "layers.tsv",
    )  # fmt: skip
    assert fails(run, trace.name, "drawn with seed 20220522, 5 expected")
    assert list(tmp_path.iterdir()) == []


def test_a_trace_of_another_variant_is_named(finished, tmp_path):
    folder = finished.folder / "results/opendp/traces"
    swapped = tmp_path / "faulty_pcg64_scale-10_draws-100000.parquet"
    swapped.write_bytes((folder / "fixed_pcg64_scale-10_draws-100000.parquet").read_bytes())
    run = finished.script(
        "plot_uniform", "--trace", swapped, "--layers",
        finished.folder / "results/opendp/layers.tsv", "--figure", tmp_path / "x.png",
    )  # fmt: skip
    assert fails(run, "holds fixed_pcg64_scale-10_draws-100000.parquet, another job's samples")
