"""The command: what people type, what it answers, and how it ends for what is no card."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner

from conftest import ROOT
from noiseaudit.command import main

SUBJECTS = """
import os
import subprocess
import sys
import time

import numpy as np


def laplace(x, count, rng):
    return x + np.round(rng.laplace(size=count) * 2**20) / 2**20


def half(x, count, rng):
    return x + np.round(rng.laplace(scale=0.5, size=count) * 2**20) / 2**20


def raises(x, count):
    raise ValueError("never")


def dies(x, count):
    os._exit(7)


def hangs(x, count):
    time.sleep(1000)


def hangs_later(x, count, rng):
    if count > 10_000:
        time.sleep(1000)
    return laplace(x, count, rng)


def prints(x, count, rng):
    print("noise " * 1000)
    print("noise " * 1000, file=sys.stderr)
    return laplace(x, count, rng)


def floods(x, count, rng):
    for _ in range(2000):
        os.write(1, b"x" * 10_000)
        os.write(2, b"x" * 10_000)
    return laplace(x, count, rng)


def leaves_children(x, count, rng):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    return laplace(x, count, rng)


def forks(x, count, rng):
    os.fork()
    return laplace(x, count, rng)


def reads(x, count, rng):
    sys.stdin.read()
    return laplace(x, count, rng)


def too_few(x, count):
    return [0.0] * (count - 1)


def ragged(x, count):
    return [[0.0] * (1 + place % 2) for place in range(count)]


def objects(x, count):
    return [object()] * count


def nothing(x, count):
    return None


def a_number(x, count):
    return 1.0


def text(x, count):
    return "abc"


def deep(x, count):
    return np.zeros((count, 2, 2))


def no_arguments():
    return 0


def four(a, b, c, d):
    return 0


word = "no function"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cards")
    (place / "subjects.py").write_text(SUBJECTS)
    (place / "broken.py").write_text("import a_module_that_is_not_there\n")
    (place / "syntax.py").write_text("def f(:\n")
    return place


def run(*words, cwd=None):
    """The command in this process; what ends it as a user's error would is its status."""
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        return CliRunner().invoke(main, list(map(str, words)))
    finally:
        os.chdir(before)


def card(folder, **content):
    """A card in a file of its own; None leaves a key out."""
    healthy = {
        "draw": {"python": "subjects.py:laplace"},
        "claim": {"epsilon": 1.0},
        "draws": 4000,
        "seconds": 20.0,
    }
    path = folder / f"card-{len(list(folder.glob('card-*')))}.yaml"
    merged = {key: value for key, value in (healthy | content).items() if value is not None}
    path.write_text(yaml.safe_dump(merged))
    return path


def test_nothing_found_is_told_with_what_would_have_been(folder):
    found = run("audit", card(folder), "--json")
    assert found.exit_code == 0, found.output
    verdict = json.loads(found.stdout)
    assert verdict["verdict"] == "nothing found"
    assert verdict["claimed"] == 1.0
    assert 1.0 < verdict["detectable"] < 2.0
    assert verdict["draws"] == 4000
    assert {"card", "by", "unsafe", "epsilon_low", "seconds", "event", "record", "digests"} <= set(
        verdict
    )
    assert len(verdict["digests"]["subjects.py"]) == 64


def test_a_broken_claim_ends_with_1_and_can_be_checked_by_hand(folder):
    found = run("audit", card(folder, draw={"python": "subjects.py:half"}, draws=20_000), "--json")
    assert found.exit_code == 1
    verdict = json.loads(found.stdout)
    assert (verdict["verdict"], verdict["by"]) == ("violates its claim", "values")
    assert 1.0 < verdict["epsilon_low"] < 2.0
    record = verdict["record"]["values"]
    wealth = 0.0
    for aim in record["aims"]:
        share_wealth = []
        for place in range(17):
            log = 0.0
            for block in aim:
                worst = np.e * sum(block[side] is not None for side in ("left", "right"))
                for outcome, count in enumerate(block["counts"]):
                    a_left, a_right, b_left, b_right = (outcome >> bit & 1 for bit in (3, 2, 1, 0))
                    payoff = (a_left - np.e * b_left) * (block["left"] is not None)
                    payoff += (b_right - np.e * a_right) * (block["right"] is not None)
                    if worst and count:
                        factor = 1 + 1.6**-place / worst * payoff
                        log += count * np.log(factor) if factor > 0 else -np.inf
            share_wealth.append(np.exp(min(log, 700)))
        wealth += np.mean(share_wealth) / 2
    assert wealth > 1 / record["alpha"]


