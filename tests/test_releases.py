"""The released wheels, as installed by the pipeline, and everything that can stand in their way."""

import shutil

import numpy as np
import pytest

from noiseaudit import releases, wheels

RELEASES = ("0.8.0", "0.14.1", "0.14.2", "0.16.0")


def site_of(project, release):
    return project.folder / f"resources/opendp/{release}"


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_answers_for_itself(finished, release):
    """A million-to-one bound on the mean of 2500 draws of sd 14.1."""
    batches = list(releases.draw(site_of(finished, release), release, 10.0, 2500, batch=1000))
    assert [batch.size for batch in batches] == [1000, 1000, 500]
    draws = np.concatenate(batches)
    assert draws.dtype == np.int64
    assert abs(draws.mean()) < 5 * 14.14 / 50
    assert 10 < draws.std() < 20


@pytest.mark.parametrize("release", RELEASES)
def test_the_version_that_answers_is_the_wheels_own_word(finished, release):
    assert releases.answering_version(site_of(finished, release), release) == release


def test_noise_is_added_to_its_centre(finished):
    """A million-to-one bound on the mean of 2500 draws of sd 14.1."""
    site = site_of(finished, "0.14.1")
    draws = next(releases.draw(site, "0.14.1", 10.0, 2500, centre=-1000))
    assert abs(draws.mean() + 1000) < 5 * 14.14 / 50


def test_a_stopwatch_times_more_draws_longer(finished):
    with releases.Stopwatch(site_of(finished, "0.16.0"), "0.16.0", 10.0) as stopwatch:
        stopwatch.seconds(100)
        few, many = (min(stopwatch.seconds(size) for _ in range(3)) for size in (200, 20_000))
    assert 0 < few < many


def test_a_stopwatch_refuses_another_version(finished):
    with (
        releases.Stopwatch(site_of(finished, "0.14.1"), "0.14.2", 10.0) as stopwatch,
        pytest.raises(releases.ReleaseError, match=r"opendp 0\.14\.2: version 0\.14\.1 answered"),
    ):
        stopwatch.seconds(10)


def test_two_draws_differ(finished):
    site = site_of(finished, "0.16.0")
    one, other = (next(releases.draw(site, "0.16.0", 1e6, 100)) for _ in range(2))
    assert not np.array_equal(one, other)


def test_large_scales_do_not_saturate(finished):
    draws = next(releases.draw(site_of(finished, "0.16.0"), "0.16.0", 1e15, 1000))
    assert np.unique(draws).size == 1000
    assert np.abs(draws).max() < 2**62


def test_another_version_on_the_path_is_refused(finished):
    with pytest.raises(releases.ReleaseError, match=r"opendp 0\.14\.2: version 0\.14\.1 answered"):
        next(releases.draw(site_of(finished, "0.14.1"), "0.14.2", 10.0, 10))


def test_a_wheel_from_elsewhere_is_refused(finished, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(site_of(finished, "0.14.1")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(releases.ReleaseError, match=r"0\.14\.1 answered from .*empty expected"):
        next(releases.draw(tmp_path / "empty", "0.14.1", 10.0, 10))


def test_a_damaged_wheel_is_refused(finished, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(site_of(finished, "0.14.1"), site)
    for library in site.glob("opendp/lib/*"):
        library.write_bytes(library.read_bytes()[:1000])
    with pytest.raises(releases.ReleaseError, match=r"opendp 0\.14\.1: "):
        next(releases.draw(site, "0.14.1", 10.0, 10))


def test_a_missing_wheel_is_refused(tmp_path):
    with pytest.raises(releases.ReleaseError, match=r"0\.14\.1: cannot be imported from .*nowhere"):
        next(releases.draw(tmp_path / "nowhere", "0.14.1", 10.0, 10))


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e16])
def test_bad_scales(scale, tmp_path):
    with pytest.raises(ValueError, match=r"scale: .* found, a number above 0"):
        next(releases.draw(tmp_path, "0.14.1", scale, 10))


@pytest.mark.parametrize(("draws", "batch"), [(0, 10), (-1, 10), (10, 0)])
def test_bad_counts(draws, batch, tmp_path):
    with pytest.raises(ValueError, match=r"draws, batch: .* found"):
        next(releases.draw(tmp_path, "0.14.1", 1.0, draws, batch))


def test_an_unknown_mechanism(tmp_path):
    with pytest.raises(ValueError, match="mechanism: 'gumbel' found, one of laplace, geometric, "):
        next(releases.draw(tmp_path, "0.14.1", 1.0, 10, mechanism="gumbel"))


def test_pins_of_another_version(tmp_path):
    pins = tmp_path / "opendp-0.14.1.txt"
    with pytest.raises(wheels.WheelError, match=r"no pins at .*opendp-0\.14\.1\.txt"):
        wheels.install("opendp", "0.14.1", pins, tmp_path / "site")
    pins.write_text("opendp==0.14.2 \\\n    --hash=sha256:00\n")
    with pytest.raises(wheels.WheelError, match=r"pins for opendp 0\.14\.1 expected"):
        wheels.install("opendp", "0.14.1", pins, tmp_path / "site")


def test_a_wheel_of_another_hash_is_refused_and_nothing_is_left(tmp_path):
    pins = tmp_path / "pins.txt"
    pins.write_text(f"opendp==0.14.1 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(wheels.WheelError, match=r"opendp 0\.14\.1 cannot be installed: "):
        wheels.install("opendp", "0.14.1", pins, tmp_path / "sites/0.14.1")
    assert list((tmp_path / "sites").iterdir()) == []


def test_without_a_network_the_rule_and_the_way_on_are_named(sources):
    """The index is a port where nothing listens, the cache is empty."""
    run = sources.snakemake(
        "resources/opendp/0.14.1",
        UV_CACHE_DIR=str(sources.folder / "cache"),
        UV_DEFAULT_INDEX="http://127.0.0.1:9/simple",
        UV_HTTP_RETRIES="0",
    )
    assert run.returncode != 0
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("install_release: ")]
    assert "opendp 0.14.1 cannot be installed" in line
    assert "rule install_release" in line
    assert "empty lists of releases in the config" in line
    assert "Traceback" not in run.stderr
    assert not list(sources.folder.glob("resources/opendp/*"))
