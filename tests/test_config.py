"""A bad config ends with one line that names the key, what was found and what was expected."""

from copy import deepcopy
from functools import cache

import jsonschema
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from packaging.version import Version
from snakemake.utils import update_config

from conftest import ROOT
from noiseaudit import schemas, settings

BAD = [
    (
        "alfa: 1",
        "the file: unknown key 'alfa', one of alpha, seed, dptext, opendp, audits, dpecdf expected",
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
    ("opendp: {scales: [10, 50000]}", "opendp.scales[1]: 50000 found, at most opendp.draws / 200"),
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
    ("größe: 1", "the file: unknown key 'größe', one of alpha, seed"),
    ("opendp: {'scales ': [10]}", "opendp: unknown key 'scales ', one of releases, scales"),
    ("dptext: {mechanisms: [лаплас]}", "dptext.mechanisms[0]: 'лаплас' found, one of copy"),
    ("dptext: {epsilons: []}", "dptext.epsilons: [] found, a list"),
    ("dptext: {epsilons: [1, 1]}", "dptext.epsilons: [1, 1] found, a list"),
    ("dptext: {repeats: 1" + 300 * "0" + "}", "dptext.repeats: 1000"),
    ("alpha: [1.0e-6]", "alpha: [1e-06] found, a probability"),
    ("opendp: {closeup: 1000}", "opendp.closeup: 1000 found, a mapping with the keys"),
    (
        "opendp: {contrast: {fixed: '0.14.1'}}",
        "opendp.contrast.fixed: '0.14.1' found, another release than opendp.contrast.faulty",
    ),
    (
        "opendp: {traces: {entropies: [stuck, pcg64]}}",
        "opendp.traces.entropies[0]: 'stuck' found, a source that is not broken",
    ),
    ("opendp: {traces: {entropies: []}}", "opendp.traces.entropies: [] found, a list"),
    (
        "opendp: {traces: {scales: [10, '1/20']}}",
        "opendp.traces.scales[1]: '1/20' found, 1/2 or more expected",
    ),
    (
        "opendp: {traces: {scales: [10, '20/2']}}",
        "opendp.traces.scales[1]: '20/2' found, lowest terms (10) expected",
    ),
    (
        "opendp: {deep: {scales: [10, '10']}}",
        "opendp.deep.scales[1]: '10' found, another scale than before expected",
    ),
    (
        "opendp: {deep: {scales: [600], draws: 100000}}",
        "opendp.deep.scales[0]: 600 found, at most opendp.deep.draws / 200 = 500 expected",
    ),
    (
        "opendp: {deep: {scales: [600], inverted: 100000}}",
        "opendp.deep.scales[0]: 600 found, at most opendp.deep.inverted / 200 = 500 expected",
    ),
    (
        "opendp: {traces: {scales: [10, '5001'], draws: 1000000}}",
        "opendp.traces.scales[1]: 5001 found, at most opendp.traces.draws / 200 = 5000 expected",
    ),
    (
        "opendp: {traces: {scales: [10, '4001/100'], draws: 100000}}",
        "opendp.traces.scales[1]: '4001/100' found, a numerator of at most opendp.traces.draws / 100",
    ),
    ("dpecdf: {epsilon: '１'}", "dpecdf.epsilon: '１' found, a finite number"),
]


@cache
def schema():
    return yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))


@cache
def pinned():
    pins = [path.stem.partition("-")[::2] for path in (ROOT / "workflow/envs").glob("*-*.txt")]
    versions = {package: [v for name, v in pins if name == package] for package, _ in pins}
    return {package: sorted(found, key=Version) for package, found in versions.items()}


def with_changes(changes):
    """The default config as Snakemake lays another file over it."""
    config = deepcopy(default())
    update_config(config, changes)
    return config