def test_options_say_what_a_card_says(folder):
    words = ["--python", "subjects.py:laplace", "--epsilon", "1", "--left", "0", "--right", "1"]
    words += [
        "--law",
        "laplace",
        "--scale",
        "1",
        "--lattice",
        2.0**-20,
        "--draws",
        "4000",
        "--json",
    ]
    found = json.loads(run("audit", *words, cwd=folder).stdout)
    law = {"name": "laplace", "scale": 1.0, "lattice": 2.0**-20}
    same = json.loads(run("audit", card(folder, law=law), "--json", "--name", "laplace").stdout)
    for verdict in (found, same):
        del verdict["seconds"]
    assert found == same


def test_the_same_seed_gives_the_same_bytes(folder):
    path = card(folder, draws=20_000)

    def verdict(seed):
        content = json.loads(run("audit", path, "--json", "--seed", seed).stdout)
        del content["seconds"]
        return content

    assert verdict(3) == verdict(3)
    assert verdict(3)["record"] != verdict(4)["record"]


def test_settings_are_audited_in_turn(folder):
    settings = [{"claim": {"epsilon": 1.0}}, {"name": "strict", "claim": {"epsilon": 0.1}}]
    found = run("audit", card(folder, settings=settings, draws=20_000), "--json")
    assert found.exit_code == 1
    verdict = json.loads(found.stdout)
    assert verdict["subject"] == "strict"
    assert [one["subject"] for one in verdict["settings"]] == ["epsilon 1.0", "strict"]
    assert verdict["settings"][0]["verdict"] == "nothing found"
    assert verdict["settings"][0]["alpha"] == pytest.approx(5e-7)


def test_pages_pictures_and_reports_are_written_whole(folder, tmp_path):
    places = {"--html": "page.html", "--junit": "junit.xml", "--figure": "picture.svg"}
    words = [word for option, name in places.items() for word in (option, tmp_path / name)]
    assert run("audit", card(folder, draw={"python": "subjects.py:half"}), *words).exit_code == 1
    page = (tmp_path / "page.html").read_text()
    assert "violates its claim, by values" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "violates its claim" in suite.find("testcase/failure").get("message")
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(places.values())


