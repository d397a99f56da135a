"""A bad config ends with one line that names the key, what was found and what was expected."""

import pytest
import yaml

from conftest import ROOT

BAD = [
    (
        "alfa: 1",
        "the file: unknown key 'alfa', one of alpha, seed, dptext, opendp, dpecdf expected",
    ),
    ("alpha: 0", "alpha: 0 found, a probability above 0, at most 0.05 expected"),
    ("alpha: high", "alpha: 'high' found, a probability"),
    ("alpha: .nan", "alpha: nan found, a probability"),
    ("alpha: true", "alpha: True found, a probability"),
    ("opendp: {scale: 3}", "opendp: unknown key 'scale', one of releases, scales"),
    ("opendp: {scales: [3, -10]}", "opendp.scales[1]: -10 found, a finite number from 0.5"),
    ("opendp: {scales: [0]}", "opendp.scales[0]: 0 found, a finite number from 0.5"),
    ("opendp: {scales: [.inf]}", "opendp.scales[0]: inf found, a finite number"),
    ("opendp: {scales: [.nan]}", "opendp.scales[0]: nan found, a finite number"),
    ("opendp: {scales: ['10']}", "opendp.scales[0]: '10' found, a finite number"),
    ("opendp: {scales: []}", "opendp.scales: [] found, a list of at least one"),
    ("opendp: {scales: [10, 10.0]}", "opendp.scales: [10, 10.0] found, a list"),
    ("opendp: {scales: 10}", "opendp.scales: 10 found, a list"),
    ("opendp: {scales: [10, 50000]}", "opendp.scales[1]: 50000 found, at most opendp.draws / 100"),
    ("opendp: {draws: 0}", "opendp.draws: 0 found, an integer from 1000"),
    ("opendp: {draws: 1.5e+5}", "opendp.draws: 150000.0 found, an integer"),
    ("opendp: {draws: many}", "opendp.draws: 'many' found, an integer"),
    ("opendp: {batch: 0}", "opendp.batch: 0 found, an integer from 1"),
    ("opendp: {releases: [0.14]}", "opendp.releases[0]: 0.14 found, an OpenDP version in quotes"),
    ("opendp: {releases: ['newest']}", "opendp.releases[0]: 'newest' found, an OpenDP version"),
    (
        "opendp: {releases: ['0.14.1', '0.99.0']}",
        "opendp.releases[1]: '0.99.0' found, one of 0.8.0",
    ),
    (
        "opendp: {releases: ['0.14.1']}",
        "opendp.contrast.fixed: '0.14.2' found, one of opendp.releases",
    ),
    ("opendp: {contrast: {scale: 7}}", "opendp.contrast.scale: 7 found, one of opendp.scales"),
    ("opendp: {contrast: {faulty: 1}}", "opendp.contrast.faulty: 1 found, one of opendp.releases"),
    (
        "alpha: 1e-6",
        "alpha: '1e-6' found, a probability above 0, at most 0.05 expected (as a number",
    ),
    ("seed: -1", "seed: -1 found, an integer of at least 0"),
    ("dptext: {dimensions: [0]}", "dptext.dimensions[0]: 0 found, an integer from 1"),
    ("dptext: {dimensions: [-2]}", "dptext.dimensions[0]: -2 found, an integer from 1"),
    ("dptext: {dimensions: [1.5]}", "dptext.dimensions[0]: 1.5 found, an integer from 1"),
    ("dptext: {epsilons: [0]}", "dptext.epsilons[0]: 0 found, a finite number above 0"),
    ("dptext: {epsilons: [1, .inf]}", "dptext.epsilons[1]: inf found, a finite number above 0"),
    ("dptext: {epsilons: [.nan]}", "dptext.epsilons[0]: nan found, a finite number above 0"),
    (
        "dptext: {repeats: 9223372036854775808}",
        "dptext.repeats: 9223372036854775808 found, an integer",
    ),
    ("dptext: {mechanisms: [gauss]}", "dptext.mechanisms[0]: 'gauss' found, one of copy, random"),
    ("dptext: {repetitions: 1}", "dptext.repetitions: 1 found, an integer from 2"),
    ("dptext: {benchmark: {rounds: 0}}", "dptext.benchmark.rounds: 0 found, an integer from 2"),
    ("opendp: {traces: {scales: [0]}}", "opendp.traces.scales[0]: 0 found, an integer from 1"),
    ("opendp: {traces: {scales: ['1/0']}}", "opendp.traces.scales[0]: '1/0' found, an integer"),
    ("opendp: {traces: {scales: [3]}}", "opendp.contrast.scale: 10 found, one of opendp.traces"),
    (
        "opendp: {traces: {entropies: [dice]}}",
        "opendp.traces.entropies[0]: 'dice' found, one of os",
    ),
    ("opendp: {closeup: {scale: 10}}", "opendp.closeup.scale: 10 found, none of opendp.scales"),
    (
        "opendp: {closeup: {draws: 1000}}",
        "opendp.closeup.scale: 1000 found, at most opendp.closeup",
    ),
    ("opendp: {centre: 0.5}", "opendp.centre: 0.5 found, an integer from -1000000"),
    ("opendp: {deep: {parts: 0}}", "opendp.deep.parts: 0 found, an integer from 1"),
    ("opendp: {deep: {draws: 1.0e+9}}", "opendp.deep.draws: 1000000000.0 found, an integer"),
    ("opendp: {exact: {largest_scale: 5}}", "opendp.exact.largest_scale: 5 found, an integer"),
    ("opendp: {exact: {delta: 0}}", "opendp.exact.delta: 0 found, a probability above"),
    ("opendp: {exact: {sensitivities: []}}", "opendp.exact.sensitivities: [] found, a list"),
    (
        "opendp: {benchmark: {scales: [0]}}",
        "opendp.benchmark.scales[0]: 0 found, an integer from 1",
    ),
    ("opendp: {false_alarms: {traces: 1}}", "opendp.false_alarms.traces: 1 found, an integer"),
    ("dpecdf: {epsilon: 0}", "dpecdf.epsilon: 0 found, a finite number from 0.01"),
    ("dpecdf: {epsilon: .inf}", "dpecdf.epsilon: inf found, a finite number"),
    ("dpecdf: {releases: [0.2]}", "dpecdf.releases[0]: 0.2 found, a synthpriv version in quotes"),
    ("dpecdf: {releases: ['0.1.0']}", "dpecdf.releases[0]: '0.1.0' found, one of 0.2.1 expected"),
    (
        "dpecdf: {releases: ['1.0', '2.0']}",
        "dpecdf.releases: ['1.0', '2.0'] found, a list of at most",
    ),
    ("dpecdf: {utility: {bins: [1]}}", "dpecdf.utility.bins[0]: 1 found, an integer from 2"),
    ("dpecdf: {utility: {epsilons: [-1]}}", "dpecdf.utility.epsilons[0]: -1 found, a finite"),
    ("dpecdf: {repeats: many}", "dpecdf.repeats: 'many' found, an integer"),
    ("dpecdf: {clip: true}", "dpecdf: unknown key 'clip', one of releases, configurations"),
    ("opendp: 3", "opendp: 3 found, a mapping of keys"),
]


@pytest.mark.parametrize(("text", "line"), BAD, ids=[text for text, _ in BAD])
def test_a_bad_config_is_one_line(sources, text, line):
    (sources.folder / "config/bad.yaml").write_text(text, encoding="utf-8")
    run = sources.snakemake("-n", "--quiet", "all", config="config/bad.yaml")
    assert run.returncode == 1
    printed = [found for found in run.stderr.splitlines() if found.startswith("config: ")]
    assert len(printed) == 1
    assert printed[0].startswith(f"config: {line}")
    assert run.stderr.rstrip().endswith(printed[0])
    assert "Traceback" not in run.stderr
    assert not (sources.folder / "logs").exists()


def test_config_and_schema_give_the_same_defaults():
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    assert config == defaults(schema)


def defaults(schema):
    if "properties" not in schema:
        return schema["default"]
    return {key: defaults(inner) for key, inner in schema["properties"].items()}


def test_every_key_is_documented():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    text = (ROOT / "config/README.md").read_text()
    for study, keys in config.items():
        for key in keys if isinstance(keys, dict) else [None]:
            assert (f"`{study}.{key}" if key else f"`{study}`") in text
