"""Cards of released noise, packages that cannot be had, and the figure of all questions."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, script_path
from noiseaudit import samplefiles, wheels
from noiseaudit.audit import cards, examination
from noiseaudit.figures import audits, practice
from noiseaudit.verdicts import IF_INDEPENDENT, NOTHING, UNJUDGED, VIOLATES, WRONG_LAW

AUDITS = ROOT / "audits"
CARDS = sorted(AUDITS.glob("*.yaml"))


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_a_card_says_what_it_draws_and_where_the_claim_is_made(path):
    content = yaml.safe_load(path.read_text("utf-8"))
    assert len(content["description"]) > 20
    assert len(content["source"]) > 20
    for setting in cards.read(path).settings():
        assert setting.claim or setting.law
        assert (AUDITS / setting.draw["python"].partition(":")[0]).is_file()


@pytest.mark.parametrize(
    "pins", sorted((AUDITS / "pins").glob("*.txt")), ids=lambda path: path.stem
)
def test_pins_have_hashes_and_a_card(pins):
    text = pins.read_text("utf-8")
    pinned = re.findall(r"^([a-z0-9][a-z0-9._-]*)==", text, re.MULTILINE)
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= len(pinned) > 0
    assert pinned == sorted(pinned)
    named = pins.stem.rpartition("-")
    assert f"{named[0]}=={named[2]} " in text
    assert any(f"requires: pins/{pins.name}" in card.read_text("utf-8") for card in CARDS)


def script(name, *arguments, folder):
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "NOISEAUDIT_SITES": str(folder / "sites"),
    }
    command = [sys.executable, str(ROOT / script_path(name)), *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def broken(tmp_path):
    """A card whose package is installed, but does not import."""
    (tmp_path / "broken.txt").write_text("broken==1.0 \\\n    --hash=sha256:" + 64 * "0" + "\n")
    site = tmp_path / "sites" / wheels.site_name(tmp_path / "broken.txt")
    (site / "broken").mkdir(parents=True)
    (site / "broken/__init__.py").write_text("raise ImportError('made for another Python')\n")
    (tmp_path / "own.py").write_text(
        "import broken\ndef noise(value, count): return [value] * count\n"
    )
    return tmp_path


def draw(folder, **more):
    content = {
        "draw": {"python": "own.py:noise"},
        "neighbours": {"left": 0, "right": 1},
        "claim": {"epsilon": 1.0},
    } | more
    (folder / "card.yaml").write_text(yaml.safe_dump(content))
    return script(
        "draw_audit", "--card", "card.yaml", "--setting", 0, "--draws", 100, "--seconds", 60,
        "--alpha", 1e-6, "--seed", 1, "--samples", "out.parquet", folder=folder,
    )  # fmt: skip


def test_a_package_that_does_not_import_is_told_in_its_row(broken):
    found = draw(broken, requires="broken.txt")
    assert found.returncode == 0, found.stderr
    examined = script(
        "examine_audit", "--card", "card.yaml", "--draws", 100, "--alpha", 1e-6, "--seed", 1,
        "--verdict", "verdict.json", "out.parquet", folder=broken,
    )  # fmt: skip
    assert examined.returncode == 0, examined.stderr
    table = script("tabulate_audits", "--table", "table.tsv", "verdict.json", folder=broken)
    assert table.returncode == 0, table.stderr
    (row,) = (broken / "table.tsv").read_text().splitlines()[1:]
    assert UNJUDGED in row
    assert "cannot be imported (ImportError: made for another Python)" in row
    drawn = script(
        "plot_practice", "--verdict", "verdict.json", "--figure", "all.png", folder=broken
    )
    assert drawn.returncode == 0, drawn.stderr


def test_a_package_that_cannot_be_installed_is_told_too(broken, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    (broken / "none.txt").write_text("no-such-noise==1.0 \\\n    --hash=sha256:" + 64 * "0" + "\n")
    found = draw(broken, requires="none.txt")
    assert found.returncode == 0, found.stderr
    reason = samplefiles.read_provenance(broken / "out.parquet")["job"]["reason"]
    assert reason.startswith("requires: no-such-noise 1.0 cannot be installed: ")


def test_a_site_that_another_job_made_meanwhile_is_kept(broken, monkeypatch):
    """Its job may be drawing from it already; one that stood before is replaced."""
    site, run = broken / "sites/late", subprocess.run

    def installed(command, **options):
        target = Path(command[command.index("--target") + 1])
        target.mkdir()
        (target / "ours").touch()
        if not site.is_dir():
            (site / "theirs").mkdir(parents=True)
        return run([sys.executable, "-c", ""], check=False, capture_output=True, text=True)

    monkeypatch.setattr(wheels.subprocess, "run", installed)
    wheels.install_pinned(broken / "broken.txt", site)
    assert [path.name for path in site.iterdir()] == ["theirs"]
    wheels.install_pinned(broken / "broken.txt", site)
    assert [path.name for path in site.iterdir()] == ["ours"]


@pytest.mark.parametrize("body", ["return [value] * (count - 1)", "__import__('os')._exit(3)"])
def test_a_fault_of_the_card_itself_ends_the_job_whatever_it_requires(broken, body):
    """Only what cannot be had is told in a row: else a mistake would pass for a package's."""
    (broken / "own.py").write_text(f"def noise(value, count): {body}\n")
    found = draw(broken, requires="broken.txt")
    assert found.returncode == 1
    assert len(found.stderr.splitlines()) == 1
    assert not (broken / "out.parquet").exists()