@pytest.mark.parametrize(
    ("name", "kept"), [("prints", True), ("floods", True), ("forks", True), ("reads", True)]
)
def test_noise_that_does_more_than_noise_is_judged_all_the_same(folder, name, kept):
    found = run("audit", card(folder, draw={"python": f"subjects.py:{name}"}, draws=2000), "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["draws"] == 2000
    assert len(found.output) < 100_000


def test_children_die_with_the_audit(folder):
    marker = "time.sleep(1000)"
    path = card(folder, draw={"python": "subjects.py:leaves_children"}, draws=2000)
    assert run("audit", path).exit_code == 0
    time.sleep(0.2)
    left = [
        line
        for line in Path("/proc").glob("[0-9]*/cmdline")
        if marker in _content(line).replace("\0", " ")
    ]
    assert left == []


def _content(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def test_time_that_runs_out_leaves_what_was_drawn(folder):
    path = card(folder, draw={"python": "subjects.py:hangs_later"}, draws=100_000, seconds=2.0)
    found = run("audit", path, "--json")
    verdict = json.loads(found.stdout)
    assert found.exit_code == 0
    assert verdict["draws"] == 1024 + 4096
    assert "2 s" in verdict["cut_short"]


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        ({"draw": {"python": "gone.py:f"}}, 2, "gone.py: no such file"),
        ({"draw": {"python": "subjects.py:gone"}}, 2, "no gone in it"),
        ({"draw": {"python": "subjects.py:word"}}, 2, "a str found, a function expected"),
        ({"draw": {"python": "broken.py:f"}}, 2, "a_module_that_is_not_there"),
        ({"draw": {"python": "syntax.py:f"}}, 2, "SyntaxError"),
        ({"draw": {"python": "no_such_module_at_all:f"}}, 2, "no_such_module_at_all"),
        ({"draw": {"python": "subjects.py"}}, 2, "file.py:function or module:function expected"),
        ({"draw": {"python": "subjects.py:too_few"}}, 2, "1023 outputs returned, 1024 expected"),
        ({"draw": {"python": "subjects.py:ragged"}}, 2, "vectors of 1 and 2 coordinates"),
        ({"draw": {"python": "subjects.py:objects"}}, 2, "a object returned"),
        ({"draw": {"python": "subjects.py:nothing"}}, 2, "a NoneType returned"),
        ({"draw": {"python": "subjects.py:a_number"}}, 2, "a float returned"),
        ({"draw": {"python": "subjects.py:text"}}, 2, "a str returned"),
        ({"draw": {"python": "subjects.py:deep"}}, 2, "one or two axes expected"),
        ({"draw": {"python": "subjects.py:no_arguments"}}, 2, "draw(value"),
        ({"draw": {"python": "subjects.py:four"}}, 2, "it takes 4 arguments"),
        ({"draw": {"python": "subjects.py:raises"}}, 3, "every call fails on both sides (ValueError: never)"),
        ({"draw": {"python": "subjects.py:dies"}}, 3, "ended with status 7"),
        ({"draw": {"python": "subjects.py:hangs"}, "seconds": 1.0}, 3, "no answer within 1 s"),
        ({"draws": 10}, 3, "10 draws of either side found"),
        ({"draws": 0}, 2, "draws: 0 found"),
        ({"draws": 1.5}, 2, "draws: 1.5 found"),
        ({"draw": {}}, 2, "one of python, command, samples expected"),
        ({"draw": None}, 2, "key 'draw' missing"),
        ({"draw": {"python": "subjects.py:laplace", "command": ["a", "{count}"]}}, 2, "python and command found"),
        ({"claim": {"epsilon": 0}}, 2, "claim.epsilon: 0 found"),
        ({"claim": {"epsilon": -1}}, 2, "claim.epsilon: -1 found"),
        ({"claim": {"epsilon": float("nan")}}, 2, "claim.epsilon: nan found"),
        ({"claim": {"epsilon": float("inf")}}, 2, "claim.epsilon: inf found"),
        ({"claim": {"epsilon": "1e-3"}}, 2, "claim.epsilon: '1e-3' found"),
        ({"claim": {"epsilon": 1e4}}, 2, "epsilon: 10000.0 found"),
        ({"claim": {"epsilon": 1.0, "rho": 1.0}}, 2, "epsilon and rho found"),
        ({"claim": {"delta": 0.1}}, 2, "claim: nothing found"),
        ({"claim": {"epsilon": 1.0, "delta": 1.0}}, 2, "claim.delta: 1.0 found"),
        ({"claim": {"mu": 1.0, "delta": 0.1}}, 2, "delta: 0.1 found with mu"),
        ({"claim": {}}, 2, "claim: {} found"),
        ({"claim": None}, 2, "a claim or a law expected"),
        ({"claims": {"epsilon": 1}}, 2, "unknown key 'claims'"),
        ({"law": {"name": "lapalce", "scale": 1}}, 2, "'lapalce' found"),
        ({"law": {"name": "laplace"}}, 2, "law.scale: missing"),
        ({"law": {"name": "laplace", "scale": -1}}, 2, "law.scale: -1 found"),
        ({"law": {"name": "laplace", "scale": 1, "sigma": 1}}, 2, "law.sigma: not a parameter"),
        ({"law": {"name": "gamma", "a": -1}}, 2, "parameters in their range expected"),
        ({"law": {"name": "laplace", "scale": 1, "lattice": 0}}, 2, "law.lattice: 0 found"),
        ({"neighbours": {"left": 1, "right": 1}}, 2, "two different inputs expected"),
        ({"neighbours": {"left": 1}}, 2, "key 'right' missing"),
        ({"draw": {"samples": {"left": "gone.csv", "right": "gone2.csv"}}}, 2, "gone.csv: no such file"),
        ({"draw": {"samples": {"left": "subjects.py", "right": "subjects.py"}}}, 2, "two files expected"),
        ({"draw": {"command": ["no-such-program", "{count}"]}}, 2, "cannot be started"),
        ({"draw": {"command": ["echo", "1"]}}, 2, "one with {count} expected"),
        ({"draw": {"command": ["echo", "{count}"]}}, 2, "1 lines found, 1024 expected"),
        ({"draw": {"command": ["false", "{count}"]}}, 3, "ended with status 1"),
        ({"draw": {"command": ["sleep", "1000", "{count}"]}, "seconds": 1.0}, 3, "no answer within 1 s"),
        ({"draw": {"command": ["yes", "{count}"]}}, 2, "more than 1024 outputs printed"),
        ({"requires": "gone.txt"}, 2, "gone.txt: no such file"),
        ({"requires": "subjects.py"}, 2, "nothing pinned found"),
        ({"interpreter": "/no/such/python"}, 2, "/no/such/python: cannot be started"),
        ({"settings": []}, 2, "settings: [] found"),
        ({"settings": [{"claim": {"epsilon": 1.0}}, {"claim": {"epsilon": 1.0}}]}, 2, "found twice"),
        ({"settings": [{"claim": {"epsilon": -1.0}}]}, 2, "claim.epsilon: -1.0 found"),
        ({"name": "a/b"}, 2, "name: 'a/b' found"),
    ],
)  # fmt: skip
def test_what_is_no_card_ends_in_one_line(folder, tmp_path, content, status, said):
    page = tmp_path / "page.html"
    found = run("audit", card(folder, **content), "--html", page)
    assert found.exit_code == status, found.output
    line = found.stderr if status == 2 else found.stdout.splitlines()[0]
    assert said in line
    if status == 2:
        assert line.count("\n") == 1
        assert found.stdout == ""
        assert not page.exists()
    assert "Traceback" not in found.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit"], "nothing to audit"),
        (["audit", "gone.yaml"], "gone.yaml: no such file"),
        (["audit", "subjects.py"], "not a card"),
        (["audit", "--python", "subjects.py:laplace"], "a claim or a law expected"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "x"], "'x' is not a valid float"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "nan"], "nan found"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--alpha", "2"], "--alpha: 2.0 found"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--seconds", "-1"], "--seconds: -1.0"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--draws", "0"], "--draws"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--figure", "x.jpg"], "x.jpg: a name"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--html", "gone/a.html"], "gone is no folder"),
        (["audit", "--command", "'a", "--epsilon", "1"], "--command"),
        (["audit", "--python", "subjects.py:laplace", "--epsilon", "1", "--parameter", "a"], "NAME=VALUE"),
        (["audit", "--nonsense"], "No such option"),
        (["nonsense"], "No such command"),
        (["plan"], "a claim or a law expected"),
        (["plan", "--epsilon", "1", "--excess", "0.5"], "--excess: 0.5 found"),
        (["plan", "--mu", "1"], "an epsilon expected"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_ends_in_one_line(folder, words, said):
    found = run(*words, cwd=folder)
    assert found.exit_code == 2, found.output
    assert said in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def _files(place, values):
    for side, shift in (("left", 0), ("right", 1)):
        x = values + shift
        np.save(place / f"{side}.npy", x)
        (place / f"{side}.txt").write_text("\n".join(map(repr, x.tolist())) + "\n")
        (place / f"{side}.csv").write_text("value\n" + "\n".join(map(repr, x.tolist())) + "\n")
        pq.write_table(pa.table({"value": x}), place / f"{side}.parquet")


def test_files_of_every_kind_give_the_same_verdict(tmp_path):
    rng = np.random.default_rng(1)
    _files(tmp_path, rng.geometric(0.6, 5000) - rng.geometric(0.6, 5000))
    verdicts = []
    for ending in ("npy", "txt", "csv", "parquet"):
        words = ["--samples", f"left.{ending}", f"right.{ending}", "--epsilon", "1", "--json"]
        content = json.loads(run("audit", *words, cwd=tmp_path).stdout)
        verdicts.append({k: v for k, v in content.items() if k not in ("seconds", "digests")})
        assert verdicts[-1] == verdicts[0]
    assert verdicts[0]["draws"] == 5000
    assert verdicts[0]["fresh"] is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"PAR1 not really"),
        ("a.npy", b"\x93NUMPY no"),
        ("a.csv", b""),
        ("a.csv", b"1,2\n3\n"),
        ("a.txt", b"\xff\xfe\n1\n"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.txt").write_text("1\n2\n")
    found = run("audit", "--samples", name, "b.txt", "--epsilon", "1", cwd=tmp_path)
    assert found.exit_code == 2, found.output
    assert name in found.stderr
    assert found.stderr.count("\n") == 1


def test_one_side_may_come_from_standard_input(tmp_path):
    (tmp_path / "right.txt").write_text("\n".join(["1"] * 500))
    words = [
        sys.executable,
        "-m",
        "noiseaudit.command",
        "audit",
        "--samples",
        "-",
        "right.txt",
        "--epsilon",
        "1",
    ]
    finished = subprocess.run(
        words,
        input="\n".join(["0"] * 500).encode(),
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert finished.returncode == 1, finished.stderr
    assert finished.stdout.startswith(b"samples: violates its claim, by values")


def test_a_program_is_audited_like_a_function(tmp_path):
    program = tmp_path / "noise.py"
    program.write_text(
        "import random, sys\n"
        "value, count = int(sys.argv[1]), int(sys.argv[2])\n"
        "for _ in range(count):\n"
        "    print(value + int(random.expovariate(1)) - int(random.expovariate(1)))\n"
    )
    words = ["--command", f"{sys.executable} noise.py {{value}} {{count}}", "--epsilon", "1"]
    words += ["--law", "discrete_laplace", "--scale", "1", "--draws", "8000", "--json"]
    found = run("audit", *words, cwd=tmp_path)
    assert found.exit_code == 0, found.output
    verdict = json.loads(found.stdout)
    assert verdict["draws"] == 8000
    assert verdict["law"]["p"] > 1e-4
    assert verdict["fresh"]["tried"] == ["a second call", "a second process"]


def test_plan_says_how_many_draws_and_how_long(folder):
    rows = [
        json.loads(line)
        for line in run("plan", "--epsilon", "1", "--excess", "1.5", "--json").stdout.splitlines()
    ]
    assert [row["probability"] for row in rows] == [0.5, 0.1, 0.01]
    assert all(row["seconds"] is None for row in rows)
    timed = run("plan", card(folder), "--excess", "2")
    assert timed.exit_code == 0, timed.output
    assert "pairs a second" in timed.stdout


def test_laws_are_listed():
    listed = run("laws").stdout
    assert "discrete_laplace(scale)" in listed
    assert "scipy.stats" in listed


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from noiseaudit.command import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "print(sorted({'numpy', 'scipy', 'matplotlib', 'pandas', 'snakemake'} & set(sys.modules)))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert listed.stdout.strip() == "[]"


def test_sorted_files_are_no_violation(tmp_path):
    rng = np.random.default_rng(1)
    for side, shift in (("left", 0), ("right", 1)):
        noise = rng.geometric(0.64, 20_000) - rng.geometric(0.64, 20_000)
        np.save(tmp_path / f"{side}.npy", np.sort(shift + noise))
    words = ["--samples", "left.npy", "right.npy", "--epsilon", "1.1", "--json"]
    found = json.loads(run("audit", *words, cwd=tmp_path).stdout)
    assert found["verdict"] == "nothing found"
    assert found["dependence"] is None


def test_a_subject_that_dies_late_keeps_what_was_found(tmp_path):
    (tmp_path / "late.py").write_text(
        "import os\n"
        "def draw(x, count, rng):\n"
        "    if count > 5000:\n"
        "        os._exit(3)\n"
        "    return x + rng.laplace(scale=3, size=count)\n"
    )
    words = ["--python", "late.py:draw", "--law", "laplace", "--scale", "1", "--json"]
    found = run("audit", *words, cwd=tmp_path)
    assert found.exit_code == 1, found.output
    verdict = json.loads(found.stdout)
    assert (verdict["verdict"], verdict["by"]) == ("wrong law", "too much noise")
    assert "status 3" in verdict["cut_short"]


def test_a_report_is_well_formed_whatever_the_subject_says(tmp_path):
    (tmp_path / "loud.py").write_text(
        "import os, sys\n"
        "def draw(x, count):\n"
        "    sys.stderr.write('\\x1b[31m$a_{$')\n"
        "    sys.stderr.flush()\n"
        "    os._exit(1)\n"
    )
    words = [
        "--python",
        "loud.py:draw",
        "--epsilon",
        "1",
        "--junit",
        "out.xml",
        "--html",
        "out.html",
    ]
    assert run("audit", *words, cwd=tmp_path).exit_code == 3
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert suite.get("skipped") == "1"


def test_inputs_are_read_as_python_and_json_write_them(tmp_path):
    (tmp_path / "tell.py").write_text("def draw(x, count):\n    return [repr(x)] * count\n")
    for written, meant in (
        ("True", True),
        ("true", True),
        ("None", None),
        ("[1, 2]", [1, 2]),
        ("word", "word"),
    ):
        words = [
            "--python",
            "tell.py:draw",
            "--left",
            written,
            "--right",
            "9",
            "--epsilon",
            "1",
            "--draws",
            "1000",
        ]
        verdict = json.loads(run("audit", *words, "--json", cwd=tmp_path).stdout)
        assert verdict["neighbours"] == {"left": meant, "right": 9}
        assert repr(repr(meant)) in verdict["event"] or "'9'" in verdict["event"]


@pytest.mark.parametrize(
    "law",
    [
        [],
        ["--law", "laplace", "--scale", "1"],
        ["--law", "laplace", "--scale", "1", "--lattice", "1"],
    ],
)
def test_a_function_that_only_fails_is_told_its_own_words(tmp_path, law):
    (tmp_path / "fails.py").write_text("def draw(x, count, rng):\n    return gone\n")
    found = run("audit", "--python", "fails.py:draw", "--epsilon", "1", *law, cwd=tmp_path)
    assert found.exit_code == 3
    assert (
        "cannot be judged: every call fails on both sides (NameError: name 'gone'" in found.stdout
    )


@pytest.mark.parametrize("answers", ["bool(said)", "str(said)", "said"])
def test_randomised_responses_of_every_kind_are_held_to_their_law(tmp_path, answers):
    (tmp_path / "response.py").write_text(
        "def draw(x, count, rng):\n"
        f"    return [{answers} for said in (x ^ (rng.random(count) > 0.6)).tolist()]\n"
    )
    words = [
        "--python",
        "response.py:draw",
        "--law",
        "randomised_response",
        "--parameter",
        "answers=2",
    ]
    for p, status in ((0.6, 0), (0.7, 1)):
        found = run("audit", *words, "--parameter", f"p={p}", "--draws", "20000", cwd=tmp_path)
        assert found.exit_code == status, found.output


def test_the_command_alone_prints_its_help():
    found = run()
    assert found.exit_code == 2
    assert "audit" in found.stderr
    assert found.stderr.count("\n") > 5