@cache
def default():
    return yaml.safe_load((ROOT / "config/config.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "line"), BAD, ids=[text[:60] for text, _ in BAD])
def test_a_bad_config_names_the_key(text, line):
    with pytest.raises(settings.ConfigError) as error:
        settings.check(with_changes(yaml.safe_load(text)), schema(), pinned())
    assert str(error.value).startswith(line)
    assert len(str(error.value).splitlines()) == 1
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("name", ["config", "quick", "deep"])
def test_the_projects_own_configs_are_good(name):
    changes = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text("utf-8"))
    settings.check(with_changes(changes), schema(), pinned())


def test_the_command_lines_of_the_readme(sources):
    """One key by itself, and keys of a study in a file of one's own."""
    text = (ROOT / "config/README.md").read_text("utf-8")
    assert "--config alpha=1e-4" in text
    assert "--configfile config/own.yaml" in text
    assert "opendp: {scales: [10]}" in text
    (sources.folder / "config/own.yaml").write_text("opendp: {scales: [10]}\n", encoding="utf-8")
    for arguments in (("--config", "alpha=1e-4"), ("--configfile", "config/own.yaml")):
        run = sources.run("snakemake", "-n", "--quiet", "all", *arguments)
        assert run.returncode == 0, run.stderr


END_TO_END = ["alpha: high", "opendp: {scales: []}", "dpecdf: {clip: true}", "größe: 1"]


@pytest.mark.parametrize(("text", "line"), [case for case in BAD if case[0] in END_TO_END])
def test_it_ends_the_run_with_one_line(sources, text, line):
    (sources.folder / "config/bad.yaml").write_text(text, encoding="utf-8")
    run = sources.snakemake("-n", "--quiet", "all", config="config/bad.yaml")
    assert run.returncode == 1
    printed = [found for found in run.stderr.splitlines() if found.startswith("config: ")]
    assert len(printed) == 1
    assert printed[0].startswith(f"config: {line}")
    assert run.stderr.rstrip().endswith(printed[0])
    assert "Traceback" not in run.stderr
    assert not (sources.folder / "logs").exists()


def leaves(node, path=()):
    """Every key of the schema that holds no other keys: where it stands, and what it may hold."""
    if "properties" not in node:
        yield path, node
    for name, inner in node.get("properties", {}).items():
        yield from leaves(inner, (*path, name))


KEYS = list(leaves(schema()))

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=30),
    st.integers(max_value=-1),
    st.integers(min_value=10**19),
    st.just(10**4000),
    st.floats(max_value=-1e-300),
    st.sampled_from([float("nan"), float("inf"), -0.0, 0.5e-320, 1e308]),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.floats()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def is_good(value, node):
    plain = jsonschema.Draft202012Validator
    strict = {"number": schemas._is_finite_number, "integer": schemas._is_integer}
    checker = plain.TYPE_CHECKER.redefine_many(strict)
    return jsonschema.validators.extend(plain, type_checker=checker)(node).is_valid(value)


@settings_of_hypothesis(max_examples=600)
@given(key=st.sampled_from(KEYS), value=junk)
def test_junk_in_any_key_is_named(key, value):
    """Each key of the config in turn, with values of every type, size and alphabet."""
    path, node = key
    assume(not is_good(value, node))
    changed = with_changes({})
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(settings.ConfigError) as error:
        settings.check(changed, schema(), pinned())
    message = str(error.value)
    assert message.startswith(".".join(path))
    assert len(message.splitlines()) == 1
    assert len(message) < 400


@given(section=st.sampled_from(["", "dptext", "opendp", "dpecdf"]), name=st.text(min_size=1))
def test_an_unknown_key_is_named(section, name):
    changed = with_changes({})
    place = changed[section] if section else changed
    assume(name not in place)
    place[name] = 1
    with pytest.raises(settings.ConfigError) as error:
        settings.check(changed, schema(), pinned())
    assert str(error.value).startswith(f"{section or 'the file'}: unknown key {name!r}")


@pytest.mark.parametrize(("path", "node"), KEYS, ids=[".".join(path) for path, _ in KEYS])
def test_a_key_left_empty_is_named(path, node):
    changed = with_changes({})
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = None
    with pytest.raises(settings.ConfigError, match=f"^{'[.]'.join(path)}: None found"):
        settings.check(changed, schema(), pinned())


def test_config_and_schema_give_the_same_defaults():
    assert with_changes({}) == defaults(schema())


def defaults(node):
    if "properties" not in node:
        return node["default"]
    return {key: defaults(inner) for key, inner in node["properties"].items()}


def test_every_key_is_documented():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    text = (ROOT / "config/README.md").read_text()
    for study, keys in config.items():
        for key in keys if isinstance(keys, dict) else [None]:
            assert (f"`{study}.{key}" if key else f"`{study}`") in text
