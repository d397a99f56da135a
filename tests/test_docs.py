"""What a stranger reads: links that lead somewhere, numbers that are found, no gaps."""

import importlib
import re

import pandas as pd
import pytest

from conftest import ROOT, script_path, source_files
from noiseaudit.published import numbers

PAGES = sorted(path for path in source_files() if path.suffix == ".md")
NUMBERS = (ROOT / "docs/numbers.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 130


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_to_a_file(page):
    """And those with a fragment to a heading of it."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text("utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        linked = (ROOT / page).parent / name if name else ROOT / page
        assert linked.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.M)
            assert heading in {
                re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings
            }


def test_every_place_of_print_has_its_way_to_the_code():
    compared = pd.read_csv(ROOT / "docs/tables/comparison.tsv", sep="\t", dtype=str)
    places = set(compared["location"])
    for study in ("dptext", "opendp"):
        printed = set(numbers.read(ROOT / f"resources/published/{study}.tsv")["location"])
        places |= {place for place in printed if not place.startswith("footnote")}
    for place in places:
        assert f"| {place} |" in NUMBERS


def test_the_functions_that_it_names_exist():
    named = re.findall(r"\[([\w.]+)\.(\w+)\]\(\.\./src/noiseaudit/([\w/]+)\.py\)", NUMBERS)
    assert len(named) > 6
    for _, function, path in named:
        module = importlib.import_module("noiseaudit." + path.replace("/", "."))
        assert hasattr(module, function)


def test_drawn_findings_of_the_readme_have_their_mark():
    """Wheels cannot be seeded: what was drawn from them holds of the committed run only."""
    findings = re.findall(r"^\d\. .*(?:\n   .*)*", README.split("## What came out")[1], re.M)
    assert len(findings) == 7
    for words in ("OpenDP releases", "three other mechanisms", "released versions"):
        (finding,) = [one for one in findings if words in one]
        assert "†" in finding


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_gap_is_left_to_fill(page):
    """Words in capitals stand for what a reader puts in, such as REPOSITORY, and in shell commands."""
    text = re.sub(
        r"`[^`]*`|```.*?```|^>.*$", "", (ROOT / page).read_text("utf-8"), flags=re.S | re.M
    )
    gaps = set(re.findall(r"\b(?:QUICK|FULL|TEST|SETUP|FIRST|SHOWN|LOW[A-Z]+|LARGE|TODO)\b", text))
    assert not gaps


def test_committed_tables_use_the_words_of_today():
    for path in (ROOT / "docs/tables").glob("*.tsv"):
        found = pd.read_csv(path, sep="\t", dtype=str).get("verdict", pd.Series(dtype=str))
        assert not found.str.contains(
            "violates epsilon|deviation found|within the exact model"
        ).any()


def test_scripts_named_in_the_results_exist():
    text = (ROOT / "docs/results.md").read_text("utf-8")
    for name in re.findall(
        r"`((?:plot|tabulate|draw|count|compare|measure|examine|audit|render)_\w+)`", text
    ):
        assert script_path(name)