def test_ones_own_function_that_does_not_import_ends_the_job(broken):
    found = draw(broken)
    assert found.returncode == 1
    assert "own.py:noise: cannot be imported (ModuleNotFoundError" in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert not (broken / "out.parquet").exists()


CLEAN = {
    "card": "one", "subject": "", "verdict": NOTHING, "by": "", "also": [], "unsafe": [],
    "claim": {"epsilon": 1.0}, "claimed": 1.0, "certified": 0.9, "paid": 1.0, "detectable": 1.02,
    "law": {"p": 0.4, "period": None}, "dependence": {"pvalue": 0.5}, "fresh": {"tried": ["forked"]},
    "record": {"values": {}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "question", "answer"),
    [
        ({}, practice.VALUES, (NOTHING, "1.02 for 1 would show")),
        ({}, practice.FRESH, (NOTHING, "fresh")),
        ({"fresh": None}, practice.FRESH, (None, "")),
        ({"claim": {"rho": 0.5}}, practice.VALUES, (NOTHING, "ε = 1.02 would show")),
        ({}, practice.BITS, (None, "")),
        ({}, practice.LAW, (NOTHING, "p = 0.4")),
        ({}, practice.PAPER, (NOTHING, "pays 1")),
        ({"paid": None}, practice.PAPER, (None, "")),
        ({"law": None}, practice.LAW, (None, "")),
        ({"dependence": None}, practice.DEPENDENCE, (None, "")),
        ({"unsafe": ["forked"]}, practice.FRESH, ("repeats if", "forked")),
        ({"verdict": VIOLATES, "by": "values", "certified": 2.0}, practice.VALUES, (VIOLATES, "2 for 1")),
        ({"verdict": VIOLATES, "by": "values", "also": ["lowest bits"]}, practice.BITS,
         (VIOLATES, "broken")),
        ({"verdict": VIOLATES, "by": "paper", "paid": 3.0}, practice.PAPER, (VIOLATES, "pays 3 for 1")),
        ({"verdict": VIOLATES, "by": "repeats"}, practice.FRESH, (VIOLATES, "repeats")),
        ({"verdict": VIOLATES, "by": "values", "also": ["wrong law: another shape"],
          "law": {"p": 0.0, "period": 10}}, practice.LAW, (WRONG_LAW, "p < 1e-300, period 10")),
        ({"verdict": WRONG_LAW, "by": "too much noise", "law": {"p": 1e-9, "period": None}},
         practice.LAW, (WRONG_LAW, "p = 1e-09")),
        ({"verdict": WRONG_LAW, "by": "dependent draws", "dependence": {"pvalue": 1e-20}},
         practice.DEPENDENCE, (WRONG_LAW, "p = 1e-20")),
        ({"verdict": WRONG_LAW, "by": "dependent draws", "also": [f"values, {IF_INDEPENDENT}"],
          "dependence": {"pvalue": 1e-20}}, practice.VALUES, (UNJUDGED, IF_INDEPENDENT)),
        ({"verdict": UNJUDGED, "by": "no outputs"}, practice.LAW, (UNJUDGED, "")),
    ],
)  # fmt: skip
def test_answers_to_each_question(change, question, answer):
    assert practice.answer(json.loads(json.dumps(CLEAN | change)), question) == answer


def test_the_figure_of_settings_that_gave_nothing_says_so(tmp_path):
    content = {"draw": {"python": "own.py:noise"}, "neighbours": {"left": 0, "right": 1}}
    content |= {"claim": {"epsilon": 1.0}, "settings": [{"name": "one"}, {"name": "two"}]}
    verdicts = [
        examination.unjudged(setting, "requires: none", 1e-6, 1).as_dict()
        for setting in cards.of(content, tmp_path, "gone").settings()
    ]
    figure = audits.settings(verdicts)
    figure.draw_without_rendering()
    titles = [part.get_suptitle() for part in figure.subfigs]
    assert titles == [f"gone, {name}: cannot be judged: requires: none" for name in ("one", "two")]
