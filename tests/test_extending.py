"""The steps of docs/extending.md, followed with its own blocks of code."""

import re
import textwrap

import pytest

from conftest import ROOT
from noiseaudit import tables

TEXT = (ROOT / "docs/extending.md").read_text(encoding="utf-8")


def blocks(section):
    """The fenced blocks of a section: language and content."""
    text = TEXT.split(f"## {section}")[1].split("\n## ")[0]
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", text, re.M | re.S)
    return [(language, textwrap.dedent(content)) for language, content in found]


def append(path, content):
    with path.open("a", encoding="utf-8") as file:
        file.write("\n\n" + content)


def targets(command):
    return command.split("--cores all")[1].split("--configfile")[0].split()


SMALL = """
dptext: {dimensions: [1, 2], epsilons: [0.5, 2], repeats: 20_000, parts: 1}
opendp: {releases: [], scales: [10], draws: 100_000,
  traces: {entropies: [pcg64], scales: [10], draws: 100_000}}
dpecdf: {releases: []}
"""


@pytest.fixture
def project(sources):
    (sources.folder / "config/small.yaml").write_text(SMALL, encoding="utf-8")
    return sources


def test_a_mechanism_in_three_steps(project):
    (_, code), (_, config), (_, command) = blocks("A mechanism, in three steps")
    append(project.folder / "src/noiseaudit/mechanisms.py", code)
    schema = project.folder / "workflow/schemas/config.schema.yaml"
    names = "enum: [copy, random, laplace, adept, dptext, half_laplace]"
    text = schema.read_text(encoding="utf-8")
    assert names in text
    schema.write_text(text.replace(names, names.replace("]", ", wide_laplace]")), encoding="utf-8")
    (project.folder / "config/own.yaml").write_text(config, encoding="utf-8")
    run = project.snakemake(*targets(command), config="config/small.yaml config/own.yaml")
    assert run.returncode == 0, run.stderr[-3000:]
    losses = tables.read_table(project.folder / "results/dptext/losses.tsv")
    own = losses[losses["mechanism"] == "wide_laplace"]
    assert len(own) == 4
    assert (own["exact_loss"] <= own["epsilon"] / 2 + 1e-12).all()
    assert own["z_exact"].abs().max() < 5
    assert (project.folder / "figures/dptext/privacy_loss.png").is_file()


def test_a_variant_in_three_steps(project):
    (_, plain), (_, compiled), (_, command) = blocks("A variant of the sampler, in three steps")
    append(project.folder / "src/noiseaudit/cks20/reference.py", plain)
    append(project.folder / "src/noiseaudit/cks20/kernels.py", compiled)
    run = project.snakemake(*targets(command), config="config/small.yaml")
    assert run.returncode == 0, run.stderr[-3000:]
    rows = tables.read_table(project.folder / "results/opendp/layers.tsv", text=["layer"])
    earliest = rows[rows["verdict"] == "earliest faulty layer"]
    assert dict(zip(earliest["variant"], earliest["layer"], strict=True)) == {
        "faulty": "bernoulli_exp1",
        "ceiling": "bernoulli_exp1",
    }
    quickly = "ceiling and not hundred_thousand"
    held = project.run(
        "python", "-m", "pytest", "-q", "-n", "0", "tests/test_kernels.py", "-k", quickly
    )
    assert held.returncode == 0, held.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", held.stdout)[1]) >= 10
