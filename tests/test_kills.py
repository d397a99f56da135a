"""Kills at random moments, and everything made anew under other settings: the longest test."""

import os
import random
import signal
import subprocess
import time

from conftest import RUNS, started

KILLS = 20

STUDIES = ("dptext", "opendp", "dpecdf", "audits")
"""What is asked for until the last run: a study's plan is made in half the time of all of it."""


def test_killed_at_random_moments_it_ends_with_the_same_bytes(finished, spare):
    """SIGKILL to Snakemake alone, whose jobs go on as orphans, or to all of it at once, in turn.

    Each run has another number of cores, hash seed, locale and time zone, and all outputs are made anew:
    so this is the test of determinism too.
    """
    spare.remove_repeatable()
    moments = random.Random(20261130)
    kills, at_work = 0, 0
    while kills < KILLS:
        study, settings = STUDIES[kills // len(RUNS) % len(STUDIES)], RUNS[kills % len(RUNS)]
        run = started(spare, study, "--cores", settings["cores"], settings=settings)
        try:
            while run.poll() is None and not any((spare.folder / ".snakemake/locks").glob("*")):
                time.sleep(0.05)  # it still starts, which takes as long as the machine is slow
            # A fast machine may come to the end: then the rest of the kills fall on another run.
            assert run.wait(moments.uniform(0, 2)) == 0
            spare.remove_repeatable()
            continue
        except subprocess.TimeoutExpired:
            at_work += any((spare.folder / ".snakemake/incomplete").glob("*"))
            os.kill(run.pid, signal.SIGKILL) if kills % 2 else os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            kills += 1
        if kills == 1:
            unlocked = spare.run("snakemake", "--unlock")
            assert unlocked.returncode == 0, unlocked.stderr
        for lock in (spare.folder / ".snakemake/locks").glob("*"):
            lock.unlink()  # the same, faster
    assert at_work > KILLS / 2
    assert started(spare, "all", "--cores", "2", settings=RUNS[1]).wait() == 0
    assert spare.repeatable() == finished.repeatable()
